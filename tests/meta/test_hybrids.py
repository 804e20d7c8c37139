"""Hybrids of an EvalSet: one set of segments and choices for all metrics, the user's seed, and honest intervals."""

from __future__ import annotations

import numpy as np
import pytest
from evaldata import scored_rows, write_jsonl
from scipy import stats

import arboreval
from arboreval.meta.evalset import ForeignScores
from arboreval.meta.hybrids import NO_SEGMENT, hybrid_correlations, hybrids_of
from arboreval.meta.readers import read_jsonl
from arboreval.meta.resample import counts
from arboreval.meta.scores import score_evalset
from arboreval.meta.supersampling import choices, closed_form, limit_samples, supersample
from arboreval.significance import DEFAULT_SEED

NAN = float("nan")


def made(systems=3, segments=30, seed=0):
    """Human scores with metrics that follow them, and statistics of a corpus metric that is a ratio of sums."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments))
    metric = human + rng.normal(size=human.shape)
    size = rng.integers(5, 20, size=human.shape).astype(float)
    hits = np.clip(size * (0.5 + 0.1 * human + 0.05 * rng.normal(size=human.shape)), 0, None)
    return human, metric, np.stack([hits, size], axis=2)


def ratio(sums):
    return sums[..., 0] / sums[..., 1]


def toy(tmp_path, changes=lambda row: {}):
    rows = [row | changes(row) for row in scored_rows()]
    return read_jsonl(write_jsonl(tmp_path / "toy.jsonl", rows))


def foreign(data, name, **missing):
    rng = np.random.default_rng(len(name))
    rows = data.human["z"] + rng.normal(size=len(data.outputs))
    index = data.row_index()
    for system, segment in missing.items():
        rows[index[system, segment]] = NAN
    return ForeignScores(name, rows, {})


def test_all_metrics_share_segments_and_choices(tmp_path):
    data = toy(tmp_path)
    data = data.with_foreign([foreign(data, "whole"), foreign(data, "holed", amber=2, cedar=4)])
    scored = score_evalset(data, ["whole", "holed", "rouge-1"])
    human = data.human["z"]
    found = hybrid_correlations(data, human, scored, exact=False, seed=5)
    kept = [0, 2]  # segments 2 and 4 lack a score of one metric
    chosen = choices(3, 2, 10_000, 5)

    def means(values):
        return data.matrix(values)[:, kept][chosen, range(2)].mean(axis=1)

    for s in scored:
        expected = stats.pearsonr(means(s.oriented_rows), means(human)).statistic
        assert found[s.name].value == pytest.approx(expected, abs=1e-9)
    exact = hybrid_correlations(data, human, scored, exact=True, seed=5)
    for s in scored:
        expected = closed_form(data.matrix(human)[:, kept], data.matrix(s.oriented_rows)[:, kept])
        assert exact[s.name] == expected
    assert hybrids_of(data, human, scored, 5).segments == 2
    report = arboreval.meta_evaluate(
        data, ["whole", "holed", "rouge-1"], level="sys", corr=["hybrid"], trials=0, seed=5
    )
    assert {r.metric: r.value for r in report.results} == {name: c.value for name, c in found.items()}


def test_hybrids_follow_the_seed(tmp_path):
    data = toy(tmp_path)

    def value(**keywords):
        report = arboreval.meta_evaluate(data, ["rouge-1"], level="sys", corr=["hybrid"], trials=0, **keywords)
        return report.results[0].value

    assert value(seed=1) == value(seed=1)
    assert value(seed=1) != value(seed=2)
    assert value() == value(seed=DEFAULT_SEED)


def test_a_metric_without_segments_does_not_take_those_of_others(tmp_path):
    data = toy(tmp_path)
    nothing = foreign(data, "nothing", amber=1, birch=2, cedar=3)
    nothing.rows[data.row_index()["amber", 4]] = NAN
    data = data.with_foreign([nothing, foreign(data, "m"), ForeignScores("sys", None, {"amber": 1.0, "birch": 0.0})])
    scored = score_evalset(data, ["nothing", "m", "sys", "bleu-star"])
    alone = hybrid_correlations(data, data.human["z"], [scored[1]], exact=True, seed=1)
    found = hybrid_correlations(data, data.human["z"], scored, exact=True, seed=1)
    assert found["nothing"].reason == NO_SEGMENT
    assert found["m"] == alone["m"]
    assert found["sys"].reason == "hybrids need scores of segments"
    assert found["bleu-star"].value is None  # BLEU* is a corpus score: it can be hybrid, but has no closed form
    sampled = hybrid_correlations(data, data.human["z"], [scored[1], scored[3]], exact=False, seed=1)
    assert sampled["bleu-star"].value is not None


def test_the_limit_is_the_closed_form_in_every_resample():
    human, metric, _ = made(seed=1)
    metric[1, 3], human[0, 7] = NAN, NAN
    drawn = counts(30, 25, 3)
    samples = limit_samples(human, metric[..., None], drawn)
    for trial, sample in zip(drawn.T.astype(int), samples, strict=True):
        rows = np.repeat(np.arange(30), trial)
        assert sample == pytest.approx(closed_form(human[:, rows], metric[:, rows]).value, abs=1e-9)


def test_the_limit_of_a_corpus_metric_is_what_hybrids_tend_to():
    """The score is taken as linear around the mean hybrid; 40,000 hybrids of the resampled segments agree."""
    human, _, statistics = made(4, 60, 2)
    drawn = counts(60, 6, 9)
    samples = limit_samples(human, statistics, drawn, ratio)
    for trial, sample in zip(drawn.T.astype(int), samples, strict=True):
        rows = np.repeat(np.arange(60), trial)
        hybrids = supersample(
            human[:, rows], statistics={"m": (statistics[:, rows], ratio)}, hybrids=40_000, seed=1
        ).correlations["m"]
        assert sample == pytest.approx(hybrids.value, abs=0.015)


def test_undefined_resamples_are_missing():
    human, metric, _ = made(2, 4, 0)
    metric[:, :3] = 1.0  # the systems differ on the last segment alone
    drawn = np.array([[1.0, 4.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    samples = limit_samples(human, metric[..., None], drawn)
    assert np.isfinite(samples[0])
    assert np.isnan(samples[1])


def test_hybrids_have_intervals_and_their_cautions(tmp_path):
    data = toy(tmp_path)
    report = arboreval.meta_evaluate(
        data, ["chrf", "rouge-1"], level="sys", corr=["hybrid", "hybrid-exact"], test="bootstrap", trials=200
    )
    for r in report.results:
        assert r.ci[0] <= r.value <= r.ci[1], (r.metric, r.corr)
        assert r.n == (10_000 if r.corr == "hybrid" else 4)
    assert {t.corr for t in report.tests if t.p is not None} == {"hybrid", "hybrid-exact"}
    for format_ in ("text", "json", "tsv", "latex", "html"):
        assert "not independent observations" in report.render(format_)
        assert "With two systems" not in report.render(format_)
    two = arboreval.meta_evaluate(data, ["chrf"], level="sys", corr=["hybrid"], without=["cedar"], trials=0)
    assert "With two systems" in two.render("text")
