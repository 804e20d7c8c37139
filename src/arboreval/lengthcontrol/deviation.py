"""Deviation of output from the length asked for: the mean over segments of |len_out - len_target| / len_target.

Lengths are counted in units that the caller chooses: sub-words of the systems, as the paper has it, or by default
words, and characters of Chinese and Japanese (:func:`default_length`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arboreval.errors import UsageError


def target_length(reference_length: int, ratio: float) -> int:
    """ratio * reference_length, rounded half up, at least 1."""
    if reference_length < 0:
        raise UsageError(f"a length cannot be negative: {reference_length}.")
    if not 0 < ratio < float("inf"):
        raise UsageError(f"the ratio must be above 0, not {ratio:g}.")
    # in decimal, as the ratio was written: 0.145 * 100 is a little less than 14.5 in binary
    exact = Decimal(str(ratio)) * reference_length
    return max(1, int(exact.to_integral_value(ROUND_HALF_UP)))


def deviations(lengths: ArrayLike, targets: ArrayLike) -> NDArray[np.float64]:
    """|length - target| / target of every segment."""
    out, target = (np.asarray(values, dtype=np.float64) for values in (lengths, targets))
    if out.ndim != 1 or out.shape != target.shape:
        raise UsageError(f"a target for every length is needed: {out.shape} lengths, {target.shape} targets.")
    if not ((out >= 0).all() and (target >= 1).all() and np.isfinite(out).all() and np.isfinite(target).all()):
        raise UsageError("a length cannot be negative, nor a target below 1.")
    result: NDArray[np.float64] = np.abs(out - target) / target
    return result


def deviation(lengths: ArrayLike, targets: ArrayLike) -> float | None:
    """The mean of :func:`deviations`; None without segments."""
    found = deviations(lengths, targets)
    return float(found.mean()) if len(found) else None


def default_length(text: str) -> int:
    """The number of words; each character of Chinese or Japanese is one. Punctuation does not count."""
    from arboreval.metrics.rouge import tokenize

    return len(tokenize(text, "unicode", False))


def deviation_of_texts(
    outputs: Sequence[str],
    references: Sequence[str],
    ratio: float,
    *,
    length: Callable[[str], int] = default_length,
) -> float | None:
    """How far outputs are from ``ratio`` times the length of their references."""
    if len(outputs) != len(references):
        raise UsageError(f"{len(outputs)} outputs, but {len(references)} references.")
    targets = [target_length(length(text), ratio) for text in references]
    return deviation([length(text) for text in outputs], targets)
