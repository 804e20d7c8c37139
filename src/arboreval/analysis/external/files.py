"""Precomputed parses: ``x.txt.conllu``, ``x.txt.ptb``, ``x.txt.ucca.jsonl`` and ``x.txt.rst.jsonl`` beside ``x.txt``.

Each file holds the segments of ``x.txt`` in its order, those of blank lines left out; a segment of several sentences
marks them with ``# seg = N`` (``"seg": N`` in JSON), N being its line in ``x.txt``. All files must have the same words,
which must be those of the text. The files are read once, as streams, into a temporary database from which texts are
then looked up, so that neither their order nor their number matters.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import warnings
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import islice, tee
from pathlib import Path
from typing import Any

import numpy as np

from arboreval.analysis.external.changes import state
from arboreval.analysis.formats import conllu, ptb, rst, ucca
from arboreval.analysis.formats.files import grouped
from arboreval.analysis.store import CacheWarning, Store, entry_key
from arboreval.analysis.structures import Analysis
from arboreval.errors import InputError, StructureError

#: what the file's name adds to that of the text, and the layer in it; the first one there decides on words and tags
SUFFIXES = {".conllu": "dep", ".ptb": "const", ".ucca.jsonl": "ucca", ".rst.jsonl": "rst"}
_BLOCK = 256


@dataclass(frozen=True)
class _Segment:
    """One segment of a parse file, not yet brought together with its text."""

    origin: str
    line: int
    seg: str | None
    analysis: Callable[[str], Analysis]
    #: the line of each word
    lines: Callable[[], Sequence[int]]

    def line_of(self, word: int) -> int:
        """The line of a word, or of the last one."""
        lines = self.lines()
        return lines[min(word, len(lines) - 1)] if lines else self.line


class FilesAnalyzer:
    """
    :param path: the text files whose parses are to be used; several are separated by commas.
    :param scheme: the dependency scheme of the CoNLL-U files.
    """

    name = "files"
    #: the command line fills in ``path``
    beside_files = True
    #: looking up is as quick as the cache
    cacheable = False

    def __init__(self, path: str | Path | Sequence[str | Path], scheme: str = "ud2") -> None:
        given = path.split(",") if isinstance(path, str) else [path] if isinstance(path, Path) else path
        self._paths = [str(each) for each in given]
        self._scheme = scheme
        self._state = self._look()
        self._parses = {each: _parse_files(each) for each in self._paths}
        # what some of the texts do not have cannot be relied on
        self.provides = frozenset.intersection(
            *(frozenset({"tokens", *(SUFFIXES[suffix] for suffix in found)}) for found in self._parses.values())
        )

    def _look(self) -> object:
        names = ["", *SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES)]
        return state(Path(f"{path}{name}") for path in self._paths for name in names)

    @property
    def outdated(self) -> bool:
        """Whether a text or its parses have changed, so that another analyzer must be made."""
        return self._look() != self._state

    @cached_property
    def fingerprint(self) -> str:
        digest = blake2b(self._scheme.encode(), digest_size=6)
        for found in self._parses.values():
            for suffix, file in found.items():
                digest.update(suffix.encode())
                with file.open("rb") as data:
                    while chunk := data.read(1 << 20):
                        digest.update(chunk)
        return f"files/{digest.hexdigest()}"

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        store, names = self._store, ", ".join(self._paths)
        rest = iter(texts)
        while block := list(islice(rest, _BLOCK)):
            keys = [entry_key(text, "", ()) for text in block]
            found = store.get(keys)
            for key, text in zip(keys, block, strict=True):
                if key in found:
                    yield replace(found[key], fingerprint=self.fingerprint)
                elif not text.strip():
                    yield Analysis.empty(text, self.provides, self.fingerprint, scheme=self._scheme)
                else:
                    yield Analysis.failed(text, f"no line of {names} has this text", self.fingerprint)

    @cached_property
    def _store(self) -> Store:
        store = Store(Path(tempfile.mkdtemp(prefix="arboreval-")), limit=2**62)
        weakref.finalize(self, _remove, store)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CacheWarning)
            try:
                for path, found in self._parses.items():
                    analyses = _bring_together(path, found, self._scheme)
                    while block := list(islice(analyses, _BLOCK)):
                        store.put([(entry_key(analysis.text, "", ()), analysis) for analysis in block])
            except CacheWarning as problem:
                raise InputError(f"the parses cannot be put in order: {problem}") from None
        return store


def _remove(store: Store) -> None:
    store.close()
    shutil.rmtree(store.path.parent, ignore_errors=True)


def _parse_files(path: str) -> dict[str, Path]:
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file.")
    found: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for file in (Path(f"{path}{suffix}"), Path(f"{path}{suffix}.gz")):
            if file.is_file():
                found[suffix] = file
                break
    if not found:
        names = ", ".join(f"{Path(path).name}{suffix}" for suffix in SUFFIXES)
        raise InputError(f"{path} has no parses beside it: none of {names} is there.")
    return found


def _bring_together(path: str, files: dict[str, Path], scheme: str) -> Iterator[Analysis]:
    """The analyses of the text's lines that are not blank."""
    streams = [_READERS[suffix](file, scheme) for suffix, file in files.items()]
    for number, text in enumerate(_lines(path), 1):
        if not text.strip():
            continue
        parts: list[tuple[_Segment, Analysis]] = []
        for stream, file in zip(streams, files.values(), strict=True):
            segment = next(stream, None)
            if segment is None:
                raise InputError(f"{file} ends before line {number} of {path}.")
            if segment.seg is not None and segment.seg != str(number):
                raise InputError(
                    f"{file}, line {segment.line}: the segment is marked {segment.seg}, but the next text is "
                    f"line {number} of {path}."
                )
            try:
                parts.append((segment, segment.analysis(text)))
            except StructureError as error:
                raise InputError(f"{str(error).rstrip('.')} ({path}, line {number}).") from None
        yield _merged(parts, f"{path}, line {number}")
    for stream, file in zip(streams, files.values(), strict=True):
        if (extra := next(stream, None)) is not None:
            raise InputError(f"{file}, line {extra.line}: {path} has no more lines for this segment.")


