"""The time limits of meta-evaluation, on two cores.

Intervals: seven coefficients with 1,000 resamples each, 10 metrics, on 29,246 outputs of 17 systems (the size of the
largest data set, WMT20 zh-en). PERM-BOTH: 1,000 permutations of two metrics under Kendall's tau on 20,000 cells. The
peer of each is scipy's kendalltau in a loop, a few resamples of it, and its time for all.

    python benchmarks/meta.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.stats import kendalltau

from arboreval.meta.correlation import NAMES, Name, correlate
from arboreval.meta.resample import bootstrap, interval
from arboreval.meta.tests import permutation_test

SEGMENTS, SYSTEMS, ROWS, METRICS, TRIALS = 2_000, 17, 29_246, 10, 1_000
COEFFICIENTS: tuple[Name, ...] = (
    "pearson",
    "spearman",
    "kendall",
    "kendall-wmt14",
    "kendall-darr",
    "acc23",
    "spa",
)
LIMIT_INTERVALS, LIMIT_PERM, PERM_CELLS, PEER_RUNS = 60.0, 20.0, 20_000, 20


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Human scores 0 to 100 with ties, metrics that follow them weakly; one in two has ties too."""
    rng = np.random.default_rng(1)
    cells = np.sort(rng.choice(SEGMENTS * SYSTEMS, size=ROWS, replace=False))
    segment, system = np.divmod(cells, SYSTEMS)
    quality = rng.normal(size=SEGMENTS)[segment] + 0.3 * rng.normal(size=SYSTEMS)[system] + rng.normal(size=ROWS)
    human = np.clip(np.rint(65 + 15 * (quality + rng.normal(size=ROWS))), 0, 100)
    metrics = quality + 1.5 * rng.normal(size=(METRICS, ROWS))
    metrics[::2] = np.round(metrics[::2], 2)
    return metrics, human, segment, system


def intervals() -> float:
    metrics, human, segment, system = data()
    start = time.perf_counter()
    for name in COEFFICIENTS:
        before = time.perf_counter()
        for x in metrics:
            value = correlate(name, x, human, segment=segment, system=system).value
            ci = interval(bootstrap(name, x, human, segment=segment, system=system, trials=TRIALS))
            assert value is not None
            assert ci is not None
        print(f"  {name:14} {time.perf_counter() - before:6.2f} s, last {value:.3f} [{ci[0]:.3f}, {ci[1]:.3f}]")
    seconds = time.perf_counter() - start
    rng = np.random.default_rng(2)
    before = time.perf_counter()
    for _ in range(PEER_RUNS):
        rows = rng.integers(ROWS, size=ROWS)
        kendalltau(metrics[0, rows], human[rows])
    peer = (time.perf_counter() - before) / PEER_RUNS * TRIALS * METRICS
    print(f"  scipy.stats.kendalltau alone, in a loop: {peer:.0f} s on one core")
    return seconds


def permutations() -> float:
    metrics, human, *_ = data()
    start = time.perf_counter()
    result = permutation_test(*metrics[:2, :PERM_CELLS], human[:PERM_CELLS], trials=TRIALS)
    seconds = time.perf_counter() - start
    print(f"  difference {result.difference:.4f}, p {result.p:.3f}")
    before = time.perf_counter()
    for _ in range(PEER_RUNS):
        kendalltau(metrics[0, :PERM_CELLS], human[:PERM_CELLS])
    peer = (time.perf_counter() - before) / PEER_RUNS * TRIALS * 2
    print(f"  scipy.stats.kendalltau in a loop: {peer:.0f} s on one core")
    return seconds


def main() -> None:
    assert set(COEFFICIENTS) <= set(NAMES)
    over = []
    for what, run, limit in (
        (f"{TRIALS:,}-sample intervals, {ROWS:,} rows x {METRICS} metrics", intervals, LIMIT_INTERVALS),
        (f"PERM-BOTH on Kendall, {TRIALS:,} permutations, {PERM_CELLS:,} cells", permutations, LIMIT_PERM),
    ):
        print(what)
        seconds = run()
        print(f"  {seconds:.1f} s: ratio {seconds / limit:.2f} (limit {limit:.0f} s)")
        if seconds > limit:
            over.append(what)
    if over:
        sys.exit("over the limit: " + "; ".join(over))


if __name__ == "__main__":
    main()
