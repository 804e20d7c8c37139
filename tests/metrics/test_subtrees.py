"""The subtrees of a text: counts given in the specification, and a slow reference that builds sets of words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hand_analyses import SPECIAL, analysis, random_analysis

from arboreval.analysis.dependency_views import case_as_head
from arboreval.analysis.structures import Vectors
from arboreval.metrics.subtrees import DESCENDANTS, PATH, PIECE, SPAN, WORD, Inventory, subtrees

# the heads that the specification gives: saw, ROOT, girl, saw, girl, telescope, having, saw
HAVING = ["I", "saw", "a", "girl", "having", "a", "telescope", "."], [1, -1, 3, 1, 3, 6, 4, 1]
BY = ["I", "saw", "a", "girl", "by", "a", "telescope", "."], [1, -1, 3, 1, 1, 6, 4, 1]


def example(sentence, **keywords):
    words, heads = sentence
    return analysis(words, np.eye(len(words)), heads=heads, **keywords)


def described(found, t, a):
    """The words of each subtree of text ``t``, in text order, as strings."""
    rows = found.of(t)
    columns = (found.kind[rows], found.first[rows], found.last[rows])
    head = a.dependency.head.tolist() if a.dependency is not None else []
    return [
        " ".join(a.words[w] for w in positions(head, kind, first, last))
        for kind, first, last in zip(*(column.tolist() for column in columns), strict=True)
    ]


def positions(head, kind, first, last):
    """What ``first`` and ``last`` say of a subtree, as words. ``head`` skips the words that were dropped."""
    if kind in (PIECE, WORD):
        return (last,)
    if kind == SPAN:
        return tuple(range(first, last))
    if kind == PATH:
        path = [last]
        while path[-1] != first:
            path.append(head[path[-1]])
        return tuple(sorted(path))
    assert kind == DESCENDANTS
    assert first == last
    return tuple(below(head, first))


def below(head, top):
    return sorted({top}.union(*(below(head, w) for w, h in enumerate(head) if h == top)))


# --- numbers of the specification ----------------------------------------------------------------------------------


def test_having():
    """N = 8; A = 12, of which 8 are longer than a word; D = 8, of which 4 are; together 28, distinct 18."""
    a = example(HAVING)
    everything = subtrees([a], Inventory(dedup="none"))
    kinds = Counter(everything.kind.tolist())
    assert kinds == {WORD: 8, PATH: 12, DESCENDANTS: 8}
    longer = Counter(everything.kind[everything.length > 1].tolist())
    assert longer == {PATH: 8, DESCENDANTS: 4}
    assert len(everything.vector) == 28
    found = subtrees([a], Inventory())
    assert len(found.vector) == 18
    assert sorted(described(found, 0, a)[8:]) == [
        "I saw", "I saw a girl having a telescope .", "a girl", "a girl having a telescope", "a telescope",
        "girl having a telescope", "having a telescope", "saw .", "saw a girl", "saw girl having a telescope",
    ]  # fmt: skip


def test_by():
    """A = 11, of which 7 are longer than a word; together 27, distinct 16."""
    a = example(BY)
    everything = subtrees([a], Inventory(dedup="none"))
    assert Counter(everything.kind.tolist()) == {WORD: 8, PATH: 11, DESCENDANTS: 8}
    assert int((everything.length[everything.kind == PATH] > 1).sum()) == 7
    assert len(everything.vector) == 27
    assert len(subtrees([a], Inventory()).vector) == 16


def test_paths_of_the_paper():
    """The paths of "girl" are girl -> a and girl -> having -> telescope -> a."""
    a = example(HAVING)
    found = subtrees([a], Inventory())
    girl = (found.kind == PATH) & (found.first == 3)
    assert found.last[girl].tolist() == [2, 5]
    assert found.length[girl].tolist() == [2, 4]


def test_vectors_are_maxima_of_raw_vectors():
    words, heads = ["a", "b", "c"], [-1, 0, 0]
    a = analysis(words, [[3, 0], [0, 4], [-5, -12]], heads=heads)
    found = subtrees([a], Inventory())
    by_words = dict(zip(described(found, 0, a), found.vector.tolist(), strict=True))
    assert by_words["a b"] == pytest.approx([0.6, 0.8])
    assert by_words["a c"] == pytest.approx([1, 0])
    assert by_words["a b c"] == pytest.approx([0.6, 0.8])
    assert by_words["c"] == pytest.approx([-5 / 13, -12 / 13])


def test_prepositions_as_heads():
    """Figure 1's sentence in Universal Dependencies, where *by* hangs from *telescope*."""
    words = BY[0]
    relations = ["nsubj", "root", "det", "obj", "case", "det", "obl", "punct"]
    a = analysis(words, np.eye(8), heads=[1, -1, 3, 1, 6, 6, 1, 1], relations=relations)
    assert len(subtrees([a], Inventory()).vector) == 18
    turned = subtrees([a], Inventory(scheme="prep-head"))
    expected = subtrees([example(BY)], Inventory())
    for name in ("vector", "length", "kind", "first", "last"):
        assert np.array_equal(getattr(turned, name), getattr(expected, name)), name


