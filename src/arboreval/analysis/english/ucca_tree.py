"""UCCA graphs as labelled spans, and back.

A span parser predicts nested, continuous spans; a UCCA graph has discontinuous units, remote edges and words that
belong to no unit of their own. The conversion follows the winner of SemEval-2019 task 1 (Jiang et al. 2019) in its
idea, with labels kept few:

* the category of a unit's incoming edge is the label of its span; units that cover the same words are one span whose
  label joins the categories top first with ``+``; the whole sentence bears ``ROOT``;
* a discontinuous unit keeps its leftmost part; each further part hangs as a span labelled ``CATEGORY^`` under the
  lowest ancestor that also covers the gap, and is given back to the outermost (then nearest) unit of that category
  to the left of the gap;
* an unanalysable unit of several words is a span without spans inside;
* what a parser puts right under the root though it is no scene, linker or mark is gathered into one scene;
* punctuation is a one-word span ``U`` wherever the annotators attached it (the measure ignores it, so its place
  would only be noise to learn);
* remote edges are listed apart, as the spans of parent and child; units without words are left out.

Graphs are dictionaries with the keys of the UCCA JSON format: ``tokens``, ``n``, ``roots``, ``edges`` (``[parent,
child, category, remote]``), ``terms`` and ``implicit``. A graph here is one sentence: it has one root.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from arboreval.analysis.structures import UccaGraph

__all__ = [
    "CONTINUATION",
    "PUNCTUATION",
    "ROOT",
    "Remote",
    "Span",
    "graph_to_spans",
    "join_sentences",
    "spans_to_graph",
]

ROOT = "ROOT"
PUNCTUATION = "U"
SCENE = "H"
CONTINUATION = "^"

#: what stands right under a root: in 7,838 graphs of the training and development sets nothing else but 16 units
_ABOVE_SCENES = frozenset({SCENE, PUNCTUATION, "L"})

Span = tuple[int, int, str]
Remote = tuple[tuple[int, int], tuple[int, int], str]


class _Unit:
    """A unit while a graph is taken apart or put together: mutable.

    The unit above and the words (a set) are known only where it is taken apart: without them units form no cycles, and
    what was put together need not wait for the garbage collector.
    """

    __slots__ = ("children", "label", "number", "parent", "span", "terms", "words")
    parent: _Unit | None
    words: set[int]

    def __init__(self, label: str, parent: _Unit | None) -> None:
        self.label = label
        self.children: list[_Unit] = []
        self.terms: list[int] = []
        self.span = (0, 0)
        #: in the graph that is made; -1 while it has none
        self.number = -1
        if parent is not None:
            parent.children.append(self)


def _preorder(root: _Unit) -> list[_Unit]:
    order, stack = [], [root]
    while stack:
        unit = stack.pop()
        order.append(unit)
        stack.extend(reversed(unit.children))
    return order


# --- graph to spans ---


def _read_graph(graph: Mapping[str, Any]) -> tuple[_Unit, dict[int, _Unit], list[int]]:
    """Return the root unit, the unit of every node that has words, and the punctuation words."""
    primary: dict[int, list[tuple[int, str]]] = {}
    for parent, child, category, remote in graph["edges"]:
        if not remote:
            primary.setdefault(parent, []).append((child, category))
    terms = {int(node): list(words) for node, words in graph["terms"].items()}
    (root_node,) = graph["roots"]
    root = _Unit(ROOT, None)
    root.parent = None
    units = {root_node: root}
    punctuation: list[int] = []
    queue = [root_node]
    for node in queue:
        unit = units[node]
        unit.terms = terms.get(node, [])
        for child, category in primary.get(node, ()):
            if category == PUNCTUATION and child not in primary:
                punctuation.extend(terms.get(child, ()))
            else:
                units[child] = _Unit(category, unit)
                units[child].parent = unit
                queue.append(child)
    for node in reversed(queue):
        unit = units[node]
        unit.words = set(unit.terms)
        for child_unit in unit.children:
            unit.words |= child_unit.words
        unit.children = [child_unit for child_unit in unit.children if child_unit.words]
    return root, {node: unit for node, unit in units.items() if unit.words or unit is root}, sorted(punctuation)


def _split(unit: _Unit, rank: Mapping[int, int]) -> None:
    """Leave the unit its leftmost continuous part; hang the others higher up. Its children are continuous already."""
    parts: list[tuple[int, int, _Unit | int]] = [(rank[term], rank[term] + 1, term) for term in unit.terms]
    for child in unit.children:
        ranks = [rank[word] for word in child.words]
        parts.append((min(ranks), max(ranks) + 1, child))
    parts.sort(key=lambda part: part[0])
    blocks = [[parts[0]]]
    for part in parts[1:]:
        if part[0] == blocks[-1][-1][1]:
            blocks[-1].append(part)
        else:
            blocks.append([part])
    if len(blocks) == 1:
        return
    word_at = {position: word for word, position in rank.items()}
    main_end = blocks[0][-1][1]
    whole = set(unit.words)
    for block in blocks[1:]:
        gap = {word_at[position] for position in range(main_end, block[0][0])} - whole
        ancestor = unit.parent
        while ancestor is not None and ancestor.parent is not None and not gap <= ancestor.words:
            ancestor = ancestor.parent
        moved = _Unit(unit.label + CONTINUATION, ancestor)
        moved.parent, moved.words = ancestor, set()
        for _, _, piece in block:
            if isinstance(piece, _Unit):
                unit.children.remove(piece)
                piece.parent = moved
                moved.children.append(piece)
                moved.words |= piece.words
            else:
                unit.terms.remove(piece)
                moved.terms.append(piece)
                moved.words.add(piece)
        lower: _Unit | None = unit
        while lower is not None and lower is not ancestor:
            lower.words -= moved.words
            lower = lower.parent


def graph_to_spans(graph: Mapping[str, Any]) -> tuple[list[Span], list[Remote]]:
    """Return the labelled spans (in pre-order) and the remote edges of one sentence's graph."""
    n_words = len(graph["tokens"])
    root, units, punctuation = _read_graph(graph)
    rank = {word: position for position, word in enumerate(sorted(root.words))}
    for unit in reversed(_preorder(root)):
        if unit is not root:
            _split(unit, rank)
    chains: dict[tuple[int, int], list[str]] = {(0, n_words): []}
    for unit in _preorder(root):
        unit.span = (0, n_words) if unit is root else (min(unit.words), max(unit.words) + 1)
        chains.setdefault(unit.span, []).append(unit.label)
    for word in punctuation:
        chains.setdefault((word, word + 1), []).append(PUNCTUATION)
    spans = [(start, end, "+".join(chain)) for (start, end), chain in chains.items()]
    spans.sort(key=lambda span: (span[0], -span[1]))
    remotes = [
        (units[parent].span, units[child].span, category)
        for parent, child, category, remote in graph["edges"]
        if remote and parent in units and child in units
    ]
    return spans, remotes


