"""Trees for the terminal, drawn with lines.

All functions are loops over explicit stacks: a line of thousands of words makes trees deeper than Python's recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from unicodedata import category, east_asian_width

from arboreval.analysis.structures import Analysis, ConstituencyTree, DependencyTree, RstTree, UccaGraph
from arboreval.report.trees.labels import UCCA_CATEGORIES

#: the indentation of deeper trees stays at this depth, so that lines do not grow without end
_DEEPEST = 60


def render(analysis: Analysis, number: int | None = None) -> str:
    """Everything that an analysis has, one part after the other."""
    head = f"[{number}] " if number is not None else ""
    parts = [head + " ".join(clean(analysis.text).split())]
    if analysis.status != "ok":
        parts.append(f"{analysis.status}: {analysis.reason}")
    if analysis.status == "failed":
        return parts[0] + "\n" + parts[1] + "\n"
    if not len(analysis):  # nothing but titles would follow
        return "\n".join([*parts, "no words"]) + "\n"
    for title, lines in _parts(analysis):
        parts += ["", title, *(f"  {line}".rstrip() for line in lines)]
    return "\n".join(parts) + "\n"


def render_layer(analysis: Analysis, layer: str) -> str:
    """One structure of an analysis, by the name of its field."""
    others: dict[str, Any] = {name: None for name in analysis.layers() if name != layer}
    ((_, lines),) = _parts(replace(analysis, **others))
    return "\n".join(lines)


def _parts(analysis: Analysis) -> Iterator[tuple[str, Iterator[str]]]:
    """A title and lines for each structure that is there, or for the words alone."""
    words = [clean(word) for word in analysis.words]
    if not analysis.layers():
        yield "words", _words(analysis, words)
    if analysis.dependency is not None:
        yield f"dependencies ({analysis.dependency.scheme})", _dependencies(analysis.dependency, analysis)
    if analysis.constituency is not None:
        yield "constituents", _constituents(analysis.constituency, words, analysis.tokens.xpos)
    if analysis.ucca is not None:
        yield "meaning (UCCA)", _ucca(analysis.ucca, words)
    if analysis.rst is not None:
        yield "discourse (RST)", _rst(analysis.rst, words)
    if analysis.roles is not None:
        yield "semantic roles", _roles(analysis, words)
    if analysis.entities is not None:
        found = [bracketed(words, analysis.entities.spans())] if len(analysis.entities) else ["none"]
        yield "entities", iter(found)
    if analysis.vectors is not None:
        v = analysis.vectors
        line = f"{len(v)} sub-words (special tokens included) of {v.size} dimensions, layer {v.layer} of {v.encoder}"
        yield "vectors", iter([line])


def clean(text: str) -> str:
    """Text without what would move the cursor or change the direction of the line: control and format characters."""
    return "".join(" " if c.isspace() else "�" if category(c) in ("Cc", "Cf", "Cs") else c for c in text)


def width(text: str) -> int:
    """The columns that a terminal needs for a text."""
    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def _words(analysis: Analysis, words: list[str]) -> Iterator[str]:
    tokens = analysis.tokens
    columns = max(map(width, words), default=0)
    for i, word in enumerate(words):
        yield f"{_pad(word, columns)}  {tokens.upos[i] or '_':5} {tokens.xpos[i] or '_':5} {tokens.lemma[i]}".rstrip()


def _dependencies(tree: DependencyTree, analysis: Analysis) -> Iterator[str]:
    """Heads to the left. Dependents stand above or below their head as they do in the text, so that the words of a
    projective tree read from top to bottom."""
    tokens = analysis.tokens
    words = [clean(word) for word in analysis.words]
    rows = [row for root in tree.roots() for row in _in_order(tree, root)]
    columns = max((width(prefix) + width(words[word]) for prefix, word in rows), default=0)
    tags = max(map(len, tokens.upos), default=0)
    for prefix, word in rows:
        line = _pad(f"{prefix}{words[word]}", columns)
        yield f"{line}  {tokens.upos[word] or '_':{tags}}  {tree.relation[word]}"


def _in_order(tree: DependencyTree, root: int) -> list[tuple[str, int]]:
    rows: list[tuple[str, int]] = []
    # a subtree still to be drawn: what stands before its own line, and before lines above and below it
    todo: list[tuple[int, str, str, str, bool]] = [(root, "", "", "", False)]
    while todo:
        word, own, above, below, drawn = todo.pop()
        if drawn:
            rows.append((own, word))
            continue
        if len(above) > 3 * _DEEPEST:
            above = below = above[: 3 * _DEEPEST]
        before = [kid for kid in tree.children[word] if kid < word]
        after = [kid for kid in tree.children[word] if kid > word]
        step: list[tuple[int, str, str, str, bool]] = []
        for i, kid in enumerate(before):
            mark, over = ("┌─ ", "   ") if i == 0 else ("├─ ", "│  ")
            step.append((kid, above + mark, above + over, above + "│  ", False))
        step.append((word, own, "", "", True))
        for i, kid in enumerate(after):
            mark, under = ("└─ ", "   ") if i == len(after) - 1 else ("├─ ", "│  ")
            step.append((kid, below + mark, below + "│  ", below + under, False))
        todo.extend(reversed(step))
    return rows


def _outline(root: int, label: Callable[[int], str], children: Callable[[int], Sequence[int]]) -> Iterator[str]:
    """A tree as indented lines, parents above their children."""
    todo: list[tuple[int, str, str]] = [(root, "", "")]
    while todo:
        node, own, below = todo.pop()
        yield own + label(node)
        if len(below) > 3 * _DEEPEST:
            below = below[: 3 * _DEEPEST]
        kids = children(node)
        for i in range(len(kids) - 1, -1, -1):
            mark, under = ("└─ ", "   ") if i == len(kids) - 1 else ("├─ ", "│  ")
            todo.append((kids[i], below + mark, below + under))


def _constituents(tree: ConstituencyTree, words: list[str], tags: Sequence[str]) -> Iterator[str]:
    # words are numbered behind the phrases; a phrase of words alone is one line
    m = len(tree)

    def leaf(word: int) -> str:
        return f"{words[word]}/{tags[word] or '_'}"

    def label(node: int) -> str:
        if node >= m:
            return leaf(node - m)
        if not tree.children[node]:
            return f"{tree.label[node]}  " + " ".join(map(leaf, range(int(tree.start[node]), int(tree.end[node]))))
        return tree.label[node]

    def children(node: int) -> list[int]:
        if node >= m or not tree.children[node]:
            return []
        return [phrase if phrase >= 0 else m + word for phrase, word in tree.items(node)]

    for root in tree.roots():
        yield from _outline(root, label, children)


def _ucca(graph: UccaGraph, words: list[str]) -> Iterator[str]:
    # edges are drawn, numbered behind the nodes: a remote edge is a leaf of its own
    n = graph.n_nodes

    def label(item: int) -> str:
        node, kind = (item, "") if item < n else (int(graph.child[item - n]), _categories(graph.category[item - n]))
        if item >= n and graph.remote[item - n]:
            return f"{kind} ⇢ {_joined(graph.yield_of(node), words)}"
        own = _joined(graph.words_of(node), words) or ("(implicit)" if node in graph.implicit else "")
        return f"{kind}  {own}".strip() or "·"

    def children(item: int) -> list[int]:
        if item >= n and graph.remote[item - n]:
            return []
        node = item if item < n else int(graph.child[item - n])
        return [n + edge for edge in sorted(graph.edges(node), key=lambda edge: edge_order(graph, edge))]

    for root in graph.roots:
        yield from _outline(root, label, children)


def edge_order(graph: UccaGraph, edge: int) -> tuple[int, int]:
    """Children in text order, what has no words and remote ones last."""
    below = graph.yield_of(int(graph.child[edge]))
    return (below[0], edge) if below and not graph.remote[edge] else (1 << 30, edge)


def _categories(category: str) -> str:
    names = (UCCA_CATEGORIES.get(part, "") for part in category.split("|"))
    return f"{category} {' / '.join(name for name in names if name)}".strip()


def _joined(positions: Sequence[int], words: list[str]) -> str:
    """Words in text order, with dots where something else stands between them."""
    parts: list[str] = []
    for i, word in enumerate(positions):
        if i and positions[i - 1] != word - 1:
            parts.append("…")
        parts.append(words[word])
    return " ".join(parts)


def _rst(tree: RstTree, words: list[str]) -> Iterator[str]:
    spans = tree.edu_spans(len(words))

    def label(node: int) -> str:
        role = {"N": "nucleus", "S": "satellite"}.get(tree.nuclearity[node], "")
        if tree.children[node]:
            return f"{role}: {tree.relation[node]}" if role else tree.relation[node]
        start, end = spans[int(tree.first[node])]
        return f"{role}  {' '.join(words[start:end])}".strip()

    if len(tree):
        yield from _outline(0, label, lambda node: tree.children[node])


def _roles(analysis: Analysis, words: list[str]) -> Iterator[str]:
    lines = [
        bracketed(words[first:last], [(a - first, b - first, label) for a, b, label in marked])
        for (first, last), marked in role_spans(analysis)
    ]
    yield from lines or ["none"]


def role_spans(analysis: Analysis) -> Iterator[tuple[tuple[int, int], list[tuple[int, int, str]]]]:
    """For each predicate the word range of its sentence, and predicate and arguments in it, in text order."""
    roles = analysis.roles
    if roles is None:
        return
    sentence = analysis.tokens.sentence.tolist()
    spans = analysis.tokens.sentence_spans()
    for i, word in enumerate(roles.predicate.tolist()):
        first, last = spans[sentence[word]]
        marked = [(word, word + 1, f"V:{roles.sense[i]}" if roles.sense[i] else "V")]
        for start, end, role in roles.arguments(i):
            # an argument that leaves the sentence still has to be seen; one that overlaps another cannot be
            first, last = min(first, start), max(last, end)
            if all(end <= a or b <= start for a, b, _ in marked):
                marked.append((start, end, role))
        yield (first, last), sorted(marked)


def bracketed(words: Sequence[str], spans: Sequence[tuple[int, int, str]]) -> str:
    """``[PER Mary] went to [LOC Paris]``; spans do not overlap and are in order."""
    parts: list[str] = []
    at = 0
    for start, end, label in spans:
        parts += words[at:start]
        parts.append(f"[{label} {' '.join(words[start:end])}]")
        at = end
    return " ".join([*parts, *words[at:]])
