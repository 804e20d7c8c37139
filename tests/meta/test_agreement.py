"""People against people: the worked example, the ``krippendorff`` package and statsmodels."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from statsmodels.stats import inter_rater

from arboreval.errors import UsageError
from arboreval.meta.agreement import (
    TrapBins,
    annotation_times,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    one_vs_rest,
    summarise,
    trap_bins,
    with_and_without_traps,
    z_scores,
)
from arboreval.meta.coefficient import Coefficient

NAN = float("nan")
WORKED = np.array([[0, 50, 100, 80], [10, 60, 90, 70], [0, 40, 100, 90]], dtype=float)


def test_worked_example():
    assert krippendorff_alpha(WORKED).value == pytest.approx(0.953067, abs=5e-7)
    rest = one_vs_rest(WORKED)
    assert [c.value for c in rest.annotators] == pytest.approx([0.99937, 0.96707, 0.97067], abs=5e-6)
    assert rest.mean.value == pytest.approx(0.979035, abs=5e-7)
    z = z_scores(WORKED)
    assert z.z[0] == pytest.approx([-1.3220, -0.1724, 0.9772, 0.5173], abs=5e-5)
    assert z.items == pytest.approx([-1.3185, -0.1586, 0.9490, 0.5281], abs=5e-5)
    assert z.constant == ()


def ratings(annotators, items, seed, values=6, missing=0.2):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, values, items)
    table = np.clip(true + rng.integers(-1, 2, (annotators, items)), 0, values - 1).astype(float)
    table[rng.random(table.shape) < missing] = NAN
    return table


@pytest.mark.parametrize("level", ["interval", "nominal", "ordinal"])
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_the_krippendorff_package(level, missing, seed):
    table = ratings(4, 30, seed, missing=missing)
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    result = krippendorff_alpha(table, level)
    assert result.value == pytest.approx(expected, abs=1e-9)
    rated = (~np.isnan(table)).sum(axis=0)
    assert result.n == rated[rated >= 2].sum()


def test_alpha_of_uneven_values_and_of_real_numbers():
    table = ratings(3, 25, 9) ** 3 * 2.5
    for level in ("interval", "nominal", "ordinal"):
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        assert krippendorff_alpha(table, level).value == pytest.approx(expected, abs=1e-9)
    reals = np.random.default_rng(0).normal(1e6, 1, size=(3, 40))
    expected = krippendorff.alpha(reliability_data=reals, level_of_measurement="interval")
    assert krippendorff_alpha(reals).value == pytest.approx(expected, abs=1e-9)


def test_alpha_by_its_definition():
    table = ratings(4, 12, 3)
    units = [u[~np.isnan(u)] for u in table.T]
    units = [u for u in units if len(u) >= 2]
    every = np.concatenate(units)
    n = len(every)
    observed = sum(((u[:, None] - u) ** 2).sum() / (len(u) - 1) for u in units) / n
    expected = ((every[:, None] - every) ** 2).sum() / (n * (n - 1))
    assert krippendorff_alpha(table).value == pytest.approx(1 - observed / expected, abs=1e-12)


def test_alpha_undefined_and_perfect():
    assert krippendorff_alpha([[1, NAN], [NAN, 2]]) == Coefficient(None, 0, "no item was rated by two annotators")
    for level in ("interval", "nominal", "ordinal"):
        assert krippendorff_alpha([[3, 3], [3, 3]], level) == Coefficient(None, 4, "all ratings are equal")
        assert krippendorff_alpha([[1, 2], [1, 2]], level).value == 1.0
    # the only variation is in an item with a single rating, which does not count
    assert krippendorff_alpha([[3, 3, 9], [3, 3, NAN]]).value is None
    with pytest.raises(UsageError, match="unknown level"):
        krippendorff_alpha(WORKED, "ratio")
    with pytest.raises(UsageError, match="annotators x items"):
        krippendorff_alpha([1, 2, 3])
    with pytest.raises(UsageError, match="finite"):
        krippendorff_alpha([[1, np.inf], [1, 2]])


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(5))
def test_cohen_equals_statsmodels(weights, seed):
    a, b = ratings(2, 40, seed, missing=0.1)
    kept = ~(np.isnan(a) | np.isnan(b))
    classes = np.unique(np.concatenate([a[kept], b[kept]]))
    joint = np.array([[np.sum((a[kept] == p) & (b[kept] == q)) for q in classes] for p in classes])
    oracle = inter_rater.cohens_kappa(joint, wt=weights).kappa
    result = cohen_kappa(a, b, weights=weights)
    assert result.value == pytest.approx(oracle, abs=1e-9)
    assert result.n == kept.sum()


def test_cohen_edges():
    assert cohen_kappa([1, 1], [1, 1]).value is None
    assert cohen_kappa([1, 2], [1, 2]).value == 1.0
    assert cohen_kappa([1, NAN], [NAN, 1]).reason == "no item was rated by both"
    with pytest.raises(UsageError, match="two vectors of one length"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(UsageError, match="unknown weights"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_equals_statsmodels(seed):
    table = ratings(5, 30, seed, missing=0.0)
    counts = np.array([[np.sum(item == v) for v in np.unique(table)] for item in table.T])
    assert fleiss_kappa(table).value == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-9)


def test_fleiss_edges():
    table = ratings(4, 10, 0, missing=0.0)
    holed = np.vstack([table, np.full(10, NAN)])
    assert fleiss_kappa(holed) == fleiss_kappa(table)
    table[0, 0] = NAN
    assert fleiss_kappa(table).reason == "items have between 3 and 4 ratings; Fleiss' kappa needs one number"
    assert fleiss_kappa([[1, 1], [1, 1]]).reason == "all ratings are equal"
    assert fleiss_kappa([[1, 2]]).reason == "no item was rated by two annotators"
    assert fleiss_kappa([[NAN, NAN]]).reason == "there are no ratings"


def test_z_leaves_traps_out_of_mean_and_sd():
    traps = [False, False, True, False]
    table = np.array([[10.0, 20.0, 0.0, 60.0], [5.0, NAN, 90.0, 15.0]])
    z = z_scores(table, traps).z
    for row, values in zip(z, table, strict=True):
        known = values[[0, 1, 3]]
        known = known[~np.isnan(known)]
        assert row == pytest.approx((values - known.mean()) / known.std(ddof=1), nan_ok=True)
    population = z_scores(table, traps, ddof=0)
    assert population.z[0] == pytest.approx(z[0] * np.sqrt(3 / 2))
    assert np.isnan(population.z[1, 1])
    assert population.items[1] == population.z[0, 1]


def test_z_of_an_annotator_who_says_nothing():
    result = z_scores([[5.0, 5.0, NAN], [1.0, 2.0, 3.0], [NAN, NAN, NAN], [4.0, NAN, NAN]])
    assert result.constant == (0, 3)
    assert result.z[0] == pytest.approx([0.0, 0.0, NAN], nan_ok=True)
    assert result.z[1] == pytest.approx([-1.0, 0.0, 1.0])
    assert np.isnan(result.z[2]).all()
    assert result.items == pytest.approx([-1 / 3, 0.0, 1.0])


def test_n_or_n_minus_1_leaves_correlations_of_complete_designs():
    table = ratings(3, 40, 1, values=90, missing=0.0)
    one, two = (z_scores(table, ddof=ddof).items for ddof in (0, 1))
    assert np.corrcoef(one, two)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_one_vs_rest_with_missing_ratings():
    table = ratings(4, 50, 2)
    for annotator, found in enumerate(one_vs_rest(table).annotators):
        a = table[annotator]
        others = np.delete(table, annotator, axis=0)
        pairs = [
            (a[i], np.nanmean(others[:, i])) for i in range(50) if not (np.isnan(a[i]) or np.isnan(others[:, i]).all())
        ]
        assert found.value == pytest.approx(np.corrcoef(np.array(pairs).T)[0, 1], abs=1e-9)
    alone = one_vs_rest([[1.0, 2.0, 3.0]])
    assert alone.mean.value is None


def test_trap_bins():
    assert trap_bins([0, 0, 0.5, 20, 20.5, 100, NAN]) == TrapBins(zero=2, low=2, high=2, missing=1)
    assert trap_bins([]) == TrapBins(0, 0, 0)
    with pytest.raises(UsageError, match="below 0"):
        trap_bins([-1.0])


def test_annotation_times():
    times = annotation_times([10, 20, 600, 1200, NAN])
    assert (times.all_mean, times.cut_mean, times.n, times.n_cut) == (457.5, 15.0, 4, 2)
    assert annotation_times([]).all_mean is None
    assert annotation_times([900]).cut_mean is None


def test_with_and_without_traps():
    table = np.hstack([WORKED, np.zeros((3, 4))])
    traps = [False] * 4 + [True] * 4
    everything, without = with_and_without_traps(table, traps)
    assert (everything.items, without.items) == (8, 4)
    assert without == summarise(WORKED)
    assert everything.alpha == krippendorff_alpha(table)
    assert everything.alpha.value > without.alpha.value
    assert summarise(table, level="nominal").level == "nominal"
    with pytest.raises(UsageError, match="traps have shape"):
        with_and_without_traps(table, [True])