# --- a constituency tree by hand -----------------------------------------------------------------------------------

# (TOP (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (ADVP (ADVP (RB Here)))) (. .)))
BARKS = ["the", "dog", "barks", "Here", "."]
TREE = [
    ("TOP", -1, 0, 5), ("S", 0, 0, 5), ("NP-SBJ", 1, 0, 2), ("VP", 1, 2, 4), ("ADVP", 3, 3, 4), ("RBP", 4, 3, 4),
]  # fmt: skip


def constituents(**options):
    a = analysis(
        BARKS,
        np.eye(5),
        tree=TREE,
        xpos=["DT", "NN", "VBZ", "RB", "."],
        upos=["DET", "NOUN", "VERB", "ADV", "PUNCT"],
    )
    found = subtrees([a], Inventory(tree="const", **options))
    names = [found.names[k] for k in found.feature.tolist()]
    return sorted(zip(described(found, 0, a), names, strict=True))


def test_constituents_and_labels():
    """Unary chains are one subtree with the top-most label, words have their tags, TOP is none, suffixes go."""
    assert constituents(feature="label") == [
        (".", "."), ("Here", "ADVP"), ("barks", "VBZ"), ("barks Here", "VP"), ("dog", "NN"), ("the", "DT"),
        ("the dog", "NP"), ("the dog barks Here .", "S"),
    ]  # fmt: skip


def test_constituents_and_heads():
    assert constituents(feature="head") == [
        (".", "."), ("Here", "here"), ("barks", "barks"), ("barks Here", "barks"), ("dog", "dog"), ("the", "the"),
        ("the dog", "dog"), ("the dog barks Here .", "barks"),
    ]  # fmt: skip


def test_options_of_constituents():
    labels = constituents(feature="label")
    chain = constituents(feature="label", collapse_unary=False)
    assert sorted([*labels, ("Here", "RBP")]) == chain
    phrases = [("Here", "ADVP"), ("barks Here", "VP"), ("the dog", "NP"), ("the dog barks Here .", "S")]
    assert constituents(feature="label", include_tokens=False) == phrases
    assert constituents(feature="label", min_len=2) == phrases[1:]
    assert constituents(feature="label", min_len=2, max_len=4) == phrases[1:3]
    without = constituents(feature="label", drop_punct=True)
    assert without == [(words.removesuffix(" ."), name) for words, name in labels[1:]]


def test_dropped_punctuation_leaves_every_vector():
    a = analysis(["w", "."], [[1, 0], [5, 5]], tree=[("TOP", -1, 0, 2), ("S", 0, 0, 2)], upos=["NOUN", "PUNCT"])
    found = subtrees([a], Inventory(tree="const", drop_punct=True))
    # S is now a phrase over one word
    assert (found.vector.tolist(), found.length.tolist()) == ([[1, 0]], [1])


# --- a reference without cleverness --------------------------------------------------------------------------------


def kept_words(a, inventory):
    punctuation = [tag == "PUNCT" and inventory.drop_punct for tag in a.tokens.upos]
    return [w for w in range(len(a)) if w in set(a.vectors.word.tolist()) and not punctuation[w]]


def head_above(a, inventory, kept):
    """The heads in the tree that is looked at: what hangs from a dropped word hangs from the next one above."""
    tree = a.dependency if inventory.scheme == "ud" else case_as_head(a.dependency, a.tokens)
    head = tree.head.tolist()
    found = []
    for w in range(len(a)):
        h = head[w]
        while h >= 0 and h not in kept:
            h = head[h]
        found.append(h if w in kept else -2)
    return found, tree.relation


