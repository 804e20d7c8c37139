"""Discourse trees as JSON lines.

A segment a line: ``id``; ``tokens``; ``space`` (1 if a space follows the token); ``edus`` (token at which each EDU
starts); ``tree``: a leaf is the number of an EDU, an inner node ``[nuclearity, relation, child, child, ...]`` with the
nuclearity NS, SN or NN; null where there is no tree. A document a line: ``edus`` holds the texts of the EDUs, ``sents``
the first and last EDU of each sentence, and ``binary`` and ``nary`` are trees. Other fields are kept.

The bracket notation of the RST Discourse Treebank and ``.rs3`` are in :mod:`~arboreval.analysis.formats.rst_brackets`
and :mod:`~arboreval.analysis.formats.rs3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arboreval.analysis.formats.files import at, json_line, json_record, locate, read_lines
from arboreval.analysis.structures import Analysis, Nested, RstTree, Tokens
from arboreval.errors import StructureError

_SEGMENT = ("tokens", "space", "edus", "tree")
_DOCUMENT = ("edus", "sents", "binary", "nary")


@dataclass(frozen=True)
class Segment:
    """The words of a segment, its EDUs and its tree, if it has one."""

    words: tuple[str, ...]
    #: whether a space follows each word
    space: tuple[bool, ...]
    edus: tuple[int, ...]
    tree: RstTree | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "RST"
    line: int = 1

    def text(self) -> str:
        return "".join(
            word + (" " if space else "") for word, space in zip(self.words, self.space, strict=True)
        ).removesuffix(" ")


@dataclass(frozen=True)
class Document:
    """The EDUs of a document, its sentences as ranges of EDUs, and its trees."""

    edus: tuple[str, ...]
    sentences: tuple[tuple[int, int], ...]
    binary: RstTree
    nary: RstTree
    extra: Mapping[str, Any] = field(default_factory=dict)


def read_segments(path: str | Path) -> Iterator[Segment]:
    """The segments of a file."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield parse_segment(line, str(path), number)


def parse_segment(line: str, origin: str = "RST", number: int = 1) -> Segment:
    """The segment in one line of JSON."""
    record = json_record(line, origin, number, ("tokens", "edus", "tree"))
    with at(origin, number):
        words, edus, tree = record["tokens"], record["edus"], record["tree"]
        space = record.get("space", [1] * len(words) if isinstance(words, list) else [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise StructureError("the tokens must be strings that are not empty.")
        if not isinstance(space, list) or len(space) != len(words) or not all(mark in (0, 1) for mark in space):
            raise StructureError("each token needs a 0 or a 1 for the space after it.")
        _check_edus(edus, len(words))
        parsed = None if tree is None else RstTree.from_nested(edus, tree)
        extra = {key: value for key, value in record.items() if key not in _SEGMENT}
        return Segment(tuple(words), tuple(map(bool, space)), tuple(edus), parsed, extra, origin, number)


def _check_edus(edus: object, words: int) -> None:
    if not isinstance(edus, list) or not all(type(edu) is int for edu in edus):
        raise StructureError("the EDUs must be given by the tokens at which they start.")
    if (edus[:1] != [0]) != (words == 0) or any(a >= b for a, b in pairwise(edus)):
        raise StructureError("EDU starts must begin with token 0 and increase.")
    if edus and edus[-1] >= words:
        raise StructureError(f"the last EDU starts at token {edus[-1]} of {words} tokens.")


def to_json(segment: Segment) -> str:
    """The segment as one line of JSON."""
    record = {
        **segment.extra,
        "tokens": list(segment.words),
        "space": [int(mark) for mark in segment.space],
        "edus": list(segment.edus),
        "tree": None if segment.tree is None else segment.tree.nested(),
    }
    return json_line(record)


def read_documents(path: str | Path) -> Iterator[Document]:
    """The documents of a file."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield parse_document(line, str(path), number)


def parse_document(line: str, origin: str = "RST", number: int = 1) -> Document:
    """The document in one line of JSON."""
    record = json_record(line, origin, number, _DOCUMENT)
    with at(origin, number):
        edus = record["edus"]
        if not isinstance(edus, list) or not all(isinstance(edu, str) and edu.split() for edu in edus):
            raise StructureError("the EDUs must be texts that are not empty.")
        starts = edu_starts(edus)
        trees = [RstTree.from_nested(starts, record[name]) for name in ("binary", "nary")]
        sentences = record["sents"]
        if not isinstance(sentences, list) or not all(map(_is_pair, sentences)):
            raise StructureError("the sentences must be pairs of EDU numbers.")
        bounds = [0, *(last + 1 for _, last in sentences)]
        if [first for first, _ in sentences] != bounds[:-1] or bounds[-1] != len(edus) or bounds != sorted(set(bounds)):
            raise StructureError("the sentences do not cover the EDUs one after the other.")
        extra = {key: value for key, value in record.items() if key not in _DOCUMENT}
        return Document(tuple(edus), tuple(map(tuple, sentences)), trees[0], trees[1], extra)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)


def document_to_json(document: Document) -> str:
    """The document as one line of JSON."""
    record = {
        **document.extra,
        "edus": list(document.edus),
        "sents": [list(sentence) for sentence in document.sentences],
        "binary": document.binary.nested(),
        "nary": document.nary.nested(),
    }
    return json_line(record)


def edu_starts(edus: Iterable[str]) -> list[int]:
    """The word at which each EDU starts, for texts whose words are separated by white space."""
    return [0, *accumulate(len(edu.split()) for edu in edus)][:-1]


def from_edus(edus: Sequence[str], tree: Nested, origin: str = "RST", line: int = 1) -> Segment:
    """The segment that consists of these EDUs, their words separated by white space."""
    with at(origin, line):
        words = tuple(word for edu in edus for word in edu.split())
        starts = edu_starts(edus)
        parsed = RstTree.from_nested(starts, tree)
        return Segment(words, (True,) * len(words), tuple(starts), parsed, {}, origin, line)


def read(path: str | Path) -> Iterator[Analysis]:
    """The analyses of a file's segments."""
    for segment in read_segments(path):
        yield to_analysis(segment)


def to_analysis(segment: Segment, text: str | None = None) -> Analysis:
    """One segment (as one sentence: the file does not tell). With raw ``text`` its words are looked up there."""
    if text is None:
        text = segment.text()
    lines = [segment.line] * len(segment.words)
    places = np.asarray(locate(text, segment.words, segment.origin, lines), np.int32).reshape(-1, 2)
    nothing = ("",) * len(segment.words)
    sentence = np.zeros(len(nothing), np.int32)
    with at(segment.origin, segment.line):
        tokens = Tokens(places[:, 0], places[:, 1], sentence, nothing, nothing, nothing)
        return Analysis(text, tokens, rst=segment.tree)


def from_analysis(analysis: Analysis) -> Segment | None:
    """The segment of an analysis that has a discourse tree; a text without words has none."""
    if analysis.rst is None or not len(analysis):
        return None
    space = tuple(analysis.tokens.space_after(analysis.text))
    return Segment(tuple(analysis.words), space, tuple(analysis.rst.edu_start.tolist()), analysis.rst)


def write(analyses: Iterable[Analysis]) -> Iterator[str]:
    """The lines of a file, for the analyses that have a discourse tree."""
    for analysis in analyses:
        if (segment := from_analysis(analysis)) is not None:
            yield to_json(segment) + "\n"
