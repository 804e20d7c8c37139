"""Figures: dependency arcs, constituency trees, UCCA graphs and discourse trees as SVG.

Colours come from the page's style sheet by class, so that a figure is legible in light and dark. A browser's fonts are
not known here; widths are estimates with some room to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from unicodedata import category, east_asian_width

from arboreval.analysis.structures import ConstituencyTree, DependencyTree, RstTree, Tokens, UccaGraph
from arboreval.report.trees.text import clean, edge_order

_SIZE = 15.0  # of words, in pixels
_SMALL = 12.0  # of tags and labels
_GAP = 14.0  # between words
_MARGIN = 12.0
_NARROW = frozenset("iljtfI.,:;'|!()[]` ")
_WIDE = frozenset("mwMW@%—…")


def measure(text: str, size: float = _SIZE) -> float:
    """About the width of a text in pixels."""
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if category(c) in ("Mn", "Me"):
        return 0.0
    if east_asian_width(c) in "WF":
        return 1.1
    if c in _NARROW:
        return 0.36
    if c in _WIDE:
        return 0.95
    return 0.72 if c.isupper() else 0.6


@dataclass
class Canvas:
    """Collects the parts of a figure and knows how large it must be."""

    parts: list[str] = field(default_factory=list)
    right: float = 0.0
    bottom: float = 0.0

    def text(self, x: float, y: float, text: str, kind: str, anchor: str = "middle", size: float = _SIZE) -> None:
        half = measure(text, size)
        self.reach(x + (half / 2 if anchor == "middle" else half), y + size * 0.35)
        kinds = kind if anchor == "middle" else f"{kind} {anchor}"
        self.parts.append(f'<text class="{kinds}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>')

    def path(self, d: str, kind: str) -> None:
        self.parts.append(f'<path class="{kind}" d="{d}"/>')

    def elbow(self, x1: float, y1: float, bar: float, x2: float, y2: float, kind: str) -> None:
        """Down, across, down: the last part runs in the child's own column, where no other label can stand."""
        self.path(f"M{x1:.1f} {y1:.1f}V{bar:.1f}H{x2:.1f}V{y2:.1f}", kind)

    def dot(self, x: float, y: float, kind: str) -> None:
        self.reach(x + 6, y + 6)
        self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')

    def reach(self, x: float, y: float) -> None:
        self.right, self.bottom = max(self.right, x), max(self.bottom, y)

    def svg(self, title: str) -> str:
        width, height = self.right + _MARGIN, self.bottom + _MARGIN
        return (
            f'<svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
            f'aria-label="{escape(title)}">{"".join(self.parts)}</svg>'
        )


def _columns(widths: Iterable[float]) -> list[float]:
    """The middles of columns of these widths, one beside the other."""
    middles: list[float] = []
    at = _MARGIN
    for width in widths:
        middles.append(at + width / 2)
        at += width + _GAP
    return middles


# --- dependencies ------------------------------------------------------------------------------------------------


