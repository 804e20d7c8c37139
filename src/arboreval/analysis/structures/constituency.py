"""Constituency trees with Penn Treebank labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arboreval.analysis.structures.base import IntArray, Structure, check_spans, int_array, same_length, strings
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError

TOP = "TOP"


@dataclass(frozen=True, eq=False)
class ConstituencyTree(Structure):
    """Phrases in pre-order, one tree with the label TOP for each sentence.

    Part-of-speech tags are no nodes (they are ``Tokens.xpos``), so a node's children are phrases and bare words.
    """

    label: tuple[str, ...]
    #: index of each node's parent, -1 for a TOP
    parent: IntArray
    #: word span of each node
    start: IntArray
    end: IntArray

    def __post_init__(self) -> None:
        self._set(
            label=strings("ConstituencyTree.label", self.label),
            parent=int_array("ConstituencyTree.parent", self.parent),
            start=int_array("ConstituencyTree.start", self.start),
            end=int_array("ConstituencyTree.end", self.end),
        )
        same_length("ConstituencyTree", label=self.label, parent=self.parent, start=self.start, end=self.end)
        check_spans("constituent", self.start, self.end)
        starts, ends = self.start.tolist(), self.end.tolist()
        path: list[int] = []
        # first word that each open node has left for its next child; the last entry is for the forest
        free = [0]
        for node, (parent, label) in enumerate(zip(self.parent.tolist(), self.label, strict=True)):
            if not label:
                raise StructureError(f"constituent {node} has no label.")
            while path and path[-1] != parent:
                path.pop()
                free.pop()
            if parent == -1:
                if label != TOP:
                    raise StructureError(f"constituent {node} ({label}) has no parent; only {TOP} has none.")
                if starts[node] != free[-1]:
                    raise StructureError(f"{TOP} {node} starts at word {starts[node]} instead of word {free[-1]}.")
            else:
                if not path:
                    raise StructureError(f"constituent {node} has the parent {parent}, which is not open in pre-order.")
                if starts[node] < free[-1] or ends[node] > ends[parent]:
                    raise StructureError(
                        f"constituent {node} ({label}, words {starts[node]} to {ends[node]}) overlaps a sibling or "
                        f"leaves its parent."
                    )
            free[-1] = ends[node]
            path.append(node)
            free.append(starts[node])

    def check(self, tokens: Tokens) -> None:
        """Refuse a forest that does not have one tree over the words of each sentence."""
        roots = self.roots()
        spans = [(int(self.start[i]), int(self.end[i])) for i in roots]
        if spans != tokens.sentence_spans():
            raise StructureError(
                f"the constituency trees cover the word spans {spans[:3]}, but the sentences are "
                f"{tokens.sentence_spans()[:3]}."
            )

    def __len__(self) -> int:
        return len(self.label)

    def roots(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(self.parent < 0)]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The child phrases of each node, from left to right."""
        lists: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                lists[parent].append(node)
        return tuple(tuple(children) for children in lists)

    def items(self, node: int) -> list[tuple[int, int]]:
        """What a node consists of, from left to right: ``(phrase, -1)`` or ``(-1, word)``."""
        found: list[tuple[int, int]] = []
        word = int(self.start[node])
        for child in self.children[node]:
            found.extend((-1, w) for w in range(word, int(self.start[child])))
            found.append((child, -1))
            word = int(self.end[child])
        found.extend((-1, w) for w in range(word, int(self.end[node])))
        return found

    def unary_chains(self) -> list[tuple[int, ...]]:
        """The nodes other than TOP, those over the same words together, top-most first."""
        chains: list[tuple[int, ...]] = []
        for node in range(len(self)):
            if self.parent[node] < 0:
                continue
            above = int(self.parent[node])
            same = self.start[above] == self.start[node] and self.end[above] == self.end[node]
            if chains and same and chains[-1][-1] == above:
                chains[-1] = (*chains[-1], node)
            else:
                chains.append((node,))
        return chains

    def heads(self, tokens: Tokens) -> IntArray:
        """The lexical head word of every node by the Collins rules (see :mod:`arboreval.analysis.head_rules`)."""
        from arboreval.analysis.head_rules import lexical_heads

        return lexical_heads(self, tokens)
