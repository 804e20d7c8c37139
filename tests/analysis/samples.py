"""Analyses written by hand, with every layer, for tests of whatever stores, shows or reads them."""

from __future__ import annotations

import numpy as np

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


def tokens_of(text: str, words: list[str], sentence: list[int], upos: str, xpos: str, lemma: str) -> Tokens:
    start, at = [], 0
    for word in words:
        at = text.index(word, at)
        start.append(at)
        at += len(word)
    end = [i + len(word) for i, word in zip(start, words, strict=True)]
    return Tokens(start, end, sentence, upos.split(), xpos.split(), lemma.split())


def vectors_of(tokens: Tokens, size: int = 4) -> Vectors:
    n = len(tokens)
    values = np.arange((n + 2) * size, dtype=np.float32).reshape(n + 2, size) / 7
    return Vectors(
        values,
        [-1, *tokens.start.tolist(), -1],
        [-1, *tokens.end.tolist(), -1],
        [True, *[False] * n, True],
        [-1, *range(n), -1],
        layer=7,
        encoder="sample",
    )


def telescope() -> Analysis:
    """One sentence. In UCCA the girl takes part in two scenes, so there is a remote edge."""
    text = "The girl having a telescope saw the man."
    words = ["The", "girl", "having", "a", "telescope", "saw", "the", "man", "."]
    tokens = tokens_of(
        text,
        words,
        [0] * 9,
        "DET NOUN VERB DET NOUN VERB DET NOUN PUNCT",
        "DT NN VBG DT NN VBD DT NN .",
        "the girl have a telescope see the man .",
    )
    dependency = DependencyTree(
        [1, 5, 1, 4, 2, -1, 7, 5, 5],
        ["det", "nsubj", "acl", "det", "obj", "root", "det", "obj", "punct"],
    )
    constituency = ConstituencyTree(
        ["TOP", "S", "NP", "NP", "VP", "NP", "VP", "NP"],
        [-1, 0, 1, 2, 2, 4, 1, 6],
        [0, 0, 0, 0, 2, 3, 5, 6],
        [9, 9, 5, 2, 5, 5, 8, 8],
    )
    # 0 root; 1 H; 2 A the girl having a telescope; 3 E the; 4 C girl; 5 E having a telescope; 6 S having; 7 A a
    # telescope; 8 E a; 9 C telescope; 10 P saw; 11 A the man; 12 E the; 13 C man; 14 U .
    edges = [
        (0, 1, "H", 0), (1, 2, "A", 0), (2, 3, "E", 0), (2, 4, "C", 0), (2, 5, "E", 0), (5, 6, "S", 0),
        (5, 7, "A", 0), (7, 8, "E", 0), (7, 9, "C", 0), (5, 4, "A", 1), (1, 10, "P", 0), (1, 11, "A", 0),
        (11, 12, "E", 0), (11, 13, "C", 0), (0, 14, "U", 0),
    ]  # fmt: skip
    ucca = UccaGraph(
        15,
        (0,),
        [e[0] for e in edges],
        [e[1] for e in edges],
        [e[2] for e in edges],
        [bool(e[3]) for e in edges],
        [3, 4, 6, 8, 9, 10, 12, 13, 14],
        list(range(9)),
    )
    rst = RstTree.from_nested([0, 2, 5], ["NN", "same-unit", ["NS", "elaboration", 0, 1], 2])
    roles = Roles([2, 5], ["have.03", "see.01"], [0, 0, 1, 1], [0, 3, 0, 6], [2, 5, 5, 8],
                  ["ARG0", "ARG1", "ARG0", "ARG1"])  # fmt: skip
    return Analysis(
        text, tokens, dependency, constituency, ucca, rst, Entities([], [], []), roles, fingerprint="sample-1"
    )


