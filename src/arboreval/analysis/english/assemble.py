"""Decoded labels and spans of a text become its Analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english import const_tree, rst_tree, ucca_tree
from arboreval.analysis.english.session import Model
from arboreval.analysis.structures import (
    Analysis,
    ConstituencyTree,
    DependencyTree,
    Entities,
    Roles,
    RstTree,
    Tokens,
    UccaGraph,
    Vectors,
)

if TYPE_CHECKING:
    from arboreval.analysis.english.analyzer import Document

__all__ = ["assemble", "empty"]

_ONE_UNIT = rst_tree.spans_to_tree([0], [])


def assemble(document: Document, model: Model, layers: frozenset[str], fingerprint: str) -> Analysis:
    """The analysis of a text all of whose windows are decoded, with the layers asked for."""
    tokens = _tokens(document, model)
    return Analysis(
        document.text,
        tokens,
        dependency=_dependency(document, model.labels["deprel"]) if "dep" in layers else None,
        constituency=_constituency(document) if "const" in layers else None,
        ucca=_ucca(document, tokens.upos) if "ucca" in layers else None,
        rst=_rst(document) if "rst" in layers else None,
        entities=_entities(document) if "ner" in layers else None,
        roles=_roles(document) if "srl" in layers else None,
        vectors=_vectors(document, model) if "vectors" in layers else None,
        fingerprint=fingerprint,
    )


def empty(text: str, model: Model, layers: frozenset[str], fingerprint: str) -> Analysis:
    """The analysis of a text without words: empty structures of the layers asked for."""
    vectors = None
    if "vectors" in layers:
        ints, nothing = np.zeros(0, np.int32), np.zeros((0, model.dim), np.float32)
        vectors = Vectors(nothing, ints, ints, np.zeros(0, np.bool_), ints, model.layer, model.name)
    return Analysis.empty(text, layers, fingerprint, vectors=vectors)


def _tokens(document: Document, model: Model) -> Tokens:
    upos, xpos, scripts = (model.labels[name] for name in ("upos", "xpos", "lemma"))
    lengths = [end - start for part in document.parts for start, end in part.sentences]
    chosen = [script for part in document.parts for script in part.lemma]
    tags = [upos[tag] for part in document.parts for tag in part.upos]
    fine = [xpos[tag] for part in document.parts for tag in part.xpos]
    return Tokens(
        document.start,
        document.end,
        np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        tuple(tags),
        tuple(fine),
        tuple(
            [
                model.lexicon.lemma(form, tag, more, scripts[k])
                for form, tag, more, k in zip(document.forms, tags, fine, chosen, strict=True)
            ]
        ),
    )


def _dependency(document: Document, relations: list[str]) -> DependencyTree:
    heads = []
    for part, first in zip(document.parts, document.first, strict=True):
        found = part.heads if part.heads is not None else np.zeros(0, np.int64)
        heads.append(np.where(found < 0, -1, found + first))
    names = tuple([relations[k] for part in document.parts for k in part.relations])
    return DependencyTree(np.concatenate(heads).astype(np.int32), names, "ud2")


def _constituency(document: Document) -> ConstituencyTree:
    lengths = [end - start for part in document.parts for start, end in part.sentences]
    return const_tree.spans_to_tree(lengths, [tree for part in document.parts for tree in part.const])


def _ucca(document: Document, upos: tuple[str, ...]) -> UccaGraph:
    lengths, graphs, at = [], [], 0
    for part in document.parts:
        for (start, end), tree, remotes in zip(part.sentences, part.ucca, part.remotes, strict=True):
            length = end - start
            punctuation = [k for k in range(length) if upos[at + k] == "PUNCT"]
            graphs.append(ucca_tree.spans_to_graph(length, tree, remotes, punctuation))
            lengths.append(length)
            at += length
    return ucca_tree.join_sentences(lengths, graphs)


def _rst(document: Document) -> RstTree:
    if len(document.units) == 1:
        return _ONE_UNIT
    return rst_tree.spans_to_tree(document.units.tolist(), document.discourse)


def _entities(document: Document) -> Entities:
    parts = zip(document.parts, document.first, strict=True)
    spans = [(first + i, first + j, label) for part, first in parts for i, j, label in part.entities]
    return Entities(_ints(i for i, _, _ in spans), _ints(j for _, j, _ in spans), tuple(name for _, _, name in spans))


def _roles(document: Document) -> Roles:
    parts = zip(document.parts, document.first, strict=True)
    found = [(first, predicate, spans) for part, first in parts for predicate, spans in part.roles]
    arguments = [(k, first + i, first + j, role) for k, (first, _, spans) in enumerate(found) for i, j, role in spans]
    return Roles(
        _ints(first + predicate for first, predicate, _ in found),
        ("",) * len(found),
        _ints(argument[0] for argument in arguments),
        _ints(argument[1] for argument in arguments),
        _ints(argument[2] for argument in arguments),
        tuple(argument[3] for argument in arguments),
    )


def _vectors(document: Document, model: Model) -> Vectors:
    start, end, word = [], [], []
    for part, first in zip(document.parts, document.first, strict=True):
        start.append(-1)
        end.append(-1)
        word.append(-1)
        for k in range(first, first + len(part.upos)):
            offset, found = int(document.start[k]), document.words[k]
            start += [offset + i for i in found.starts]
            end += [offset + j for j in found.ends]
            word += [k] * len(found.ids)
        start.append(-1)
        end.append(-1)
        word.append(-1)
    values = document.vectors[0] if len(document.vectors) == 1 else np.concatenate(document.vectors)
    words = _ints(word)
    return Vectors(values, _ints(start), _ints(end), words < 0, words, model.layer, model.name)


def _ints(values: object) -> NDArray[np.int32]:
    return np.array(list(values), np.int32)  # type: ignore[call-overload]
