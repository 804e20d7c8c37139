"""CoNLL-U: words, tags, lemmas and dependencies.

``# seg = N`` on neighbouring sentences makes them one segment; ``# newpar`` puts a blank line before a sentence inside
a segment. The text of a segment is rebuilt from the forms, ``SpaceAfter=No``, ``SpacesAfter`` and ``SpacesBefore``
(with the escapes of UDPipe), and must agree with ``# text`` but for white space. Rows are kept as they are, so that
sentences are written back unchanged; multiword tokens give their words a share of their characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from arboreval.analysis.formats.files import at, error, grouped, locate, quoted, read_lines
from arboreval.analysis.structures import Analysis, DependencyTree, Tokens
from arboreval.errors import StructureError

Row = tuple[str, ...]

_COLUMNS = 10
_ID, _FORM, _LEMMA, _UPOS, _XPOS, _HEAD, _DEPREL, _MISC = 0, 1, 2, 3, 4, 6, 7, 9
# nine digits are enough for any sentence; Python refuses to read very long numbers
_WORD = re.compile(r"[1-9]\d{0,8}")
_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})")
_NUMBER = re.compile(r"0|[1-9]\d{0,8}")
_EMPTY = re.compile(r"\d+\.\d+")
_ESCAPES = {"\\s": " ", "\\t": "\t", "\\r": "\r", "\\n": "\n", "\\p": "|", "\\\\": "\\"}
_UNESCAPE = re.compile(r"\\[strnp\\]")
_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a file: comments without their ``#``, and all rows, multiword tokens included."""

    comments: tuple[str, ...]
    rows: tuple[Row, ...]
    origin: str = "CoNLL-U"
    line: int = 1
    #: line of the first row; blank lines may stand between the comments and the rows
    row_line: int = 1

    def comment(self, key: str) -> str | None:
        """The value of ``# key = value``; "" for a comment that is only a key."""
        for comment in self.comments:
            name, _, value = comment.partition("=")
            if name.strip() == key:
                return value.strip()
        return None

    @cached_property
    def words(self) -> tuple[Row, ...]:
        """The rows of words: no multiword tokens, no empty nodes."""
        return tuple(row for row in self.rows if _WORD.fullmatch(row[_ID]))

    @cached_property
    def starts_paragraph(self) -> bool:
        return any(comment.split()[:1] in (["newpar"], ["newdoc"]) for comment in self.comments)

    @cached_property
    def _surface_rows(self) -> tuple[tuple[int, int], ...]:
        """The number of the row of each token, and how many words it is."""
        found: list[tuple[int, int]] = []
        covered = 0
        for number, row in enumerate(self.rows):
            if wide := _RANGE.fullmatch(row[_ID]):
                covered = int(wide[2])
                found.append((number, covered - int(wide[1]) + 1))
            elif _WORD.fullmatch(row[_ID]) and int(row[_ID]) > covered:
                found.append((number, 1))
        return tuple(found)

    def surfaces(self) -> list[tuple[str, int, str]]:
        """What stands in the text: form, number of words in it, and the MISC column of each token."""
        return [(self.rows[row][_FORM], count, self.rows[row][_MISC]) for row, count in self._surface_rows]

    def surface_lines(self) -> list[int]:
        """The line of each token in the file."""
        return [self.row_line + row for row, _ in self._surface_rows]

    def word_lines(self) -> list[int]:
        """The line of each word in the file."""
        return [self.row_line + number for number, row in enumerate(self.rows) if _WORD.fullmatch(row[_ID])]

    def __str__(self) -> str:
        lines = [f"#{comment}" for comment in self.comments] + ["\t".join(row) for row in self.rows]
        return "".join(f"{line}\n" for line in [*lines, ""])


