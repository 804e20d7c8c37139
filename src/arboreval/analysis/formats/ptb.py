"""Penn Treebank brackets: constituency trees with part-of-speech tags.

A tree may stand on one line or on many. Its root becomes TOP, whatever the file calls it; empty elements (``-NONE-``)
and phrases that hold nothing else are dropped. A line ``# seg = N`` marks the tree after it; neighbouring trees with
the same mark are one segment. Parentheses in words are written ``-LRB-`` and ``-RRB-``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arboreval.analysis.formats.files import at, error, grouped, locate, quoted, read_lines, unspaced
from arboreval.analysis.structures import Analysis, ConstituencyTree, Tokens
from arboreval.analysis.structures.constituency import TOP
from arboreval.errors import StructureError

_TOKEN = re.compile(r"[()]|[^\s()]+")
_LABEL = re.compile(r"[^\s()]+")
_SEG = re.compile(r"#\s*seg\s*=\s*(\S+)\s*")
_ROOTS = frozenset({"", "TOP", "ROOT"})
EMPTY = "-NONE-"


@dataclass(frozen=True)
class Bracketing:
    """One tree of a file: its words (parentheses restored), their tags, and its phrases under one TOP."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    tree: ConstituencyTree
    seg: str | None = None
    origin: str = "brackets"
    line: int = 1
    #: of each word; where that is not known, the tree's
    lines: tuple[int, ...] = ()

    @property
    def word_lines(self) -> tuple[int, ...]:
        return self.lines or (self.line,) * len(self.words)

    def __str__(self) -> str:
        return _bracket(self.tree, 0, self.words, self.tags)


@dataclass
class _Node:
    label: str
    line: int
    children: list[_Node]
    word: str | None = None
    #: whether this is a word, or has one below, that is not an empty element; known when the node is closed
    has_words: bool = False


def read_trees(path: str | Path) -> Iterator[Bracketing]:
    """The trees of a file."""
    yield from parse_trees(read_lines(path), str(path))


def parse_trees(lines: Iterable[str], origin: str = "brackets") -> Iterator[Bracketing]:
    """The trees in lines of brackets."""
    stack: list[_Node] = []
    seg: str | None = None
    number = 0
    for number, line in enumerate(lines, 1):
        if not stack and line.startswith("#"):
            mark = _SEG.fullmatch(line)
            seg = mark[1] if mark else seg
            continue
        opened = False
        for token in _TOKEN.findall(line):
            if token == "(":
                if stack and stack[-1].word is not None:
                    raise error(origin, number, f"the word {quoted(stack[-1].word or '')} has no brackets of its own.")
                stack.append(_Node("", number, []))
                opened = True
                continue
            if not stack:
                raise error(origin, number, f"{quoted(token)} stands outside all brackets.")
            if token != ")":
                _fill(stack[-1], token, opened, origin, number)
            else:
                node = stack.pop()
                if node.word is None and not node.children:
                    raise error(origin, number, f"the phrase {quoted(node.label)} is empty.")
                if node.word is not None:
                    node.has_words = node.label != EMPTY
                if stack:
                    stack[-1].children.append(node)
                    stack[-1].has_words |= node.has_words
                else:
                    yield _bracketing(node, seg, origin)
                    seg = None
            opened = False
    if stack:
        raise error(origin, number, f"the tree that starts on line {stack[0].line} is not closed.")


def _fill(node: _Node, token: str, opened: bool, origin: str, number: int) -> None:
    if opened:
        node.label = token
    elif node.children or node.word is not None or not node.label:
        raise error(origin, number, f"the word {quoted(token)} has no brackets of its own.")
    else:
        node.word = token


def _bracketing(top: _Node, seg: str | None, origin: str) -> Bracketing:
    if top.label not in _ROOTS or top.word is not None:
        top = _Node(TOP, top.line, [top], has_words=top.has_words)
    labels: list[str] = []
    parents: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    words: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    # (node, parent) to open, (None, index) to close
    todo: list[tuple[_Node | None, int]] = [(top, -1)]
    while todo:
        node, number = todo.pop()
        if node is None:
            ends[number] = len(words)
            continue
        if not node.has_words:
            continue
        if node.word is not None:
            words.append(unescape(node.word))
            tags.append(node.label)
            lines.append(node.line)
            continue
        if number >= 0 and not node.label:
            raise error(origin, node.line, "a phrase has no label.")
        here = len(labels)
        labels.append(node.label if number >= 0 else TOP)
        parents.append(number)
        starts.append(len(words))
        ends.append(-1)
        todo.append((None, here))
        todo.extend((child, here) for child in reversed(node.children))
    if not words:
        raise error(origin, top.line, "the tree has no words.")
    with at(origin, top.line):
        arrays = (np.asarray(values, np.int32) for values in (parents, starts, ends))
        tree = ConstituencyTree(tuple(labels), *arrays)
        return Bracketing(tuple(words), tuple(tags), tree, seg, origin, top.line, tuple(lines))


