"""Structure alignment: the numbers and requirements of its specification."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hand_analyses import HandMade, analysis, random_analysis

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.analysis.structures import Analysis
from arboreval.errors import UsageError
from arboreval.metrics.structure_alignment import StructureAlignment
from arboreval.registry import make_metric
from arboreval.run.measure import measure
from arboreval.testing import check_metric

WORDS = {"leaves": "word", "max_len": 0}
MODES = [
    {"tree": tree, "filter": filter_, "weighting": weighting, **inventory}
    for tree, filter_, weighting in product(("dep", "const"), ("none", "label", "head"), ("none", "length"))
    for inventory in ({}, WORDS, {**WORDS, "dedup": "none", "collapse_unary": False}, {"scheme": "prep-head"})
]


def prf(hypothesis, reference, **options):
    """Precision, recall and F."""
    texts = {"hypothesis": hypothesis, "reference": reference}
    return StructureAlignment(**options).pairs(texts, [("hypothesis", "reference")])["hypothesis", "reference"]


def scored(hypotheses, references, known, **options):
    """A report on texts whose analyses are given."""
    metric = StructureAlignment(using=AnalysisSource(HandMade(*known)), **options)
    return arboreval.score(hypotheses, references, metrics=[metric], level="seg")


# --- the worked example, specification 13 --------------------------------------------------------------------------

HYPOTHESIS = analysis(["a", "b"], [[1, 0], [0, 1]], heads=[-1, 0])
REFERENCE = analysis(["a", "b"], [[1, 0], [0.6, 0.8]], heads=[1, -1], space="  ")
# the same with constituents: heads a and b
PHRASES = [("TOP", -1, 0, 2), ("NP", 0, 0, 2)]
HYPOTHESIS_NP = analysis(["a", "b"], [[1, 0], [0, 1]], tree=PHRASES, xpos=["NN", "DT"])
REFERENCE_NP = analysis(["a", "b"], [[1, 0], [0.6, 0.8]], tree=PHRASES, xpos=["DT", "NN"], space="  ")
BOTH = [("dep", HYPOTHESIS, REFERENCE), ("const", HYPOTHESIS_NP, REFERENCE_NP)]


@pytest.mark.parametrize(("tree", "x", "y"), BOTH)
def test_worked_example(tree, x, y):
    assert prf(x, y, tree=tree) == pytest.approx((0.93129, 0.99461, 0.96191), abs=5e-6)
    assert prf(x, y, tree=tree, filter="head") == pytest.approx((0.83570, 0.80823, 0.82174), abs=5e-6)
    assert prf(x, y, tree=tree, weighting="length") == pytest.approx((0.99388,) * 3, abs=5e-6)


def test_similarities_of_the_worked_example():
    metric = StructureAlignment(tree="dep")
    aligned = metric.align(metric.subtrees([HYPOTHESIS, REFERENCE]), 0, 1)
    expected = [[1, 0.6, 0.7809], [0, 0.8, 0.6247], [0.7071, 0.9899, 0.9939]]
    np.testing.assert_allclose(aligned.similarity, expected, atol=5e-5)
    metric = StructureAlignment(tree="dep", filter="head")
    aligned = metric.align(metric.subtrees([HYPOTHESIS, REFERENCE]), 0, 1)
    np.testing.assert_allclose(aligned.x_best, [1, 0.8, 0.7071], atol=5e-5)
    np.testing.assert_allclose(aligned.y_best, [1, 0.8, 0.6247], atol=5e-5)
    # what each subtree contributes sums to P and R
    assert aligned.x_weight @ aligned.x_best == pytest.approx(0.83570, abs=5e-6)
    assert aligned.y_weight @ aligned.y_best == pytest.approx(0.80823, abs=5e-6)


def test_worked_example_in_a_report():
    report = scored([HYPOTHESIS.text], [REFERENCE.text], [HYPOTHESIS, REFERENCE], tree="dep", leaves="word")
    (score,) = report.systems[0].scores.values()
    assert score.value == pytest.approx(0.96191, abs=5e-6)
    assert score.components == pytest.approx({"precision": 0.93129, "recall": 0.99461}, abs=5e-6)


# --- requirements --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MODES)
def test_identity_scores_one(options):
    """R-T1."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        a = random_analysis(rng, missing=0.05)
        if a.vectors.values[~a.vectors.special].any(axis=1).all():
            assert prf(a, a, **options) == pytest.approx((1, 1, 1), abs=1e-6)


