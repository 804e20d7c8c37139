"""The bracket notation of the RST Discourse Treebank (``.dis``).

    ( Root (span 1 2)
      ( Nucleus (leaf 1) (rel2par span) (text _!He left_!) )
      ( Satellite (leaf 2) (rel2par causal-cause) (text _!because it rained ._!) ) )

EDUs count from 1. The relation of a nucleus and its satellite stands on the satellite, that of several nuclei on each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arboreval.analysis.formats.files import error, quoted, read_text, unspaced
from arboreval.analysis.formats.rst import Segment, from_edus
from arboreval.analysis.structures import Nested
from arboreval.errors import StructureError

_TOKEN = re.compile(r"_!(?P<text>.*?)_!|(?P<mark>[()])|(?P<atom>[^\s()]+)", re.DOTALL)
_ATOM = re.compile(r"[^\s()]+")
_ROLES = {"Nucleus": "N", "Satellite": "S", "Root": "root"}


@dataclass
class _Node:
    role: str
    line: int
    relation: str = ""
    leaf: int | None = None
    #: first and last leaf below, where the file says so
    span: tuple[int, int] | None = None
    text: str | None = None
    children: list[_Node] = field(default_factory=list)


def read_tree(path: str | Path) -> Segment:
    """The tree of a file."""
    return parse_tree(read_text(path), str(path))


def parse_tree(text: str, origin: str = "RST") -> Segment:
    """The tree in brackets."""
    tokens = list(_tokens(text))
    node, rest = _node(tokens, 0, origin)
    if rest < len(tokens):
        raise error(origin, tokens[rest][2], "something follows the tree.")
    if node.role != "root":
        raise error(origin, node.line, "the tree does not start with a Root.")
    edus: list[str] = []
    tree = _nested(node, edus, origin)
    return from_edus(edus, tree, origin, node.line)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        kind = match.lastgroup or ""
        yield kind, match[kind], line


def _node(tokens: list[tuple[str, str, int]], at: int, origin: str) -> tuple[_Node, int]:
    """The node that starts at a token, and the token after it. A stack keeps deep trees off Python's own."""
    stack: list[_Node] = []
    while at < len(tokens):
        kind, value, line = tokens[at]
        after = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if value == "(" and kind == "mark" and after in _ROLES:
            stack.append(_Node(_ROLES[after], line))
            at += 2
        elif value == "(" and kind == "mark" and stack:
            at = _property(stack[-1], tokens, at + 1, origin)
        elif value == ")" and kind == "mark" and stack:
            node = stack.pop()
            at += 1
            if not stack:
                return node, at
            stack[-1].children.append(node)
        else:
            raise error(origin, line, f"{quoted(value)} is not expected here.")
    raise error(origin, tokens[-1][2] if tokens else 1, "the tree is not closed.")


def _property(node: _Node, tokens: list[tuple[str, str, int]], at: int, origin: str) -> int:
    parts: list[tuple[str, str, int]] = []
    line = tokens[at - 1][2]
    while at < len(tokens) and tokens[at][:2] != ("mark", ")"):
        parts.append(tokens[at])
        at += 1
    match [part[1] for part in parts]:
        case ["span", first, last] if _is_number(first) and _is_number(last):
            node.span = int(first), int(last)
        case ["leaf", number] if _is_number(number):
            node.leaf = int(number)
        case ["rel2par", relation]:
            node.relation = relation
        case ["text", text]:
            node.text = text
        case other:
            # a missing bracket makes a property of all that follows
            given = " ".join(" ".join(other).split())
            raise error(origin, line, f"the property {quoted(given)} is not known.")
    return at + 1


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def _nested(root: _Node, edus: list[str], origin: str) -> Nested:
    """Nodes in post-order, so that the parts of a tree are there before the whole."""
    made: dict[int, Nested] = {}
    # first and last leaf below each node
    bounds: dict[int, tuple[int, int]] = {}
    order: list[_Node] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo.extend(node.children)
    leaves = sorted((node for node in order if node.leaf is not None), key=lambda node: node.leaf or 0)
    for number, node in enumerate(leaves, 1):
        if node.leaf != number or node.children or node.text is None or not node.text.split():
            raise error(origin, node.line, f"leaf {node.leaf} should be leaf {number}, with a text and nothing below.")
        edus.append(node.text)
        made[id(node)] = number - 1
        bounds[id(node)] = number, number
    for node in reversed(order):
        if node.leaf is None:
            if len(node.children) < 2:
                raise error(origin, node.line, "a node has neither a leaf nor two children.")
            below = [bounds[id(child)] for child in node.children]
            bounds[id(node)] = min(below)[0], max(last for _, last in below)
            made[id(node)] = fold([(c.role, c.relation, made[id(c)]) for c in node.children], origin, node.line)
        first, last = bounds[id(node)]
        if node.span is not None and node.span != (first, last):
            raise error(origin, node.line, f"the span is {node.span[0]} {node.span[1]}, the leaves {first} to {last}.")
    return made[id(root)]


