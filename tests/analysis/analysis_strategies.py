"""Random well-formed analyses for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

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

LABELS = st.sampled_from(["NP", "VP", "S", "PP", "-LRB-", "é", "X|Y"])
# no white space and no control characters: forms that every file format can hold
FORMS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5)
GAPS = st.sampled_from(["", " ", "  ", "\n", "\n\n", "\t", "\u00a0", "\\", "|", " \n\n "])


@st.composite
def sentences(draw, max_words=12):
    """The sentence number of each word."""
    n = draw(st.integers(1, max_words))
    steps = draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.int32)


@st.composite
def texts(draw, max_words=12):
    """A text and its tokens."""
    sentence = draw(sentences(max_words))
    n = len(sentence)
    forms = draw(st.lists(FORMS, min_size=n, max_size=n))
    gaps = draw(st.lists(GAPS, min_size=n + 1, max_size=n + 1))
    text, start, end = gaps[0], [], []
    for form, gap in zip(forms, gaps[1:], strict=True):
        start.append(len(text))
        end.append(len(text) + len(form))
        text += form + gap
    tags = [tuple(draw(st.lists(st.sampled_from(["", "NN", "VB"]), min_size=n, max_size=n))) for _ in range(3)]
    return text, Tokens(np.array(start), np.array(end), sentence, *tags)


@st.composite
def dependencies(draw, tokens):
    heads = np.empty(len(tokens), np.int32)
    for i, j in tokens.sentence_spans():
        # each word of a random order hangs below an earlier one, the first is the root
        order = draw(st.permutations(range(i, j)))
        for place, word in enumerate(order):
            heads[word] = order[draw(st.integers(0, place - 1))] if place else -1
    n = len(tokens)
    relations = draw(st.lists(st.sampled_from(["nsubj", "obj", "obl:agent"]), min_size=n, max_size=n))
    return DependencyTree(heads, tuple(relations), draw(st.sampled_from(["ud2", "clear"])))


@st.composite
def constituents(draw, tokens):
    label, parent, start, end = [], [], [], []

    def grow(i, j, above, depth):
        here = len(label)
        label.append(draw(LABELS) if above >= 0 else "TOP")
        parent.append(above)
        start.append(i)
        end.append(j)
        word = i
        while depth < 4 and word < j and draw(st.booleans()):
            first = draw(st.integers(word, j - 1))
            last = draw(st.integers(first + 1, j))
            grow(first, last, here, depth + 1)
            word = last

    for i, j in tokens.sentence_spans():
        grow(i, j, -1, 0)
    return ConstituencyTree(tuple(label), np.array(parent), np.array(start), np.array(end))


@st.composite
def uccas(draw, tokens):
    roots, edges, terms, implicit, n = [], [], [], [], 0
    categories = st.sampled_from(["A", "P", "S", "H", "P|A", "U"])
    for i, j in tokens.sentence_spans():
        root = n
        roots.append(root)
        n += 1
        units = [root]
        for word in range(i, j):
            above = draw(st.sampled_from(units))
            edges.append((above, n, draw(categories), False))
            units.append(n)
            terms.append((n, word))
            n += 1
        if draw(st.booleans()):
            edges.append((root, n, "A", False))
            implicit.append(n)
            n += 1
    if n > 2 and draw(st.booleans()):
        # to a later node, since earlier ones may be above
        parent = draw(st.integers(0, n - 2))
        edges.append((parent, draw(st.integers(parent + 1, n - 1)), "A", True))
    # an implicit unit has nothing below it
    edges = [edge for edge in edges if edge[0] not in implicit]
    parent, child, category, remote = zip(*edges, strict=True)
    node, word = zip(*terms, strict=True)
    columns = np.array(parent), np.array(child), category, np.array(remote)
    return UccaGraph(n, tuple(roots), *columns, np.array(node), np.array(word), frozenset(implicit))


@st.composite
def nested_trees(draw, first, last):
    if last - first == 1:
        return first
    cut = draw(st.integers(first + 1, last - 1))
    roles = draw(st.sampled_from(["NS", "SN", "NN"]))
    relation = draw(st.sampled_from(["joint-list", "causal-cause", "elaboration"]))
    return [roles, relation, draw(nested_trees(first, cut)), draw(nested_trees(cut, last))]


@st.composite
def discourses(draw, tokens):
    starts = sorted({0, *draw(st.lists(st.integers(0, len(tokens) - 1), max_size=5))})
    return RstTree.from_nested(starts, draw(nested_trees(0, len(starts))))


@st.composite
def entities(draw, tokens):
    cuts = sorted(draw(st.sets(st.integers(0, len(tokens)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    labels = tuple(draw(st.sampled_from(["PER", "ORG", "LOC"])) for _ in spans)
    return Entities(np.array([i for i, _ in spans]), np.array([j for _, j in spans]), labels)


@st.composite
def roles(draw, tokens):
    n = len(tokens)
    predicates = sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))
    arguments = []
    for number in range(len(predicates)):
        for _ in range(draw(st.integers(0, 2))):
            i = draw(st.integers(0, n - 1))
            arguments.append((number, i, draw(st.integers(i + 1, n)), draw(st.sampled_from(["ARG0", "C-ARG1"]))))
    columns = list(zip(*arguments, strict=True)) or [(), (), (), ()]
    arrays = [np.array(column, np.int32) for column in columns[:3]]
    return Roles(np.array(predicates), ("",) * len(predicates), *arrays, columns[3])


@st.composite
def vectors(draw, tokens):
    n = len(tokens)
    values = draw(
        st.lists(st.floats(-1024, 1024, width=32), min_size=2 * (n + 1), max_size=2 * (n + 1)).map(
            lambda flat: np.array(flat, np.float32).reshape(n + 1, 2)
        )
    )
    special = np.arange(n + 1) == 0
    shifted = [np.concatenate([[-1], array]) for array in (tokens.start, tokens.end, np.arange(n))]
    return Vectors(values, shifted[0], shifted[1], special, shifted[2], 7, "test")


@st.composite
def analyses(draw, max_words=12):
    text, tokens = draw(texts(max_words))
    makers = {
        "dependency": dependencies,
        "constituency": constituents,
        "ucca": uccas,
        "rst": discourses,
        "entities": entities,
        "roles": roles,
        "vectors": vectors,
    }
    layers = {name: draw(make(tokens)) for name, make in makers.items() if draw(st.booleans())}
    status = draw(st.sampled_from([("ok", ""), ("degraded", "windowed")]))
    return Analysis(text, tokens, **layers, status=status[0], reason=status[1], fingerprint="f")
