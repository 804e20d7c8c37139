"""The best sequence of BIO tags for many sentences at once: `I-X` only after `B-X` or `I-X`.

Since `O` and `B-X` may follow anything, one step costs as much as there are tags, not as there are pairs of tags.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORBIDDEN", "Bio"]

#: the score of a tag that cannot be
FORBIDDEN = np.float32(-1e30)


class Bio:
    """A tag set with its constraints. `I-X` without a `B-X` in the set can never be chosen."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = tuple(tags)
        number = {tag: i for i, tag in enumerate(tags)}
        self.outside = number["O"]
        pairs = [(i, number.get("B-" + tag[2:], -1)) for tag, i in number.items() if tag.startswith("I-")]
        self._inside = np.array([i for i, begin in pairs if begin >= 0], np.int64)
        self._begin = np.array([begin for _, begin in pairs if begin >= 0], np.int64)
        self._never = np.array([i for i, begin in pairs if begin < 0], np.int64)
        self._all_inside = np.array([i for i, _ in pairs], np.int64)
        #: whether the second tag may follow the first
        self._follows = np.ones((len(tags), len(tags)), np.bool_)
        self._follows[:, self._all_inside] = False
        self._follows[self._begin, self._inside] = self._follows[self._inside, self._inside] = True

    def decode(self, scores: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tag numbers of (sentence, word) from scores (sentence, word, tag); `O` beyond a sentence's length."""
        count, size, _ = scores.shape
        if not count or not size:
            return np.zeros((count, size), np.int64)
        beyond = np.arange(size) >= lengths[:, None]
        path = np.where(beyond, self.outside, scores.argmax(axis=2))
        # where the best tags of all words follow each other lawfully, they are the best sequence
        before = np.concatenate([np.full((count, 1), self.outside), path[:, :-1]], axis=1)
        broken = np.flatnonzero(~self._follows[before, path].all(axis=1))
        if len(broken):
            path[broken] = self._search(scores[broken], beyond[broken])
        return path

    def _search(self, scores: NDArray[np.float32], beyond: NDArray[np.bool_]) -> NDArray[np.int64]:
        count, size, kinds = scores.shape
        scores[beyond] = FORBIDDEN
        scores[beyond, self.outside] = 0
        scores[:, :, self._never] = FORBIDDEN
        total = scores[:, 0]
        total[:, self._all_inside] = FORBIDDEN
        back = np.zeros((size, count, kinds), np.int64)
        for i in range(1, size):
            best = total.argmax(axis=1)
            before = np.repeat(np.take_along_axis(total, best[:, None], axis=1), kinds, axis=1)
            back[i] = best[:, None]
            begun, going = total[:, self._begin], total[:, self._inside]
            before[:, self._inside] = np.maximum(begun, going)
            back[i][:, self._inside] = np.where(begun >= going, self._begin, self._inside)
            total = np.maximum(before + scores[:, i], FORBIDDEN)
        path = np.zeros((count, size), np.int64)
        path[:, -1] = total.argmax(axis=1)
        rows = np.arange(count)
        for i in range(size - 1, 0, -1):
            path[:, i - 1] = back[i][rows, path[:, i]]
        return path

    def lead(self, scores: NDArray[np.float32], path: NDArray[np.int64]) -> NDArray[np.float32]:
        """By how much the tag of each word of one sentence scores more than `O`."""
        chosen: NDArray[np.float32] = scores[np.arange(len(path)), path]
        return chosen - scores[:, self.outside]

    def spans(self, path: Sequence[int]) -> list[tuple[int, int, str]]:
        """The (start, end, label) that one sentence's tags mark."""
        found: list[tuple[int, int, str]] = []
        for i, tag in enumerate(path):
            if tag == self.outside:
                continue
            name = self.tags[tag]
            if name[0] == "B":
                found.append((i, i + 1, name[2:]))
            elif name[0] == "I":
                found[-1] = (found[-1][0], i + 1, found[-1][2])
        return found
