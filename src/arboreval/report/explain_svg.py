"""Two texts as one figure: words in two columns that face each other, their trees on the outside, links between.

Every subtree has a mark: a square beside a word for its sub-words, the label of a phrase, in dependency trees the arc
where a path starts and the relation for a word with all its descendants. A mark's class tells how similar the best
partner is; the page's script and style sheet do the rest. Places on a side are given by their distance ``d`` from its
inner edge, so that both sides are drawn by the same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

from arboreval.analysis.structures import ConstituencyTree, DependencyTree
from arboreval.evidence import SPECIAL, Evidence, Side
from arboreval.report.trees.svg import Canvas, arc_levels, measure
from arboreval.report.trees.text import clean

#: similarities from which a mark gets the next class; below the first nothing close was found
STEPS = (0.5, 0.65, 0.8, 0.9)
#: words of the longer text above which no figure is drawn
MAX_WORDS = 250

_WORD, _SMALL = 14.0, 11.0  # sizes of text
_ROW, _TOP, _MARGIN = 25.0, 44.0, 10.0
_GAP = 116.0  # between the two columns
_CHIP, _CHIPS = 12.0, 84.0  # one square, and all those of a word
_LONGEST = 26  # characters of a word


def draw(evidence: Evidence) -> str | None:
    """The figure; None where it would be too large."""
    hypothesis, reference = evidence.hypothesis, evidence.reference
    if max(len(hypothesis.words), len(reference.words)) > MAX_WORDS:
        return None
    canvas = Canvas()
    left, right = _Half(hypothesis, 0, 0.0), _Half(reference, 1, 0.0)
    left.edge = _MARGIN + max(left.extent, 60.0)
    right.edge = left.edge + _GAP
    canvas.parts.append('<g class="links">')
    _links(canvas, left, right)
    canvas.parts.append('</g><g class="over"></g>')
    for half, name in ((left, "output"), (right, "reference")):
        canvas.parts.append(f'<g class="side" data-s="{half.number}">')
        half.text(canvas, 0, 16.0, name, "head", _SMALL)
        half.draw(canvas)
        canvas.parts.append("</g>")
    canvas.reach(right.edge + max(right.extent, 60.0), _TOP)
    return canvas.svg("output and reference with their subtrees; the list below says the same in words")


def grade(side: Side, part: int) -> str:
    """The class of a part: ``none`` where nothing close was found, else ``q1`` to ``q4``."""
    found = side.parts[part]
    step = sum(found.similarity >= s for s in STEPS)
    return f"q{step}" if found.partner is not None and step else "none"


@dataclass
class _Node:
    """A phrase, or phrases over the same words, in the figure."""

    label: str
    parts: list[int]
    below: list[_Node] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    level: int = 1
    y: float = 0.0

    def arrange(self) -> None:
        rows = [*(node.y for node in self.below), *map(_y, self.words)]
        self.y = (min(rows) + max(rows)) / 2
        self.level = 1 + max((node.level for node in self.below), default=0)


def _y(word: int) -> float:
    return _TOP + _ROW * word


@dataclass
class _Half:
    """One side of the figure."""

    side: Side
    number: int
    #: where the inner edge is
    edge: float

    def x(self, d: float) -> float:
        return self.edge - d if self.number == 0 else self.edge + d

    # --- what there is to draw ---

    @cached_property
    def chips(self) -> list[list[int]]:
        """The parts of one word each, by word."""
        found: list[list[int]] = [[] for _ in self.side.words]
        for i, part in enumerate(self.side.parts):
            if len(part.words) == 1 and part.kind != "span":
                found[part.words[0]].append(i)
        return found

    @cached_property
    def descendants(self) -> dict[int, list[int]]:
        """In a dependency tree, the parts of a word with all its descendants."""
        found: dict[int, list[int]] = {}
        for i, part in enumerate(self.side.parts):
            if part.kind == "descendants" and len(part.words) > 1:
                found.setdefault(part.nodes[0], []).append(i)
        return found

    @cached_property
    def paths(self) -> dict[int, list[int]]:
        """In a dependency tree, the paths by the word to which their first arc leads, the weakest first."""
        found: dict[int, list[int]] = {}
        tree = self.side.tree
        if isinstance(tree, DependencyTree):
            for i, part in enumerate(self.side.parts):
                if part.kind == "path" and len(part.words) > 1:
                    top = part.nodes[0]
                    word = max(part.words, key=lambda w: int(tree.depth[w]))
                    while int(tree.head[word]) != top:
                        word = int(tree.head[word])
                    found.setdefault(word, []).append(i)
        for paths in found.values():
            paths.sort(key=lambda i: self.side.parts[i].similarity)
        return found

    @cached_property
    def nodes(self) -> list[_Node]:
        """The phrases, children before their parents; a text without a tree has at most one, itself."""
        side, tree = self.side, self.side.tree
        whole = [i for i, part in enumerate(side.parts) if part.kind == "span"]
        if tree is None and whole:
            text = _Node("text", whole, words=list(range(len(side.words))))
            text.arrange()
            return [text]
        if not isinstance(tree, ConstituencyTree):
            return []
        of = {node: chain for chain in side.chains for node in chain}
        parts: dict[tuple[int, ...], list[int]] = {}
        for i, part in enumerate(side.parts):
            if part.nodes:
                parts.setdefault(part.nodes, []).append(i)
        made = {
            chain: _Node(
                "·".join(tree.label[node] for node in chain),
                sorted(parts.get(chain, []), key=lambda i: side.parts[i].similarity),
            )
            for chain in side.chains
        }
        lowest = [-1] * len(side.words)
        for node in range(len(tree)):
            lowest[tree.start[node] : tree.end[node]] = [node] * int(tree.end[node] - tree.start[node])
        for word, node in enumerate(lowest):
            if node in of:
                made[of[node]].words.append(word)
        # nodes are numbered from the root, so the last chains are the lowest
        ordered = sorted(side.chains, key=lambda chain: -chain[0])
        for chain in ordered:
            made[chain].arrange()
            above = of.get(int(tree.parent[chain[0]]))
            if above is not None:
                made[above].below.append(made[chain])
        return [made[chain] for chain in ordered]

    # --- where it stands ---

    @cached_property
    def labels(self) -> list[str]:
        """What stands beside each word: its relation, or its tag."""
        tree = self.side.tree
        if isinstance(tree, DependencyTree):
            return list(tree.relation)
        tags = self.side.analysis.tokens.xpos if tree is not None else ()
        return list(tags) or [""] * len(self.side.words)

    @cached_property
    def forms(self) -> list[str]:
        return [_short(clean(form)) for form in self.side.forms]

    def chip(self, word: int) -> float:
        """The width of a word's squares; those of a word of many sub-words are narrow."""
        return min(_CHIP, _CHIPS / max(len(self.chips[word]), 1) - 2)

    def inner(self, word: int) -> float:
        """Where a word begins, behind its squares."""
        return (self.chip(word) + 2) * max(len(self.chips[word]), 1) + 7

    @cached_property
    def outer(self) -> list[float]:
        """Where each word ends, with its label."""
        ends = []
        for word, (form, label) in enumerate(zip(self.forms, self.labels, strict=True)):
            end = self.inner(word) + measure(form, _WORD)
            ends.append(end + measure(label, _SMALL) + 16 if label else end + 4)
        return ends

    @cached_property
    def columns(self) -> list[float]:
        """Where the labels of phrases begin, by level."""
        widths = [0.0] * (max((node.level for node in self.nodes), default=0) + 1)
        for node in self.nodes:
            widths[node.level] = max(widths[node.level], measure(node.label, _SMALL) + 10)
        starts = [0.0, max(self.outer, default=0.0) + 14]
        for width in widths[1:]:
            starts.append(starts[-1] + width + 12)
        return starts

    @cached_property
    def arcs(self) -> list[tuple[int, int, int]]:
        """Head, dependent and level of each dependency, the longest first."""
        tree = self.side.tree
        if not isinstance(tree, DependencyTree):
            return []
        heads = [int(head) for head in tree.head]
        found = sorted((abs(h - d), min(h, d), max(h, d), d) for d, h in enumerate(heads) if h >= 0)
        level = arc_levels(found, len(heads))
        return [(heads[d], d, level[d]) for *_, d in reversed(found)]

    @cached_property
    def extent(self) -> float:
        """The width of the side."""
        base = max(self.outer, default=0.0)
        if self.arcs:
            return base + 18 + 13 * max(level for _, _, level in self.arcs)
        return self.columns[-1] if self.nodes else base

    # --- drawing ---

    def text(self, canvas: Canvas, d: float, y: float, text: str, kind: str, size: float) -> None:
        """Text that begins at ``d`` and runs outwards."""
        anchor = "end" if self.number == 0 else "start"
        canvas.reach(0.0, y + size * 0.35)
        canvas.parts.append(
            f'<text class="{kind}" x="{self.x(d):.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def draw(self, canvas: Canvas) -> None:
        counted = {word for part in self.side.parts for word in part.words}
        ends = max(self.outer, default=0.0)
        for word in range(len(self.side.words)):
            kind = "w" if word in counted else "w out"
            low, high = sorted((self.x(0), self.x(ends)))
            canvas.parts.append(
                f'<g class="{kind}" data-w="{word}"><rect class="band" x="{low:.1f}" y="{_y(word) - _ROW / 2:.1f}" '
                f'width="{high - low:.1f}" height="{_ROW:.0f}"/>'
            )
            self.text(canvas, self.inner(word), _y(word) + 5, self.forms[word], "word", _WORD)
            canvas.parts.append("</g>")
        for head, word, level in self.arcs:
            self._arc(canvas, head, word, level)
        for node in self.nodes:
            self._phrase(canvas, node)
        for word in range(len(self.side.words)):
            self._label(canvas, word)
            self._chips(canvas, word)

    def _open(self, canvas: Canvas, parts: Sequence[int]) -> None:
        if parts:
            numbers = " ".join(map(str, parts))
            canvas.parts.append(f'<g class="mark {grade(self.side, parts[0])}" data-p="{numbers}">')
        else:
            canvas.parts.append('<g class="plain">')

    def _box(self, canvas: Canvas, d: float, y: float, width: float, height: float, parts: Sequence[int]) -> None:
        """A box around what stands at ``d``, with a cross in its corner where nothing close was found."""
        x = min(self.x(d), self.x(d + width))
        canvas.parts.append(
            f'<rect x="{x:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3"/>'
        )
        if parts and grade(self.side, parts[0]) == "none":
            canvas.path(f"M{x + width - 3:.1f} {y - height / 2 - 3:.1f}l6 6m0-6l-6 6", "cross")

    def _chips(self, canvas: Canvas, word: int) -> None:
        chips, size = self.chips[word], self.chip(word)
        for i, part in enumerate(chips):
            # sub-words stand in the order of the text on both sides
            place = len(chips) - 1 - i if self.number == 0 else i
            self._open(canvas, [part])
            x, y = min(self.x(1 + (size + 2) * place), self.x(1 + (size + 2) * place + size)), _y(word)
            canvas.parts.append(
                f'<rect x="{x:.1f}" y="{y - _CHIP / 2:.1f}" width="{size:.1f}" height="{_CHIP:.0f}" rx="3"/>'
            )
            if grade(self.side, part) == "none":
                r = size / 4
                canvas.path(f"M{x + r:.1f} {y - 3:.1f}l{2 * r:.1f} 6m0-6l{-2 * r:.1f} 6", "cross")
            canvas.parts.append("</g>")

    def _label(self, canvas: Canvas, word: int) -> None:
        label = self.labels[word]
        if not label:
            return
        parts = self.descendants.get(word, [])
        width = measure(label, _SMALL)
        d = self.outer[word] - width - 6
        self._open(canvas, parts)
        if parts:
            self._box(canvas, d - 4, _y(word), width + 8, 16, parts)
        self.text(canvas, d, _y(word) + 4, label, "tag", _SMALL)
        canvas.parts.append("</g>")

    def _phrase(self, canvas: Canvas, node: _Node) -> None:
        d = self.columns[node.level]
        bar = d - 7
        for y, end in [
            *((below.y, self.columns[below.level] + measure(below.label, _SMALL) + 10) for below in node.below),
            *((_y(word), self.outer[word]) for word in node.words),
        ]:
            canvas.path(f"M{self.x(d):.1f} {node.y:.1f}H{self.x(bar):.1f}V{y:.1f}H{self.x(end):.1f}", "edge")
        self._open(canvas, node.parts)
        width = measure(node.label, _SMALL) + 10
        self._box(canvas, d, node.y, width, 18, node.parts)
        self.text(canvas, d + 5, node.y + 4, node.label, "label", _SMALL)
        canvas.parts.append("</g>")

    def _arc(self, canvas: Canvas, head: int, word: int, level: int) -> None:
        """From the head out to its level, along, and back to the dependent."""
        spine = self.x(max(self.outer) + 10 + 13 * level)
        side = 1 if word > head else -1
        mine = sorted((w for h, w, _ in self.arcs if h == head and (w - h) * side > 0), key=lambda w: -abs(w - head))
        # arcs leave their head apart from each other, the longest nearest to the middle
        start = _y(head) + side * min(3.0, 9.0 / len(mine)) * (mine.index(word) + 0.5)
        end = _y(word)
        out = 1 if self.number else -1
        r = min(7.0, abs(end - start) / 2)
        tip = self.x(self.outer[word] + 2)
        d = (
            f"M{self.x(self.outer[head] + 2):.1f} {start:.1f}H{spine - out * r:.1f}"
            f"q{out * r:.1f} 0 {out * r:.1f} {side * r:.1f}V{end - side * r:.1f}"
            f"q0 {side * r:.1f} {-out * r:.1f} {side * r:.1f}H{tip + out * 4:.1f}"
        )
        parts = self.paths.get(word, [])
        self._open(canvas, parts)
        if parts:
            canvas.path(d, "hit")
        canvas.path(d, "arc")
        canvas.path(f"M{tip:.1f} {end:.1f}l{out * 6} -3.5v7z", "tip")
        if parts and grade(self.side, parts[0]) == "none":
            canvas.path(f"M{spine - 3:.1f} {(start + end) / 2 - 3:.1f}l6 6m0-6l-6 6", "cross")
        canvas.parts.append("</g>")


def _links(canvas: Canvas, left: _Half, right: _Half) -> None:
    """Between words whose sub-words found each other; dashed where only one found the other."""
    for half, other in ((left, right), (right, left)):
        there = {part: word for word, parts in enumerate(other.chips) for part in parts}
        for word, parts in enumerate(half.chips):
            for i in parts:
                part = half.side.parts[i]
                if part.partner not in there or grade(half.side, i) == "none" or part.kind == SPECIAL:
                    continue
                mutual = other.side.parts[part.partner].partner == i
                if mutual and half is right:
                    continue
                x1, x2 = half.edge, other.edge
                y1, y2 = _y(word), _y(there[part.partner])
                bend = (x2 - x1) * 0.45
                kind = f"link {grade(half.side, i)}" + ("" if mutual else " one")
                canvas.path(f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}",
                            kind)  # fmt: skip


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"
