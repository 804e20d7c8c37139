"""Readers of the treebanks and annotation files that the training data is built from."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Span = tuple[int, int, str]

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_NO_SPACE_BEFORE = re.compile(r"""[,.;:?!%)\]}…]+|n['’]t|['’](s|S|ve|re|ll|d|m|VE|RE|LL|D|M)?|''""")
_NO_SPACE_AFTER = re.compile(r"[(\[{$#£€]|``")


def read_lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")


def read_json(path: Path) -> Iterator[dict[str, Any]]:
    for line in read_lines(path):
        yield json.loads(line)


@dataclass
class Tree:
    """One sentence of a CoNLL-U file."""

    id: str
    doc: str
    paragraph: bool
    words: list[str] = field(default_factory=list)
    space: list[int] = field(default_factory=list)
    lemma: list[str] = field(default_factory=list)
    upos: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    deprel: list[str] = field(default_factory=list)


def read_conllu(path: Path) -> Iterator[Tree]:
    """Yield the sentences; words are the syntactic ones, parts of a multiword token have no space between them."""
    doc, comments, rows = "", {}, []  # type: ignore[var-annotated]
    for line in [*read_lines(path), ""]:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line:
            rows.append(line.split("\t"))
        elif rows:
            doc = comments.get("newdoc id", doc)
            new = "newpar" in comments or "newdoc id" in comments or "newpar id" in comments
            yield _conllu_sentence(Tree(comments["sent_id"], doc, new), rows)
            comments, rows = {}, []


def _conllu_sentence(tree: Tree, rows: list[list[str]]) -> Tree:
    last, outer_space = 0, 1
    for row in rows:
        follows = 0 if "SpaceAfter=No" in row[9].split("|") else 1
        if "-" in row[0]:
            last, outer_space = int(row[0].split("-")[1]), follows
            continue
        number = int(row[0])
        tree.words.append(row[1])
        tree.space.append(follows if number > last else outer_space if number == last else 0)
        tree.lemma.append(row[2])
        tree.upos.append(row[3])
        tree.xpos.append(row[4])
        tree.head.append(int(row[6]) - 1)
        tree.deprel.append(row[7])
    return tree


def read_conll_tags(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (sentence id, tokens, tags) of a two-column file."""
    identifier, words, tags = "", [], []  # type: ignore[var-annotated]
    for line in [*read_lines(path), ""]:
        if line.startswith("# sent_id = "):
            identifier = line[12:]
        elif line:
            word, tag = line.split("\t")
            words.append(word)
            tags.append(tag)
        elif words:
            yield identifier, words, tags
            words, tags = [], []


@dataclass
class Brackets:
    words: list[str]
    tags: list[str]
    spans: list[Span]


def read_brackets(line: str, drop: frozenset[str] = frozenset()) -> Brackets:
    """Read one bracketed tree; spans are in pre-order, unary chains joined top first, TOP and ``drop`` left out."""
    words: list[str] = []
    tags: list[str] = []
    nodes: list[list[Any]] = []  # [start, end, label] in pre-order
    open_nodes: list[int] = []
    pieces = re.findall(r"\(|\)|[^\s()]+", line)
    position = 0
    while position < len(pieces):
        piece = pieces[position]
        if piece == "(":
            label, after = pieces[position + 1], pieces[position + 2]
            if after == "(":
                open_nodes.append(len(nodes))
                nodes.append([len(words), -1, label])
                position += 2
            else:
                tags.append(label)
                words.append(_BRACKETS.get(after, after))
                position += 4
        else:
            nodes[open_nodes.pop()][1] = len(words)
            position += 1
    chains: dict[tuple[int, int], list[str]] = {}
    for start, end, label in nodes:
        if label != "TOP" and label not in drop:
            chain = chains.setdefault((start, end), [])
            if not chain or chain[-1] != label:
                chain.append(label)
    return Brackets(words, tags, [(start, end, "+".join(chain)) for (start, end), chain in chains.items()])


def plain_quotes(words: list[str]) -> list[str]:
    """Undo the quote marks of the Penn treebank."""
    return ['"' if word in ("``", "''") else word for word in words]


def letters(words: list[str]) -> str:
    """What two spellings of one sentence share: its letters and digits, whatever their case."""
    return "".join(char for word in words for char in word.lower() if char.isalnum())


def guess_spaces(words: list[str]) -> list[int]:
    """Guess where raw text has spaces, for sources that give tokens only. ``words`` still have Penn quotes."""
    space = [1] * len(words)
    inside_quotes = False
    for index, word in enumerate(words):
        glued_left = index > 0 and _NO_SPACE_BEFORE.fullmatch(word) is not None
        glued_right = _NO_SPACE_AFTER.fullmatch(word) is not None
        if word == '"':
            glued_left, glued_right = inside_quotes, not inside_quotes
            inside_quotes = not inside_quotes
        elif word == "''":
            glued_left, inside_quotes = True, False
        elif word == "``":
            inside_quotes = True
        if glued_left and index > 0:
            space[index - 1] = 0
        if glued_right:
            space[index] = 0
        # split hyphens (CRAFT) and slashes stand between the words they join
        if word in ("-", "/") and 0 < index < len(words) - 1 and words[index - 1][-1].isalnum():
            space[index - 1] = space[index] = 0
    return space
