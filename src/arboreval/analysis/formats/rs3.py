"""Discourse trees as ``.rs3``, the XML of RSTTool and rstWeb.

Segments (EDUs) and groups name their parent. A group of the type ``span`` stands over its child with the relation
``span`` and that child's satellites; a group of the type ``multinuc`` over its nuclei. Everything else with a parent is
a satellite of it. The header says which relations are multinuclear.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from arboreval.analysis.formats.files import error, quoted, unspaced
from arboreval.analysis.formats.rst import Segment, from_edus
from arboreval.analysis.formats.rst_brackets import fold
from arboreval.analysis.formats.xml import Element, escape, parse_xml, quoteattr, read_xml
from arboreval.analysis.structures import Nested, RstTree
from arboreval.errors import StructureError


def read_tree(path: str | Path) -> Segment:
    """The tree of a file."""
    return _Reader(read_xml(path), str(path)).segment()


def parse_tree(text: str, origin: str = "rs3") -> Segment:
    """The tree in a text of XML."""
    return _Reader(parse_xml(text, origin), origin).segment()


class _Reader:
    def __init__(self, root: Element, origin: str) -> None:
        self.origin = origin
        self.root = root
        body = root.first("body")
        if root.tag != "rst" or body is None:
            raise error(origin, root.line, "this is not an rs3 file: it has no body.")
        self.segments = body.all("segment")
        self.elements: dict[str, Element] = {}
        for element in [*self.segments, *body.all("group")]:
            name = element.attributes.get("id", "")
            if not name or name in self.elements:
                raise error(origin, element.line, f"the id {quoted(name)} is missing or not unique.")
            self.elements[name] = element
        self.below: dict[str, list[str]] = {name: [] for name in self.elements}
        for name, element in self.elements.items():
            parent = element.attributes.get("parent")
            if parent is not None:
                if parent not in self.elements:
                    raise error(origin, element.line, f"the parent {quoted(parent)} does not exist.")
                self.below[parent].append(name)
        header = root.first("header")
        relations = header.first("relations") if header else None
        kinds = (
            [(rel.attributes.get("name", ""), rel.attributes.get("type")) for rel in relations.all("rel")]
            if relations
            else []
        )
        self.multinuclear = {name for name, kind in kinds if kind == "multinuc"}
        self.mononuclear = {name for name, kind in kinds if kind != "multinuc"}

    def segment(self) -> Segment:
        tops = [name for name, element in self.elements.items() if element.attributes.get("parent") is None]
        if len(tops) != 1:
            raise error(self.origin, self.root.line, f"the tree has {len(tops)} roots instead of one.")
        order = [tops[0]]
        for name in order:
            order.extend(self.below[name])
        if len(order) != len(self.elements):
            reached = set(order)
            lost = next(element for name, element in self.elements.items() if name not in reached)
            raise error(self.origin, lost.line, "the parents of this element run in a cycle.")
        numbers = {element.attributes["id"]: i for i, element in enumerate(self.segments)}
        made: dict[str, Nested] = {}
        first: dict[str, int] = {}
        for name in reversed(order):
            made[name], first[name] = self.tree(name, numbers, made, first)
        texts = [element.text for element in self.segments]
        for element in self.segments:
            if element.children:
                child = element.children[0]
                raise error(self.origin, child.line, f"a segment holds the element {quoted(child.tag)}.")
            if not element.text.split():
                raise error(self.origin, element.line, "a segment has no text.")
        return from_edus([" ".join(text.split()) for text in texts], made[tops[0]], self.origin, self.root.line)

    def tree(
        self, name: str, numbers: dict[str, int], made: dict[str, Nested], first: dict[str, int]
    ) -> tuple[Nested, int]:
        """The tree of an element with its satellites, and its first EDU."""
        element = self.elements[name]
        nuclei = self.nuclei(name)
        satellites = [child for child in self.below[name] if child not in nuclei]
        if element.tag == "segment":
            core: Nested = numbers[name]
            start = numbers[name]
        elif not nuclei:
            raise error(self.origin, element.line, f"the group {quoted(name)} has no nucleus.")
        elif len(nuclei) > 1 and element.attributes.get("type") != "multinuc":
            message = f"the group {quoted(name)} is not multinuclear but has {len(nuclei)} nuclei."
            raise error(self.origin, element.line, message)
        else:
            nuclei.sort(key=lambda child: first[child])
            parts = [("N", self.relation(child), made[child]) for child in nuclei]
            core = fold(parts, self.origin, element.line)
            start = first[nuclei[0]]
        children = [(first[child], ("S", self.relation(child), made[child])) for child in satellites]
        children.append((start, ("N", "span", core)))
        children.sort(key=lambda child: child[0])
        return fold([child for _, child in children], self.origin, element.line), children[0][0]

    def relation(self, name: str) -> str:
        element = self.elements[name]
        if not (relation := element.attributes.get("relname", "")):
            raise error(self.origin, element.line, "an element with a parent has no relation to it.")
        return relation

    def nuclei(self, name: str) -> list[str]:
        element, below = self.elements[name], self.below[name]
        if element.tag == "segment":
            return []
        if element.attributes.get("type") != "multinuc":
            return [child for child in below if self.relation(child) == "span"]
        counts = Counter(self.relation(child) for child in below)
        # a relation that the header lists twice joins nuclei where there are several and no other relation does
        joining = {relation for relation in counts if relation in self.multinuclear - self.mononuclear}
        joining = joining or {relation for relation in self.multinuclear if counts[relation] > 1}
        return [child for child in below if self.relation(child) in joining]


def to_rs3(segment: Segment) -> str:
    """The segment's tree as rs3."""
    tree = segment.tree
    if tree is None or not len(tree):
        raise StructureError("a segment without a discourse tree cannot be written as rs3.")
    groups: list[tuple[int, str]] = []
    up: dict[int, tuple[int, str]] = {}
    element: dict[int, int] = {}
    for node in range(len(tree) - 1, -1, -1):
        element[node] = _element(tree, node, element, groups, up)
    if "span" in tree.relation:
        raise StructureError("the relation 'span' cannot be written as rs3, where it joins a group to its nucleus.")
    lines = ["<rst>", "\t<header>", "\t\t<relations>"]
    for name, kind in sorted({_kind(tree, node) for node in range(len(tree)) if tree.children[node]}):
        lines.append(f'\t\t\t<rel name={quoteattr(name, "the relation")} type="{kind}"/>')
    lines += ["\t\t</relations>", "\t</header>", "\t<body>"]
    bounds = [*segment.edus, len(segment.words)]
    for i in range(tree.n_edus):
        words = range(bounds[i], bounds[i + 1])
        text = " ".join(unspaced(escape(segment.words[word], f"word {word + 1}"), word) for word in words)
        lines.append(f'\t\t<segment id="{i + 1}"{_parent(up, i + 1)}>{text}</segment>')
    for number, kind in groups:
        lines.append(f'\t\t<group id="{number}" type="{kind}"{_parent(up, number)}/>')
    return "\n".join([*lines, "\t</body>", "</rst>", ""])


