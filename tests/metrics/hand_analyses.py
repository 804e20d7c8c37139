"""Analyses made by hand or at random, for tests of the metrics that read them."""

from __future__ import annotations

import numpy as np

from arboreval.analysis.structures import Analysis, ConstituencyTree, DependencyTree, Tokens, Vectors

#: values of the special tokens' vectors: a subtree that held one would show it
SPECIAL = 99.0


def analysis(
    words,
    vectors,
    *,
    pieces=None,
    heads=None,
    relations=None,
    tree=None,
    xpos=None,
    upos=None,
    sentence=None,
    space=" ",
    status="ok",
    reason="",
):
    """
    :param vectors: one for each sub-word.
    :param pieces: the word of each sub-word; by default each word is one.
    :param tree: (label, parent, start, end) of each constituent, the TOPs included.
    :param space: what stands between words: the same words with other spaces are another text.
    """
    n = len(words)
    text = space.join(words)
    start = np.cumsum([0, *(len(word) + len(space) for word in words)])[:n]
    end = start + [len(word) for word in words]
    tags = [tuple(names) if names is not None else ("X",) * n for names in (upos, xpos, words)]
    tokens = Tokens(start, end, sentence if sentence is not None else [0] * n, *tags)
    word = np.arange(n) if pieces is None else np.asarray(pieces, np.int64)
    values = np.asarray(vectors, np.float32)
    around = np.full((1, values.shape[1]), SPECIAL, np.float32)
    return Analysis(
        text,
        tokens,
        None if heads is None else DependencyTree(heads, relations if relations is not None else ["dep"] * n),
        None if tree is None else ConstituencyTree(*zip(*tree, strict=True)),
        vectors=Vectors(
            np.concatenate([around, values, around]),
            [-1, *start[word].tolist(), -1],
            [-1, *end[word].tolist(), -1],
            [True, *[False] * len(word), True],
            [-1, *word.tolist(), -1],
            layer=7,
            encoder="hand-made",
        ),
        status=status,
        reason=reason,
    )


class HandMade:
    """Gives the analyses it was made with, and failed ones for other texts. Counts what it was asked."""

    name = "hand-made"
    fingerprint = "hand-made-1"
    provides = frozenset({"tokens", "dep", "const", "vectors"})
    cacheable = False

    def __init__(self, *analyses):
        self.known = {a.text: a for a in analyses}
        self.asked = []

    def analyze(self, texts):
        for text in texts:
            self.asked.append(text)
            yield self.known.get(text) or Analysis.failed(text, "it is not known")


FORMS = ["a", "the", "Dog", "dog", "cat", "of", "saw", ".", ","]
TAGS = ["NN", "DT", "VBD", "IN", "CC", "POS", "."]
LABELS = ["NP", "VP", "S", "PP", "NP-SBJ", "NP=2", "X"]


def random_analysis(rng, *, size=5, negative=True, parsed=0.9, missing=0.1, longest=9):
    """Up to three sentences with random trees, which need not be projective; some words have no sub-word."""
    lengths = rng.integers(1, longest + 1, rng.integers(1, 4)).tolist()
    n = sum(lengths)
    pieces = np.repeat(np.arange(n), rng.choice([0, 1, 1, 2, 3], n) if rng.random() < missing * 3 else 1)
    values = rng.standard_normal((len(pieces), size)) if negative else rng.random((len(pieces), size))
    if rng.random() < 0.1:
        values[rng.random(len(pieces)) < 0.3] = 0
    heads, tree, low = np.zeros(n, np.int64), [], 0
    for length in lengths:
        order = low + rng.permutation(length)
        heads[order] = [-1, *(order[rng.integers(place)] for place in range(1, length))]
        random_constituents(rng, tree, low, low + length, -1, 0)
        low += length
    upos = rng.choice(["NOUN", "VERB", "ADP", "PUNCT"], n).tolist()
    has_dependencies, has_constituents = rng.random(2) < parsed
    return analysis(
        rng.choice(FORMS, n).tolist(),
        values,
        pieces=pieces,
        heads=heads if has_dependencies else None,
        relations=rng.choice(["nsubj", "obj", "case"], n).tolist(),
        tree=tree if has_constituents else None,
        upos=upos,
        xpos=rng.choice(TAGS, n).tolist(),
        sentence=np.repeat(np.arange(len(lengths)), lengths),
        space=" " * int(rng.integers(1, 1_000)),
    )


def random_constituents(rng, tree, start, end, parent, depth):
    """Adds a random constituent over the words [start, end), and what is below it."""
    node = len(tree)
    tree.append((str(rng.choice(LABELS)) if parent >= 0 else "TOP", parent, start, end))
    word = start
    while depth < 5 and word < end and rng.random() < 0.7:
        first = int(rng.integers(word, end))
        last = end if rng.random() < 0.3 else int(rng.integers(first + 1, end + 1))
        random_constituents(rng, tree, first, last, node, depth + 1)
        word = last