def read_sentences(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a file."""
    yield from parse_sentences(read_lines(path), str(path))


def parse_sentences(lines: Iterable[str], origin: str = "CoNLL-U") -> Iterator[Sentence]:
    """The sentences in lines of CoNLL-U."""
    comments: list[str] = []
    rows: list[Row] = []
    first = row_line = number = 0
    # the last word, and the last one of the last multiword token
    last = covered = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            if not comments and not rows:
                first = number
            if line.startswith("#"):
                if rows:
                    raise error(origin, number, "a comment stands between the words of a sentence.")
                comments.append(line[1:])
            else:
                if not rows:
                    row_line, last, covered = number, 0, 0
                row, last, covered = _row(line, last, covered, origin, number)
                rows.append(row)
        elif rows:
            yield _sentence(comments, rows, origin, first, row_line)
            comments, rows = [], []
    if rows:
        yield _sentence(comments, rows, origin, first, row_line)
    elif comments:
        raise error(origin, number, "comments are followed by no sentence.")


def _row(line: str, last: int, covered: int, origin: str, number: int) -> tuple[Row, int, int]:
    """The row in a line, and what are now the last word and the last one of the last multiword token."""
    row = tuple(line.split("\t"))
    if len(row) != _COLUMNS:
        raise error(origin, number, f"a word has {len(row)} columns instead of {_COLUMNS}.")
    if not row[_FORM]:
        raise error(origin, number, "a word has no form.")
    if _WORD.fullmatch(row[_ID]):
        if int(row[_ID]) != last + 1:
            raise error(origin, number, f"word {row[_ID]} follows word {last}.")
        if row[_HEAD] != "_" and not _NUMBER.fullmatch(row[_HEAD]):
            raise error(origin, number, f"the head {quoted(row[_HEAD])} is not a word number.")
        return row, last + 1, covered
    if wide := _RANGE.fullmatch(row[_ID]):
        if int(wide[1]) != last + 1 or int(wide[2]) < int(wide[1]):
            raise error(origin, number, f"the multiword token {row[_ID]} does not start at word {last + 1}.")
        if int(wide[1]) <= covered:
            raise error(origin, number, f"the multiword token {row[_ID]} overlaps the one before it.")
        return row, last, int(wide[2])
    if not _EMPTY.fullmatch(row[_ID]):
        raise error(origin, number, f"{quoted(row[_ID])} is not a word number.")
    return row, last, covered


def _sentence(comments: list[str], rows: list[Row], origin: str, first: int, row_line: int) -> Sentence:
    sentence = Sentence(tuple(comments), tuple(rows), origin, first, row_line)
    n = len(sentence.words)
    if n == 0:
        raise error(origin, row_line, "a sentence has no words.")
    for number, row in enumerate(rows, row_line):
        if _WORD.fullmatch(row[_ID]) and row[_HEAD] != "_" and int(row[_HEAD]) > n:
            raise error(origin, number, f"the head {row[_HEAD]} is outside the sentence of {n} words.")
        if (wide := _RANGE.fullmatch(row[_ID])) and int(wide[2]) > n:
            raise error(origin, number, f"the multiword token {row[_ID]} is longer than the sentence of {n} words.")
    return sentence


def read(path: str | Path, scheme: str = "ud2") -> Iterator[Analysis]:
    """The analyses of a file's segments: tokens, and dependencies if the file has heads."""
    for segment in segments(list(read_sentences(path))):
        yield to_analysis(segment, scheme=scheme)


def segments(sentences: Sequence[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences of each segment by their ``# seg = N`` comments."""
    return grouped(sentences, (sentence.comment("seg") for sentence in sentences))


def to_analysis(sentences: Sequence[Sentence], text: str | None = None, scheme: str = "ud2") -> Analysis:
    """One segment. Where its raw ``text`` is given, the words are looked up in it, otherwise it is rebuilt."""
    starts: list[int] = []
    ends: list[int] = []
    heads: list[int] = []
    sentence_of: list[int] = []
    has_heads = _has_heads(sentences)
    if text is None:
        text, places = _rebuild(sentences)
    else:
        places = _look_up(sentences, text)
    for number, sentence in enumerate(sentences):
        offset = len(sentence_of)
        with at(sentence.origin, sentence.line):
            for (form, count, _), (start, end), inner in zip(
                sentence.surfaces(), places[number], _inner_words(sentence), strict=True
            ):
                for i, j in _shares(text[start:end], form, inner, count):
                    starts.append(start + i)
                    ends.append(start + j)
        for row in sentence.words:
            sentence_of.append(number)
            if has_heads:
                heads.append(int(row[_HEAD]) - 1 + (offset if row[_HEAD] != "0" else 0))
    rows = [row for sentence in sentences for row in sentence.words]
    first = sentences[0] if sentences else Sentence((), ())
    with at(first.origin, first.line):
        tokens = Tokens(
            np.asarray(starts, np.int32),
            np.asarray(ends, np.int32),
            np.asarray(sentence_of, np.int32),
            tuple(_known(row[_UPOS]) for row in rows),
            tuple(_known(row[_XPOS]) for row in rows),
            tuple("_" if row[_FORM] == row[_LEMMA] == "_" else _known(row[_LEMMA]) for row in rows),
        )
    if not has_heads:
        return Analysis(text, tokens)
    relations = tuple(_known(row[_DEPREL]) for row in rows)
    for sentence in sentences:
        with at(sentence.origin, sentence.line):
            _check_heads(sentence)
    with at(first.origin, first.line):
        return Analysis(text, tokens, dependency=DependencyTree(np.asarray(heads, np.int32), relations, scheme))


def _has_heads(sentences: Sequence[Sentence]) -> bool:
    """Whether the words have heads: all of them or none."""
    missing = [(sentence, i) for sentence in sentences for i, row in enumerate(sentence.words) if row[_HEAD] == "_"]
    if missing and len(missing) < sum(len(sentence.words) for sentence in sentences):
        sentence, i = missing[0]
        raise error(sentence.origin, sentence.word_lines()[i], f"word {i + 1} has no head, others have one.")
    return not missing


def _check_heads(sentence: Sentence) -> None:
    """Check a sentence alone, so that the error names its own line."""
    n = len(sentence.words)
    one = np.arange(n, dtype=np.int32)
    tokens = Tokens(one, one + 1, one * 0, *[("",) * n] * 3)
    head = np.array([int(row[_HEAD]) - 1 for row in sentence.words], np.int32)
    DependencyTree(head, ("",) * n).check(tokens)


def _known(value: str) -> str:
    return "" if value == "_" else value


def _rebuild(sentences: Sequence[Sentence]) -> tuple[str, list[list[tuple[int, int]]]]:
    """The text that the forms and their spaces make, and where the tokens of each sentence stand in it."""
    parts: list[str] = []
    places: list[list[tuple[int, int]]] = []
    length = 0
    gap, exact = "", False
    for number, sentence in enumerate(sentences):
        begin = len(parts) + 1  # after the gap
        if number and not exact and sentence.starts_paragraph:
            gap = "\n\n"
        here: list[tuple[int, int]] = []
        for form, _, misc in sentence.surfaces():
            marks = dict(mark.partition("=")[::2] for mark in misc.split("|"))
            gap += _unescape(marks.get("SpacesBefore", ""))
            parts += [gap, form]
            here.append((length + len(gap), length + len(gap) + len(form)))
            length += len(gap) + len(form)
            exact = "SpacesAfter" in marks
            gap = _unescape(marks.get("SpacesAfter", "" if marks.get("SpaceAfter") == "No" else " "))
        places.append(here)
        given = sentence.comment("text")
        made = "".join(parts[begin:])
        if given is not None and "".join(given.split()) != "".join(made.split()):
            raise error(
                sentence.origin,
                sentence.line,
                f"the words make the text {made[:60]!r}, but # text says {given[:60]!r}.",
            )
    if exact:
        parts.append(gap)
    return "".join(parts), places


def _unescape(value: str) -> str:
    return _UNESCAPE.sub(lambda match: _ESCAPES[match[0]], value)


def _escape(value: str) -> str:
    return "".join({plain: code for code, plain in _ESCAPES.items()}.get(character, character) for character in value)


def _look_up(sentences: Sequence[Sentence], text: str) -> list[list[tuple[int, int]]]:
    forms = [form for sentence in sentences for form, _, _ in sentence.surfaces()]
    lines = [line for sentence in sentences for line in sentence.surface_lines()]
    flat = iter(locate(text, forms, sentences[0].origin if sentences else "CoNLL-U", lines))
    return [[next(flat) for _ in sentence.surfaces()] for sentence in sentences]


def _inner_words(sentence: Sentence) -> Iterator[list[str]]:
    rows = iter(sentence.words)
    for _, count, _ in sentence.surfaces():
        yield [next(rows)[_FORM] for _ in range(count)]


def _shares(surface: str, form: str, words: list[str], count: int) -> list[tuple[int, int]]:
    """The characters of a multiword token that each of its words gets."""
    if count == 1:
        return [(0, len(surface))]
    if len(surface) < count:
        raise StructureError(f"the multiword token {quoted(form)} is too short for its {count} words.")
    if "".join(words) == surface:
        lengths = [len(word) for word in words]
    else:
        # "dunno" for "do not know": there is no true share; equal ones keep every word on characters of its own
        lengths = [len(surface) * (i + 1) // count - len(surface) * i // count for i in range(count)]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    return list(pairwise(bounds))


def from_analysis(analysis: Analysis, seg: int | str | None = None, sent_id: str | None = None) -> list[Sentence]:
    """The sentences of an analysis; several of them need ``seg`` to be read as one segment again."""
    tokens, text, tree = analysis.tokens, analysis.text, analysis.dependency
    if not len(tokens):
        return []
    spans = tokens.sentence_spans()
    if len(spans) > 1 and seg is None:
        raise StructureError(f"a segment of {len(spans)} sentences cannot be written as CoNLL-U without a number.")
    starts, ends = tokens.start.tolist(), tokens.end.tolist()
    gaps = [text[end:start] for end, start in zip(ends, [*starts[1:], len(text)], strict=True)]
    sentences: list[Sentence] = []
    for number, (first, last) in enumerate(spans):
        comments = [_writable(f" sent_id = {sent_id}-{number + 1}", "comment")] if sent_id is not None else []
        if seg is not None:
            comments.append(_writable(f" seg = {seg}", "comment"))
        if number and _BLANK_LINE.search(gaps[first - 1]):
            comments.append(" newpar")
        comments.append(" text = " + " ".join(text[starts[first] : ends[last - 1]].split()))
        rows: list[Row] = []
        for word in range(first, last):
            misc = _space_mark(gaps[word], word + 1 == len(tokens), word + 1 == last)
            if word == 0 and starts[0]:
                misc = [f"SpacesBefore={_escape(text[: starts[0]])}", *misc]
            head = "_" if tree is None else str(int(tree.head[word]) - first + 1 if tree.head[word] >= 0 else 0)
            form = _writable(text[starts[word] : ends[word]], "word")
            lemma = _writable(tokens.lemma[word], "lemma") or "_"
            upos, xpos = (_writable(tags[word], "tag") or "_" for tags in (tokens.upos, tokens.xpos))
            relation = "_" if tree is None else _writable(tree.relation[word], "relation") or "_"
            rows.append(
                (str(word - first + 1), form, lemma, upos, xpos, "_", head, relation, "_", "|".join(misc) or "_")
            )
        sentences.append(Sentence(tuple(comments), tuple(rows)))
    return sentences


def _writable(value: str, what: str) -> str:
    if "\n" in value or "\t" in value or "\r" in value:
        raise StructureError(f"the {what} {quoted(value)} cannot be written as CoNLL-U.")
    return value


def _space_mark(gap: str, last_of_text: bool, last_of_sentence: bool) -> list[str]:
    if last_of_text and not gap:
        return []
    if gap == "":
        return ["SpaceAfter=No"]
    if (gap == " " and not last_of_text) or (gap == "\n\n" and last_of_sentence and not last_of_text):
        return []
    return [f"SpacesAfter={_escape(gap)}"]


def write(analyses: Iterable[Analysis], *, numbered: bool = False) -> Iterator[str]:
    """The file's text, one piece for each analysis. A segment of several sentences gets its number as ``# seg``, and
    so do all if ``numbered``, which texts without words among them need."""
    for number, analysis in enumerate(analyses, 1):
        seg = number if numbered or analysis.tokens.n_sentences > 1 else None
        yield "".join(str(sentence) for sentence in from_analysis(analysis, seg))
