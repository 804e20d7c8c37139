"""Constituency trees as labelled spans, and back.

Phrases over the same words are one span whose label joins theirs top first with ``+`` (``S+VP``); TOP is no span.
Spans belong to one sentence and count its words from 0; a tree holds all sentences of a segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from arboreval.analysis.structures import ConstituencyTree

__all__ = ["Span", "spans_to_tree", "tree_to_spans"]

Span = tuple[int, int, str]


def spans_to_tree(lengths: Sequence[int], spans: Sequence[Iterable[Span]]) -> ConstituencyTree:
    """Return the tree of a segment from the number of words and the nested spans of each of its sentences."""
    label: list[str] = []
    parent: list[int] = []
    start: list[int] = []
    end: list[int] = []
    offset = 0
    for length, sentence in zip(lengths, spans, strict=True):
        stack = [len(label)]
        label.append("TOP")
        parent.append(-1)
        start.append(offset)
        end.append(offset + length)
        # outer spans first among those that start together: this is pre-order
        for first, last, chain in sorted(sentence, key=lambda span: (span[0], -span[1])):
            if not 0 <= first < last <= length:
                raise ValueError(f"span {first}-{last} is outside a sentence of {length} words")
            while end[stack[-1]] - offset <= first:
                stack.pop()
            if end[stack[-1]] - offset < last:
                raise ValueError(f"span {first}-{last} crosses another span")
            for phrase in chain.split("+"):
                parent.append(stack[-1])
                stack.append(len(label))
                label.append(phrase)
                start.append(offset + first)
                end.append(offset + last)
        offset += length
    arrays = (np.asarray(column, np.int32) for column in (parent, start, end))
    return ConstituencyTree(tuple(label), *arrays)


def tree_to_spans(tree: ConstituencyTree) -> list[list[Span]]:
    """Return the labelled spans of every sentence, in pre-order."""
    sentences: list[dict[tuple[int, int], list[str]]] = []
    offset = 0
    columns = zip(tree.label, tree.parent.tolist(), tree.start.tolist(), tree.end.tolist(), strict=True)
    for label, parent, start, end in columns:
        if parent < 0:
            sentences.append({})
            offset = start
        else:
            sentences[-1].setdefault((start - offset, end - offset), []).append(label)
    return [[(start, end, "+".join(chain)) for (start, end), chain in chains.items()] for chains in sentences]