def dependencies(tree: DependencyTree, tokens: Tokens, words: Sequence[str], span: tuple[int, int]) -> str:
    """Arcs from heads to dependents over the words of one sentence, their tags below."""
    first, last = span
    n = last - first
    forms = [clean(word) for word in words[first:last]]
    heads = [int(head) - first if head >= 0 else -1 for head in tree.head[first:last]]
    relations = tree.relation[first:last]
    tags = [tokens.upos[i] or tokens.xpos[i] for i in range(first, last)]
    widths = [max(measure(form), measure(tag, _SMALL)) for form, tag in zip(forms, tags, strict=True)]
    x = _columns(widths)
    shifts = _arc_shifts(heads, widths)
    _make_room(x, shifts, heads, relations)
    arcs = sorted((abs(h - d), min(h, d), max(h, d), d) for d, h in enumerate(heads) if h >= 0)
    level = arc_levels(arcs, n)
    top = max(level.values(), default=0) + 1
    step, base = 24.0, 24.0 + 24.0 * top
    canvas = Canvas()
    for _, _, _, d in reversed(arcs):
        h = heads[d]
        y = base - step * level[d]
        x1, x2 = x[h] + shifts[d], x[d]
        r = min(8.0, abs(x2 - x1) / 2) * (1 if x2 > x1 else -1)
        canvas.path(f"M{x1:.1f} {base:.1f}V{y + 8:.1f}q0-8 {r:.1f}-8H{x2 - r:.1f}q{r:.1f} 0 {r:.1f} 8V{base - 5:.1f}",
                    "arc")  # fmt: skip
        canvas.path(f"M{x2 - 3.5:.1f} {base - 7:.1f}h7l-3.5 7z", "tip")
        canvas.text((x1 + x2) / 2, y + 4, relations[d], "rel", size=_SMALL)
    for i in range(n):
        if heads[i] < 0:
            canvas.path(f"M{x[i]:.1f} 20V{base - 5:.1f}", "arc root")
            canvas.path(f"M{x[i] - 3.5:.1f} {base - 7:.1f}h7l-3.5 7z", "tip root")
            canvas.text(x[i], 14, relations[i], "rel root", size=_SMALL)
        canvas.text(x[i], base + 18, forms[i], "word")
        canvas.text(x[i], base + 35, tags[i], "tag", size=_SMALL)
    return canvas.svg("dependency tree of: " + " ".join(forms))


def _make_room(x: list[float], shifts: dict[int, float], heads: Sequence[int], relations: Sequence[str]) -> None:
    """Moves words apart where the label of an arc would not fit between its corners."""
    shift = 0.0
    for i in range(1, len(x)):
        x[i] += shift
        ending = [(i, heads[i])] if 0 <= heads[i] < i else []
        ending += [(d, i) for d in range(i) if heads[d] == i]
        lacking = max(
            (measure(relations[d], _SMALL) + 16 - abs(x[h] + shifts[d] - x[d]) for d, h in ending), default=0.0
        )
        if lacking > 0:
            shift += lacking
            x[i] += lacking


def arc_levels(arcs: Sequence[tuple[int, int, int, int]], n: int) -> dict[int, int]:
    """The height of each arc by its dependent: above all shorter arcs that it spans or crosses."""
    taken = [0] * n  # the highest arc so far over the gap behind each word
    level: dict[int, int] = {}
    for _, left, right, d in arcs:
        level[d] = 1 + max(taken[left:right])
        taken[left:right] = [level[d]] * (right - left)
    return level


def _arc_shifts(heads: Sequence[int], widths: Sequence[float]) -> dict[int, float]:
    """How far from the middle of its head each arc leaves it, by its dependent: apart from each other, the longest
    nearest to the middle."""
    shifts: dict[int, float] = {}
    for h in range(len(heads)):
        for side in (-1, 1):
            kids = sorted((d for d, head in enumerate(heads) if head == h and (d - h) * side > 0),
                          key=lambda d, h=h: -abs(d - h))  # type: ignore[misc]  # fmt: skip
            space = min(6.0, (widths[h] / 2 + _GAP / 2 - 4) / max(1, len(kids)))
            shifts |= {d: side * space * (i + 1) for i, d in enumerate(kids)}
    return shifts


# --- constituents ------------------------------------------------------------------------------------------------


