"""Every bootstrap value equals the coefficient of the rows it stands for, written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from arboreval.errors import UsageError
from arboreval.meta.correlation import Pairs, acc23, correlate, pairs_for, spa, wmt_kendall
from arboreval.meta.resample import bootstrap, bootstrap_pairs, bootstrap_systems, counts, interval, rowwise

NAN = float("nan")
TRIALS = 12


def scored(segments=40, systems=4, seed=0, missing=0.15):
    rng = np.random.default_rng(seed)
    segment, system = (v.ravel() for v in np.indices((segments, systems)))
    y = np.round(rng.normal(size=len(segment)) * 20 + 5 * system)
    x = np.round(y / 20 + rng.normal(size=len(y)), 1)
    x[rng.random(len(x)) < missing / 2] = NAN
    y[rng.random(len(y)) < missing] = NAN
    return x, y, segment, system


def written_out(drawn, unit):
    """For each trial the rows with their copies, and a new unit number for every copy."""
    for trial in drawn.T.astype(int):
        rows, units, n = [], [], 0
        for u, times in enumerate(trial):
            for _ in range(times):
                here = np.flatnonzero(unit == u)
                rows.extend(here)
                units.extend([n] * len(here))
                n += 1
        yield np.array(rows), np.array(units)


def value_or_nan(coefficient):
    return NAN if coefficient.value is None else coefficient.value


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("average", ["none", "item", "sys"])
@pytest.mark.parametrize("unit", ["segment", "row"])
def test_correlations(name, average, unit):
    x, y, segment, system = scored()
    found = bootstrap(name, x, y, segment=segment, system=system, average=average, unit=unit, trials=TRIALS, seed=3)
    units = segment if unit == "segment" else np.arange(len(x))
    expected = []
    for rows, copies in written_out(counts(units.max() + 1, TRIALS, 3), units):
        seg = copies if unit == "segment" else segment[rows]
        expected.append(
            value_or_nan(correlate(name, x[rows], y[rows], segment=seg, system=system[rows], average=average))
        )
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "auc"])
@pytest.mark.parametrize("n", [2, 5, 70, 300])
def test_rows_without_segments(name, n):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n).astype(float)
    x = np.round(y + rng.normal(size=n), 1)
    found = bootstrap(name, x, y, trials=TRIALS, seed=1)
    expected = [
        value_or_nan(correlate(name, x[rows], y[rows])) for rows, _ in written_out(counts(n, TRIALS, 1), np.arange(n))
    ]
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    "name", ["kendall-wmt12", "kendall-wmt13", "kendall-wmt14", "kendall-darr", "kendall-xties", "acc23"]
)
def test_pair_statistics(name):
    x, y, segment, system = scored()
    epsilon = acc23(x, y, segment).epsilon
    found = bootstrap(name, x, y, segment=segment, system=system, trials=TRIALS, seed=5)
    expected = []
    for rows, copies in written_out(counts(40, TRIALS, 5), segment):
        if name == "acc23":
            expected.append(acc23(x[rows], y[rows], copies, epsilon=epsilon).coefficient.value)
        else:
            pairs = pairs_for(name, x[rows], y[rows], copies)
            expected.append(wmt_kendall(pairs, name.removeprefix("kendall-"), missing="drop").value)
    assert found == pytest.approx(expected, abs=1e-9)


def test_rankings_resample_segments_or_judgments():
    rng = np.random.default_rng(0)
    better, worse = np.round(rng.normal(0.3, 1, 200), 1), np.round(rng.normal(0, 1, 200), 1)
    count, segment = rng.integers(1, 4, 200), rng.integers(0, 25, 200)
    pairs = Pairs.from_rankings(better, worse, count, segment)
    found = bootstrap_pairs("kendall-wmt14", pairs, trials=TRIALS, seed=2)
    expected = [
        wmt_kendall(Pairs.from_rankings(better[rows], worse[rows], count[rows]), "wmt14").value
        for rows, _ in written_out(counts(25, TRIALS, 2), segment)
    ]
    assert found == pytest.approx(expected, abs=1e-9)
    single = np.repeat(np.arange(200), count)
    found = bootstrap_pairs("kendall-wmt14", pairs, unit="row", trials=TRIALS, seed=2)
    expected = [
        wmt_kendall(Pairs.from_rankings(better[single[rows]], worse[single[rows]]), "wmt14").value
        for rows, _ in written_out(counts(len(single), TRIALS, 2), np.arange(len(single)))
    ]
    assert found == pytest.approx(expected, abs=1e-9)


def test_spa_under_resampling_is_near_the_permutation_value():
    x, y, segment, system = scored(segments=200)
    found = bootstrap("spa", x, y, segment=segment, system=system, trials=TRIALS, seed=6)
    expected = [
        spa(x[rows], y[rows], copies, system[rows], permutations=4000).value
        for rows, copies in written_out(counts(200, TRIALS, 6), segment)
    ]
    assert found == pytest.approx(expected, abs=0.01)
    one = bootstrap("spa", [1.0, 2.0], [1.0, 2.0], segment=[0, 1], system=[0, 0], trials=3)
    assert np.isnan(one).all()


def test_metrics_with_other_missing_scores_share_the_resamples():
    x, y, segment, _ = scored(missing=0.0)
    holes = x.copy()
    holes[segment == segment.max()] = NAN
    full = bootstrap("pearson", np.where(segment == segment.max(), x.mean(), x), y, segment=segment, trials=50)
    part = bootstrap("pearson", holes, y, segment=segment, trials=50)
    assert np.corrcoef(full, part)[0, 1] > 0.9


def test_undefined_resamples_are_nan_and_leave_the_interval():
    found = bootstrap("kendall", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], trials=200)
    assert np.isnan(found).any()
    assert interval(found) == (1.0, 1.0)
    assert interval(np.full(5, np.nan)) is None
    assert interval(bootstrap("pearson", [], [], trials=5)) is None
    assert interval(bootstrap("pearson", [1, 1, 1], [1, 2, 3], trials=50)) is None
    assert interval(bootstrap("pearson", [1, 2, np.inf], [1, 2, 3], trials=50)) is None


def test_a_constant_resample_is_no_correlation():
    """Values such as 0.1 do not sum exactly; what is constant must still be seen to be."""
    x = np.array([0.1] * 30 + [0.7])
    y = np.linspace(0.3, 0.9, 31)
    drawn = counts(31, 200, 12345)
    for name in ("pearson", "spearman", "kendall"):
        found = bootstrap(name, x, y, trials=200)
        assert (np.isnan(found) == (drawn[30] == 0)).all()


def test_interval_is_the_percentiles_and_covers():
    x = np.arange(1001.0)
    assert interval(x) == pytest.approx((25.0, 975.0))
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a, b = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=150).T
        low, high = interval(bootstrap("pearson", a, b, trials=300))
        covered += low <= 0.5 <= high
    assert covered >= 51


def test_rowwise_and_systems():
    x, y, segment, system = scored(segments=30, systems=6)
    found = bootstrap_systems("kendall", x, y, segment, system, trials=TRIALS, seed=9)
    expected = []
    for rows, _ in written_out(counts(30, TRIALS, 9), segment):
        means = [[np.nanmean(v[rows][system[rows] == s]) for s in range(6)] for v in (x, y)]
        expected.append(stats.kendalltau(*means).statistic)
    assert found == pytest.approx(expected, abs=1e-9)
    assert rowwise("pearson", [[1, 2, 3], [1, 1, 1]], [1, 2, 4]) == pytest.approx(
        [stats.pearsonr([1, 2, 3], [1, 2, 4]).statistic, NAN], nan_ok=True
    )
    with pytest.raises(UsageError, match="no system-level"):
        rowwise("spa", [[1, 2]], [1, 2])


def test_what_is_needed_is_asked_for():
    with pytest.raises(UsageError, match="segment of every row"):
        bootstrap("acc23", [1, 2], [1, 2])
    with pytest.raises(UsageError, match="resamples segments"):
        bootstrap("spa", [1, 2], [1, 2], segment=[0, 0], system=[0, 1], unit="row")
    with pytest.raises(UsageError, match="weighted rows"):
        bootstrap("pairwise-accuracy", [1, 2], [1, 2])
