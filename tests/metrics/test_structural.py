"""What the metrics that read analyses have in common: where analyses come from, and what becomes of bad ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hand_analyses import HandMade, analysis

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.errors import UsageError
from arboreval.metrics.base import Batch, MetricInfo
from arboreval.metrics.bertscore import BertScore
from arboreval.metrics.structural import StructuralMetric, harmonic
from arboreval.metrics.structure_alignment import StructureAlignment
from arboreval.registry import make_metric


@dataclass(frozen=True)
class Length(StructuralMetric):
    """P and R are the numbers of words of the two sides, F is P."""

    info = MetricInfo("length", "s", "d", True, (None, None), "c", languages=("en",))

    def pairs(self, texts, wanted):
        return {(x, y): (float(len(texts[x])), float(len(texts[y])), float(len(texts[x]))) for x, y in wanted}

    def best(self, scores):
        return max(scores, key=lambda score: score[1])


def made(words, **keywords):
    return analysis(
        words.split(), np.ones((len(words.split()), 2)), heads=range(-1, len(words.split()) - 1), **keywords
    )


ONE, TWO, THREE = made("a"), made("b c"), made("d e f")


def report(hypotheses, references, *known, metrics=None):
    analyzer = HandMade(*known)
    metrics = metrics or [Length(using=AnalysisSource(analyzer))]
    return analyzer, arboreval.score(hypotheses, references, metrics=metrics, level="seg")


def test_statistics_are_precision_recall_and_f():
    metric = Length(using=AnalysisSource(HandMade()))
    texts = {a.text: a for a in (ONE, TWO, THREE)}
    measured = metric.statistics(Batch([("b c",), ("b c", "d e f")], [["a", "b c"], ["d e f", "a"]], analyses=texts))
    assert measured.problems == []
    # F, P, R, 1; the first system has "a" and "b c", the second "d e f" and "a"
    assert measured.stats.tolist() == [[[1, 1, 2, 1], [2, 2, 3, 1]], [[3, 3, 2, 1], [1, 1, 3, 1]]]


def test_the_score_is_the_mean_over_the_segments_that_have_one():
    _, found = report(["a", "no", "d e f"], ["b c"] * 3, ONE, TWO, THREE)
    (score,) = found.systems[0].scores.values()
    assert (score.value, score.components, score.n, score.failed) == (2, {"precision": 2, "recall": 2}, 2, 1)
    assert found.segment_scores("system")["length"] == [1, None, 3]


def test_a_failed_output_fails():
    _, found = report(["no"], ["a"], ONE)
    assert [issue.reason for issue in found.failures] == ["hypothesis: not analysed: it is not known"]
    assert found.degraded == ()


def test_a_failed_reference_is_left_out_and_named():
    _, found = report(["a", "a"], [["no", "b c"], ["no", "neither"]], ONE, TWO)
    assert [(issue.seg, issue.reason) for issue in found.degraded] == [(1, "reference: not analysed: it is not known")]
    assert [(issue.seg, issue.reason) for issue in found.failures] == [(2, "reference: not analysed: it is not known")]
    assert found.systems[0].scores["length"].components == {"precision": 1, "recall": 2}


def test_a_degraded_analysis_degrades_the_score():
    _, found = report(["b c"], ["a"], ONE, replace(TWO, status="degraded", reason="it was cut"))
    assert [issue.reason for issue in found.degraded] == ["hypothesis: it was cut"]
    assert found.segment_scores("system")["length"] == [2]


def test_no_vectors():
    bare = [replace(a, vectors=None) for a in (ONE, replace(TWO, status="degraded", reason="it was too long"))]
    metric = BertScore(using=AnalysisSource(HandMade(*bare)))
    _, found = report(["a", "b c"], ["a", "b c"], metrics=[metric])
    assert [issue.reason for issue in found.failures] == [
        "hypothesis: no vectors: the analyzer makes none",
        "hypothesis: no vectors: it was too long",
    ]


def test_no_text_is_analysed_twice():
    analyzer = HandMade(ONE, TWO, THREE)
    using = AnalysisSource(analyzer)
    metrics = [
        BertScore(using=using), StructureAlignment(using=using, tree="dep"), Length(using=using), make_metric("bleu"),
    ]  # fmt: skip
    systems = {"x": ["a", "b c", "a"], "y": ["d e f", "a", "b c"]}
    arboreval.compare(systems, ["d e f", "b c", "a"], metrics=metrics)
    assert sorted(analyzer.asked) == ["a", "b c", "d e f"]


def test_two_sources_are_two_analyses():
    analyzers = HandMade(ONE, TWO), HandMade(ONE, TWO)
    metrics = [Length(using=AnalysisSource(analyzers[0])), BertScore(using=AnalysisSource(analyzers[1]))]
    arboreval.score(["a"], ["b c"], metrics=metrics)
    assert [sorted(analyzer.asked) for analyzer in analyzers] == [["a", "b c"]] * 2


def test_without_analyses_nothing_is_scored():
    with pytest.raises(UsageError, match="length reads analyses, and this batch has none"):
        Length().statistics(Batch([("a",)], [["a"]]))


def test_an_analyzer_without_the_layer_is_refused_before_the_encoder_is_loaded():
    analyzer = HandMade(ONE)
    analyzer.provides = frozenset({"tokens", "dep", "ner"})
    metric = make_metric("structure-alignment:min_len=2", using=AnalysisSource(analyzer, encoder="./nowhere"))
    makes = "the analyzer 'hand-made' does not make; it makes tokens, dep, ner."
    for run in (arboreval.score, arboreval.compare):
        with pytest.raises(UsageError) as caught:
            run({"x": ["a"], "y": ["a"]}, ["a"], metrics=[metric])
        assert str(caught.value) == (
            f"structure-alignment:min_len=2 reads the layer 'const', which {makes} Try structure-alignment:tree=dep."
        )
    with pytest.raises(UsageError, match="reads the layer 'const', which the analyzer"):
        arboreval.explain("a", "a", metric=metric)
    analyzer.provides = frozenset({"tokens", "ner"})
    with pytest.raises(UsageError, match=r"it makes tokens, ner\.$"):
        arboreval.score(["a"], ["a"], metrics=[metric])


def test_languages_are_those_of_the_analyzer():
    assert Length().languages == ("en",)
    assert Length(using=AnalysisSource("spacy")).languages == ("any",)


@pytest.mark.parametrize(
    ("p", "r", "f"),
    [(0.5, 0.25, 1 / 3), (1, 1, 1), (0, 0, 0), (0.5, 0, 0), (-0.5, -0.5, -0.5), (0.1, -0.1, 0), (0.1, -0.1001, 0)],
)
def test_harmonic_mean(p, r, f):
    assert harmonic(p, r) == pytest.approx(f)


def test_the_analyzer_and_its_options_are_in_the_signature():
    using = AnalysisSource(HandMade(ONE))
    assert Length(using=using).signature_fields("seg") == {"analyzer": "hand-made-1"}