def unescape(word: str) -> str:
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


def escape(word: str) -> str:
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def _bracket(tree: ConstituencyTree, root: int, words: Sequence[str], tags: Sequence[str]) -> str:
    parts: list[str] = []
    # a phrase to open, a word to write, or the end of a phrase
    todo: list[tuple[int, int] | None] = [(root, -1)]
    while todo:
        item = todo.pop()
        if item is None:
            parts.append(")")
        elif item[0] < 0:
            tag = _label(escape(tags[item[1]]) or "XX", "tag")
            parts.append(f" ({tag} {unspaced(escape(words[item[1]]), item[1])})")
        else:
            parts.append(f" ({_label(tree.label[item[0]], 'label')}")
            todo.append(None)
            todo.extend(reversed(tree.items(item[0])))
    return "".join(parts)[1:]


def _label(label: str, what: str) -> str:
    # a word with the tag of an empty element would be dropped when it is read
    if not _LABEL.fullmatch(label) or label == EMPTY:
        raise StructureError(f"the {what} {quoted(label)} cannot be written in brackets.")
    return label


def read(path: str | Path) -> Iterator[Analysis]:
    """The analyses of a file's segments: tokens with tags, and constituents. Words are joined with spaces."""
    for segment in segments(list(read_trees(path))):
        yield to_analysis(segment)


def segments(trees: Sequence[Bracketing]) -> Iterator[list[Bracketing]]:
    """The trees of each segment by their ``# seg = N`` marks."""
    return grouped(trees, (tree.seg for tree in trees))


def to_analysis(trees: Sequence[Bracketing], text: str | None = None) -> Analysis:
    """One segment. Where its raw ``text`` is given, the words are looked up in it."""
    words = [word for tree in trees for word in tree.words]
    first = trees[0] if trees else None
    origin = first.origin if first else "brackets"
    if text is None:
        text = " ".join(words)
    lines = [line for tree in trees for line in tree.word_lines]
    places = np.asarray(locate(text, words, origin, lines), np.int32).reshape(-1, 2)
    with at(origin, first.line if first else 1):
        sentence = np.repeat(np.arange(len(trees), dtype=np.int32), [len(tree.words) for tree in trees])
        nothing = ("",) * len(words)
        tags = tuple(tag for tree in trees for tag in tree.tags)
        tokens = Tokens(places[:, 0], places[:, 1], sentence, nothing, tags, nothing)
        return Analysis(text, tokens, constituency=join(trees))


def join(trees: Sequence[Bracketing]) -> ConstituencyTree:
    """The trees of several sentences as one forest."""
    labels: list[str] = []
    columns: list[list[int]] = [[], [], []]
    words = 0
    for item in trees:
        tree, nodes = item.tree, len(labels)
        labels.extend(tree.label)
        columns[0].extend(np.where(tree.parent < 0, -1, tree.parent + nodes).tolist())
        columns[1].extend((tree.start + words).tolist())
        columns[2].extend((tree.end + words).tolist())
        words += len(item.words)
    return ConstituencyTree(tuple(labels), *(np.asarray(column, np.int32) for column in columns))


def from_analysis(analysis: Analysis) -> list[str]:
    """The brackets of each sentence, one line each. Words without a tag get XX."""
    tree = analysis.constituency
    if tree is None:
        return []
    words = analysis.words
    return [_bracket(tree, root, words, analysis.tokens.xpos) for root in tree.roots()]


def write(analyses: Iterable[Analysis]) -> Iterator[str]:
    """The file's text, one piece for each analysis; the trees of a longer segment get its number as ``# seg``."""
    for number, analysis in enumerate(analyses, 1):
        lines = from_analysis(analysis)
        mark = f"# seg = {number}\n" if len(lines) > 1 else ""
        yield "".join(f"{mark}{line}\n" for line in lines)
