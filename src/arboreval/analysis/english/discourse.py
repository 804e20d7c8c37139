"""Discourse trees from scored spans: CKY over the units of each text, in blocks where a text has very many."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english.cky import best_spans, triangle

__all__ = ["ScoreSpans", "trees"]

Ints = NDArray[np.int64]
Span = tuple[int, int, str]
#: best labels and leads of spans given by their first and last words
ScoreSpans = Callable[[Ints, Ints], tuple[Ints, NDArray[np.float32]]]

#: over more units the tree is made of blocks of this many, then over the blocks
MAX_UNITS = 128


def trees(score: ScoreSpans, labels: Sequence[str], first: list[Ints], last: list[Ints]) -> list[list[Span]]:
    """The binary tree of each text, as labelled spans over its units; these are given by first and last words."""
    found: list[list[Span]] = [[] for _ in first]
    small = [k for k in range(len(first)) if 1 < len(first[k]) <= MAX_UNITS]
    made = _bracket(score, labels, [first[k] for k in small], [last[k] for k in small])
    for k, tree in zip(small, made, strict=True):
        found[k] = tree
    for k in range(len(first)):
        if len(first[k]) > MAX_UNITS:
            found[k] = _in_blocks(score, labels, first[k], last[k])
    return found


def _in_blocks(score: ScoreSpans, labels: Sequence[str], first: Ints, last: Ints) -> list[Span]:
    cuts = [*range(0, len(first), MAX_UNITS), len(first)]
    blocks = list(pairwise(cuts))
    inner = trees(score, labels, [first[a:b] for a, b in blocks], [last[a:b] for a, b in blocks])
    found = [(i + a, j + a, label) for (a, _), tree in zip(blocks, inner, strict=True) for i, j, label in tree]
    starts, ends = np.array([first[a] for a, _ in blocks]), np.array([last[b - 1] for _, b in blocks])
    (outer,) = trees(score, labels, [starts], [ends])
    return found + [(cuts[i], cuts[j], label) for i, j, label in outer]


def _bracket(score: ScoreSpans, labels: Sequence[str], first: list[Ints], last: list[Ints]) -> list[list[Span]]:
    found: list[list[Span]] = [[] for _ in first]
    order = sorted(range(len(first)), key=lambda k: len(first[k]))
    low = 0
    while low < len(order):
        # few units each and seldom many: one padded group for each doubling of their number
        limit = 2 * len(first[order[low]])
        high = low
        while high < len(order) and len(first[order[high]]) <= limit:
            high += 1
        group = order[low:high]
        lengths = np.array([len(first[k]) for k in group])
        start, more = zip(*(triangle(n) for n in lengths.tolist()), strict=True)
        begins = np.concatenate([first[k][i] for k, i in zip(group, start, strict=True)])
        ends = np.concatenate([last[k][i + m] for k, i, m in zip(group, start, more, strict=True)])
        label, lead = score(begins, ends)
        row = np.repeat(np.arange(len(group)), [len(i) for i in start])
        at = row, np.concatenate(start), np.concatenate(more)
        size = int(lengths.max())
        scores = np.zeros((len(group), size, size), np.float32)
        numbers = np.zeros(scores.shape, np.int64)
        scores[at], numbers[at] = lead, label
        chosen = np.nonzero(best_spans(scores, lengths))
        columns = (*(axis.tolist() for axis in chosen), numbers[chosen].tolist())
        for index, i, extra, number in zip(*columns, strict=True):
            if extra:
                found[group[index]].append((i, i + extra + 1, labels[number]))
        low = high
    return found
