"""Hybrid super-sampling: the worked example, its enumeration and its limit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from arboreval.errors import UsageError
from arboreval.meta.coefficient import Coefficient
from arboreval.meta.supersampling import CAUTION, TWO_SYSTEMS, choices, closed_form, supersample
from arboreval.meta.tests import zou

HUMAN = np.array([[0.5, -0.2, 0.3, 1.0, -0.4], [0.1, 0.2, -0.1, 0.8, -0.9]])
METRIC = np.array([[0.6, 0.1, 0.2, 0.9, 0.1], [0.3, 0.2, 0.1, 0.8, 0.2]])
NAN = float("nan")


def enumerated(human, metric):
    """Pearson's r over all K^n hybrids."""
    systems, n = human.shape
    picks = np.array(list(product(range(systems), repeat=n)))
    return stats.pearsonr(human[picks, range(n)].mean(axis=1), metric[picks, range(n)].mean(axis=1)).statistic


def test_worked_example():
    assert closed_form(HUMAN, METRIC).value == pytest.approx(0.537319, abs=5e-7)
    assert enumerated(HUMAN, METRIC) == pytest.approx(closed_form(HUMAN, METRIC).value, abs=1e-12)
    sample = supersample(HUMAN, {"m": METRIC}, hybrids=200_000)
    assert sample.correlations["m"].value == pytest.approx(0.537319, abs=0.005)


def test_two_systems_are_an_uncentred_correlation_of_differences():
    h, m = HUMAN[0] - HUMAN[1], METRIC[0] - METRIC[1]
    assert closed_form(HUMAN, METRIC).value == pytest.approx((h @ m) / np.sqrt((h @ h) * (m @ m)), abs=1e-12)


@pytest.mark.parametrize("systems", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_closed_form_is_the_enumeration(systems, seed):
    human, metric = np.random.default_rng(seed).normal(size=(2, systems, 5))
    assert closed_form(human, metric).value == pytest.approx(enumerated(human, metric), abs=1e-9)


def test_hybrids_written_out():
    rng = np.random.default_rng(1)
    human, metric = rng.normal(size=(2, 3, 40))
    stats_table = rng.uniform(1, 5, size=(3, 40, 2))
    sample = supersample(
        human, {"m": metric}, statistics={"corpus": (stats_table, lambda s: s[..., 0] / s[..., 1])}, hybrids=500, seed=7
    )
    chosen = choices(3, 40, 500, 7)
    h = [np.mean([human[s, i] for i, s in enumerate(row)]) for row in chosen]
    m = [np.mean([metric[s, i] for i, s in enumerate(row)]) for row in chosen]
    sums = [sum(stats_table[s, i] for i, s in enumerate(row)) for row in chosen]
    c = [a / b for a, b in sums]
    assert sample.human == pytest.approx(h)
    assert sample.correlations["m"].value == pytest.approx(stats.pearsonr(m, h).statistic, abs=1e-9)
    assert sample.correlations["corpus"].value == pytest.approx(stats.pearsonr(c, h).statistic, abs=1e-9)
    r = [sample.correlations[name].value for name in ("m", "corpus")]
    expected = zou(*r, stats.pearsonr(m, c).statistic, 500)
    assert sample.zou("m", "corpus").ci == pytest.approx(expected.ci, abs=1e-9)


def test_choices_are_seeded_and_uniform():
    assert (choices(4, 50, 100, 3) == choices(4, 50, 100, 3)).all()
    assert (choices(4, 50, 100, 3) != choices(4, 50, 100, 4)).any()
    assert np.bincount(choices(4, 100, 1000).ravel()) / 100_000 == pytest.approx([0.25] * 4, abs=0.01)


def test_the_default_is_ten_thousand_hybrids_with_the_caution():
    sample = supersample(HUMAN, {"m": METRIC})
    assert (sample.hybrids, sample.systems, sample.segments) == (10_000, 2, 5)
    assert sample.correlations["m"].n == 10_000
    assert sample.notes == (CAUTION, TWO_SYSTEMS)
    assert "not independent" in CAUTION
    assert supersample(np.ones((3, 4)), {}).notes == (CAUTION,)


def test_segments_with_a_missing_score_are_left_out():
    human, metric = HUMAN.copy(), METRIC.copy()
    human[0, 1], metric[1, 3] = NAN, NAN
    kept = [0, 2, 4]
    assert closed_form(human, metric) == closed_form(HUMAN[:, kept], METRIC[:, kept])
    a, b = supersample(human, {"m": metric}), supersample(HUMAN[:, kept], {"m": METRIC[:, kept]})
    assert a.correlations == b.correlations
    assert a.segments == 3


def test_undefined():
    constant = np.ones((2, 5))
    assert closed_form(HUMAN, constant) == Coefficient(None, 5, "the metric scores all systems alike on every segment")
    assert closed_form(constant, METRIC).reason == "people score all systems alike on every segment"
    # systems that differ nowhere make hybrids that are all the same
    assert supersample(constant, {"m": METRIC}).correlations["m"].value is None
    assert closed_form(HUMAN[:1], METRIC[:1]).reason == "fewer than two systems"
    assert supersample(HUMAN[:1], {"m": METRIC[:1]}).correlations["m"].reason == "fewer than two systems"
    nothing = np.full((2, 5), NAN)
    assert closed_form(nothing, METRIC).reason == "no segment has all scores"
    assert supersample(nothing, {"m": METRIC}).zou("m", "m").reason == "a correlation is undefined"
    with pytest.raises(UsageError, match="m has shape"):
        supersample(HUMAN, {"m": METRIC[:, :3]})
