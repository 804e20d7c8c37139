"""Every registered metric keeps the rules that the rest of the package relies on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import arboreval
from arboreval.errors import UsageError
from arboreval.metrics.base import Batch, Measured, MetricInfo, SegmentMetric, option, option_fields, parse_options
from arboreval.registry import BUILT_IN, make_metric, metric_class, registrations, split_spec
from arboreval.signature import parse_signature
from arboreval.testing import MetricCheckError, check_metric

VARIANTS = [*BUILT_IN, "rouge-l:measure=p:tokenizer=unicode", "bleu:smooth_method=add-k", "chrf:beta=3", "exact-match"]


@pytest.mark.parametrize("spec", VARIANTS)
def test_conforms(spec):
    check_metric(make_metric(spec))


def test_the_registry_holds_what_is_documented():
    assert set(BUILT_IN) == {
        "bleu", "bleu-star", "chrf", "chrf++", "ter", "rouge-1", "rouge-2", "rouge-l", "rouge-w", "bertscore",
        "structure-alignment",
    }  # fmt: skip
    assert registrations()["exact-match"].distribution == "arboreval-exact-match"


@pytest.mark.parametrize("name", BUILT_IN)
def test_names_agree(name):
    info = metric_class(name).info
    assert info.name == name
    assert info.citation
    assert info.definition
    assert all(f.metadata["help"] for f in option_fields(metric_class(name)))


def test_every_option_changes_the_signature(tmp_path):
    other = {bool: lambda v: not v, int: lambda v: v + 1, float: lambda v: v + 0.5}
    baseline = tmp_path / "baseline.tsv"
    baseline.write_text("LAYER,P,R,F\n7,0.3,0.3,0.3\n")
    texts = {"smooth_value": 0.3, "baseline": str(baseline)}
    # options that mean something to one kind of tree only
    needed = {"scheme": {"tree": "dep"}, "dedup": {"tree": "dep"}}
    for name in BUILT_IN:
        cls = metric_class(name)
        for f in option_fields(cls):
            choices = [c for c in f.metadata["choices"] if c not in (f.default, "13a", "rouge-score")]
            value: Any = texts.get(f.name)
            if value is None:
                value = choices[0] if choices else other[type(f.default)](f.default)
            with_it = needed.get(f.name, {})
            plain = dict(cls(**with_it).signature_fields("sys"))
            assert dict(cls(**with_it, **{f.name: value}).signature_fields("sys")) != plain, f"{name}:{f.name}"


def test_signature_round_trip(demo):
    report = arboreval.compare(demo.systems, demo.references, metrics=["bleu"], seed=7, limit=20)
    name, fields = parse_signature(report.systems[0].scores["bleu"].signature)
    assert name == "bleu"
    assert fields.pop("version").startswith("sacrebleu-2.")
    assert fields == {
        "nrefs": "2", "limit": "20", "bs": "1000", "ar": "10000", "seed": "7",
        "case": "mixed", "eff": "no", "tok": "13a", "smooth": "exp",
    }  # fmt: skip


def test_labels_name_what_differs_from_the_default():
    assert make_metric("rouge-l:stem=no:measure=r").label == "rouge-l:measure=r"
    assert make_metric("bleu:lowercase=1").label == "bleu:lowercase=true"


def test_same_metric_twice_is_scored_once():
    report = arboreval.score(["a"], ["a"], metrics=["bleu", "bleu:lowercase=false", "bleu:lowercase=true"])
    assert report.metrics == ("bleu", "bleu:lowercase=true")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("belu", "unknown metric 'belu'. Did you mean 'bleu'?"),
        ("rouge-l:mesure=p", "unknown option of rouge-l 'mesure'. Did you mean 'measure'?"),
        ("rouge-l:measure=x", "rouge-l: option measure must be one of p, r, f, not 'x'."),
        ("bleu:lowercase=maybe", "bleu: option lowercase must be true or false, not 'maybe'."),
        ("chrf:beta=two", "chrf: option beta must be a whole number, not 'two'."),
        ("rouge-w:weight=x", "rouge-w: option weight must be a number, not 'x'."),
        ("rouge-w:weight=0.5", "rouge-w: option weight must be at least 1."),
        ("bleu:max_ngram_order=0", "bleu: option max_ngram_order must be at least 1."),
        ("chrf:char_order=0", "chrf: char_order and beta must be at least 1, word_order at least 0."),
        ("bleu:lowercase", "'lowercase' is not an option of the form name=value"),
        ("bleu:tokenize=13a:tokenize=zh", "option 'tokenize' is given twice"),
    ],
)
def test_a_wrong_spec_is_one_clear_sentence(spec, message):
    with pytest.raises(UsageError) as caught:
        make_metric(spec)
    assert message in str(caught.value)


def test_split_spec():
    assert split_spec("structure-alignment:tree=dep:filter=head") == (
        "structure-alignment",
        {"tree": "dep", "filter": "head"},
    )


def test_two_packages_with_one_name(monkeypatch):
    class Point:
        name, value = "bleu", "other:Bleu"

        class dist:
            name = "other-package"

    registrations.cache_clear()
    monkeypatch.setattr("arboreval.registry.entry_points", lambda group: [Point])
    with pytest.raises(UsageError, match="'bleu' is registered by 'arboreval' and by 'other-package'"):
        registrations()
    registrations.cache_clear()


INFO = MetricInfo("toy", "s", "d", True, (0.0, 1.0), "c")


@dataclass(frozen=True)
class Toy(SegmentMetric):
    info = INFO
    width = 2
    size: int = option(3, "an option")

    def segment_stats(self, hypothesis, prepared):
        if hypothesis == "boom":
            raise RuntimeError("no such luck")
        if hypothesis == "nan":
            return np.nan, 1.0
        return float(hypothesis in prepared), 1.0

    def aggregate(self, totals):
        return totals[..., 0] / np.maximum(totals[..., 1], 1)


def test_a_metric_that_breaks_on_a_segment_loses_only_that_segment():
    report = arboreval.score(["a", "boom", "nan", "b"], ["a", "b", "c", "b"], metrics=[Toy()], level="seg")
    score = report.systems[0].scores["toy"]
    assert (score.value, score.n, score.failed) == (1.0, 2, 2)
    assert [(f.seg, f.reason) for f in report.failures] == [
        (2, "RuntimeError: no such luck"),
        (3, "toy gave a statistic that is not a finite number"),
    ]
    assert report.segment_scores("system")["toy"] == [1.0, None, None, 1.0]


@dataclass(frozen=True)
class Undefined(Toy):
    def aggregate(self, totals):
        return np.full(totals.shape[:-1], np.nan)


def test_a_score_that_is_not_a_number_is_missing():
    report = arboreval.compare({"x": ["a"], "y": ["b"]}, ["a"], metrics=[Undefined()], level="seg")
    score = report.systems[0].scores["toy"]
    assert (score.value, score.ci) == (None, None)
    assert report.segment_scores("x") == {"toy": [None]}
    assert report.comparisons == ()
    report.render("json")


def test_failed_segments_are_left_out_of_comparisons():
    # on the segments both could score (2 and 3), x wins one and loses none
    report = arboreval.compare({"x": ["boom", "b", "c"], "y": ["a", "q", "c"]}, ["a", "b", "c"], metrics=[Toy()])
    assert report.comparisons[0].difference == pytest.approx(0.5)


def test_no_segment_scored_at_all():
    report = arboreval.compare({"x": ["boom"], "y": ["boom"]}, ["a"], metrics=[Toy()])
    assert report.comparisons == ()
    score = report.systems[0].scores["toy"]
    assert (score.value, score.ci, score.n, score.failed, score.components) == (None, None, 0, 1, {})


def test_annotations_may_be_types_instead_of_texts():
    # a plug-in written without `from __future__ import annotations`
    fields = {f.name: f for f in option_fields(Toy)}
    fields["size"].type = int
    assert parse_options(Toy, {"size": "4"}) == {"size": 4}


@dataclass(frozen=True)
class DependsOnBatch(Toy):
    def statistics(self, batch: Batch) -> Measured:
        measured = super().statistics(batch)
        return Measured(measured.stats + len(batch.references))


@dataclass(frozen=True)
class OffScale(Toy):
    def aggregate(self, totals):
        return totals[..., 0] + 7.0


def test_check_metric_finds_what_is_wrong():
    with pytest.raises(MetricCheckError, match="must not depend on the batch"):
        check_metric(DependsOnBatch())
    with pytest.raises(MetricCheckError, match="off the scale"):
        check_metric(OffScale())
