"""Coefficients against scipy, and against the definitions written out pair by pair."""

from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from arboreval.errors import UsageError
from arboreval.meta.coefficient import CONSTANT_X, CONSTANT_Y, TOO_FEW, Coefficient
from arboreval.meta.correlation import (
    NAMES,
    Pairs,
    acc23,
    auc,
    contrastive_accuracy,
    correlate,
    fit_epsilon,
    kendall,
    pairwise_accuracy,
    pearson,
    spa,
    spearman,
    tau23,
    wmt_kendall,
)
from arboreval.meta.pairwise import break_ties

NAN = float("nan")
JUDGMENTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "judgments"
ORACLES = {pearson: stats.pearsonr, spearman: stats.spearmanr, kendall: stats.kendalltau}
SIZES = (2, 3, 5, 17, 63, 64, 65, 66, 127, 128, 129, 200, 1025)


def vectors(n: int, seed: int, values: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Correlated vectors that are not constant; with ``values``, of so many distinct values."""
    rng = np.random.default_rng(seed)
    while True:
        y = rng.normal(size=n)
        x = y + rng.normal(size=n)
        if values:
            x, y = (np.floor(stats.norm.cdf(v) * values) for v in (x, y))
        if np.ptp(x) > 0 and np.ptp(y) > 0:
            return x, y


@pytest.mark.parametrize("function", ORACLES)
@pytest.mark.parametrize("values", [None, 2, 5, 40])
@pytest.mark.parametrize("n", SIZES)
def test_equals_scipy(function, n, values):
    for seed in range(5):
        x, y = vectors(n, seed, values)
        result = function(x, y)
        assert result.value == pytest.approx(ORACLES[function](x, y).statistic, abs=1e-12)
        assert result == Coefficient(result.value, n)


def test_kendall_of_many_rows():
    x, y = vectors(200_000, 0, 1_000)
    assert kendall(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("function", ORACLES)
def test_missing_rows_are_left_out(function):
    x, y = vectors(80, 1)
    holes = np.random.default_rng(2).random((2, 80)) < 0.2
    result = function(np.where(holes[0], NAN, x), np.where(holes[1], NAN, y))
    kept = ~holes.any(axis=0)
    assert result.value == pytest.approx(ORACLES[function](x[kept], y[kept]).statistic, abs=1e-12)
    assert result.n == kept.sum()
    assert function([1, None, 3], [1, 2, 4]).n == 2


@pytest.mark.parametrize("function", ORACLES)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], TOO_FEW),
        ([1.0], [2.0], TOO_FEW),
        ([NAN, 1.0, 2.0], [1.0, NAN, 3.0], TOO_FEW),
        ([0.1, 0.1, 0.1], [1.0, 2.0, 3.0], CONSTANT_X),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], CONSTANT_Y),
        ([1.0, 1.0, 2.0], [1.0, 2.0, NAN], CONSTANT_X),
    ],
)
def test_undefined_has_a_reason(function, x, y, reason):
    result = function(x, y)
    assert (result.value, result.reason) == (None, reason)


@pytest.mark.parametrize("function", ORACLES)
def test_two_rows_and_scale(function):
    assert function([1, 2], [5, 9]).value == 1.0
    assert function([1, 2], [9, 5]).value == -1.0
    x, y = vectors(50, 3)
    for scale in (1e-200, 1e200):
        assert function(x * scale, y).value == pytest.approx(function(x, y).value, abs=1e-12)


def test_infinite_scores_have_ranks_but_no_pearson():
    x, y = [-np.inf, 0.0, 1.0, -np.inf], [1.0, 2.0, 3.0, 0.0]
    assert pearson(x, y) == Coefficient(None, 4, "a score is infinite")
    finite = [-9.0, 0.0, 1.0, -9.0]
    assert kendall(x, y) == kendall(finite, y)
    assert spearman(x, y) == spearman(finite, y)
    assert acc23(x, y, epsilon=0.0) == acc23(finite, y, epsilon=0.0)


def test_lengths_must_agree():
    with pytest.raises(UsageError, match="3 metric scores, but 2 human scores"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(UsageError, match="segment has shape"):
        pearson([1, 2], [1, 2], average="item", segment=[1])
    with pytest.raises(UsageError, match="needs the system"):
        pearson([1, 2], [1, 2], average="sys", segment=[1, 1])


# -- averaging over items or systems


def grid(segments: int, systems: int, seed: int, *, ties: bool = True, missing: float = 0.2):
    """Scored outputs as rows, some human and some metric scores missing."""
    rng = np.random.default_rng(seed)
    segment, system = (v.ravel() for v in np.indices((segments, systems)))
    y = rng.normal(size=segments * systems) + 0.5 * system
    x = y + rng.normal(size=len(y))
    if ties:
        x, y = np.round(x * 2) / 2, np.round(y)
    x[rng.random(len(x)) < missing / 2] = NAN
    y[rng.random(len(y)) < missing] = NAN
    return x, y, segment, system


@pytest.mark.parametrize("function", ORACLES)
@pytest.mark.parametrize("average", ["item", "sys"])
def test_averages_leave_out_undefined_groups(function, average):
    x, y, segment, system = grid(40, 5, 7)
    group = segment if average == "item" else system
    values, rows = [], 0
    for g in np.unique(group):
        a, b = x[group == g], y[group == g]
        kept = ~(np.isnan(a) | np.isnan(b))
        if kept.sum() > 1 and np.ptp(a[kept]) and np.ptp(b[kept]):
            values.append(ORACLES[function](a[kept], b[kept]).statistic)
            rows += kept.sum()
    result = function(x, y, average=average, segment=segment, system=system)
    assert result.value == pytest.approx(np.mean(values), abs=1e-12)
    assert (result.groups, result.n) == (len(values), rows)


def test_average_without_a_defined_group():
    result = kendall([1, 1, 2], [1, 2, 3], average="item", segment=[0, 0, 1])
    assert result == Coefficient(None, 0, f"undefined in every group: {TOO_FEW}; {CONSTANT_X}")


def test_order_of_rows_does_not_matter():
    x, y, segment, system = grid(30, 4, 1)
    shuffled = np.random.default_rng(5).permutation(len(x))
    names = [f"segment {s}" for s in segment[shuffled]]
    for name in ("kendall", "kendall-wmt14", "acc23", "spa"):
        a = correlate(name, *np.where(np.isnan(x) | np.isnan(y), NAN, [x, y]), segment=segment, system=system)
        b = correlate(
            name, *np.where(np.isnan(x) | np.isnan(y), NAN, [x, y])[:, shuffled], segment=names, system=system[shuffled]
        )
        if name == "spa":  # its random signs belong to segments in sorted order
            assert b.value == pytest.approx(a.value, abs=0.05)
        else:
            assert b.value == pytest.approx(a.value, abs=1e-12)


# -- pairs


def pair_counts(x, y, segment, threshold=0.0):
    """c, d, pairs tied by the metric alone, by people alone, by both."""
    c = d = t_metric = t_human = t_both = 0
    for i, j in combinations(range(len(x)), 2):
        if segment[i] != segment[j] or np.isnan(y[i]) or np.isnan(y[j]) or abs(y[i] - y[j]) < threshold:
            continue
        if y[i] == y[j]:
            t_both += x[i] == x[j]
            t_human += x[i] != x[j]
        elif x[i] == x[j]:
            t_metric += 1
        elif (x[i] > x[j]) == (y[i] > y[j]):
            c += 1
        else:
            d += 1
    return c, d, t_metric, t_human, t_both


FORMULAS = {
    "wmt12": lambda c, d, t, h, b: (c - d - t) / (c + d + t),
    "wmt13": lambda c, d, t, h, b: (c - d) / (c + d),
    "wmt14": lambda c, d, t, h, b: (c - d) / (c + d + t),
    "darr": lambda c, d, t, h, b: (c - d - t) / (c + d + t),
    "xties": lambda c, d, t, h, b: (c - d + b) / (c + d + t + h + b),
}


def test_worked_pairs():
    human, metric = [1, 1, 2, 3], [0.5, 0.4, 0.4, 0.9]
    assert pair_counts(metric, human, [0] * 4) == (3, 1, 1, 1, 0)
    pairs = Pairs.from_scores(metric, human)
    expected = {"wmt12": 0.2, "wmt13": 0.5, "wmt14": 0.4, "darr": 0.2, "xties": 1 / 3}
    for variant, value in expected.items():
        assert wmt_kendall(pairs, variant).value == pytest.approx(value, abs=1e-12)
    assert kendall(metric, human).value == pytest.approx(0.4, abs=1e-12)
    assert acc23(metric, human, epsilon=0.0).coefficient == Coefficient(0.5, 6, groups=1)
    assert tau23(metric, human).value == 0.0


@pytest.mark.parametrize("variant", FORMULAS)
@pytest.mark.parametrize("seed", range(5))
def test_variants_by_counting_pairs(variant, seed):
    x, y, segment, _ = grid(12, 6, seed)
    x = np.where(np.isnan(x), 0.0, x)
    threshold = 2.0 if variant == "darr" else 0.0
    result = correlate(f"kendall-{variant}", x, y, segment=segment, min_difference=threshold)
    assert result.value == pytest.approx(FORMULAS[variant](*pair_counts(x, y, segment, threshold)), abs=1e-12)


def test_variants_of_rankings_with_counts_and_ties():
    # judged pairs: metric prefers the better one twice (of 3 judgments), the worse one, ties; then two human ties
    pairs = Pairs.from_rankings(
        [2, 1, 1, 5, 3], [1, 2, 1, 5, 4], [3, 1, 2, 4, 1], ["a", "a", "b", "b", "c"], tie=[0, 0, 0, 1, 1]
    )
    expected = {"wmt12": 0 / 6, "wmt13": 2 / 4, "wmt14": 2 / 6, "xties": (3 - 1 + 4) / 11}
    for variant, value in expected.items():
        assert wmt_kendall(pairs, variant).value == pytest.approx(value, abs=1e-12)
    assert wmt_kendall(pairs, "xties").n == 11
    assert wmt_kendall(pairs, "wmt13").n == 4


def test_a_judged_pair_without_a_score_makes_the_variant_undefined():
    pairs = Pairs.from_rankings([2, NAN, 1], [1, 2, 3], [1, 5, 1])
    result = wmt_kendall(pairs, "wmt14")
    assert (result.value, result.reason) == (None, "5 judged pairs lack a metric score")
    assert wmt_kendall(pairs, "wmt14", missing="drop") == Coefficient(0.0, 2)
    tie = Pairs.from_rankings([2, NAN], [1, 2], tie=[False, True])
    assert wmt_kendall(tie, "wmt14").value == 1.0
    assert wmt_kendall(tie, "xties").value is None


def test_no_pairs_is_undefined():
    assert wmt_kendall(Pairs.from_scores([], []), "wmt12").reason == "there are no judged pairs"
    assert wmt_kendall(Pairs.from_scores([1, 2], [50, 60], min_difference=25), "darr").value is None
    only_ties = Pairs.from_rankings([1.0, 2.0], [1.0, 2.0])
    assert wmt_kendall(only_ties, "wmt13") == Coefficient(None, 0, "the metric ties every judged pair")
    assert wmt_kendall(only_ties, "wmt14").value == 0.0
    assert acc23([1.0], [2.0]).coefficient.value is None
    assert acc23([1.0], [2.0]).epsilon is None


def test_darr_pairs_of_wmt20():
    path = JUDGMENTS / "wmt20-da.zh-en.jsonl.gz"
    if not path.exists():
        pytest.skip("the human judgments of WMT20 are not here; they are not distributed with the package")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["system"] != "Human-B"]
    y = [row["raw"] for row in rows]
    pairs = Pairs.from_scores(y, y, [row["seg"] for row in rows], min_difference=25)
    assert wmt_kendall(pairs, "darr") == Coefficient(1.0, 62_586)


def test_too_many_pairs_are_refused():
    x = np.arange(20_000.0)
    with pytest.raises(UsageError, match="199,990,000 pairs"):
        Pairs.from_scores(x, x)


# -- acc23


def acc23_by_definition(x, y, segment, epsilon):
    """mt-metrics-eval's definition: a mean over the segments that have pairs."""
    values = []
    for s in np.unique(segment):
        rows = np.flatnonzero((segment == s) & ~np.isnan(x) & ~np.isnan(y))
        right = []
        for i, j in combinations(rows, 2):
            verdict = 0 if abs(x[i] - x[j]) <= epsilon else np.sign(x[i] - x[j])
            right.append(verdict == np.sign(y[i] - y[j]))
        if right:
            values.append(np.mean(right))
    return np.mean(values)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_acc23_takes_the_best_epsilon(ties, seed):
    x, y, segment, _ = grid(10, 5, seed, ties=ties)
    if not ties:
        y = np.round(y)
    candidates = {0.0}
    for i, j in combinations(range(len(x)), 2):
        if segment[i] == segment[j] and not np.isnan(x[i] - x[j] + y[i] - y[j]):
            candidates.add(abs(x[i] - x[j]))
    scores = {epsilon: acc23_by_definition(x, y, segment, epsilon) for epsilon in sorted(candidates)}
    best = max(scores.values())
    result = acc23(x, y, segment)
    assert result.coefficient.value == pytest.approx(best, abs=1e-12)
    assert result.epsilon == min(e for e, value in scores.items() if value > best - 1e-12)
    for epsilon in (0.0, 0.3, 1.0):
        fixed = acc23(x, y, segment, epsilon=epsilon).coefficient
        assert fixed.value == pytest.approx(acc23_by_definition(x, y, segment, epsilon), abs=1e-12)
        assert tau23(x, y, segment, epsilon=epsilon).value == pytest.approx(2 * fixed.value - 1, abs=1e-12)


def test_acc23_when_people_tie_everything():
    result = acc23([1.0, 2.0, 4.0], [5.0, 5.0, 5.0])
    assert (result.coefficient.value, result.epsilon) == (1.0, 3.0)
    assert fit_epsilon(Pairs.from_scores([1.0, 2.0], [1.0, 2.0])) == 0.0


# -- systems


def test_spa_is_that_of_mt_metrics_eval():
    x, y, segment, system = grid(60, 5, 3, missing=0.0)
    tables = [v.reshape(60, 5).T for v in (y, x)]
    draws = np.random.default_rng(4).random(size=(1000, 60), dtype=np.float32)
    signs = 2.0 * np.rint(draws) - 1.0
    p = [
        [
            np.mean(np.round(signs @ (t[i] - t[j]), 9) >= np.round(t[i].sum() - t[j].sum(), 9))
            for i, j in combinations(range(5), 2)
        ]
        for t in tables
    ]
    result = spa(x, y, segment, system)
    assert result.value == pytest.approx(1 - np.mean(np.abs(np.subtract(*p))), abs=1e-12)
    assert result.n == 10


def test_spa_uses_the_segments_two_systems_share():
    x, y, segment, system = grid(30, 3, 8)
    both = ~(np.isnan(x) | np.isnan(y))
    signs = 2.0 * np.rint(np.random.default_rng(4).random(size=(1000, 30), dtype=np.float32)) - 1.0
    gaps = []
    for i, j in combinations(range(3), 2):
        shared = [s for s in range(30) if both[3 * s + i] and both[3 * s + j]]
        p = []
        for v in (y, x):
            d = np.array([v[3 * s + i] - v[3 * s + j] for s in shared])
            p.append(np.mean(np.round(signs[:, shared] @ d, 9) >= np.round(d.sum(), 9)))
        gaps.append(abs(p[0] - p[1]))
    assert spa(x, y, segment, system).value == pytest.approx(1 - np.mean(gaps), abs=1e-12)


def test_spa_of_extremes():
    segment, system = (v.ravel() for v in np.indices((50, 2)))
    y = system + 0.0
    assert spa(y, y, segment, system).value == 1.0
    assert spa(-y, y, segment, system).value == pytest.approx(0.0, abs=1e-12)
    assert spa([1.0], [1.0], [0], [0]).value is None
    with pytest.raises(UsageError, match="two scores on one segment"):
        spa([1, 2], [1, 2], [0, 0], [0, 0])


@pytest.mark.parametrize("seed", range(5))
def test_pairwise_accuracy_counts_pairs(seed):
    x, y = vectors(9, seed, 5)
    agree = [np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in combinations(range(9), 2)]
    assert pairwise_accuracy(x, y) == Coefficient(np.mean(agree), 36)


def test_pairwise_accuracy_of_too_few():
    assert pairwise_accuracy([1, 2], [3, 4]) == Coefficient(1.0, 1)
    assert pairwise_accuracy([1, NAN], [3, 4]).value is None


@pytest.mark.parametrize("values", [None, 4])
def test_auc_is_mann_whitney(values):
    x, y = vectors(90, 4, values)
    label = (y > np.median(y)).astype(float)
    oracle = stats.mannwhitneyu(x[label == 1], x[label == 0]).statistic / label.sum() / (1 - label).sum()
    assert auc(x, label).value == pytest.approx(oracle, abs=1e-12)
    assert auc([1, 2], [1, 1]) == Coefficient(None, 2, "both labels must occur")
    assert auc([3, 3, 3], [1, 0, 1]).value == 0.5
    with pytest.raises(UsageError, match="0 or 1"):
        auc([1, 2], [1, 2])


def test_contrastive_accuracy():
    every, by = contrastive_accuracy([3, 2, 1, NAN, 5], [1, 2, 2, 0, 4], ["a", "a", "b", "b", "c"])
    assert (every.accuracy, every.ties) == (Coefficient(0.5, 4), 1)
    assert {name: (c.accuracy.value, c.accuracy.n, c.ties) for name, c in by.items()} == {
        "a": (0.5, 2, 1),
        "b": (0.0, 1, 0),
        "c": (1.0, 1, 0),
    }
    assert contrastive_accuracy([NAN], [1.0])[0].accuracy.value is None


def test_ties_are_broken_by_the_systems_means():
    segment, system = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
    x = np.array([0.5, 0.5, 0.6, 0.2, 0.8, 0.1])
    means = np.array([0.35, 0.65, 0.35])
    broken = break_ties(x, segment, system)
    assert broken[:3] == pytest.approx(x[:3] + 0.5 * 0.1 / 0.65 * means)
    assert broken[3:] == pytest.approx(x[3:] + 0.5 * 0.1 / 0.65 * means)
    for s in (slice(0, 3), slice(3, 6)):
        for i, j in combinations(range(3), 2):
            if x[s][i] != x[s][j]:
                assert np.sign(broken[s][i] - broken[s][j]) == np.sign(x[s][i] - x[s][j])
    assert broken[1] > broken[0]
    equal = break_ties([1.0, 1.0], [0, 0], ["a", "b"])
    assert equal[0] == equal[1]


def test_breaking_ties_keeps_missing_scores_and_untied_orders():
    x, _, segment, system = grid(20, 6, 2)
    x = x - x[~np.isnan(x)].mean()
    broken = break_ties(x, segment, system)
    assert (np.isnan(broken) == np.isnan(x)).all()
    for i, j in combinations(range(len(x)), 2):
        if segment[i] == segment[j] and x[i] < x[j]:
            assert broken[i] <= broken[j]


# -- one name for each


def test_every_name_is_answered():
    x, y, segment, system = grid(20, 4, 0, missing=0.0)
    for name in NAMES:
        labels = (y > 0).astype(float) if name == "auc" else y
        scale = 20 if name == "kendall-darr" else 1
        value = correlate(name, x, labels * scale, segment=segment, system=system).value
        assert -1 <= value <= 1, name
    with pytest.raises(UsageError, match="unknown coefficient 'tau'"):
        correlate("tau", x, y)
    with pytest.raises(UsageError, match="unknown coefficient 'kendall-x'"):
        correlate("kendall-x", x, y, segment=segment)
    with pytest.raises(UsageError, match="own averaging"):
        correlate("acc23", x, y, segment=segment, average="item")
