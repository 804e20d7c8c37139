"""Dependency trees from arc scores: the best tree with one root.

Choosing each word's best head mostly gives a tree at once; only where it does not, Chu-Liu/Edmonds finds the best one.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_heads"]


def best_heads(arcs: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Heads of every word, 0 for the root and j for word j - 1, of sentences with scores (sentence, word, head).

    Beyond a sentence's length the heads are 0 and mean nothing.
    """
    count, size = arcs.shape[:2]
    scores = np.array(arcs, np.float32)
    word = np.arange(size)
    scores[:, word, word + 1] = -np.inf
    scores = np.where(np.arange(size + 1) > lengths[:, None, None], -np.inf, scores)
    beyond = word >= lengths[:, None]
    heads = np.where(beyond, 0, scores.argmax(axis=2)) if size else np.zeros((count, 0), np.int64)
    for index in np.flatnonzero(~_are_trees(heads, beyond)):
        n = int(lengths[index])
        heads[index, :n] = _arborescence(scores[index, :n, : n + 1].astype(np.float64))
    return heads


def _are_trees(heads: NDArray[np.int64], beyond: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each sentence has one root and every word leads to it."""
    roots = ((heads == 0) & ~beyond).sum(axis=1)
    # node 0 leads to itself; after doubling the steps often enough every path ends there or runs in a circle
    up = np.concatenate([np.zeros((len(heads), 1), np.int64), heads], axis=1)
    for _ in range(max(heads.shape[1], 1).bit_length()):
        up = np.take_along_axis(up, up, axis=1)
    trees: NDArray[np.bool_] = (roots == 1) & (up == 0).all(axis=1)
    return trees


def _arborescence(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Chu-Liu/Edmonds for one sentence, scores (word, head) with head 0 the root."""
    n = len(scores)
    weight = np.full((n + 1, n + 1), -np.inf)
    weight[1:] = scores
    # dearer than any tree without them, so that the best tree has as few arcs from the root as there can be: one
    finite = scores[np.isfinite(scores)]
    weight[1:, 0] -= (float(finite.max() - finite.min()) + 1.0) * (n + 1)
    return _contract(weight)[1:]


def _contract(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Best head of every node but node 0, where weight[dependent, head]: contracts one cycle after the other, then
    opens them again in turn. Cycles can lie as deep in each other as there are words, hence no recursion."""
    contracted = []
    while True:
        heads: NDArray[np.int64] = weight.argmax(axis=1)
        heads[0] = 0
        cycle = _cycle(heads)
        if cycle is None:
            break
        n = len(weight)
        inside = np.zeros(n, np.bool_)
        inside[cycle] = True
        rest = np.flatnonzero(~inside)
        # the cycle becomes the last node of a smaller graph; node 0 is never in it and stays first
        m = len(rest)
        small = np.full((m + 1, m + 1), -np.inf)
        small[:m, :m] = weight[np.ix_(rest, rest)]
        leaving = weight[np.ix_(rest, cycle)]
        exit_at = leaving.argmax(axis=1)
        small[:m, m] = leaving[np.arange(m), exit_at]
        # an arc into the cycle replaces the cycle's own arc at the node it enters
        entering = weight[np.ix_(cycle, rest)] - weight[cycle, heads[cycle]][:, None]
        entry_at = entering.argmax(axis=0)
        small[m, :m] = entering[entry_at, np.arange(m)]
        contracted.append((heads, cycle, rest, exit_at, entry_at))
        weight = small
    for outer, cycle, rest, exit_at, entry_at in reversed(contracted):
        m = len(rest)
        # a head that is the contracted node is the word of the cycle that the arc leaves
        above = heads[:m]
        outer[rest] = np.where(above == m, cycle[exit_at], rest[np.minimum(above, m - 1)])
        enters = int(heads[m])
        outer[cycle[entry_at[enters]]] = rest[enters]
        outer[0] = 0
        heads = outer
    return heads


def _cycle(heads: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The nodes of one cycle, if there is any."""
    state = [0] * len(heads)
    state[0] = 2
    parent = heads.tolist()
    for start in range(1, len(heads)):
        path = []
        node = start
        while state[node] == 0:
            state[node] = 1
            path.append(node)
            node = parent[node]
        if state[node] == 1:
            return np.array(path[path.index(node) :])
        for seen in path:
            state[seen] = 2
    return None
