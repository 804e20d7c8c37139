"""Dependency trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arboreval.analysis.structures.base import IntArray, Structure, in_range, int_array, same_length, strings
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError


@dataclass(frozen=True, eq=False)
class DependencyTree(Structure):
    """One head per word. The scheme says whose relations these are: ``ud2``, ``clear`` or a view derived from them."""

    #: index of each word's head, -1 for the root of a sentence
    head: IntArray
    relation: tuple[str, ...]
    scheme: str = "ud2"

    def __post_init__(self) -> None:
        self._set(
            head=int_array("DependencyTree.head", self.head),
            relation=strings("DependencyTree.relation", self.relation),
        )
        n = same_length("DependencyTree", head=self.head, relation=self.relation)
        if not isinstance(self.scheme, str) or not self.scheme:
            raise StructureError("a dependency tree must name its scheme.")
        self._set(scheme=str.__str__(self.scheme))
        in_range("head", self.head, -1, n)
        if n == 0:
            return
        # jump to the head's head's head ... twice as far each time: without a cycle everything ends at a root (slot n)
        up = np.where(self.head < 0, n, self.head)
        up = np.append(up, n)
        for _ in range(n.bit_length()):
            up = up[up]
        if (up != n).any():
            raise StructureError(f"the heads of word {int(np.flatnonzero(up != n)[0])} run in a cycle.")

    def check(self, tokens: Tokens) -> None:
        """Refuse a tree that does not fit the words: one root per sentence, heads inside the sentence."""
        if len(self) != len(tokens):
            raise StructureError(f"the dependency tree has {len(self)} words, the text has {len(tokens)}.")
        if tokens.n_sentences == 1 and int((self.head < 0).sum()) == 1:
            return
        roots = np.bincount(tokens.sentence[self.head < 0], minlength=tokens.n_sentences)
        if (roots != 1).any():
            i = int(np.flatnonzero(roots != 1)[0])
            raise StructureError(f"sentence {i} has {int(roots[i])} dependency roots instead of one.")
        crossing = np.flatnonzero((self.head >= 0) & (tokens.sentence[self.head] != tokens.sentence))
        if crossing.size:
            i = int(crossing[0])
            raise StructureError(f"the head of word {i}, word {int(self.head[i])}, is in another sentence.")

    def __len__(self) -> int:
        return len(self.head)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each word, from left to right."""
        lists: list[list[int]] = [[] for _ in range(len(self))]
        for word, head in enumerate(self.head.tolist()):
            if head >= 0:
                lists[head].append(word)
        return tuple(tuple(children) for children in lists)

    def roots(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(self.head < 0)]

    def subtree(self, word: int) -> list[int]:
        """The word and everything below it, in text order."""
        found = [word]
        for node in found:
            found.extend(self.children[node])
        return sorted(found)

    @cached_property
    def depth(self) -> IntArray:
        """The number of edges between each word and its root."""
        depth = np.zeros(len(self), np.int32)
        queue = self.roots()
        for word in queue:
            for child in self.children[word]:
                depth[child] = depth[word] + 1
                queue.append(child)
        depth.flags.writeable = False
        return depth

    def path_to_root(self, word: int) -> list[int]:
        """The word, its head, its head's head, ... up to the root."""
        path = [word]
        while (head := int(self.head[path[-1]])) >= 0:
            path.append(head)
        return path

    def is_projective(self) -> bool:
        """Whether no two edges cross, the edge from a sentence's root to the outside left aside."""
        edges = sorted((min(w, h), max(w, h)) for w, h in enumerate(self.head.tolist()) if h >= 0)
        open_ends: list[int] = []
        # sorted by left end, longer edges first: an edge must close before every edge that is still open
        for left, right in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
            while open_ends and open_ends[-1] <= left:
                open_ends.pop()
            if open_ends and open_ends[-1] < right:
                return False
            open_ends.append(right)
        return True