def constituents(tree: ConstituencyTree, tokens: Tokens, words: Sequence[str], root: int) -> str:
    """The tree of one sentence with its words on one line at the bottom."""
    first, last = int(tree.start[root]), int(tree.end[root])
    nodes = [root]
    for node in nodes:
        nodes.extend(tree.children[node])
    forms = [clean(word) for word in words[first:last]]
    tags = list(tokens.xpos[first:last])
    widths = [max(measure(form), measure(tag, _SMALL)) for form, tag in zip(forms, tags, strict=True)]
    for node in nodes:
        if tree.end[node] - tree.start[node] == 1:
            i = int(tree.start[node]) - first
            widths[i] = max(widths[i], measure(tree.label[node], _SMALL) + 4)
    x = _columns(widths)
    at: dict[int, float] = {}
    height: dict[int, int] = {}
    for node in reversed(nodes):
        items = tree.items(node)
        middles = [at[phrase] if phrase >= 0 else x[word - first] for phrase, word in items]
        at[node] = (middles[0] + middles[-1]) / 2
        height[node] = 1 + max(height[phrase] if phrase >= 0 else 0 for phrase, _ in items)
    step, top = 36.0, 18.0
    base = top + step * height[root]
    canvas = Canvas()
    for node in nodes:
        y = top + step * (height[root] - height[node])
        for phrase, word in tree.items(node):
            x2 = at[phrase] if phrase >= 0 else x[word - first]
            y2 = top + step * (height[root] - height[phrase]) - 12 if phrase >= 0 else base - 13
            canvas.elbow(at[node], y + 5, y + 12, x2, y2, "edge")
        canvas.text(at[node], y, tree.label[node], "label", size=_SMALL)
    for i, (form, tag) in enumerate(zip(forms, tags, strict=True)):
        canvas.text(x[i], base, tag, "tag", size=_SMALL)
        canvas.text(x[i], base + 20, form, "word")
    return canvas.svg("constituency tree of: " + " ".join(forms))


# --- UCCA --------------------------------------------------------------------------------------------------------


def ucca(graph: UccaGraph, words: Sequence[str], root: int) -> str:
    """The graph of one sentence: categories on the edges, remote edges dashed."""
    nodes = [root]
    for node in nodes:
        nodes.extend(int(graph.child[e]) for e in sorted(graph.edges(node), key=lambda e: edge_order(graph, e))
                     if not graph.remote[e])  # fmt: skip
    inside = set(nodes)
    columns = _ucca_columns(graph, nodes)
    forms = {item: clean(words[item]) if item >= 0 else "∅" for item in columns}
    labels = {int(graph.child[e]): graph.category[e] for e in range(len(graph.category)) if not graph.remote[e]}
    above = {word: node for node in nodes for word in graph.words_of(node)}
    widths = []
    for item in columns:
        label = labels.get(above[item] if item >= 0 else -1 - item, "")
        widths.append(max(measure(forms[item]), measure(label, _SMALL) + 12))
    x_of = dict(zip(columns, _columns(widths), strict=True))
    at: dict[int, float] = {}
    height: dict[int, int] = {}
    for node in reversed(nodes):
        below = [child for child in graph.children(node) if child in inside]
        middles = [at[child] for child in below] + [x_of[word] for word in graph.words_of(node)]
        if node in graph.implicit and not middles:
            middles = [x_of[-1 - node]]
        height[node] = 1 + max((height[child] for child in below), default=0)
        place = (min(middles) + max(middles)) / 2 if below or _neighbours(graph.words_of(node)) else middles[0]
        # units that are not continuous can have their middle where another unit stands
        while any(abs(place - at[other]) < 18 for other in at if height[other] == height[node]):
            place += 18
        at[node] = place
    step, top = 46.0, 16.0
    y = {node: top + step * (height[root] - height[node]) for node in nodes}
    base = top + step * height[root]
    canvas = Canvas()
    names: list[tuple[float, float, str, str]] = []
    for node in nodes:
        for word in graph.words_of(node):
            canvas.elbow(at[node], y[node], y[node] + 13, x_of[word], base - 15, "edge leaf")
        for e in graph.edges(node):
            child = int(graph.child[e])
            if child not in inside:
                continue
            x1, y1, x2, y2 = at[node], y[node], at[child], y[child]
            if graph.remote[e]:
                # comes down beside the child's own edge, in the gap between two columns
                side = 1.0 if x1 >= x2 else -1.0
                bends = [(x1, y1), (x2 + 10 * side, y1 + 12), (x2 + 26 * side, y2 - 30), (x2 + 5 * side, y2 - 3)]
                start, *rest = (f"{bx:.1f} {by:.1f}" for bx, by in bends)
                canvas.path(f"M{start}C{' '.join(rest)}", "edge remote")
                middle = [sum(k * b[i] for k, b in zip((1, 3, 3, 1), bends, strict=True)) / 8 for i in (0, 1)]
                names.append((middle[0], middle[1] + 4, graph.category[e], "cat remote"))
            else:
                canvas.elbow(x1, y1, y1 + 13, x2, y2, "edge")
                names.append((x2, y2 - 11, graph.category[e], "cat"))
    for node in nodes:
        canvas.dot(at[node], y[node], "node implicit" if node in graph.implicit else "node")
    for name in names:
        canvas.text(*name, size=_SMALL)
    for item in columns:
        canvas.text(x_of[item], base, forms[item], "word" if item >= 0 else "tag")
    return canvas.svg("UCCA graph of: " + " ".join(forms[item] for item in columns if item >= 0))


