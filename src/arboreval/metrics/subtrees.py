"""Subtrees of parsed texts and their vectors: what structure alignment compares.

The subtrees of many texts are made at once and lie in one flat table. Nothing loops over subtrees: a path's vector is
the maximum of a shorter path's and one more word's, the vector of a word with all its descendants that of its
children's, and the vector of a span that of two overlapping spans whose length is a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.dependency_views import case_as_head
from arboreval.analysis.head_rules import basic_category
from arboreval.analysis.structures import Analysis, DependencyTree, Vectors

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

#: what a subtree is: a sub-word, a word, a path down to a leaf, a word with all its descendants, a span of words
PIECE, WORD, PATH, DESCENDANTS, SPAN = range(5)
_NO_INTS = np.zeros(0, np.int32)
#: the vectors of a blank text, for which an analyzer need not make any
_BLANK = Vectors(np.zeros((0, 0), np.float32), _NO_INTS, _NO_INTS, np.zeros(0, np.bool_), _NO_INTS, 0, "")


@dataclass(frozen=True)
class Inventory:
    """Which subtrees there are, and what they carry besides their vector."""

    tree: str = "dep"  # dep | const
    feature: str = "none"  # none | label | head
    scheme: str = "ud"  # ud | prep-head
    dedup: str = "positions"  # positions | none
    include_tokens: bool = True
    collapse_unary: bool = True
    drop_punct: bool = False
    min_len: int = 1
    max_len: int = 0  # 0: no limit
    leaves: str = "word"  # word | piece


@dataclass(frozen=True, eq=False)
class Subtrees:
    """Subtrees of several texts; those of text ``t`` are the rows ``[offset[t], offset[t + 1])``.

    ``first`` and ``last`` say where a subtree is, by its kind: a sub-word and its word; a word twice; the top and the
    leaf of a path; the top of a word's descendants, twice; the first word and the one after the last of a span.
    """

    offset: Ints
    #: of unit length, or zero
    vector: Floats
    #: number of words
    length: Ints
    kind: Ints
    first: Ints
    last: Ints
    #: equal where the feature is equal, within one table
    feature: Ints
    #: the features by number
    names: tuple[str, ...]

    def of(self, text: int) -> slice:
        return slice(int(self.offset[text]), int(self.offset[text + 1]))


@dataclass(eq=False)
class _Rows:
    """Subtrees of one kind before they are sorted by text, all of them columns of equal length."""

    kind: int
    text: Ints
    first: Ints
    last: Ints
    length: Ints
    vector: Floats
    feature: Ints


class _Words:
    """The words of all texts in one line: those that have a vector and are not dropped."""

    def __init__(self, analyses: Sequence[Analysis], drop_punct: bool) -> None:
        kept, pieces, number, text, dims = [], [], [], [], 0
        for t, analysis in enumerate(analyses):
            vectors = analysis.vectors
            if vectors is None:
                if analysis.text.strip():
                    raise ValueError("subtrees need vectors.")
                vectors = _BLANK
            dims = max(dims, vectors.size)
            mine = vectors.covered(len(analysis))
            if drop_punct:
                mine &= np.array([tag != "PUNCT" for tag in analysis.tokens.upos], np.bool_)
            rows = np.flatnonzero(vectors.word >= 0)
            rows = rows[mine[vectors.word[rows]]]
            # sub-words of one word may be apart (a window's end, a space between them)
            rows = rows[np.argsort(vectors.word[rows], kind="stable")]
            kept.append(mine)
            if len(rows):
                pieces.append(vectors.values[rows])
            number.append(vectors.word[rows].astype(np.int64))
            text.append(np.full(int(mine.sum()), t, np.int64))
        #: for each text, which of its words are here
        self.kept = kept
        self.count = np.array([len(t) for t in text], np.int64)
        self.start = np.concatenate([[0], np.cumsum(self.count)]).astype(np.int64)
        self.text = _joined(text)
        #: number of each word in its own text
        self.number = _joined([np.flatnonzero(mine).astype(np.int64) for mine in kept])
        self.pieces: Floats = np.concatenate(pieces) if pieces else np.zeros((0, dims), np.float32)
        sizes = [np.bincount(n, minlength=len(m))[m] for n, m in zip(number, kept, strict=True)]
        self.piece_word = np.repeat(np.arange(len(self.text)), _joined(sizes))
        #: number of each sub-word within its word
        size = _joined(sizes)
        first = np.cumsum(size) - size
        self.piece_number = np.arange(len(self.pieces)) - np.repeat(first, size)
        self.vector = _maxima(self.pieces, first, size)

    def place(self, t: int) -> Ints:
        """For each word of a text, and its end, how many of the words before it are here."""
        return np.concatenate([[0], np.cumsum(self.kept[t])]).astype(np.int64)


class _Names:
    """Numbers for features."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, names: Sequence[str]) -> Ints:
        known = self.known
        return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def subtrees(analyses: Sequence[Analysis], inventory: Inventory) -> Subtrees:
    """The subtrees of every text. A text without the tree that is asked for is one flat subtree and its words; one
    with words but without a subtree that the inventory allows counts with its words."""
    words = _Words(analyses, inventory.drop_punct)
    names = _Names()
    make = _dependency if inventory.tree == "dep" else _constituency
    feature, parts = make(analyses, words, names, inventory)
    without = np.bincount(_joined([part.text for part in parts]), minlength=len(analyses)) == 0
    parts = [part for part in (*parts, _leaves(words, without[words.text], feature, inventory)) if len(part.text)]
    return _table(parts, len(analyses), words.vector.shape[1], tuple(names.known) or ("",))


