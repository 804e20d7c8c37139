"""UCCA as JSON lines and as the standard XML of the UCCA toolkit.

JSON, one sentence a line: ``id``, ``split`` and other fields are kept; ``tokens``; ``punct`` (indices of punctuation);
``roots``; ``n`` (number of nodes); ``terms`` (node: token indices); ``edges`` (``[parent, child, category, remote]``);
``implicit``; ``unannotated`` (tokens under no node) only where there are any. Neighbouring lines with the same ``seg``
are one segment.

XML, one passage a file: layer 0 holds the words (``0.x``), layer 1 the units (``1.x``) with edges to units or, with the
type ``Terminal``, to words; attributes mark remote edges and implicit units. Linkage units (``LKG``) are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arboreval.analysis.formats.files import at, error, grouped, json_line, json_record, locate, quoted, read_lines
from arboreval.analysis.formats.xml import Element, parse_xml, quoteattr, read_xml
from arboreval.analysis.structures import Analysis, Tokens, UccaGraph
from arboreval.errors import StructureError

_OWN = ("tokens", "punct", "roots", "n", "terms", "edges", "implicit", "unannotated")


@dataclass(frozen=True)
class Sentence:
    """The words of one sentence (or passage) and the graph over them; ``extra`` holds the other fields of the line."""

    words: tuple[str, ...]
    graph: UccaGraph
    punct: tuple[int, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "UCCA"
    line: int = 1

    def __post_init__(self) -> None:
        if not all(0 <= word < len(self.words) for word in self.punct):
            raise StructureError(f"a punctuation mark is outside the {len(self.words)} words.")
        if len(self.graph.term_word) and int(self.graph.term_word.max()) >= len(self.words):
            raise StructureError(f"the graph has word {int(self.graph.term_word.max())} of {len(self.words)} words.")


def read_sentences(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a JSON lines file."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield parse_json(line, str(path), number)


def parse_json(line: str, origin: str = "UCCA", number: int = 1) -> Sentence:
    """The sentence in one line of JSON."""
    record = json_record(line, origin, number, ("tokens", "roots", "n", "terms", "edges"))
    with at(origin, number):
        try:
            graph = _graph(record)
        except (TypeError, ValueError, AttributeError) as problem:
            if isinstance(problem, StructureError):
                raise
            raise StructureError(f"a field has the wrong form ({problem!s:.80}).") from None
        words, punct = record["tokens"], record.get("punct", [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise StructureError("the tokens must be strings that are not empty.")
        if not isinstance(punct, list) or not all(type(word) is int for word in punct):
            raise StructureError("the punctuation must be a list of token numbers.")
        extra = {key: value for key, value in record.items() if key not in _OWN}
        return Sentence(tuple(words), graph, tuple(punct), extra, origin, number)


def _graph(record: Mapping[str, Any]) -> UccaGraph:
    terms = [(int(node), word) for node, words in record["terms"].items() for word in words]
    edges = [(parent, child, category, remote) for parent, child, category, remote in record["edges"]]
    columns = list(zip(*edges, strict=True)) or [(), (), (), ()]
    return UccaGraph(
        record["n"],
        tuple(record["roots"]),
        np.asarray(columns[0]),
        np.asarray(columns[1]),
        columns[2],
        np.asarray(columns[3]),
        np.asarray([node for node, _ in terms]),
        np.asarray([word for _, word in terms]),
        frozenset(record.get("implicit", ())),
    )


def to_json(sentence: Sentence) -> str:
    """The sentence as one line of JSON."""
    graph = sentence.graph
    terms: dict[str, list[int]] = {}
    for node, word in zip(graph.term_node.tolist(), graph.term_word.tolist(), strict=True):
        terms.setdefault(str(node), []).append(word)
    edges = zip(graph.parent.tolist(), graph.child.tolist(), graph.category, graph.remote.tolist(), strict=True)
    record: dict[str, Any] = {
        **sentence.extra,
        "tokens": list(sentence.words),
        "punct": list(sentence.punct),
        "roots": list(graph.roots),
        "n": graph.n_nodes,
        "terms": terms,
        "edges": [[parent, child, category, int(remote)] for parent, child, category, remote in edges],
        "implicit": sorted(graph.implicit),
    }
    if missing := sorted(set(range(len(sentence.words))) - set(graph.term_word.tolist())):
        record["unannotated"] = missing
    return json_line(record)


def read_passage(path: str | Path) -> Sentence:
    """The passage in a file of standard XML."""
    return _passage(read_xml(path), str(path))


def parse_passage(text: str, origin: str = "UCCA") -> Sentence:
    """The passage in standard XML."""
    return _passage(parse_xml(text, origin), origin)


def _passage(root: Element, origin: str) -> Sentence:
    layers = {layer.attributes.get("layerID"): layer for layer in root.all("layer")}
    if "0" not in layers or "1" not in layers:
        raise error(origin, root.line, "a passage needs the layers 0 (words) and 1 (units).")
    terminals = layers["0"].all("node")
    units = [node for node in layers["1"].all("node") if node.attributes.get("type") != "LKG"]
    words: dict[str, int] = {}
    nodes: dict[str, int] = {}
    for names, elements in ((words, terminals), (nodes, units)):
        for i, element in enumerate(elements):
            if not (name := element.attributes.get("ID", "")):
                raise error(origin, element.line, "a node has no ID.")
            if name in words or name in nodes:
                raise error(origin, element.line, f"the ID {quoted(name)} is not unique.")
            names[name] = i
    edges: list[tuple[int, int, str, bool]] = []
    terms: list[tuple[int, int]] = []
    for number, unit in enumerate(units):
        for edge in unit.all("edge"):
            target = edge.attributes.get("toID", "")
            if target in words:
                terms.append((number, words[target]))
            elif target in nodes:
                edges.append((number, nodes[target], _category(edge, origin), _marked(edge, "remote")))
            else:
                raise error(origin, edge.line, f"an edge goes to {quoted(target)}, which does not exist.")
    implicit = frozenset(i for i, unit in enumerate(units) if _marked(unit, "implicit"))
    below = {child for _, child, _, remote in edges if not remote}
    columns = list(zip(*edges, strict=True)) or [(), (), (), ()]
    texts = tuple(_text(node, origin) for node in terminals)
    with at(origin, layers["1"].line):
        graph = UccaGraph(
            len(units),
            tuple(i for i in range(len(units)) if i not in below),
            np.asarray(columns[0]),
            np.asarray(columns[1]),
            tuple(edge[2] for edge in edges),
            np.asarray(columns[3]),
            np.asarray([node for node, _ in terms]),
            np.asarray([word for _, word in terms]),
            implicit,
        )
        punct = tuple(i for i, node in enumerate(terminals) if node.attributes.get("type") == "Punctuation")
        extra = {"id": root.attributes["passageID"]} if "passageID" in root.attributes else {}
        return Sentence(texts, graph, punct, extra, origin, root.line)


def _text(node: Element, origin: str) -> str:
    attributes = node.first("attributes")
    if attributes is None or not attributes.attributes.get("text"):
        raise error(origin, node.line, "a word has no text.")
    return attributes.attributes["text"]


def _marked(element: Element, name: str) -> bool:
    attributes = element.first("attributes")
    return attributes is not None and attributes.attributes.get(name) == "True"


def _category(edge: Element, origin: str) -> str:
    tags = [category.attributes.get("tag", "") for category in edge.all("category")]
    category = "|".join(tags) if tags else edge.attributes.get("type", "")
    if not category or not all(category.split("|")):
        raise error(origin, edge.line, "an edge has no category.")
    return category


def to_xml(sentence: Sentence) -> str:
    """The sentence as a passage in standard XML."""
    graph = sentence.graph
    punct = set(sentence.punct)
    name = quoteattr(str(sentence.extra.get("id", "0")), "the id")
    lines = [f'<root annotationID="0" passageID={name}><attributes />']
    lines.append('<layer layerID="0"><attributes />')
    for i, word in enumerate(sentence.words):
        kind = "Punctuation" if i in punct else "Word"
        place = f'paragraph="1" paragraph_position="{i + 1}" text={quoteattr(word, f"word {i + 1}")}'
        lines.append(f'<node ID="0.{i + 1}" type="{kind}"><attributes {place} /></node>')
    lines.append('</layer>\n<layer layerID="1"><attributes />')
    for node in range(graph.n_nodes):
        words = graph.words_of(node)
        kind = "PNCT" if words and punct.issuperset(words) and not graph.edges(node) else "FN"
        lines.append(f'<node ID="1.{node + 1}" type="{kind}">')
        lines.append('<attributes implicit="True" />' if node in graph.implicit else "<attributes />")
        for edge in graph.edges(node):
            tags = [quoteattr(tag, f"a category of node {node}") for tag in graph.category[edge].split("|")]
            inner = "".join(f"<category tag={tag} />" for tag in tags)
            inner += '<attributes remote="True" />' if graph.remote[edge] else "<attributes />"
            target = f"1.{int(graph.child[edge]) + 1}"
            lines.append(f'<edge toID="{target}" type={tags[0]}>{inner}</edge>')
        for terminal in words:
            tag = '<category tag="Terminal" /><attributes />'
            lines.append(f'<edge toID="0.{terminal + 1}" type="Terminal">{tag}</edge>')
        lines.append("</node>")
    return "\n".join([*lines, "</layer>", "</root>", ""])


def read(path: str | Path) -> Iterator[Analysis]:
    """The analyses of a JSON lines file's segments. Words are joined with spaces."""
    for segment in segments(list(read_sentences(path))):
        yield to_analysis(segment)


