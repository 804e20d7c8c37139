"""Deviation from the length asked for: the worked number of the specification, and rounding."""

from __future__ import annotations

import numpy as np
import pytest

from arboreval.errors import UsageError
from arboreval.lengthcontrol.deviation import (
    default_length,
    deviation,
    deviation_of_texts,
    deviations,
    target_length,
)


def test_worked_number():
    assert deviations([8, 5, 12], [10, 5, 10]) == pytest.approx([0.2, 0.0, 0.2])
    assert deviation([8, 5, 12], [10, 5, 10]) == pytest.approx(0.133333, abs=5e-7)
    assert deviation([], []) is None


@pytest.mark.parametrize(
    ("reference", "ratio", "target"),
    [
        (10, 0.8, 8), (10, 0.5, 5), (5, 0.5, 3), (3, 0.5, 2), (1, 0.5, 1), (1, 0.1, 1), (0, 0.5, 1),
        (100, 0.145, 15), (7, 0.8, 6), (8, 0.8, 6), (12, 1.25, 15),
    ],
)  # fmt: skip
def test_targets_are_rounded_half_up_and_at_least_1(reference, ratio, target):
    assert target_length(reference, ratio) == target


def test_texts():
    assert default_length("The cat, sat on the mat.") == 6
    assert default_length("今天天气很好 OK") == 7
    outputs, references = ["a b c", "天气"], ["a b c d e f", "今天天气"]
    assert deviation_of_texts(outputs, references, 0.5) == 0
    assert deviation_of_texts(outputs, references, 1.0) == pytest.approx(0.5)
    # characters: 5 of 6 (11 / 2 rounded up), and 2 of 2
    assert deviation_of_texts(outputs, references, 0.5, length=len) == pytest.approx((1 / 6) / 2)


def test_mistakes():
    for lengths, targets in (([1, 2], [1]), ([-1], [1]), ([1], [0]), ([np.nan], [1]), ([[1]], [[1]])):
        with pytest.raises(UsageError):
            deviation(lengths, targets)
    for reference, ratio in ((-1, 0.5), (3, 0.0), (3, float("nan")), (3, float("inf"))):
        with pytest.raises(UsageError):
            target_length(reference, ratio)
    with pytest.raises(UsageError, match="2 outputs, but 1 references"):
        deviation_of_texts(["a", "b"], ["a"], 0.5)