def _merged(parts: list[tuple[_Segment, Analysis]], place: str) -> Analysis:
    (first, merged), *rest = parts
    for segment, other in rest:
        mine, theirs = merged.tokens, other.tokens
        if not (np.array_equal(mine.start, theirs.start) and np.array_equal(mine.end, theirs.end)):
            word = _first_difference(merged.words, other.words)
            ours, instead = _word(merged, word), _word(other, word)
            raise InputError(
                f"{segment.origin}, line {segment.line_of(word)}: the words differ from those of {first.origin}, line "
                f"{first.line_of(word)}, from word {word + 1} on: {instead} instead of {ours}."
            )
        layers = {name: getattr(other, name) for name in other.layers()}
        # a file without tags must not hide those of another
        tokens = replace(
            mine,
            upos=mine.upos if any(mine.upos) else theirs.upos,
            xpos=mine.xpos if any(mine.xpos) else theirs.xpos,
        )
        try:
            merged = replace(merged, tokens=tokens, **layers)
        except StructureError as error:
            if np.array_equal(mine.sentence, theirs.sentence):
                raise InputError(
                    f"{segment.origin}, line {segment.line}: {str(error).rstrip('.')} ({place})."
                ) from None
            word = _first_difference(mine.sentence.tolist(), theirs.sentence.tolist())
            raise InputError(
                f"{segment.origin}, line {segment.line_of(word)}: the sentences differ from those of {first.origin}, "
                f"line {first.line_of(word)}, from word {word + 1} on, {_word(merged, word)} ({place})."
            ) from None
    return merged


def _first_difference(a: Sequence[object], b: Sequence[object]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _word(analysis: Analysis, word: int) -> str:
    return repr(analysis.words[word]) if word < len(analysis) else "nothing"


# --- the segments of each kind of file ---------------------------------------------------------------------------


def _conllu(file: Path, scheme: str) -> Iterator[_Segment]:
    sentences, marks = tee(conllu.parse_sentences(_lines(file), str(file)))
    for group in grouped(sentences, (sentence.comment("seg") for sentence in marks)):
        first = group[0]
        yield _Segment(
            str(file), first.line, first.comment("seg"),
            lambda text, group=group: conllu.to_analysis(group, text, scheme),  # type: ignore[misc]
            lambda group=group: [line for sentence in group for line in sentence.word_lines()],  # type: ignore[misc]
        )  # fmt: skip


def _ptb(file: Path, _scheme: str) -> Iterator[_Segment]:
    trees, marks = tee(ptb.parse_trees(_lines(file), str(file)))
    for group in grouped(trees, (tree.seg for tree in marks)):
        first = group[0]
        yield _Segment(
            str(file), first.line, first.seg,
            lambda text, group=group: ptb.to_analysis(group, text),  # type: ignore[misc]
            lambda group=group: [line for tree in group for line in tree.word_lines],  # type: ignore[misc]
        )  # fmt: skip


def _ucca(file: Path, _scheme: str) -> Iterator[_Segment]:
    lines = ((number, line) for number, line in enumerate(_lines(file), 1) if line.strip())
    sentences, marks = tee(ucca.parse_json(line, str(file), number) for number, line in lines)
    for group in grouped(sentences, (_mark(sentence.extra) for sentence in marks)):
        first = group[0]
        yield _Segment(
            str(file), first.line, _mark(first.extra),
            lambda text, group=group: ucca.to_analysis(group, text),  # type: ignore[misc]
            lambda group=group: [sentence.line for sentence in group for _ in sentence.words],  # type: ignore[misc]
        )  # fmt: skip


def _rst(file: Path, _scheme: str) -> Iterator[_Segment]:
    for number, line in enumerate(_lines(file), 1):
        if line.strip():
            segment = rst.parse_segment(line, str(file), number)
            yield _Segment(
                str(file), number, _mark(segment.extra),
                lambda text, segment=segment: rst.to_analysis(segment, text),  # type: ignore[misc]
                lambda number=number: [number],  # type: ignore[misc]
            )  # fmt: skip


_READERS = {".conllu": _conllu, ".ptb": _ptb, ".ucca.jsonl": _ucca, ".rst.jsonl": _rst}


def _mark(extra: Any) -> str | None:
    mark = extra.get("seg")
    return None if mark is None else str(mark)


def _lines(path: str | Path) -> Iterator[str]:
    """The lines of a file that may be gzipped, one after the other; they end at a line feed and nowhere else."""
    try:
        with Path(path).open("rb") as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            for number, data in enumerate(unpacked if raw.peek(2)[:2] == b"\x1f\x8b" else raw, 1):
                try:
                    line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    bad = data[error.start]
                    raise InputError(f"{path}, line {number}: 0x{bad:02x} is not valid UTF-8.") from None
                yield line.removesuffix("\n").removesuffix("\r")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