def segments(sentences: Sequence[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences of each segment by their field ``seg``."""
    marks = (sentence.extra.get("seg") for sentence in sentences)
    return grouped(sentences, (None if mark is None else str(mark) for mark in marks))


def to_analysis(sentences: Sequence[Sentence], text: str | None = None) -> Analysis:
    """One segment. Where its raw ``text`` is given, the words are looked up in it."""
    words = [word for sentence in sentences for word in sentence.words]
    first = sentences[0] if sentences else None
    origin = first.origin if first else "UCCA"
    if text is None:
        text = " ".join(words)
    lines = [sentence.line for sentence in sentences for _ in sentence.words]
    places = np.asarray(locate(text, words, origin, lines), np.int32).reshape(-1, 2)
    with at(origin, first.line if first else 1):
        number = np.repeat(np.arange(len(sentences), dtype=np.int32), [len(each.words) for each in sentences])
        punct: list[str] = []
        for sentence in sentences:
            punct += ["PUNCT" if i in sentence.punct else "" for i in range(len(sentence.words))]
        nothing = ("",) * len(words)
        tokens = Tokens(places[:, 0], places[:, 1], number, tuple(punct), nothing, nothing)
        graph = join([sentence.graph for sentence in sentences], [len(sentence.words) for sentence in sentences])
        return Analysis(text, tokens, ucca=graph)


def join(graphs: Sequence[UccaGraph], sizes: Sequence[int]) -> UccaGraph:
    """The graphs of sentences with these numbers of words as the one graph of a segment."""
    nodes = np.concatenate([[0], np.cumsum([graph.n_nodes for graph in graphs])]).astype(np.int32)
    words = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)

    def shifted(name: str, by: Any) -> Any:
        none = np.zeros(0, np.int32)
        return np.concatenate([none, *(getattr(graph, name) + by[i] for i, graph in enumerate(graphs))])

    return UccaGraph(
        int(nodes[-1]),
        tuple(root + int(nodes[i]) for i, graph in enumerate(graphs) for root in graph.roots),
        shifted("parent", nodes),
        shifted("child", nodes),
        tuple(category for graph in graphs for category in graph.category),
        np.concatenate([np.zeros(0, bool), *(graph.remote for graph in graphs)]),
        shifted("term_node", nodes),
        shifted("term_word", words),
        frozenset(node + int(nodes[i]) for i, graph in enumerate(graphs) for node in graph.implicit),
    )


def split(graph: UccaGraph, spans: Sequence[tuple[int, int]]) -> list[UccaGraph]:
    """The graph of each sentence, given their word ranges. A remote edge between sentences is an error."""
    parts: list[UccaGraph] = []
    for root, (first, _) in zip(graph.roots, spans, strict=True):
        mine = [root]
        for node in mine:
            mine.extend(graph.children(node))
        number = {node: i for i, node in enumerate(sorted(mine))}
        edges = sorted(edge for node in mine for edge in graph.edges(node))
        for edge in edges:
            if int(graph.child[edge]) not in number:
                raise StructureError(
                    f"the remote edge from UCCA node {int(graph.parent[edge])} to node {int(graph.child[edge])} joins "
                    "two sentences and cannot be written."
                )
        terms = [k for k, node in enumerate(graph.term_node.tolist()) if node in number]
        parts.append(
            UccaGraph(
                len(mine),
                (number[root],),
                np.asarray([number[int(graph.parent[e])] for e in edges]),
                np.asarray([number[int(graph.child[e])] for e in edges]),
                tuple(graph.category[e] for e in edges),
                graph.remote[edges] if edges else np.zeros(0, bool),
                np.asarray([number[int(graph.term_node[k])] for k in terms]),
                np.asarray([int(graph.term_word[k]) - first for k in terms]),
                frozenset(number[node] for node in graph.implicit if node in number),
            )
        )
    return parts


def from_analysis(analysis: Analysis, seg: int | str | None = None) -> list[Sentence]:
    """The sentences of an analysis with their graphs; ``seg`` marks them as one segment."""
    if analysis.ucca is None:
        return []
    spans = analysis.tokens.sentence_spans()
    words, upos = analysis.words, analysis.tokens.upos
    return [
        Sentence(
            tuple(words[i:j]),
            graph,
            tuple(word - i for word in range(i, j) if upos[word] == "PUNCT"),
            {} if seg is None else {"seg": seg},
        )
        for graph, (i, j) in zip(split(analysis.ucca, spans), spans, strict=True)
    ]


def write(analyses: Iterable[Analysis]) -> Iterator[str]:
    """The lines of a JSON lines file; the sentences of a longer segment get its number as ``seg``."""
    for number, analysis in enumerate(analyses, 1):
        seg = number if analysis.tokens.n_sentences > 1 else None
        for sentence in from_analysis(analysis, seg):
            yield to_json(sentence) + "\n"