@pytest.mark.parametrize("options", MODES)
def test_swapped_sides(options):
    """R-T2: P and R change places, F stays."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        x, y = random_analysis(rng), random_analysis(rng)
        (p, r, f), (r2, p2, f2) = prf(x, y, **options), prf(y, x, **options)
        assert (p, r, f) == pytest.approx((p2, r2, f2), abs=1e-6)


@pytest.mark.parametrize("options", [mode for mode in MODES if mode["filter"] != "none"])
def test_a_filter_raises_no_best(options):
    """R-T3, for cosines that are not negative."""
    rng = np.random.default_rng(3)
    lower = 0
    for _ in range(5):
        texts = [random_analysis(rng, negative=False) for _ in range(2)]
        kept, plain = (StructureAlignment(**options), StructureAlignment(**{**options, "filter": "none"}))
        filtered, free = (metric.align(metric.subtrees(texts), 0, 1) for metric in (kept, plain))
        assert (filtered.x_best <= free.x_best).all()
        assert (filtered.y_best <= free.y_best).all()
        lower += int((filtered.x_best < free.x_best).sum())
    assert lower


@pytest.mark.parametrize("options", MODES)
def test_equals_plain_loops(options):
    """Equations 2 to 8 subtree by subtree."""
    rng = np.random.default_rng(4)
    metric = StructureAlignment(**options)
    for _ in range(3):
        texts = [random_analysis(rng) for _ in range(2)]
        found = metric.subtrees(texts)
        sides = [range(rows.start, rows.stop) for rows in (found.of(0), found.of(1))]
        p, r = (mean_of_best(found, here, there, metric) for here, there in (sides, sides[::-1]))
        f = 2 * p * r / (p + r) if p * r > 0 else 0
        assert prf(*texts, **options) == pytest.approx((p, r, f), abs=1e-6)


def mean_of_best(found, here, there, metric):
    total = weights = plain = 0.0
    for s in here:
        values = []
        for t in there:
            same = metric.filter == "none" or found.names[found.feature[s]] == found.names[found.feature[t]]
            values.append(float(found.vector[s].astype(float) @ found.vector[t].astype(float)) if same else 0.0)
        best = min(max(values), 1)
        weight = np.log(found.length[s]) if metric.weighting == "length" else 1.0
        total, weights, plain = total + weight * best, weights + weight, plain + best
    return total / weights if weights else plain / len(here)


# --- edge cases, specification 9 -----------------------------------------------------------------------------------


def test_empty_texts():
    something = analysis(["x"], [[1, 0]], heads=[-1])
    blank, blanks = Analysis("", something.tokens.empty()), analysis([], np.zeros((0, 2)))
    assert prf(blank, something, tree="dep") == prf(something, blank, tree="dep") == (0, 0, 0)
    assert prf(blanks, something, tree="dep") == prf(something, blanks, tree="dep") == (0, 0, 0)
    assert prf(blank, blank, tree="dep") == prf(blanks, blanks, tree="const") == prf(blank, blanks) == (1, 1, 1)


def test_empty_texts_with_the_bundled_analyzer():
    report = arboreval.score(
        ["", " ", "a cat", "..."], ["", "a cat", "", "..."], metrics=["structure-alignment"], level="seg"
    )
    assert report.segment_scores("system")["structure-alignment"] == [1, 0, 0, pytest.approx(1)]
    assert (report.failures, report.degraded) == ((), ())


@pytest.mark.parametrize(("tree", "x", "y"), BOTH)
def test_no_tree_is_one_flat_subtree_and_its_words(tree, x, y):
    flat = replace(x, dependency=None, constituency=None, status="degraded", reason="it was too long")
    metric = StructureAlignment(tree=tree)
    found = metric.subtrees([flat])
    assert found.length.tolist() == [1, 1, 2]
    np.testing.assert_allclose(found.vector[2], [0.5**0.5, 0.5**0.5], atol=1e-6)
    # the same subtrees as those of the tree
    assert prf(flat, y, tree=tree) == prf(x, y, tree=tree)
    report = scored([flat.text], [y.text], [flat, y], tree=tree)
    assert [(issue.seg, issue.reason) for issue in report.degraded] == [
        (1, "hypothesis: no parse: the text counts as one flat subtree and its words (it was too long)")
    ]


def test_a_reference_without_a_tree_is_named():
    flat = replace(REFERENCE, dependency=None)
    report = scored([HYPOTHESIS.text], [flat.text], [HYPOTHESIS, flat], tree="dep")
    assert report.degraded[0].reason == (
        "reference: no parse: the text counts as one flat subtree and its words (no tree)"
    )


def test_zero_vector():
    x = analysis(["a", "b"], [[0, 0], [1, 0]], heads=[1, -1])
    y = analysis(["a"], [[1, 0]], heads=[-1])
    # a: 0, b and "a b": 1
    assert prf(x, y, tree="dep") == pytest.approx((2 / 3, 1, 0.8))


def test_negative_cosines():
    x, y = analysis(["a"], [[1, 0]], heads=[-1]), analysis(["b"], [[-1, 0]], heads=[-1])
    assert prf(x, y, tree="dep") == pytest.approx((-1, -1, -1))
    # the pair that is filtered out scores 0
    assert prf(x, y, tree="dep", filter="head") == (0, 0, 0)


def test_a_word_without_a_sub_word_is_in_no_subtree():
    full = analysis(["a", "b"], [[1, 0], [0, 1]], heads=[-1, 0])
    gap = analysis(["a", "\u200b", "b"], [[1, 0], [0, 1]], pieces=[0, 2], heads=[-1, 0, 1])
    for options in ({"tree": "dep"}, {"tree": "dep", **WORDS}):
        assert prf(gap, full, **options) == pytest.approx((1, 1, 1))
    none = analysis(["\u200b"], np.zeros((0, 2)), pieces=[], heads=[-1])
    assert prf(none, full, tree="dep") == (0, 0, 0)


def test_a_failed_analysis_fails_the_segment():
    report = scored(["unknown", HYPOTHESIS.text], [REFERENCE.text, "unknown"], [HYPOTHESIS, REFERENCE], tree="dep")
    assert [(issue.seg, issue.reason) for issue in report.failures] == [
        (1, "hypothesis: not analysed: it is not known"),
        (2, "reference: not analysed: it is not known"),
    ]
    assert list(report.segment_scores("system").values()) == [[None, None]]


def test_one_word_texts_are_weighed_alike():
    """Specification 8: all weights are 0."""
    x = analysis(["a"], [[3, 4]], heads=[-1])
    y = analysis(["b"], [[1, 0]], heads=[-1])
    assert prf(x, y, tree="dep", weighting="length") == pytest.approx((0.6, 0.6, 0.6))


def test_no_subtree_of_the_lengths_asked_for():
    x, y = analysis(["a"], [[3, 4]], heads=[-1]), analysis(["b"], [[1, 0]], heads=[-1])
    assert prf(x, y, tree="dep", min_len=2) == pytest.approx((0.6, 0.6, 0.6))
    phrases = {"tree": "const", "include_tokens": False}
    top = [("TOP", -1, 0, 1)]
    x, y = (replace(analysis([w], v, tree=top)) for w, v in (("a", [[3, 4]]), ("b", [[1, 0]])))
    assert prf(x, y, **phrases) == pytest.approx((0.6, 0.6, 0.6))


# --- options -------------------------------------------------------------------------------------------------------


def test_several_references():
    x = HYPOTHESIS
    near, far = REFERENCE, analysis(["a", "b"], [[-1, 1], [0, 1]], heads=[-1, 0], space="   ")
    known = [x, near, far]
    single = {y.text: prf(x, y, tree="dep") for y in (near, far)}
    assert single[far.text][2] < single[near.text][2]
    (score,) = scored([x.text], [[far.text, near.text]], known, tree="dep").systems[0].scores.values()
    assert (score.components["precision"], score.components["recall"], score.value) == single[near.text]
    report = scored([x.text], [[far.text, near.text]], known, tree="dep", refs="mean")
    (score,) = report.systems[0].scores.values()
    mean = np.mean(list(single.values()), axis=0)
    assert (score.components["precision"], score.components["recall"], score.value) == pytest.approx(tuple(mean))


def test_the_system_score_is_the_mean_of_the_segments():
    texts = [HYPOTHESIS.text, REFERENCE.text]
    report = scored(texts, texts[::-1], [HYPOTHESIS, REFERENCE], tree="dep", filter="head")
    (segments,) = report.segment_scores("system").values()
    assert segments[0] == pytest.approx(0.82174, abs=5e-6)
    (score,) = report.systems[0].scores.values()
    assert score.value == pytest.approx(sum(segments) / 2)


def test_label_filter():
    def one(label):
        tree = [("TOP", -1, 0, 2), (label, 0, 0, 2)]
        return analysis(["a", "b"], [[1, 0], [0, 1]], tree=tree, xpos=["NN", "DT"], space=" " * len(label))

    same = prf(one("NP-SBJ"), one("NP"), tree="const", filter="label")
    assert same == pytest.approx((1, 1, 1))
    # the phrase finds nothing, the words do
    other = prf(one("VP"), one("NP"), tree="const", filter="label")
    assert other == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_relations_filter_dependencies():
    x = analysis(["a", "b"], [[1, 0], [0, 1]], heads=[-1, 0], relations=["root", "obj"])
    y = analysis(["a", "b"], [[1, 0], [0, 1]], heads=[-1, 0], relations=["root", "nsubj"], space="  ")
    assert prf(x, y, tree="dep", filter="label") == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_head_words_are_compared_without_case():
    x = analysis(["A", "b"], [[1, 0], [0, 1]], heads=[-1, 0])
    y = analysis(["a", "b"], [[1, 0], [0, 1]], heads=[-1, 0])
    assert prf(x, y, tree="dep", filter="head") == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("options", [{"min_len": 0}, {"max_len": -1}, {"min_len": 3, "max_len": 2}])
def test_impossible_lengths(options):
    with pytest.raises(UsageError, match="min_len must be at least 1"):
        StructureAlignment(**options)


# --- the card ------------------------------------------------------------------------------------------------------


def test_values_of_the_card():
    card = (Path(__file__).parents[2] / "docs/metrics/structure-alignment.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+:?[^`]*)` \| ([.\d]*) ?\| ([.\d]*) ?\| ([.\d]+) \|$", card, re.MULTILINE)
    assert len(rows) == 9
    metrics = [row[0] for row in rows]
    texts = ["I saw a girl by a telescope ."], ["I saw a girl having a telescope ."]
    scores = arboreval.score(*texts, metrics=metrics).systems[0].scores
    for (_, p, r, f), score in zip(rows, scores.values(), strict=True):
        assert score.value == pytest.approx(float(f), abs=6e-4), score
        if p:
            assert score.components == pytest.approx({"precision": float(p), "recall": float(r)}, abs=6e-4), score


# --- running it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "structure-alignment",
        "structure-alignment:tree=dep",
        "structure-alignment:filter=label:leaves=word:max_len=0",
        "structure-alignment:tree=dep:filter=head:scheme=prep-head:dedup=none:weighting=length:drop_punct=true",
        "structure-alignment:refs=mean:min_len=2:include_tokens=false:collapse_unary=false",
    ],
)
def test_keeps_the_rules_of_metrics(spec):
    """Among them: batches and other systems change no bit."""
    check_metric(make_metric(spec))


def test_processes_change_no_bit(demo):
    metrics = [make_metric(name) for name in ("structure-alignment:tree=dep:filter=head", "bertscore:idf=true")]
    from arboreval.corpus.model import Corpus

    references = [refs[:1] for refs in demo.references][:12]
    corpus = Corpus.from_lists({n: texts[:12] for n, texts in demo.systems.items()}, references)
    here = measure(corpus, metrics)
    there = measure(corpus, metrics, jobs=2, batch_size=5)
    for one, two in zip(here, there, strict=True):
        assert np.array_equal(one.stats, two.stats)
        assert one.metric == two.metric


def test_the_signature_names_everything():
    report = arboreval.score(["a cat"], ["a cat"], metrics=["structure-alignment", "structure-alignment:tree=dep"])
    constituents, dependencies = (score.signature for score in report.systems[0].scores.values())
    (analyzed,) = arboreval.analyze(["a cat"], cache=False)
    analyzer = f"refs:max|analyzer:{analyzed.fingerprint}|version:arboreval-{arboreval.__version__}"
    assert constituents == (
        "structure-alignment|nrefs:1|bs:1000|seed:12345|tree:const|filter:none|weighting:none|include_tokens:yes|"
        f"collapse_unary:yes|drop_punct:no|min_len:1|max_len:12|leaves:piece|{analyzer}"
    )
    assert dependencies == (
        "structure-alignment|nrefs:1|bs:1000|seed:12345|tree:dep|filter:none|weighting:none|scheme:ud|"
        f"dedup:positions|drop_punct:no|min_len:1|max_len:12|leaves:piece|{analyzer}"
    )
