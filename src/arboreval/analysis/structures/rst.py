"""Discourse trees of rhetorical structure theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from arboreval.analysis.structures.base import (
    IntArray,
    Structure,
    check_spans,
    in_range,
    int_array,
    same_length,
    strings,
)
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError

#: a leaf is an EDU number, an inner node ``[nuclearity, relation, child, child, ...]`` with nuclearity NS, SN or NN
Nested: TypeAlias = Any

ROLES = ("N", "S", "root")


@dataclass(frozen=True, eq=False)
class RstTree(Structure):
    """One tree over the elementary discourse units (EDUs) of a segment, nodes in pre-order, one leaf per EDU."""

    #: word at which each EDU starts; the first is 0
    edu_start: IntArray
    #: index of each node's parent, -1 for the root
    parent: IntArray
    #: EDU span of each node
    first: IntArray
    last: IntArray
    #: what the node is in its parent: "N" (nucleus), "S" (satellite) or "root"
    nuclearity: tuple[str, ...]
    #: the relation that joins the node's children, "" for a leaf
    relation: tuple[str, ...]

    def __post_init__(self) -> None:
        self._set(
            edu_start=int_array("RstTree.edu_start", self.edu_start),
            parent=int_array("RstTree.parent", self.parent),
            first=int_array("RstTree.first", self.first),
            last=int_array("RstTree.last", self.last),
            nuclearity=strings("RstTree.nuclearity", self.nuclearity),
            relation=strings("RstTree.relation", self.relation),
        )
        m = same_length(
            "RstTree",
            parent=self.parent,
            first=self.first,
            last=self.last,
            nuclearity=self.nuclearity,
            relation=self.relation,
        )
        edus = len(self.edu_start)
        if edus and (self.edu_start[0] != 0 or (self.edu_start[1:] <= self.edu_start[:-1]).any()):
            raise StructureError("EDU starts must begin with word 0 and increase.")
        if (m == 0) != (edus == 0):
            raise StructureError(f"a discourse tree with {m} nodes cannot have {edus} EDUs.")
        check_spans("discourse node", self.first, self.last)
        in_range("discourse parent", self.parent, -1, m)
        if m:
            self._check_tree(edus)

    def _check_tree(self, edus: int) -> None:
        first, last = self.first.tolist(), self.last.tolist()
        if self.parent[0] != -1 or self.nuclearity[0] != "root" or (first[0], last[0]) != (0, edus):
            raise StructureError(f"the first discourse node must be the root over all {edus} EDUs.")
        path = [0]
        # the EDU at which the next child of each open node must start
        free = [0]
        children = np.bincount(self.parent[1:][self.parent[1:] >= 0], minlength=len(first))
        nuclei = {0: 0}
        for node in range(1, len(first)):
            parent = int(self.parent[node])
            while path and path[-1] != parent:
                closed = path.pop()
                if free.pop() != last[closed] and children[closed]:
                    raise StructureError(f"the children of discourse node {closed} do not fill it.")
            if not path:
                raise StructureError(f"discourse node {node} has the parent {parent}, which is not open in pre-order.")
            if first[node] != free[-1] or last[node] > last[parent]:
                raise StructureError(f"discourse node {node} leaves a gap, overlaps its sibling or leaves its parent.")
            if self.nuclearity[node] not in ("N", "S"):
                raise StructureError(f"discourse node {node} is neither N nor S but {self.nuclearity[node]!r:.80}.")
            nuclei[parent] = nuclei.get(parent, 0) + (self.nuclearity[node] == "N")
            free[-1] = last[node]
            path.append(node)
            free.append(first[node])
        for node, at in zip(path, free, strict=True):
            if children[node] and at != last[node]:
                raise StructureError(f"the children of discourse node {node} do not fill it.")
        for node, count in enumerate(children.tolist()):
            if count == 0:
                if last[node] - first[node] != 1:
                    raise StructureError(f"discourse node {node} has no children but more than one EDU.")
                if self.relation[node]:
                    raise StructureError(
                        f"discourse node {node} is a leaf but has the relation {self.relation[node]!r:.80}."
                    )
            elif count == 1:
                raise StructureError(f"discourse node {node} has a single child.")
            elif not nuclei[node]:
                raise StructureError(f"discourse node {node} has no nucleus.")
            elif not self.relation[node]:
                raise StructureError(f"discourse node {node} has no relation.")

    def check(self, tokens: Tokens) -> None:
        """Refuse a tree whose EDUs leave the text; words need EDUs."""
        if len(tokens) and not len(self.edu_start):
            raise StructureError("the discourse tree has no EDUs, the text has words.")
        if len(self.edu_start) and int(self.edu_start[-1]) >= len(tokens):
            raise StructureError(
                f"the last EDU starts at word {int(self.edu_start[-1])}, the text has {len(tokens)} words."
            )

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def n_edus(self) -> int:
        return len(self.edu_start)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, from left to right."""
        lists: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                lists[parent].append(node)
        return tuple(tuple(children) for children in lists)

    def edu_spans(self, n_words: int) -> list[tuple[int, int]]:
        """The word range of each EDU in a text of ``n_words`` words."""
        starts = self.edu_start.tolist()
        return list(zip(starts, [*starts[1:], n_words], strict=True)) if starts else []

    def word_span(self, node: int, n_words: int) -> tuple[int, int]:
        """The word range of a node in a text of ``n_words`` words."""
        last = int(self.last[node])
        return int(self.edu_start[self.first[node]]), int(self.edu_start[last]) if last < self.n_edus else n_words

    def arrangement(self, node: int) -> str:
        """The nuclearity of an inner node by its children: NS, SN, NN (any number of nuclei), or longer if mixed."""
        roles = "".join(self.nuclearity[child] for child in self.children[node])
        return "NN" if set(roles) == {"N"} else roles

    @classmethod
    def from_nested(cls, edu_start: Sequence[int] | IntArray, tree: Nested) -> RstTree:
        """The tree written as ``[nuclearity, relation, child, child, ...]`` with EDU numbers as leaves."""
        parent: list[int] = []
        first: list[int] = []
        last: list[int] = []
        nuclearity: list[str] = []
        relation: list[str] = []
        # a stack instead of recursion: long documents make deep right-branching trees
        todo: list[tuple[Nested, int, str]] = [(tree, -1, "root")]
        while todo:
            node, above, role = todo.pop()
            here = len(parent)
            parent.append(above)
            nuclearity.append(role)
            if isinstance(node, int) and not isinstance(node, bool):
                first.append(node)
                last.append(node + 1)
                relation.append("")
                continue
            roles, label, children = _inner(node)
            first.append(-1)
            last.append(-1)
            relation.append(label)
            todo.extend((child, here, r) for child, r in zip(reversed(children), reversed(roles), strict=True))
        # children follow their parents, so going backwards sees all children of a node before the node
        for here in range(len(parent) - 1, 0, -1):
            above = parent[here]
            first[above] = first[here]
            last[above] = max(last[above], last[here])
        return cls(
            int_array("RstTree.edu_start", edu_start),
            int_array("RstTree.parent", parent),
            int_array("RstTree.first", first),
            int_array("RstTree.last", last),
            tuple(nuclearity),
            tuple(relation),
        )

    def nested(self) -> Nested:
        """The inverse of :meth:`from_nested`; None for a tree without EDUs."""
        if not len(self):
            return None
        made: list[Nested] = [None] * len(self)
        for node in range(len(self) - 1, -1, -1):
            kids = self.children[node]
            if kids:
                made[node] = [self.arrangement(node), self.relation[node], *(made[kid] for kid in kids)]
            else:
                made[node] = int(self.first[node])
        return made[0]


def _inner(node: Nested) -> tuple[str, str, list[Nested]]:
    if not isinstance(node, list | tuple) or len(node) < 4 or not all(isinstance(part, str) for part in node[:2]):
        raise StructureError(
            f"a discourse node must be an EDU number or [nuclearity, relation, child, child], not {node!r:.80}."
        )
    roles, relation, *children = node
    if roles == "NN":
        roles = "N" * len(children)
    if len(roles) != len(children) or set(roles) - {"N", "S"}:
        raise StructureError(
            f"a discourse node with {len(children)} children cannot have the nuclearity {roles!r:.80}."
        )
    return roles, relation, children
