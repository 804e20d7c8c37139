"""Partial correlation: the worked numbers, and the residuals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from arboreval.errors import UsageError
from arboreval.meta.partial import partial, partial_matrix


def residual_correlation(a, b, h):
    left = []
    for v in (a, b):
        line = stats.linregress(h, v)
        left.append(v - line.slope * h - line.intercept)
    return stats.pearsonr(*left).statistic


def test_worked_numbers():
    assert partial(0.9, 0.8, 0.7) == pytest.approx(0.79349, abs=5e-6)
    a, b, h = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 5]), np.array([1.0, 2, 4, 3])
    assert stats.pearsonr(a, b).statistic == pytest.approx(0.8315, abs=5e-5)
    result = partial_matrix({"a": a, "b": b}, h)
    assert [c.value for c in result.human] == pytest.approx([0.8, 0.3780], abs=5e-5)
    assert result.cells[0][1].value == pytest.approx(0.95258, abs=5e-6)
    assert residual_correlation(a, b, h) == pytest.approx(result.cells[0][1].value, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_residuals(seed):
    rng = np.random.default_rng(seed)
    h = rng.normal(size=60)
    metrics = {f"m{i}": h * i + rng.normal(size=60) for i in range(4)}
    metrics["m0"][3] = np.nan
    kept = np.arange(60) != 3
    result = partial_matrix(metrics, h)
    assert result.n == 59
    for i, a in enumerate(metrics.values()):
        for j, b in enumerate(metrics.values()):
            expected = 1.0 if i == j else residual_correlation(a[kept], b[kept], h[kept])
            assert result.cells[i][j].value == pytest.approx(expected, abs=1e-9)
            assert result.cells[i][j] == result.cells[j][i]


def test_undefined_cells():
    h = np.arange(6.0)
    result = partial_matrix({"human": 2 * h + 1, "constant": np.ones(6), "m": h**2}, h)
    assert result.cells[0][2].reason == "a metric is a straight line of the human scores"
    assert result.cells[1][2].reason == "the metric's scores are all equal"
    assert partial(0.5, 1.0, 0.5) is None
    assert partial_matrix({"a": [1, 2], "b": [2, 1]}, [1, 2]).cells[0][1].value is None
    with pytest.raises(UsageError, match="a has 2 scores"):
        partial_matrix({"a": [1, 2]}, [1, 2, 3])