def fold(children: list[tuple[str, str, Nested]], origin: str, line: int) -> Nested:
    """One node from the roles, relations and trees of its children.

    Nuclei without satellites make one node. A nucleus with several satellites makes nested nodes: those to the right
    first, the nearest first, then those to the left.
    """
    nuclei = [i for i, (role, _, _) in enumerate(children) if role == "N"]
    if not nuclei or nuclei != list(range(nuclei[0], nuclei[-1] + 1)):
        raise error(origin, line, "a node has no nucleus, or a satellite between its nuclei.")
    names = {children[i][1] for i in nuclei}
    if len(nuclei) == 1:
        tree = children[nuclei[0]][2]
    elif len(names) == 1:
        tree = ["NN", names.pop(), *(children[i][2] for i in nuclei)]
    else:
        one, other, *_ = sorted(names)
        raise error(origin, line, f"the nuclei of a node have different relations, {quoted(one)} and {quoted(other)}.")
    for _, relation, satellite in children[nuclei[-1] + 1 :]:
        tree = ["NS", relation, tree, satellite]
    for _, relation, satellite in reversed(children[: nuclei[0]]):
        tree = ["SN", relation, satellite, tree]
    return tree


def to_brackets(segment: Segment) -> str:
    """The segment's tree in brackets."""
    tree = segment.tree
    if tree is None or not len(tree):
        raise StructureError("a segment without a discourse tree has no brackets.")
    words, bounds = segment.words, [*segment.edus, len(segment.words)]
    names = {"N": "Nucleus", "S": "Satellite", "root": "Root"}
    lines: list[str] = []
    todo: list[tuple[int, int]] = [(0, 0)]
    while todo:
        node, depth = todo.pop()
        if node < 0:
            lines.append("  " * depth + ")")
            continue
        first, last = int(tree.first[node]), int(tree.last[node])
        up = int(tree.parent[node])
        relation = ""
        if up >= 0:
            alone = tree.nuclearity[node] == "N" and tree.arrangement(up) != "NN"
            relation = f" (rel2par {'span' if alone else _atom(tree.relation[up])})"
        head = "  " * depth + f"( {names[tree.nuclearity[node]]} "
        if tree.children[node]:
            _writable(tree.arrangement(node))
            lines.append(f"{head}(span {first + 1} {last}){relation}")
            todo.append((-1, depth))
            todo.extend((child, depth + 1) for child in reversed(tree.children[node]))
        else:
            text = " ".join(unspaced(words[word], word) for word in range(bounds[first], bounds[last]))
            if "_!" in text:
                raise StructureError(
                    f"EDU {first + 1}, {quoted(text)}, cannot be written in brackets: it holds a '_!'."
                )
            lines.append(f"{head}(leaf {first + 1}){relation} (text _!{text}_!) )")
    return "".join(f"{line}\n" for line in lines)


def _atom(relation: str) -> str:
    if not _ATOM.fullmatch(relation):
        raise StructureError(f"the relation {quoted(relation)} cannot be written in brackets: it is not one word.")
    return relation


def _writable(arrangement: str) -> None:
    if arrangement not in ("NS", "SN", "NN"):
        raise StructureError(f"a discourse node with the nuclearity {arrangement} can only be written as JSON.")