def _table(parts: Sequence[_Rows], texts: int, dims: int, names: tuple[str, ...]) -> Subtrees:
    text = _joined([part.text for part in parts])
    order = np.argsort(text, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    vector = np.empty((len(order), dims), np.float32)
    done = 0
    for part in parts:
        norm = np.sqrt(np.einsum("ij,ij->i", part.vector, part.vector))[:, None]
        # a vector of zeros stays one: its cosine with anything is 0
        vector[place[done : done + len(norm)]] = part.vector / np.where(norm > 0, norm, np.float32(1))
        done += len(norm)
    columns = {
        name: _joined([getattr(part, name) for part in parts])[order] for name in ("first", "last", "length", "feature")
    }
    kind = _joined([np.full(len(part.text), part.kind, np.int64) for part in parts])[order]
    offset = np.concatenate([[0], np.cumsum(np.bincount(text, minlength=texts))]).astype(np.int64)
    return Subtrees(offset=offset, vector=vector, kind=kind, names=names, **columns)


def _leaves(words: _Words, chosen: NDArray[np.bool_], feature: Ints, inventory: Inventory) -> _Rows:
    """The chosen words as subtrees, or their sub-words; ``feature`` is that of each word."""
    if inventory.leaves == "piece":
        rows = np.flatnonzero(chosen[words.piece_word])
        word = words.piece_word[rows]
        first, vector, kind = words.piece_number[rows], words.pieces[rows], PIECE
    else:
        word = np.flatnonzero(chosen)
        first, vector, kind = words.number[word], words.vector[word], WORD
    ones = np.ones(len(word), np.int64)
    return _Rows(kind, words.text[word], first, words.number[word], ones, vector, feature[word])


def _fits(length: Ints, inventory: Inventory) -> NDArray[np.bool_]:
    fits = length >= inventory.min_len
    return fits & (length <= inventory.max_len) if inventory.max_len else fits


# --- dependency subtrees: spec section 7 -------------------------------------------------------------------------


def _dependency(
    analyses: Sequence[Analysis], words: _Words, names: _Names, inventory: Inventory
) -> tuple[Ints, list[_Rows]]:
    trees = [_view(analysis, inventory) for analysis in analyses]
    head, flat = _heads(trees, words)
    n = len(head)
    parsed = np.isin(words.text, flat, invert=True)
    feature = _dependency_features(analyses, trees, words, names, inventory)
    children = np.bincount(head[head >= 0], minlength=n)
    leaf = children == 0
    parts = []
    # N: every word
    if inventory.min_len <= 1:
        parts.append(_leaves(words, np.ones(n, np.bool_), feature, inventory))
    # A: every path from a word down to a leaf; the paths of one more word are made from those above the same leaf
    bottom = np.flatnonzero(leaf & parsed)
    top, vector, length = bottom, words.vector[bottom], 1
    paths_below = np.zeros(n, np.int64)
    if inventory.dedup == "none" and inventory.min_len <= 1:
        parts.append(_path(words, bottom, bottom, 1, vector, feature))
    paths_below[bottom] = 1
    while len(top := head[top]) and (up := np.flatnonzero(top >= 0)).size:
        top, bottom = top[up], bottom[up]
        length += 1
        np.add.at(paths_below, top, 1)
        if not inventory.max_len or length <= inventory.max_len:
            vector = np.maximum(vector[up], words.vector[top])
            if length >= inventory.min_len:
                parts.append(_path(words, top, bottom, length, vector, feature))
    # D: every word with all its descendants; one with a single leaf below it is a path (or a word) already
    size, vector = _descendants(head, words.vector)
    chosen = _fits(size, inventory) & parsed
    if inventory.dedup == "positions":
        chosen &= paths_below > 1
    rows = np.flatnonzero(chosen)
    number = words.number[rows]
    parts.append(_Rows(DESCENDANTS, words.text[rows], number, number, size[rows], vector[rows], feature[rows]))
    return feature, [*parts, *_flat(words, flat, names)]


def _path(words: _Words, top: Ints, bottom: Ints, length: int, vector: Floats, feature: Ints) -> _Rows:
    lengths = np.full(len(top), length, np.int64)
    return _Rows(PATH, words.text[top], words.number[top], words.number[bottom], lengths, vector, feature[top])


def _view(analysis: Analysis, inventory: Inventory) -> DependencyTree | None:
    tree = analysis.dependency
    if tree is None or inventory.scheme == "ud":
        return tree
    return case_as_head(tree, analysis.tokens)


def _heads(trees: Sequence[DependencyTree | None], words: _Words) -> tuple[Ints, list[int]]:
    """The head of every word, -1 for roots, and the texts without a tree. What hangs from a dropped word moves up."""
    heads, flat = [], []
    for t, tree in enumerate(trees):
        if tree is None:
            heads.append(np.full(int(words.count[t]), -1, np.int64))
            flat.append(t)
            continue
        head = tree.head.astype(np.int64)
        kept = words.kept[t]
        if not kept.all():
            while (gone := (head >= 0) & ~kept[head]).any():
                head = np.where(gone, head[head], head)
            head = head[kept]
        place = words.place(t)
        heads.append(np.where(head >= 0, words.start[t] + place[head], -1))
    return _joined(heads), flat


def _descendants(head: Ints, vector: Floats) -> tuple[Ints, Floats]:
    """The number of words in each word's subtree, and their maximum, from the deepest words upwards."""
    depth = np.zeros(len(head), np.int64)
    up = head.copy()
    while (below := up >= 0).any():
        depth += below
        up = np.where(below, head[up], -1)
    size, total = np.ones(len(head), np.int64), vector.copy()
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(depth == level)
        rows = rows[np.argsort(head[rows], kind="stable")]
        heads, first, children = np.unique(head[rows], return_index=True, return_counts=True)
        size[heads] += np.add.reduceat(size[rows], first)
        total[heads] = np.maximum(total[heads], _maxima(total[rows], first, children))
    return size, total


def _maxima(values: Floats, first: Ints, size: Ints) -> Floats:
    """The maximum, by column, of each group of ``size`` rows from ``first`` on. Groups are small, mostly of one row,
    and ``np.maximum.reduceat`` takes several times as long."""
    result = values[first]
    for k in range(1, int(size.max(initial=0))):
        rows = np.flatnonzero(size > k)
        result[rows] = np.maximum(result[rows], values[first[rows] + k])
    return result


def _dependency_features(
    analyses: Sequence[Analysis],
    trees: Sequence[DependencyTree | None],
    words: _Words,
    names: _Names,
    inventory: Inventory,
) -> Ints:
    """The feature of the subtrees with each word as their top: its form, or its relation."""
    if inventory.feature == "none":
        return np.zeros(len(words.text), np.int64)
    texts = []
    for analysis, tree, kept in zip(analyses, trees, words.kept, strict=True):
        if inventory.feature == "head":
            texts += _chosen(analysis.tokens.lower_forms(analysis.text), kept)
        else:
            texts += _chosen(tree.relation if tree is not None else ("",) * len(kept), kept)
    return names.number(texts)


# --- constituency subtrees: spec section 5 -----------------------------------------------------------------------


def _constituency(
    analyses: Sequence[Analysis], words: _Words, names: _Names, inventory: Inventory
) -> tuple[Ints, list[_Rows]]:
    text, start, end, features, flat = [], [], [], [], []
    phrase = np.zeros(len(words.text), np.bool_)
    word_features: list[str] = []
    single: dict[int, str] = {}
    for t, analysis in enumerate(analyses):
        kept, offset = words.kept[t], int(words.start[t])
        word_features += _chosen(_token_features(analysis, inventory), kept)
        tree = analysis.constituency
        if tree is None:
            flat.append(t)
            continue
        place = words.place(t)
        low, high = place[tree.start].tolist(), place[tree.end].tolist()
        heads = tree.heads(analysis.tokens).tolist() if inventory.feature == "head" else []
        forms = analysis.tokens.lower_forms(analysis.text) if heads else []
        above: list[tuple[int, int]] = []
        parents = tree.parent.tolist()
        for node, (i, j, parent) in enumerate(zip(low, high, parents, strict=True)):
            # words that were dropped may leave nothing, or two phrases over the same words: these are one chain then
            same = parent >= 0 and above[parent] == (i, j) and parents[parent] >= 0
            above.append((i, j))
            if parent < 0 or i == j or (same and inventory.collapse_unary):
                continue
            name = forms[heads[node]] if heads else basic_category(tree.label[node])
            if j - i == 1 and not phrase[offset + i]:
                phrase[offset + i] = True
                single[offset + i] = name
            elif j - i > 1 or not inventory.collapse_unary:
                text.append(t)
                start.append(offset + i)
                end.append(offset + j)
                features.append(name)
    for word, name in single.items():
        word_features[word] = name
    feature = names.number(word_features) if inventory.feature != "none" else np.zeros(len(words.text), np.int64)
    parts = []
    if inventory.min_len <= 1:
        chosen = np.ones(len(words.text), np.bool_) if inventory.include_tokens else phrase
        parts.append(_leaves(words, chosen, feature, inventory))
    low_, high_ = np.array(start, np.int64), np.array(end, np.int64)
    number = names.number(features) if inventory.feature != "none" else np.zeros(len(low_), np.int64)
    chosen = _fits(high_ - low_, inventory)
    parts.append(_spans(words, np.array(text, np.int64)[chosen], low_[chosen], high_[chosen], number[chosen]))
    return feature, [*parts, *_flat(words, flat, names)]


def _token_features(analysis: Analysis, inventory: Inventory) -> Sequence[str]:
    if inventory.feature == "head":
        return analysis.tokens.lower_forms(analysis.text)
    return analysis.tokens.xpos


def _spans(words: _Words, text: Ints, start: Ints, end: Ints, feature: Ints) -> _Rows:
    """Spans of words by their numbers among all words."""
    length = end - start
    vector = np.empty((len(start), words.vector.shape[1]), np.float32)
    # the words' maxima over 1, 2, 4, ... words to the right
    table, size = words.vector, 1
    while len(length):
        rows = np.flatnonzero((length >= size) & (length < 2 * size))
        vector[rows] = np.maximum(table[start[rows]], table[end[rows] - size])
        if 2 * size > int(length.max()):
            break
        # the last rows reach beyond the text and are never read
        table = np.maximum(table, np.concatenate([table[size:], table[len(table) - size :]]))
        size *= 2
    first = words.number[start]
    last = words.number[end - 1] + 1
    return _Rows(SPAN, text, first, last, length, vector, feature)


def _flat(words: _Words, flat: Sequence[int], names: _Names) -> list[_Rows]:
    """Each text without a tree as one subtree, where it has more than one word: spec 9.2."""
    texts = np.array([t for t in flat if words.count[t] > 1], np.int64)
    if not len(texts):
        return []
    feature = names.number(["the whole text"] * len(texts))
    return [_spans(words, texts, words.start[texts], words.start[texts + 1], feature)]


def _chosen(names: Sequence[str], kept: NDArray[np.bool_]) -> list[str]:
    return list(names) if kept.all() else [name for name, keep in zip(names, kept.tolist(), strict=True) if keep]


def _joined(columns: Sequence[NDArray[np.int64]]) -> Ints:
    return np.concatenate(columns).astype(np.int64) if columns else np.zeros(0, np.int64)
