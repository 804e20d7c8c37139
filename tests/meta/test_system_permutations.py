"""Permutations at system level: cells, systems and segments are swapped and the systems scored anew."""

from __future__ import annotations

import numpy as np
import pytest
from evaldata import scored_rows, write_jsonl
from scipy import stats

import arboreval
from arboreval.errors import UsageError
from arboreval.meta.cells import system_cells
from arboreval.meta.evalset import ForeignScores
from arboreval.meta.readers import read_jsonl
from arboreval.meta.scores import score_evalset
from arboreval.meta.tests import SystemScores, system_permutation_test

NAN = float("nan")
ORACLES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def two_metrics(seed=0, systems=6, segments=20):
    """Tables of two metrics with holes, and human scores of the systems."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(-1, 1, systems)
    a = quality[:, None] + rng.normal(size=(systems, segments))
    b = 40 * (quality[:, None] + 3 * rng.normal(size=(systems, segments))) + 7
    a[0, 3], b[2, 5], b[0, 3] = NAN, NAN, NAN
    return a, b, quality + 0.3 * rng.normal(size=systems)


def means(cells):
    return SystemScores(np.nanmean(cells, axis=1), cells)


@pytest.mark.parametrize("corr", ORACLES)
@pytest.mark.parametrize("kind", ["perm-both", "perm-sys", "perm-input"])
def test_written_out(corr, kind):
    a, b, human = two_metrics()
    trials, seed = 99, 3
    known = ~np.isnan(a + b)
    tables = []
    for cells in (a, b):
        # all cells of a system move together so that their mean is the system's score
        own, used = np.nanmean(cells, axis=1), np.where(known, cells, NAN)
        shifted = used + (own - np.nanmean(used, axis=1))[:, None]
        tables.append((shifted - np.nanmean(shifted)) / np.nanstd(shifted))
    rng = np.random.default_rng(seed)
    if kind == "perm-sys":
        draws = rng.integers(2, size=(6, trials))[:, None, :] + np.zeros((6, 20, 1))
    elif kind == "perm-input":
        draws = rng.integers(2, size=(20, trials))[None] + np.zeros((6, 1, 1))
    else:
        draws = np.stack([rng.integers(2, size=(20, trials), dtype=np.int8) for _ in range(6)])

    def delta(first, second):
        r = [ORACLES[corr](np.nanmean(t, axis=1), human).statistic for t in (first, second)]
        return r[0] - r[1]

    observed = delta(*tables)
    null = [
        delta(np.where(draws[..., t], tables[1], tables[0]), np.where(draws[..., t], tables[0], tables[1]))
        for t in range(trials)
    ]
    result = system_permutation_test(means(a), means(b), human, kind=kind, corr=corr, trials=trials, seed=seed)
    assert result.difference == pytest.approx(observed, abs=1e-9)
    assert result.p == (np.sum(np.array(null) >= observed - 1e-12) + 1) / (trials + 1)
    assert result.n == 6


def test_the_kinds_are_different_tests():
    a, b, human = two_metrics(2)
    p = {
        kind: system_permutation_test(means(a), means(b), human, kind=kind, trials=499).p
        for kind in ("perm-both", "perm-sys", "perm-input")
    }
    assert len(set(p.values())) == 3


def test_what_is_there_is_found_and_nothing_else():
    rng = np.random.default_rng(0)
    human = np.linspace(-1, 1, 12)
    good = human[:, None] + 0.3 * rng.normal(size=(12, 40))
    bad = 5 * rng.normal(size=(12, 40))
    assert system_permutation_test(means(good), means(bad), human, trials=199).p == 1 / 200
    assert system_permutation_test(means(bad), means(good), human, trials=199).p == 1.0
    assert system_permutation_test(means(good), means(3 * good + 1), human, trials=199).p == 1.0
    found = sum(
        system_permutation_test(
            *(means(human[:, None] + 3 * rng.normal(size=(12, 40))) for _ in range(2)), human, trials=99
        ).wins()
        for _ in range(100)
    )
    assert found <= 12  # 5 expected


def test_metrics_with_scores_of_systems_alone():
    a, b, human = two_metrics()
    alone = SystemScores(np.nanmean(b, axis=1))
    result = system_permutation_test(means(a), alone, human, kind="perm-sys", trials=99)
    assert 0 < result.p <= 1
    for kind in ("perm-both", "perm-input"):
        assert "needs scores of segments" in system_permutation_test(means(a), alone, human, kind=kind).reason
    with pytest.raises(UsageError, match="unknown permutation"):
        system_permutation_test(means(a), means(b), human, kind="perm-all")
    constant = SystemScores(np.ones(6), np.ones((6, 20)))
    assert system_permutation_test(constant, means(b), human).reason == "the metric's scores are all equal"


@pytest.fixture
def data(tmp_path):
    return read_jsonl(write_jsonl(tmp_path / "toy.jsonl", scored_rows()))


def test_cells_are_segment_scores_or_pseudo_values(data):
    data = data.with_foreign([ForeignScores("mine", data.human["z"], {}), ForeignScores("sys", None, {"amber": 1.0})])
    rouge, chrf, mine, systems = score_evalset(data, ["rouge-1", "chrf", "mine", "sys"])
    np.testing.assert_allclose(system_cells(data, rouge), data.matrix(rouge.rows), atol=1e-9)
    np.testing.assert_array_equal(system_cells(data, mine), data.matrix(data.human["z"]))
    assert system_cells(data, systems) is None
    found = system_cells(data, chrf)
    for i in range(3):
        rows = np.flatnonzero(data.outputs.system == i)
        total = chrf.stats[rows].sum(axis=0)
        for j, row in enumerate(rows):
            left = chrf.metric.corpus_score(total - chrf.stats[row])
            assert found[i, j] == pytest.approx(4 * chrf.metric.corpus_score(total) - 3 * left, abs=1e-9)
    one = data.limit(1)
    (chrf,) = score_evalset(one, ["chrf"])
    np.testing.assert_allclose(system_cells(one, chrf)[:, 0], chrf.systems)


def test_lower_is_better_turns_the_cells(data):
    (ter,) = score_evalset(data, ["ter"])
    cells = system_cells(data, ter)
    assert np.nanmean(cells) < 0
    assert (np.argsort(cells.mean(axis=1)) == np.argsort(-ter.systems)).all()


@pytest.mark.parametrize("test", ["perm-both", "perm-sys", "perm-input"])
@pytest.mark.parametrize("corr", ["pearson", "kendall", "pairwise-accuracy"])
def test_every_kind_works_on_corpus_metrics(data, test, corr):
    report = arboreval.meta_evaluate(
        data, ["chrf", "bleu", "ter"], level="sys", corr=[corr], test=test, trials=0, permutations=50
    )
    values = {r.metric: r.value for r in report.results}
    for t in report.tests:
        assert t.reason == ""
        assert t.difference == pytest.approx(values[t.a] - values[t.b], abs=1e-9)
        assert 0 < t.p <= 1
