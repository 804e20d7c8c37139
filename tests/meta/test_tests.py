"""Comparisons of two metrics: worked numbers, and permutations written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from arboreval.errors import UsageError
from arboreval.meta.correlation import Pairs, acc23, correlate, pearson
from arboreval.meta.resample import bootstrap, counts
from arboreval.meta.tests import (
    Comparison,
    bonferroni,
    clusters,
    compare_pearson,
    holm_reject,
    koehn,
    pair_permutation_test,
    paired_bootstrap,
    permutation_test,
    williams,
    win_matrix,
    zou,
)

NAN = float("nan")
ORACLES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def test_williams_worked():
    result = williams(0.9, 0.8, 0.7, 20)
    assert result.statistic == pytest.approx(1.372334, abs=5e-7)
    assert result.p == pytest.approx(0.093898, abs=5e-7)
    assert result.difference == pytest.approx(0.1)
    other = williams(0.8, 0.9, 0.7, 20)
    assert other.statistic == pytest.approx(-1.372334, abs=5e-7)
    assert result.p + other.p == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_williams_as_mt_metrics_eval_has_it(seed):
    r1, r2, r12 = np.random.default_rng(seed).uniform(0.3, 0.8, 3)
    n = 15
    k = 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r12 * r2
    top = (r1 - r2) * np.sqrt((n - 1) * (1 + r12))
    bottom = np.sqrt(2 * (n - 1) / (n - 3) * k + ((r1 + r2) / 2) ** 2 * (1 - r12) ** 3)
    p = stats.t.sf(abs(top / bottom), n - 3)
    assert williams(max(r1, r2), min(r1, r2), r12, n).p == pytest.approx(p, abs=1e-12)


def test_williams_undefined():
    assert williams(0.9, 0.8, 0.7, 3).p is None
    same = williams(0.9, 0.9, 1.0, 20)
    assert (same.p, same.reason) == (None, "the two metrics are the same but for scale")
    assert not same.wins()
    with pytest.raises(UsageError, match="between -1 and 1"):
        williams(1.2, 0.9, 0.5, 20)


@pytest.mark.parametrize(
    ("r2", "r12", "low", "high"),
    [
        (0.9565913, 0.9619977, 0.0125, 0.1143),
        (0.9814982, 0.9877565, 0.0012, 0.0443),
        (0.9929421, 0.9956943, -0.0101, 0.0111),
    ],
    ids=["BLEU", "chrF", "VERTa-70Adeq30Flu"],
)
def test_zou_wmt15_cs_en(r2, r12, low, high):
    result = zou(0.9931847, r2, r12, 16)
    assert result.ci == pytest.approx((low, high), abs=5e-5)
    assert result.wins() == (low > 0)


def test_zou_synthetic():
    result = zou(0.9, 0.8, 0.7, 20)
    assert result.statistic == pytest.approx(0.342105, abs=5e-7)
    assert result.ci == pytest.approx((-0.048723, 0.332996), abs=5e-7)
    assert result.note == ""


def test_zou_edges():
    negative = zou(-0.9, 0.8, -0.7, 20)
    assert negative.ci == zou(0.9, 0.8, 0.7, 20).ci
    assert "absolute values" in negative.note
    assert zou(1.0, 0.5, 0.5, 20).reason == "a correlation of 1 has no interval"
    assert zou(0.9, 0.5, 0.5, 3).ci is None
    same = zou(0.9, 0.9, 1.0, 20)
    assert same.ci[0] == pytest.approx(-same.ci[1], abs=1e-12)
    assert same.ci[0] < 0
    assert not same.wins()
    wide, narrow = zou(0.9, 0.8, 0.7, 20, level=0.99).ci, zou(0.9, 0.8, 0.7, 20, level=0.9).ci
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_compare_pearson_uses_common_rows():
    rng = np.random.default_rng(0)
    y = rng.normal(size=30)
    a, b = y + rng.normal(size=(2, 30)) * [[0.5], [1.0]]
    a[3], b[4], y[5] = NAN, NAN, NAN
    kept = ~np.isnan(a + b + y)
    r = [stats.pearsonr(*v).statistic for v in ((a[kept], y[kept]), (b[kept], y[kept]), (a[kept], b[kept]))]
    for test, function in (("williams", williams), ("zou", zou)):
        found, expected = compare_pearson(a, b, y, test), function(*r, 27)
        assert found.difference == pytest.approx(expected.difference, abs=1e-12)
        assert found.n == 27
        assert (found.p or 0) == pytest.approx(expected.p or 0, abs=1e-9)
        assert (found.ci or ()) == pytest.approx(expected.ci or (), abs=1e-9)
    assert "all equal" in compare_pearson(np.ones(30), b, y).reason


def table(segments=12, systems=5, seed=0):
    rng = np.random.default_rng(seed)
    segment, system = (v.ravel() for v in np.indices((segments, systems)))
    y = np.round(rng.normal(size=len(segment)) * 2)
    a = np.round(y + rng.normal(size=len(y)) * 2, 1)
    b = np.round(y + rng.normal(size=len(y)) * 4, 1) * 7 + 3
    a[4], b[9], y[11] = NAN, NAN, NAN
    return a, b, y, segment, system


def group_mean(corr, x, y, group):
    values = []
    for g in np.unique(group):
        p, q = x[group == g], y[group == g]
        if len(p) > 1 and np.ptp(p) > 1e-12 and np.ptp(q) > 1e-12:
            values.append(ORACLES[corr](p, q).statistic)
    return np.mean(values)


@pytest.mark.parametrize("corr", ORACLES)
@pytest.mark.parametrize("kind", ["perm-both", "perm-sys", "perm-input"])
@pytest.mark.parametrize("average", ["none", "item", "sys"])
def test_permutations_written_out(corr, kind, average):
    a, b, y, segment, system = table()
    trials, seed = 99, 5
    cell = {"perm-both": np.arange(len(a)), "perm-sys": system, "perm-input": segment}[kind]
    swap = np.random.default_rng(seed).integers(2, size=(cell.max() + 1, trials), dtype=np.int8)
    kept = ~np.isnan(a + b + y)
    za, zb = (np.where(kept, (v - v[kept].mean()) / v[kept].std(), NAN) for v in (a, b))
    group = {"none": np.zeros(len(a)), "item": segment, "sys": system}[average]

    def difference(p, q):
        return group_mean(corr, p[kept], y[kept], group[kept]) - group_mean(corr, q[kept], y[kept], group[kept])

    observed = difference(za, zb)
    null = []
    for trial in range(trials):
        keep = swap[cell, trial] == 1
        null.append(difference(np.where(keep, za, zb), np.where(keep, zb, za)))
    expected = (np.sum(np.array(null) >= observed - 1e-12) + 1) / (trials + 1)
    result = permutation_test(
        a, b, y, kind=kind, corr=corr, segment=segment, system=system, average=average, trials=trials, seed=seed
    )
    assert result.difference == pytest.approx(observed, abs=1e-9)
    assert result.p == pytest.approx(expected, abs=1e-12)
    assert result.n == kept.sum()


def test_permutations_of_many_rows_written_out():
    a, b, y, segment, system = table(30, 5, 3)
    kept = ~np.isnan(a + b + y)
    za, zb = ((v - v[kept].mean()) / v[kept].std() for v in (a, b))
    swap = np.random.default_rng(1).integers(2, size=(len(a), 20), dtype=np.int8) == 1
    null = [
        stats.kendalltau(np.where(keep, za, zb)[kept], y[kept]).statistic
        - stats.kendalltau(np.where(keep, zb, za)[kept], y[kept]).statistic
        for keep in swap.T
    ]
    observed = stats.kendalltau(a[kept], y[kept]).statistic - stats.kendalltau(b[kept], y[kept]).statistic
    result = permutation_test(a, b, y, segment=segment, system=system, trials=20, seed=1)
    assert result.p == (np.sum(np.array(null) >= observed - 1e-12) + 1) / 21


def test_permutations_find_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    good, bad = y + rng.normal(size=300), y + 5 * rng.normal(size=300)
    assert permutation_test(good, bad, y, trials=199).p == 1 / 200
    assert permutation_test(bad, good, y, trials=199).p == 1.0
    assert permutation_test(good, good * 2 + 1, y, trials=199).p == 1.0
    found = sum(
        permutation_test(y + rng.normal(size=300), y + rng.normal(size=300), y, corr="pearson", trials=99).wins()
        for _ in range(200)
    )
    assert found <= 20  # 10 expected


def test_permutations_ask_for_what_they_need():
    y = np.arange(5.0)
    with pytest.raises(UsageError, match="perm-sys needs the system"):
        permutation_test(y, y, y, kind="perm-sys")
    with pytest.raises(UsageError, match="unknown permutation"):
        permutation_test(y, y, y, kind="perm-all")
    with pytest.raises(UsageError, match="not acc23"):
        permutation_test(y, y, y, corr="acc23")
    assert permutation_test(np.ones(5), y, y).reason == "the metric's scores are all equal"


@pytest.mark.parametrize("corr", ["kendall-wmt12", "kendall-wmt13", "kendall-wmt14", "kendall-xties", "acc23"])
def test_verdicts_on_pairs_are_swapped(corr):
    a, b, y, segment, _ = table(seed=4)
    a[4], b[9] = 0.0, 0.0
    first, second = (Pairs.from_scores(x, y, segment) for x in (a, b))
    result = pair_permutation_test(first, second, corr, trials=49, seed=2)
    values = [correlate(corr, x, y, segment=segment).value for x in (a, b)]
    assert result.difference == pytest.approx(values[0] - values[1], abs=1e-9)
    swap = np.random.default_rng(2).integers(2, size=(len(first.human), 49), dtype=np.int8) == 1
    epsilon = [acc23(x, y, segment).epsilon for x in (a, b)]
    signs = [np.sign(p.metric) for p in (first, second)]
    if corr == "acc23":
        signs = [
            np.where(np.abs(p.metric) <= e, 0, np.sign(p.metric)) for p, e in zip((first, second), epsilon, strict=True)
        ]

    def value(verdict):
        if corr == "acc23":
            right = verdict == first.human
            return np.mean([right[first.segment == s].mean() for s in np.unique(first.segment)])
        h = first.human
        c, d = np.sum((h != 0) & (verdict == h)), np.sum((h != 0) & (verdict == -h))
        t, tt = np.sum((h != 0) & (verdict == 0)), np.sum((h == 0) & (verdict == 0))
        return {
            "kendall-wmt12": (c - d - t) / (c + d + t),
            "kendall-wmt13": (c - d) / (c + d),
            "kendall-wmt14": (c - d) / (c + d + t),
            "kendall-xties": (c - d + tt) / len(h),
        }[corr]

    null = np.array([value(np.where(m, signs[1], signs[0])) - value(np.where(m, signs[0], signs[1])) for m in swap.T])
    assert result.p == (np.sum(null >= result.difference - 1e-12) + 1) / 50


def test_verdicts_need_the_same_pairs():
    first, second = Pairs.from_rankings([1, 2], [0, 1]), Pairs.from_rankings([1], [0])
    with pytest.raises(UsageError, match="same judged pairs"):
        pair_permutation_test(first, second, "kendall-wmt14")
    nothing = Pairs.from_rankings([NAN], [0])
    assert pair_permutation_test(nothing, nothing, "acc23").reason == "there are no judged pairs"
    assert "no judged pairs" in pair_permutation_test(nothing, nothing, "kendall-wmt14").reason


def test_paired_bootstrap_of_metrics():
    a, b, y, segment, _ = table(40, 5, 6)
    samples = [bootstrap("pearson", x, y, segment=segment, trials=200) for x in (a, b)]
    result = paired_bootstrap(*samples, pearson(a, y).value, pearson(b, y).value)
    gap = samples[0] - samples[1]
    assert result.p == np.mean(gap <= 0)
    assert result.ci == pytest.approx(tuple(np.percentile(gap, [2.5, 97.5])))
    same = paired_bootstrap(samples[0], samples[0], 0.5, 0.5)
    assert (same.p, same.difference) == (1.0, 0.0)
    assert paired_bootstrap(np.full(3, NAN), samples[0][:3], 0.1, 0.2).reason == "undefined in every resample"


def test_koehn_bootstrap_of_systems():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.2, 1, 80), rng.normal(0, 1, 80)
    b[3] = NAN
    kept = ~np.isnan(b)
    means = [(a[kept] - b[kept]) @ draw / 79 for draw in counts(79, 300, 4).T]
    result = koehn(a, b, trials=300, seed=4)
    assert result.p == np.mean(np.array(means) <= 0)
    assert (result.n, result.difference) == (79, pytest.approx((a - b)[kept].mean()))
    assert koehn([1, 2], [1, 2]).p == 1.0
    assert koehn([NAN], [1]).p is None


def test_corrections():
    worked = (0.001, 0.02, 0.03, 0.2)
    assert bonferroni(worked) == [True, False, False, False]
    assert holm_reject(worked) == [True, False, False, False]
    assert bonferroni([]) == holm_reject([]) == []
    rng = np.random.default_rng(0)
    differ = 0
    for _ in range(30):
        p = rng.uniform(0, 0.06, 6)
        assert bonferroni(p) == multipletests(p, method="bonferroni")[0].tolist()
        assert holm_reject(p) == multipletests(p, method="holm")[0].tolist()
        differ += bonferroni(p) != holm_reject(p)
    assert differ > 0


def test_clusters_begin_with_a_beaten_metric():
    none = [[False] * 4 for _ in range(4)]
    assert clusters(none) == (1, 1, 1, 1)
    wins = [row[:] for row in none]
    wins[0][2] = wins[0][3] = True  # the third is beaten by the first, the fourth by the first only
    assert clusters(wins) == (1, 1, 2, 2)
    wins[2][3] = True
    assert clusters(wins) == (1, 1, 2, 3)
    assert clusters([]) == ()


def test_win_matrix_sorts_and_corrects():
    p = {("a", "b"): 0.6, ("b", "a"): 0.02, ("a", "c"): 0.04, ("c", "a"): 0.9, ("b", "c"): 0.001, ("c", "b"): 0.99}
    comparisons = {key: Comparison(10, 0.1, value) for key, value in p.items()}
    plain = win_matrix(["a", "b", "c"], [0.5, 0.7, None], comparisons)
    assert plain.names == ("b", "a", "c")
    assert plain.values == (0.7, 0.5, None)
    assert plain.p == ((None, 0.02, 0.001), (0.6, None, 0.04), (0.99, 0.9, None))
    assert plain.wins == ((False, True, True), (False, False, True), (False, False, False))
    assert plain.clusters == (1, 2, 3)
    for correction in ("bonferroni", "holm"):
        corrected = win_matrix(["a", "b", "c"], [0.5, 0.7, None], comparisons, correction=correction)
        assert corrected.wins == ((False, False, True), (False, False, False), (False, False, False))
        assert corrected.clusters == (1, 1, 2)
    with pytest.raises(UsageError, match="unknown correction"):
        win_matrix([], [], {}, correction="x")


def test_win_matrix_of_intervals():
    comparisons = {("a", "b"): Comparison(10, 0.2, ci=(0.1, 0.3)), ("b", "a"): Comparison(10, -0.2, ci=(-0.3, -0.1))}
    result = win_matrix(["a", "b"], [0.9, 0.7], comparisons)
    assert result.wins == ((False, True), (False, False))
    assert result.p == ((None, None), (None, None))
