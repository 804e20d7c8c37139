"""Lines of files, words found again in a text, and errors that say where they happened."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from arboreval.analysis.surrogates import SURROGATE
from arboreval.errors import InputError, StructureError

T = TypeVar("T")

_QUOTED = 60

# what treebanks write for characters that their format or their tradition does not allow
_WRITTEN_AS = {
    "``": ('"', "“", "„", "«", "''"),
    "''": ('"', "”", "“", "»"),
    "`": ("'", "‘"),
    "'": ("’", "‘"),
    "...": ("…",),
    "--": ("—", "–"),
    # brackets are read with their parentheses restored, which a tokenized text may not have
    "(": ("-LRB-",),
    ")": ("-RRB-",),
    "-LRB-": ("(",),
    "-RRB-": (")",),
    "-LSB-": ("[",),
    "-RSB-": ("]",),
    "-LCB-": ("{",),
    "-RCB-": ("}",),
}


def error(origin: str, line: int, message: str) -> StructureError:
    return StructureError(f"{origin}, line {line}: {message}")


def quoted(text: str) -> str:
    """The text for an error, not more than its beginning: what a damaged file holds may be of any length."""
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}…"


def unspaced(word: str, number: int) -> str:
    """The word for a format that has white space between words and so none in them."""
    if not (rest := "".join(word.split())):
        raise StructureError(f"word {number + 1} is nothing but white space and cannot be written.")
    return rest


@contextmanager
def at(origin: str, line: int) -> Iterator[None]:
    """Say where a structure that is not well formed was read."""
    try:
        yield
    except StructureError as problem:
        raise error(origin, line, str(problem)) from None


def read_text(path: str | Path) -> str:
    """The content of a UTF-8 file, unpacked if it is gzipped."""
    try:
        data = Path(path).read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"{path} cannot be read: {problem}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(f"{path}, line {line}: 0x{data[problem.start]:02x} is not valid UTF-8.") from None


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file. They end at a line feed and nowhere else: words may hold other separators."""
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def json_record(line: str, origin: str, number: int, needed: Sequence[str]) -> dict[str, Any]:
    """The JSON object in a line, which must have the fields needed."""
    try:
        record = json.loads(line)
        # an escape may stand for half a surrogate pair or for the whole one
        plain = json.dumps(record, ensure_ascii=False) if "\\u" in line else line
    except (ValueError, RecursionError) as problem:
        raise error(origin, number, f"this is not JSON ({problem}).") from None
    if not isinstance(record, dict):
        raise error(origin, number, "this is not a JSON object.")
    if lone := SURROGATE.search(plain):
        raise error(origin, number, f"U+{ord(lone[0]):04X} is a lone surrogate, which is no character.")
    for name in needed:
        if name not in record:
            raise error(origin, number, f"the field {name!r} is missing.")
    return record


def json_line(record: Mapping[str, Any]) -> str:
    """The record as one line of JSON."""
    try:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise StructureError("a tree is too deep to be written as JSON.") from None
    if lone := SURROGATE.search(line):
        raise StructureError(f"U+{ord(lone[0]):04X} is a lone surrogate, which cannot be written as JSON.")
    return line


def locate(text: str, words: Sequence[str], origin: str, lines: Sequence[int]) -> list[tuple[int, int]]:
    """The character range of each word in a text that consists of these words and white space.

    Treebank spellings (``-LRB-`` for a parenthesis, doubled quotes) match what they stand for. ``lines`` are those of
    the words in the file ``origin``, for errors.
    """
    found: list[tuple[int, int]] = []
    at_character = 0
    for i, word in enumerate(words):
        while at_character < len(text) and text[at_character].isspace():
            at_character += 1
        for form in _spellings(word):
            if form and text.startswith(form, at_character):
                found.append((at_character, at_character + len(form)))
                break
        else:
            rest = text[at_character : at_character + 20]
            goes_on = f"goes on with {rest!r}" if rest else "ends"
            raise error(origin, lines[i], f"word {i + 1} is {quoted(word)}, but the text {goes_on}.")
        at_character = found[-1][1]
    if text[at_character:].strip():
        rest = text[at_character:].strip()[:20]
        raise error(origin, lines[-1] if lines else 1, f"the words end, but the text goes on with {rest!r}.")
    return found


def _spellings(word: str) -> Iterator[str]:
    yield word
    yield from _WRITTEN_AS.get(word, ())
    plain = word.replace("\\/", "/").replace("\\*", "*")
    for written in ("-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"):
        plain = plain.replace(written, _WRITTEN_AS[written][0])
    if plain != word:
        yield plain


def grouped(items: Iterable[T], marks: Iterable[str | None]) -> Iterator[list[T]]:
    """Segments: neighbours with the same ``seg`` mark belong together, an item without mark stands alone."""
    group: list[T] = []
    last: str | None = None
    for item, mark in zip(items, marks, strict=True):
        if group and (mark is None or mark != last):
            yield group
            group = []
        group.append(item)
        last = mark
    if group:
        yield group
