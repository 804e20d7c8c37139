"""The best binary bracketing of many sentences at once (CKY), shared by constituents, UCCA and discourse.

Arrays are indexed (sentence, start, k): the span of k + 1 words that begins at `start`. The score of a tree is the sum
of its spans' scores. A span that is no constituent scores 0, so a tree of many branches costs nothing to binarize.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_spans", "triangle"]


def best_spans(scores: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which spans belong to the best binary tree over the first `lengths` words of each sentence.

    Scores of spans that reach beyond a sentence's length are never looked at. The chart is filled by length: all
    starts, all splits and all sentences in one step.
    """
    split = _fill(scores)
    size = scores.shape[1]
    chosen = np.zeros(scores.shape, np.bool_)
    present = lengths > 0
    if present.any():
        chosen[np.flatnonzero(present), 0, lengths[present] - 1] = True
    for k in range(size - 1, 0, -1):
        sentence, start = np.nonzero(chosen[:, : size - k, k])
        if len(sentence):
            left = split[k][sentence, start]
            chosen[sentence, start, left] = True
            chosen[sentence, start + left + 1, k - 1 - left] = True
    return chosen


def _fill(scores: NDArray[np.float32]) -> list[NDArray[np.int64]]:
    """For each k, the best split of every span of k + 1 words: its left part has `split + 1` words."""
    size = scores.shape[1]
    by_start = np.empty_like(scores)
    # the same values by the span's last word, so that both parts of all splits are plain slices
    by_end = np.empty_like(scores)
    if size:
        by_start[:, :, 0] = by_end[:, :, 0] = scores[:, :, 0]
    splits = [np.zeros((len(scores), size), np.int64)]
    for k in range(1, size):
        total = by_start[:, : size - k, :k] + by_end[:, k:, :k][:, :, ::-1]
        split = total.argmax(axis=2)
        best = np.take_along_axis(total, split[:, :, None], axis=2)[:, :, 0] + scores[:, : size - k, k]
        by_start[:, : size - k, k] = by_end[:, k:, k] = best
        splits.append(split)
    return splits


@lru_cache(maxsize=512)
def triangle(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The (start, k) of all spans of n words."""
    start, last = np.triu_indices(n)
    return start, last - start