def _kind(tree: RstTree, node: int) -> tuple[str, str]:
    return tree.relation[node], "multinuc" if tree.arrangement(node) == "NN" else "rst"


def _parent(up: dict[int, tuple[int, str]], number: int) -> str:
    return f' parent="{up[number][0]}" relname={quoteattr(up[number][1], "the relation")}' if number in up else ""


def _element(
    tree: RstTree, node: int, element: dict[int, int], groups: list[tuple[int, str]], up: dict[int, tuple[int, str]]
) -> int:
    """The id of the segment or group that stands for a node; its children have theirs already."""

    def group(kind: str) -> int:
        groups.append((tree.n_edus + len(groups) + 1, kind))
        return groups[-1][0]

    children = tree.children[node]
    if not children:
        return int(tree.first[node]) + 1
    relation = tree.relation[node]
    match tree.arrangement(node):
        case "NN":
            number = group("multinuc")
            for child in children:
                up[element[child]] = (number, relation)
            return number
        case "NS" | "SN" as arrangement:
            nucleus, satellite = children if arrangement == "NS" else reversed(children)
            core = element[nucleus]
            if tree.children[nucleus] and _kind(tree, nucleus)[1] == "multinuc":
                # a satellite directly below a multinuclear group could be taken for one of its nuclei
                over = group("span")
                up[core] = (over, "span")
                core = over
            number = group("span")
            up[core] = (number, "span")
            up[element[satellite]] = (core, relation)
            return number
        case other:
            raise StructureError(f"a discourse node with the nuclearity {other} can only be written as JSON.")