def slow(a, inventory):
    """Every subtree as (words, or word and number of a sub-word; feature)."""
    kept = kept_words(a, inventory)
    forms = [form.lower() for form in a.words]
    tree = a.dependency if inventory.tree == "dep" else a.constituency
    if tree is None:
        with_words = inventory.min_len == 1 and (inventory.include_tokens or inventory.tree == "dep")
        items = single_words(a, inventory, kept, forms) if with_words else []
        if len(kept) > 1:
            items.append((tuple(kept), "the whole text"))
    elif inventory.tree == "dep":
        items = slow_dependency(a, inventory, kept, forms)
    else:
        items = slow_constituency(a, inventory, kept, forms)
    if not items and kept:
        items = single_words(a, inventory, kept, forms)  # nothing has an allowed length
    if inventory.leaves == "piece":
        items = split_words(a, items)
    return Counter((words, feature if inventory.feature != "none" else "") for words, feature in items)


def single_words(a, inventory, kept, forms):
    name = forms if inventory.feature == "head" else a.tokens.xpos if inventory.tree == "const" else [""] * len(a)
    known = {}
    if inventory.tree == "dep" and a.dependency is not None and inventory.feature == "label":
        known = {(w,): relation for w, relation in enumerate(head_above(a, inventory, kept)[1])}
    elif inventory.tree == "const" and a.constituency is not None:
        # the top-most phrase over a word comes first
        known = dict(reversed(slow_constituency(a, replace(inventory, min_len=1), kept, forms)))
    return [((w,), known.get((w,), name[w])) for w in kept]


def fits(words, inventory):
    return inventory.min_len <= len(words) <= (inventory.max_len or len(words))


def slow_dependency(a, inventory, kept, forms):
    head, relation = head_above(a, inventory, kept)
    name = forms if inventory.feature == "head" else relation
    nodes = [((w,), name[w]) for w in kept]
    paths = [(tuple(sorted(path)), name[w]) for w in kept for path in paths_down(head, w)]
    descendants = [(tuple(below(head, w)), name[w]) for w in kept]
    items = nodes + paths + descendants
    items = list(dict.fromkeys(items)) if inventory.dedup == "positions" else items
    return [item for item in items if fits(item[0], inventory)]


def paths_down(head, top):
    children = [w for w, h in enumerate(head) if h == top]
    return [[top, *path] for child in children for path in paths_down(head, child)] or [[top]]


def slow_constituency(a, inventory, kept, forms):
    tree = a.constituency
    heads = tree.heads(a.tokens).tolist()
    items, covered = [], set()
    for node in range(len(tree)):
        parent = int(tree.parent[node])
        words = words_of(tree, node, kept)
        if parent < 0 or not words:
            continue
        same = int(tree.parent[parent]) >= 0 and words_of(tree, parent, kept) == words
        if not (same and inventory.collapse_unary):
            label = tree.label[node].split("-")[0].split("=")[0]
            items.append((words, forms[heads[node]] if inventory.feature == "head" else label))
        covered.add(words)
    if inventory.include_tokens:
        name = forms if inventory.feature == "head" else a.tokens.xpos
        items += [((w,), name[w]) for w in kept if (w,) not in covered]
    return [item for item in items if fits(item[0], inventory)]


def words_of(tree, node, kept):
    return tuple(w for w in range(int(tree.start[node]), int(tree.end[node])) if w in kept)


def split_words(a, items):
    """One-word subtrees become sub-words: the first one of each word, if there are several."""
    count = Counter(a.vectors.word.tolist())
    result, seen = [], set()
    for words, feature in items:
        if len(words) == 1 and words not in seen:
            seen.add(words)
            result += [((words[0], "sub-word", k), feature) for k in range(count[words[0]])]
        else:
            result.append((words, feature))
    return result


def cosine_vector(a, key):
    if len(key) == 3 and key[1] == "sub-word":
        vector = a.vectors.values[np.flatnonzero(a.vectors.word == key[0])[key[2]]]
    else:
        (vector,) = a.vectors.pooled([key])
    norm = np.linalg.norm(vector.astype(np.float64))
    return vector / norm if norm else vector


