"""Discourse trees as labelled spans over elementary discourse units (EDUs), and back.

A label is nuclearity and relation class, as in ``NS-elaboration``: which of the two children is the nucleus, and the
relation that joins them. Classes are the 15 of the GUM corpus, of which its relation names are refinements
(``joint-list`` is of class ``joint``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from arboreval.analysis.structures import RstTree

__all__ = ["CLASSES", "Span", "brackets_to_spans", "relation_class", "spans_to_tree", "tree_to_spans"]

CLASSES = (
    "adversative",
    "attribution",
    "causal",
    "context",
    "contingency",
    "elaboration",
    "evaluation",
    "explanation",
    "joint",
    "mode",
    "organization",
    "purpose",
    "restatement",
    "same-unit",
    "topic",
)

Span = tuple[int, int, str]


def relation_class(relation: str) -> str:
    """Return the class of a relation name; a class is its own class."""
    name = relation if relation in CLASSES else relation.split("-", 1)[0]
    if name not in CLASSES:
        raise ValueError(f"unknown discourse relation: {relation!r}")
    return name


def brackets_to_spans(tree: Any) -> list[Span]:
    """Return the labelled spans of a tree ``[nuclearity, relation, child, child]`` with EDU numbers as leaves.

    Spans are in pre-order; a single EDU has none.
    """
    spans: list[Span] = []
    done: list[tuple[int, int]] = []  # EDU span of each finished subtree that has not yet joined its parent
    # document trees are too deep for recursion; a node comes back after its children with the slot of its span
    stack: list[tuple[Any, int]] = [(tree, -1)]
    while stack:
        node, slot = stack.pop()
        if isinstance(node, int):
            done.append((node, node + 1))
        elif slot < 0:
            stack.append((node, len(spans)))
            spans.append((0, 0, ""))
            stack.extend((child, -1) for child in reversed(node[2:]))
        else:
            size = len(node) - 2
            children = done[-size:]
            for left, right in pairwise(children):
                if left[1] != right[0]:
                    raise ValueError(f"subtrees {left} and {right} of a discourse tree are not adjacent")
            del done[-size:]
            done.append((children[0][0], children[-1][1]))
            spans[slot] = (*done[-1], f"{node[0]}-{relation_class(node[1])}")
    return spans


def spans_to_tree(edu_start: Sequence[int], spans: Iterable[Span]) -> RstTree:
    """Return the tree over EDUs that start at the given words, from the spans of a binary tree over all of them."""
    n_edus = len(edu_start)
    leaves = [(edu, edu + 1, "") for edu in range(n_edus)]
    nodes = sorted([*spans, *leaves], key=lambda span: (span[0], -span[1]))
    if len(nodes) != max(2 * n_edus - 1, 0):
        raise ValueError(f"a binary tree over {n_edus} EDUs has {n_edus - 1} spans, not {len(nodes) - n_edus}")
    parent, nuclearity, relation = [], [], []
    stack: list[int] = []
    for node, (first, last, label) in enumerate(nodes):
        while stack and nodes[stack[-1]][1] <= first:
            stack.pop()
        if stack and nodes[stack[-1]][1] < last:
            raise ValueError(f"discourse span {first}-{last} crosses another span")
        above = stack[-1] if stack else -1
        parent.append(above)
        if above < 0:
            nuclearity.append("root")
        else:
            # the first letter of a label is the role of the left child, the second that of the right one
            nuclearity.append(nodes[above][2][0 if first == nodes[above][0] else 1])
        relation.append(label[3:])
        stack.append(node)
    return RstTree(
        np.asarray(edu_start, np.int32),
        np.asarray(parent, np.int32),
        np.asarray([first for first, _, _ in nodes], np.int32),
        np.asarray([last for _, last, _ in nodes], np.int32),
        tuple(nuclearity),
        tuple(relation),
    )


def tree_to_spans(tree: RstTree) -> list[Span]:
    """Return the labelled spans of a tree, in pre-order; nodes with more than two children branch to the right."""
    roles: list[list[str]] = [[] for _ in range(len(tree))]
    starts: list[list[int]] = [[] for _ in range(len(tree))]
    first, last = tree.first.tolist(), tree.last.tolist()
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            roles[parent].append(tree.nuclearity[node])
            starts[parent].append(first[node])
    spans: list[Span] = []
    for node, children in enumerate(roles):
        name = relation_class(tree.relation[node]) if children else ""
        for position in range(len(children) - 1):
            left, rest = children[position], children[position + 1 :]
            # a rest with a nucleus in it is nuclear
            label = f"{left}{'N' if 'N' in rest else 'S'}-{name}"
            spans.append((starts[node][position], last[node], label))
    return sorted(spans, key=lambda span: (span[0], -span[1]))