# --- spans to graph ---


def _nest(n_words: int, spans: Iterable[Span]) -> tuple[_Unit, dict[tuple[int, int], list[_Unit]]]:
    """Build the tree of units; a span gives one unit for each part of its label."""
    root = _Unit(ROOT, None)
    root.span = (0, n_words)
    chains: dict[tuple[int, int], list[_Unit]] = {root.span: [root]}
    stack = [root]
    for start, end, label in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not 0 <= start < end <= n_words:
            raise ValueError(f"span {start}-{end} is outside a sentence of {n_words} words")
        while stack[-1].span[1] <= start:
            stack.pop()
        if end > stack[-1].span[1]:
            raise ValueError(f"span {start}-{end} crosses another span")
        for category in label.split("+"):
            # a parser may predict any label anywhere: only the whole sentence is the root, only single words are marks
            if category == ROOT or (category == PUNCTUATION and end - start > 1):
                continue
            unit = _Unit(category, stack[-1])
            unit.span = (start, end)
            chains.setdefault(unit.span, []).append(unit)
            stack.append(unit)
    return root, chains


def _place_words(root: _Unit, punctuation: Collection[int]) -> None:
    """Put every word under the innermost unit around it."""
    for unit in _preorder(root):
        free: list[int] = []
        position, end = unit.span
        for child in unit.children:
            if position < child.span[0]:
                free.extend(range(position, child.span[0]))
            position = child.span[1]
        if position < end:
            free.extend(range(position, end))
        if not free:
            continue
        marks = [word for word in free if word in punctuation] if unit.label != PUNCTUATION else []
        if marks:
            for word in marks:
                mark = _Unit(PUNCTUATION, unit)
                mark.span, mark.terms = (word, word + 1), [word]
            free = [word for word in free if word not in punctuation]
        if unit is root and free:
            # words of a sentence must belong to some unit; a scene is what nearly all children of a root are
            scene = _Unit(SCENE, root)
            scene.span, scene.terms = (free[0], free[-1] + 1), free
        else:
            unit.terms = free
        if marks or unit is root:
            unit.children.sort(key=_span)


def _span(unit: _Unit) -> tuple[int, int]:
    return unit.span


def _owner(part: _Unit, siblings: Sequence[_Unit]) -> _Unit | None:
    """Return the unit that a continuation belongs to: of its category, left of a gap, outermost, then nearest."""
    categories = set(part.label.rstrip(CONTINUATION).split("|"))
    level = [unit for unit in siblings if unit.span[0] < part.span[0]]
    while level:
        fitting = [
            unit for unit in level if unit.span[1] < part.span[0] and not categories.isdisjoint(unit.label.split("|"))
        ]
        if fitting:
            return max(fitting, key=lambda unit: unit.span[1])
        level = [child for unit in level for child in unit.children]
    return None