def _neighbours(words: Sequence[int]) -> bool:
    return len(words) < 2 or words[-1] - words[0] == len(words) - 1


def _ucca_columns(graph: UccaGraph, nodes: Sequence[int]) -> list[int]:
    """The words from left to right, and ``-1 - node`` for an implicit node, behind the last word of its parent."""
    words = sorted(graph.yield_of(nodes[0]))
    places: list[tuple[float, int]] = [(float(word), word) for word in words]
    for node in nodes:
        if node in graph.implicit and not graph.children(node):
            parent = graph.primary_parent(node)
            near = graph.yield_of(parent) if parent >= 0 else ()
            places.append(((near[-1] if near else -1) + 0.5, -1 - node))
    return [item for _, item in sorted(places, key=lambda place: place[0])]


# --- discourse ---------------------------------------------------------------------------------------------------


def discourse(tree: RstTree, words: Sequence[str]) -> str:
    """The root on the left, a line of text for each EDU on the right; satellites hang by dashed lines."""
    depth = [0] * len(tree)
    for node in range(1, len(tree)):
        depth[node] = depth[int(tree.parent[node])] + 1
    inner = [node for node in range(len(tree)) if tree.children[node]]
    # columns of relations, each as wide as its widest
    starts = [_MARGIN]
    for level in range(max(depth, default=0)):
        names = [measure(tree.relation[node], _SMALL) for node in inner if depth[node] == level]
        starts.append(starts[-1] + max(names, default=20.0) + 44)
    left = starts[-1]
    canvas = Canvas()
    y_of: dict[int, float] = {}
    at = 20.0
    for node in range(len(tree)):
        if not tree.children[node]:
            start, end = tree.word_span(node, len(words))
            lines = _wrapped([clean(word) for word in words[start:end]])
            y_of[node] = at + (len(lines) - 1) * 10
            for i, line in enumerate(lines):
                canvas.text(left, at + 20 * i, line, "word", "start")
            at += 20 * len(lines) + 14
    for node in reversed(inner):
        kids = [y_of[child] for child in tree.children[node]]
        y_of[node] = (kids[0] + kids[-1]) / 2
    for node in inner:
        x, y = starts[depth[node]], y_of[node]
        out = x + measure(tree.relation[node], _SMALL) + 8
        turn = starts[depth[node] + 1] - 22
        canvas.text(x, y, tree.relation[node], "label", "start", size=_SMALL)
        canvas.path(f"M{out:.1f} {y - 4:.1f}H{turn:.1f}", "edge")
        for child in tree.children[node]:
            tip = starts[depth[child]] - 4 if tree.children[child] else left - 6
            role = tree.nuclearity[child]
            canvas.path(f"M{turn:.1f} {y - 4:.1f}V{y_of[child] - 4:.1f}H{tip:.1f}",
                        "edge nucleus" if role == "N" else "edge satellite")  # fmt: skip
            canvas.text(turn + 8, y_of[child] - 8, role, "tag", size=10.0)
    return canvas.svg("discourse tree of: " + " ".join(clean(word) for word in words))


def _wrapped(words: Sequence[str], limit: int = 64) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < limit:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