def two_sentences() -> Analysis:
    """Two sentences, with entities, an implicit UCCA participant, a discontinuous unit and a discourse relation."""
    text = "Mary called John up in Paris.  They left, as it rained."
    words = ["Mary", "called", "John", "up", "in", "Paris", ".", "They", "left", ",", "as", "it", "rained", "."]
    tokens = tokens_of(
        text,
        words,
        [0] * 7 + [1] * 7,
        "PROPN VERB PROPN ADP ADP PROPN PUNCT PRON VERB PUNCT SCONJ PRON VERB PUNCT",
        "NNP VBD NNP RP IN NNP . PRP VBD , IN PRP VBD .",
        "Mary call John up in Paris . they leave , as it rain .",
    )
    dependency = DependencyTree(
        [1, -1, 1, 1, 5, 1, 1, 8, -1, 12, 12, 12, 8, 8],
        ["nsubj", "root", "obj", "compound:prt", "case", "obl", "punct", "nsubj", "root", "punct", "mark", "expl",
         "advcl", "punct"],
    )  # fmt: skip
    constituency = ConstituencyTree(
        ["TOP", "S", "NP", "VP", "NP", "PRT", "PP", "NP", "TOP", "S", "NP", "VP", "SBAR", "S", "NP", "VP"],
        [-1, 0, 1, 1, 3, 3, 3, 6, -1, 8, 9, 9, 11, 12, 13, 13],
        [0, 0, 0, 1, 2, 3, 4, 5, 7, 7, 7, 8, 10, 11, 11, 12],
        [7, 7, 1, 6, 3, 4, 6, 6, 14, 14, 8, 13, 13, 13, 12, 13],
    )
    # 0 root; 1 H; 2 A Mary; 3 P called ... up; 4 A John; 5 A in Paris; 6 R in; 7 C Paris; 8 U .
    # 9 root; 10 H they left; 11 A They; 12 P left; 13 A implicit (the place); 14 U ,; 15 L as; 16 H it rained;
    # 17 F it; 18 P rained; 19 U .
    edges = [
        (0, 1, "H"), (1, 2, "A"), (1, 3, "P"), (1, 4, "A"), (1, 5, "A"), (5, 6, "R"), (5, 7, "C"), (0, 8, "U"),
        (9, 10, "H"), (10, 11, "A"), (10, 12, "P"), (10, 13, "A"), (9, 14, "U"), (9, 15, "L"), (9, 16, "H"),
        (16, 17, "F"), (16, 18, "P"), (9, 19, "U"),
    ]  # fmt: skip
    ucca = UccaGraph(
        20,
        (0, 9),
        [e[0] for e in edges],
        [e[1] for e in edges],
        [e[2] for e in edges],
        [False] * len(edges),
        [2, 3, 3, 4, 6, 7, 8, 11, 12, 14, 15, 17, 18, 19],
        [0, 1, 3, 2, *range(4, 14)],
        frozenset({13}),
    )
    rst = RstTree.from_nested([0, 7, 10], ["NN", "joint", 0, ["NS", "causal", 1, 2]])
    entities = Entities([0, 2, 5], [1, 3, 6], ["PER", "PER", "LOC"])
    roles = Roles([1, 8, 12], ["call.02", "", ""], [0, 0, 0, 1, 1], [0, 2, 4, 7, 10], [1, 3, 6, 8, 13],
                  ["ARG0", "ARG1", "ARGM-LOC", "ARG0", "ARGM-CAU"])  # fmt: skip
    return Analysis(text, tokens, dependency, constituency, ucca, rst, entities, roles, fingerprint="sample-1")


class SampleAnalyzer:
    """Knows the samples; splits other texts at spaces. Counts what it was asked."""

    name = "sample"

    def __init__(self, fingerprint: str = "sample-1", vectors: bool = False) -> None:
        self.fingerprint = fingerprint
        self.provides = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner"})
        if vectors:
            self.provides |= {"vectors"}
        self.asked: list[str] = []
        self.known = {sample.text: sample for sample in (telescope(), two_sentences())}

    def analyze(self, texts):
        for text in texts:
            self.asked.append(text)
            yield self._one(text)

    def _one(self, text: str) -> Analysis:
        from dataclasses import replace

        if text.startswith("fail"):
            return Analysis.failed(text, "it said so", self.fingerprint)
        made = self.known.get(text) or simple(text)
        vectors = vectors_of(made.tokens) if "vectors" in self.provides else None
        return replace(made, fingerprint=self.fingerprint, vectors=vectors)


def simple(text: str) -> Analysis:
    """One sentence of words between spaces, each hanging from the one before."""
    words = text.split()
    n = len(words)
    tokens = tokens_of(text, words, [0] * n, "X " * n, "XX " * n, " ".join(words).lower())
    return Analysis(
        text,
        tokens,
        dependency=DependencyTree(list(range(-1, n - 1)), ["root", *["dep"] * n][:n]),
        constituency=ConstituencyTree(["TOP"] * (n > 0), [-1] * (n > 0), [0] * (n > 0), [n] * (n > 0)),
    )