def _join(root: _Unit) -> None:
    """Give every continuation back to its unit, outermost first because parts can lie inside parts."""
    queue = [root]
    for unit in queue:
        for part in [child for child in unit.children if child.label.endswith(CONTINUATION)]:
            owner = _owner(part, unit.children)
            if owner is None:
                part.label = part.label.rstrip(CONTINUATION)
                continue
            unit.children.remove(part)
            owner.terms.extend(part.terms)
            owner.children.extend(part.children)
            owner.span = (owner.span[0], part.span[1])
        queue.extend(unit.children)


def _gather_scene(root: _Unit) -> _Unit | None:
    """Put what is no scene, linker or mark under the root into one scene, as the annotators do."""
    loose = [unit for unit in root.children if _ABOVE_SCENES.isdisjoint(unit.label.split("|"))]
    if not loose:
        return None
    scene = _Unit(SCENE, None)
    scene.span = (loose[0].span[0], loose[-1].span[1])
    scene.children = loose
    kept = [unit for unit in root.children if unit not in loose]
    root.children = sorted([*kept, scene], key=_span)
    return scene


def _remote_parent(chain: Sequence[_Unit]) -> _Unit:
    """Return the scene of a chain of units over the same words: remote participants belong to scenes."""
    for unit in reversed(chain):
        if any(child.label[0] in "PS" for child in unit.children):
            return unit
    return chain[0]


def _reaches(start: int, goal: int, below: Sequence[Sequence[int]]) -> bool:
    """Whether a node is another one or below it, by edges of either kind."""
    stack, seen = [start], {start}
    while stack:
        node = stack.pop()
        if node == goal:
            return True
        new = [child for child in below[node] if child not in seen]
        seen.update(new)
        stack += new
    return False


def spans_to_graph(
    n_words: int, spans: Iterable[Span], remotes: Collection[Remote] = (), punctuation: Collection[int] = ()
) -> dict[str, Any]:
    """Return the graph (``n``, ``roots``, ``edges``, ``terms``, ``implicit``) of nested labelled spans.

    ``punctuation`` are the words that become ``U`` when no span says what they are. A remote edge whose parent or
    child span is no span of the tree, or that would close a cycle, is dropped.
    """
    root, chains = _nest(n_words, spans)
    _place_words(root, punctuation)
    _join(root)
    scene = _gather_scene(root)
    if scene is not None:
        chains[root.span].insert(1, scene)
    # no remote edge leaves or enters a root
    chains[root.span].remove(root)
    order = _preorder(root)
    for number, unit in enumerate(order):
        unit.number = number
    edges: list[list[Any]] = [[unit.number, child.number, child.label, 0] for unit in order for child in unit.children]
    terms = {str(unit.number): sorted(unit.terms) for unit in order if unit.terms}
    below: list[list[int]] = [[child.number for child in unit.children] for unit in order] if remotes else []
    for parent_span, child_span, category in remotes:
        parents = [unit for unit in chains.get(parent_span, ()) if unit.number >= 0]
        children = [unit for unit in chains.get(child_span, ()) if unit.number >= 0]
        if not parents or not children:
            continue
        parent, target = _remote_parent(parents).number, children[0].number
        if target not in below[parent] and not _reaches(target, parent, below):
            below[parent].append(target)
            edges.append([parent, target, category, 1])
    return {"n": len(order), "roots": [0], "edges": edges, "terms": terms, "implicit": []}


def join_sentences(lengths: Sequence[int], graphs: Sequence[Mapping[str, Any]]) -> UccaGraph:
    """Return the graph of a segment from the number of words and the graph of each of its sentences."""
    roots: list[int] = []
    parent: list[int] = []
    child: list[int] = []
    category: list[str] = []
    remote: list[bool] = []
    term_node: list[int] = []
    term_word: list[int] = []
    implicit: list[int] = []
    nodes = words = 0
    for length, graph in zip(lengths, graphs, strict=True):
        roots += [root + nodes for root in graph["roots"]]
        parent += [edge[0] + nodes for edge in graph["edges"]]
        child += [edge[1] + nodes for edge in graph["edges"]]
        category += [edge[2] for edge in graph["edges"]]
        remote += [edge[3] == 1 for edge in graph["edges"]]
        for node, under in graph["terms"].items():
            term_node += [int(node) + nodes] * len(under)
            term_word += [word + words for word in under]
        implicit += [node + nodes for node in graph["implicit"]]
        nodes += graph["n"]
        words += length
    columns = (np.array(column, np.int32) for column in (parent, child, term_node, term_word))
    parents, children, term_nodes, term_words = columns
    return UccaGraph(
        nodes,
        tuple(roots),
        parents,
        children,
        tuple(category),
        np.array(remote, np.bool_),
        term_nodes,
        term_words,
        frozenset(implicit),
    )