OPTIONS = {
    "feature": ["none", "label", "head"],
    "include_tokens": [True, True, False],
    "collapse_unary": [True, True, False],
    "drop_punct": [False, True],
    "min_len": [1, 1, 1, 2, 3],
    "max_len": [0, 0, 3, 6],
    "leaves": ["word", "piece"],
    "dedup": ["positions", "positions", "none"],
    "scheme": ["ud", "prep-head"],
}


@pytest.mark.parametrize("tree", ["dep", "const"])
@pytest.mark.parametrize("seed", range(40))
def test_equals_the_slow_reference(tree, seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        inventory = Inventory(
            tree=tree, **{name: values[rng.integers(len(values))] for name, values in OPTIONS.items()}
        )
        if 0 < inventory.max_len < inventory.min_len:
            continue
        analyses = [random_analysis(rng, missing=0.2) for _ in range(rng.integers(1, 5))]
        if rng.random() < 0.3:
            analyses.insert(int(rng.integers(len(analyses) + 1)), analysis([], np.zeros((0, 5))))
        found = subtrees(analyses, inventory)
        assert found.offset[-1] == len(found.vector)
        for t, a in enumerate(analyses):
            assert Counter(checked_rows(found, t, a, inventory)) == slow(a, inventory)


def checked_rows(found, t, a, inventory):
    """(words, feature) of every row, after its vector and length were looked at."""
    kept = kept_words(a, inventory)
    head = head_above(a, inventory, kept)[0] if inventory.tree == "dep" and a.dependency is not None else []
    rows = found.of(t)
    for row in range(rows.start, rows.stop):
        kind, first, last = int(found.kind[row]), int(found.first[row]), int(found.last[row])
        if kind == PIECE:
            key = (last, "sub-word", first)
            assert found.length[row] == 1
        else:
            key = tuple(w for w in positions(head, kind, first, last) if w in kept)
            assert found.length[row] == len(key)
        np.testing.assert_allclose(found.vector[row], cosine_vector(a, key), atol=1e-6)
        yield key, found.names[found.feature[row]] if inventory.feature != "none" else ""


def test_other_texts_change_no_bit():
    rng = np.random.default_rng(5)
    analyses = [random_analysis(rng) for _ in range(12)]
    for tree in ("dep", "const"):
        for leaves in ("word", "piece"):
            inventory = Inventory(tree=tree, leaves=leaves)
            together = subtrees(analyses, inventory)
            for t, a in enumerate(analyses):
                alone = subtrees([a], inventory)
                rows = together.of(t)
                for name in ("vector", "length", "kind", "first", "last"):
                    assert np.array_equal(getattr(alone, name), getattr(together, name)[rows]), name


# --- sub-words -----------------------------------------------------------------------------------------------------


def split(a, rng):
    """The same text with each word cut into sub-words whose maximum is the word's vector."""
    word, values = [], []
    for w in range(len(a)):
        (vector,) = a.vectors.values[a.vectors.word == w]
        parts = vector - rng.random((3, len(vector))).astype(np.float32) * 2
        parts[rng.integers(3, size=len(vector)), np.arange(len(vector))] = vector
        word += [w] * 3
        values.append(parts)
    n = len(word) + 2
    around = np.full((1, a.vectors.size), SPECIAL, np.float32)
    special = [True, *[False] * (n - 2), True]
    start, end = a.tokens.start[word], a.tokens.end[word]
    matrix = np.concatenate([around, *values, around])
    return replace(
        a,
        vectors=Vectors(matrix, [-1, *start, -1], [-1, *end, -1], special, [-1, *word, -1], layer=7, encoder="split"),
    )


@pytest.mark.parametrize("tree", ["dep", "const"])
def test_how_words_are_split_changes_no_vector(tree):
    """R-T5: pooling sub-words directly or over words is the same."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        a = random_analysis(rng, missing=0)
        whole, parts = (subtrees([x], Inventory(tree=tree)) for x in (a, split(a, rng)))
        assert np.array_equal(whole.vector, parts.vector)


def test_sub_words_of_a_word_may_be_apart():
    a = analysis(["x", "y"], [[1, 0], [0, 1], [0, 2]], pieces=[0, 1, 0], heads=[-1, 0])
    found = subtrees([a], Inventory())
    assert found.vector[0].tolist() == pytest.approx([1 / 5**0.5, 2 / 5**0.5])
    pieces = subtrees([a], Inventory(leaves="piece"))
    assert list(zip(pieces.last[:3].tolist(), pieces.first[:3].tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0)]
