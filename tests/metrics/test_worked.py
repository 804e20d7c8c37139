"""Numbers worked by hand or given in the specifications."""

from __future__ import annotations

import math

import pytest

import arboreval
from arboreval.metrics.rouge_w import RougeW, weighted_lcs


def one(hypothesis, references, metric):
    return arboreval.score([hypothesis], [references], metrics=[metric]).systems[0].scores[metric]


def test_bleu_star():
    # all precisions 1, BP = exp(1 - 6/4)
    star = one("the cat sat on", ["the cat sat on the mat"], "bleu-star")
    bleu = one("the cat sat on", ["the cat sat on the mat"], "bleu")
    assert star.value == pytest.approx(100)
    assert bleu.value == pytest.approx(100 * math.exp(-0.5))
    assert bleu.components["bp"] == pytest.approx(0.60653, abs=5e-6)


def test_bleu_star_of_empty_output_is_zero():
    assert one("", ["the cat sat"], "bleu-star").value == 0


def test_bleu_star_is_corpus_level_only():
    report = arboreval.score(["a b"], ["a b"], metrics=["bleu-star", "bleu"], level="seg")
    assert list(report.segment_scores("system")) == ["bleu"]
    assert report.systems[0].scores["bleu-star"].segment_signature is None
    assert report.to_dict()["systems"][0]["segments"] == [{"seg": 1, "scores": {"bleu": pytest.approx(100)}}]


def test_rouge_w():
    # runs: "the cat" 2^1.2, then "on" and "mat" alone
    hypothesis, reference = "the cat sat on mat", "the cat is on the mat"
    assert weighted_lcs(tuple(reference.split()), tuple(hypothesis.split()), 1.2) == pytest.approx(4.29740, abs=5e-6)
    parts = one(hypothesis, [reference], "rouge-w").components
    assert parts["p"] == pytest.approx(0.67406, abs=5e-6)
    assert parts["r"] == pytest.approx(0.56172, abs=5e-6)
    assert parts["f"] == pytest.approx(0.61279, abs=5e-6)


def test_rouge_w_prefers_consecutive_matches():
    # Lin (2004), section 3.3: Y1 and Y2 have the same LCS with X, Y1's matches are consecutive
    x, y1, y2 = "a b c d e f g", "a b c d h i k", "a h b k c i d"
    assert one(y1, [x], "rouge-l").value == one(y2, [x], "rouge-l").value
    assert one(y1, [x], "rouge-w").value > one(y2, [x], "rouge-w").value


def test_rouge_w_with_weight_1_is_rouge_l(demo):
    for hypothesis, references in zip(demo.systems["birch"], demo.references, strict=True):
        w = one(hypothesis, references, "rouge-w:stem=false:weight=1.0")
        assert w.components["f"] == pytest.approx(one(hypothesis, references, "rouge-l").components["f"], abs=1e-12)


def test_rouge_w_stems_and_takes_the_best_reference():
    assert one("the dogs walked", ["a cat", "the dog walks"], "rouge-w").value == 1.0
    assert one("the dogs walked", ["the dog walks"], "rouge-w:stem=false").value < 1.0


def test_rouge_w_empty():
    assert RougeW().score_one((), ()) == (0.0, 0.0, 0.0)
    assert one("", ["a"], "rouge-w").value == 0.0


@pytest.mark.parametrize("metric", ["bleu", "bleu-star", "chrf", "chrf++", "rouge-1", "rouge-2", "rouge-l", "rouge-w"])
def test_identity_scores_the_maximum(demo, metric):
    texts = demo.lines("ref.a.txt")
    score = arboreval.score(texts, texts, metrics=[metric]).systems[0].scores[metric]
    assert score.value == pytest.approx(score.scale[1])
    assert score.value <= score.scale[1] + 1e-9


def test_ter_of_identity_is_zero(demo):
    texts = demo.lines("ref.a.txt")
    assert arboreval.score(texts, texts, metrics=["ter"]).systems[0].scores["ter"].value == 0


def test_chrf_components():
    score = one("the cat", ["the cat sat"], "chrf")
    p, r = score.components["p"], score.components["r"]
    assert score.value == pytest.approx(5 * p * r / (4 * p + r))
    assert score.components["f"] == score.value
