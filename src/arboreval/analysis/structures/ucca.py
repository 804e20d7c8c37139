"""UCCA graphs: scenes, their parts, and who takes part in which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arboreval.analysis.structures.base import (
    BoolArray,
    IntArray,
    Structure,
    bool_array,
    in_range,
    int_array,
    same_length,
    strings,
)
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError


@dataclass(frozen=True, eq=False)
class UccaGraph(Structure):
    """Nodes 0, 1, ...; the primary edges make one tree per sentence, remote edges make it a graph."""

    n_nodes: int
    #: one root for each sentence, in their order
    roots: tuple[int, ...]
    parent: IntArray
    child: IntArray
    #: category of each edge; several are joined with a bar ("P|A")
    category: tuple[str, ...]
    remote: BoolArray
    #: ``term_word[k]`` is directly under ``term_node[k]``
    term_node: IntArray
    term_word: IntArray
    #: nodes that stand for something the text does not say
    implicit: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self._set(
            roots=_numbers("UccaGraph.roots", self.roots),
            parent=int_array("UccaGraph.parent", self.parent),
            child=int_array("UccaGraph.child", self.child),
            category=strings("UccaGraph.category", self.category),
            remote=bool_array("UccaGraph.remote", self.remote),
            term_node=int_array("UccaGraph.term_node", self.term_node),
            term_word=int_array("UccaGraph.term_word", self.term_word),
            implicit=frozenset(_numbers("UccaGraph.implicit", self.implicit)),
        )
        if isinstance(self.n_nodes, bool) or not isinstance(self.n_nodes, int) or self.n_nodes < 0:
            raise StructureError("UccaGraph.n_nodes must be a number of nodes.")
        columns = {"parent": self.parent, "child": self.child, "category": self.category, "remote": self.remote}
        same_length("UccaGraph", **columns)
        same_length("UccaGraph", term_node=self.term_node, term_word=self.term_word)
        for name in ("parent", "child", "term_node"):
            in_range(f"UCCA {name}", getattr(self, name), 0, self.n_nodes)
        if len(self.term_word) and int(self.term_word.min()) < 0:
            raise StructureError("a UCCA node has a word before the first one.")
        for node in (*self.roots, *self.implicit):
            if not 0 <= node < self.n_nodes:
                raise StructureError(f"UCCA node {node} is outside the range 0 to {self.n_nodes - 1}.")
        if not all(all(category.split("|")) for category in set(self.category)):
            raise StructureError("a UCCA edge has no category.")
        self._check_tree()
        self._check_leaves()

    def _check_tree(self) -> None:
        primary = ~self.remote
        if self.n_nodes > len(self.roots) + len(self.child):  # however many, before arrays of that size are made
            below = {*self.roots, *self.child[primary].tolist()}
            node = next(node for node in range(self.n_nodes) if node not in below)
            raise StructureError(f"UCCA node {node} has 0 primary parents instead of 1.")
        parents = np.bincount(self.child[primary], minlength=self.n_nodes)
        expected = np.ones(self.n_nodes, int)
        expected[list(self.roots)] = 0
        if len(set(self.roots)) != len(self.roots) or (parents != expected).any():
            wrong = np.flatnonzero(parents != expected)
            if not wrong.size:
                raise StructureError("a UCCA root is listed twice.")
            node = int(wrong[0])
            kind = "root" if node in self.roots else "node"
            raise StructureError(
                f"UCCA {kind} {node} has {int(parents[node])} primary parents instead of {int(expected[node])}."
            )
        up = np.full(self.n_nodes + 1, self.n_nodes)
        up[self.child[primary]] = self.parent[primary]
        for _ in range(self.n_nodes.bit_length()):
            up = up[up]
        if (up != self.n_nodes).any():
            raise StructureError(
                f"the parents of UCCA node {int(np.flatnonzero(up != self.n_nodes)[0])} run in a cycle."
            )
        if self.remote.any():
            self._check_remotes()

    def _check_remotes(self) -> None:
        """Together with the remote edges, too, no node is below itself."""
        parents = np.bincount(self.child, minlength=self.n_nodes).tolist()
        order = [node for node in self.roots if not parents[node]]
        for node in order:
            for child in self.children(node, remote=True):
                parents[child] -= 1
                if not parents[child]:
                    order.append(child)
        if len(order) < self.n_nodes:
            node = int(np.flatnonzero(parents)[0])
            raise StructureError(f"the parents of UCCA node {node} run in a cycle of remote edges.")

    def _check_leaves(self) -> None:
        words = np.sort(self.term_word)
        if (words[1:] == words[:-1]).any():
            word = int(words[1:][words[1:] == words[:-1]][0])
            raise StructureError(f"word {word} is under two UCCA nodes.")
        filled = np.zeros(self.n_nodes, bool)
        filled[self.term_node] = True
        for node in self.implicit:
            if filled[node]:
                raise StructureError(f"the implicit UCCA node {node} has words.")
        filled[self.parent] = True
        filled[list(self.implicit)] = True
        if not filled.all():
            raise StructureError(
                f"UCCA node {int(np.flatnonzero(~filled)[0])} has no words, no children and is not implicit."
            )

    def check(self, tokens: Tokens) -> None:
        """Refuse a graph that does not have one root for each sentence, over words of that sentence alone."""
        if len(self.roots) != tokens.n_sentences:
            raise StructureError(f"the UCCA graph has {len(self.roots)} roots for {tokens.n_sentences} sentences.")
        if len(self.term_word) and int(self.term_word.max()) >= len(tokens):
            raise StructureError(
                f"the UCCA graph has word {int(self.term_word.max())}, the text has {len(tokens)} words."
            )
        if tokens.n_sentences == 1:
            return  # every node is under its root
        sentence = np.full(self.n_nodes, -1)
        sentence[list(self.roots)] = np.arange(len(self.roots))
        primary = ~self.remote
        up = np.arange(self.n_nodes)
        up[self.child[primary]] = self.parent[primary]
        for _ in range(self.n_nodes.bit_length()):
            up = up[up]
        astray = self.term_word[sentence[up[self.term_node]] != tokens.sentence[self.term_word]]
        if len(astray):
            raise StructureError(f"word {int(astray[0])} is under the UCCA root of another sentence.")

    @cached_property
    def _edges_of(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for edge, parent in enumerate(self.parent.tolist()):
            lists[parent].append(edge)
        return tuple(tuple(edges) for edges in lists)

    @cached_property
    def _words_of(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for node, word in zip(self.term_node.tolist(), self.term_word.tolist(), strict=True):
            lists[node].append(word)
        return tuple(tuple(sorted(words)) for words in lists)

    def edges(self, node: int) -> tuple[int, ...]:
        """The numbers of the edges that leave a node, primary and remote."""
        return self._edges_of[node]

    def children(self, node: int, remote: bool = False) -> list[int]:
        """The nodes below a node by primary edges; with ``remote`` by remote ones as well."""
        return [int(self.child[e]) for e in self._edges_of[node] if remote or not self.remote[e]]

    def words_of(self, node: int) -> tuple[int, ...]:
        """The words directly under a node. Several make a unit that is not analysed further."""
        return self._words_of[node]

    def primary_parent(self, node: int) -> int:
        """The node above by a primary edge, -1 for a root."""
        return int(self._primary_parents[node])

    @cached_property
    def _primary_parents(self) -> IntArray:
        up = np.full(self.n_nodes, -1, np.int32)
        primary = ~self.remote
        up[self.child[primary]] = self.parent[primary]
        return up

    @cached_property
    def _yields(self) -> tuple[tuple[int, ...], ...]:
        order = list(self.roots)
        for node in order:
            order.extend(self.children(node))
        below = [list(words) for words in self._words_of]
        for node in reversed(order):
            if (above := self.primary_parent(node)) >= 0:
                below[above].extend(below[node])
        return tuple(tuple(sorted(words)) for words in below)

    def yield_of(self, node: int, remote: bool = False) -> tuple[int, ...]:
        """The words below a node by primary edges, in text order; with ``remote`` also of its remote children."""
        words = self._yields[node]
        if remote:
            far = (int(self.child[e]) for e in self._edges_of[node] if self.remote[e])
            return tuple(sorted({*words, *(word for child in far for word in self._yields[child])}))
        return words

    def scenes(self) -> list[int]:
        """The nodes that describe an action, a movement or a state: those with a P or S child."""
        found = {
            int(parent)
            for parent, category in zip(self.parent.tolist(), self.category, strict=True)
            if not {"P", "S"}.isdisjoint(category.split("|"))
        }
        return sorted(found)


def _numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    try:
        result = tuple(values)
    except TypeError:
        raise StructureError(f"{name} must be a list of node numbers.") from None
    if set(map(type, result)) <= {int}:
        return result
    if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in result):
        raise StructureError(f"{name} must hold node numbers.")
    return tuple(int(value) for value in result)
