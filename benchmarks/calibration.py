"""How often do the tests call two equally good systems different?

Two systems whose segment scores are independent draws from one distribution differ by chance alone. A test at level
0.05 should find a difference in about 5 % of such pairs.

    python benchmarks/calibration.py [SIMULATIONS]
"""

from __future__ import annotations

import sys

import numpy as np

from arboreval.metrics.rouge import Rouge1
from arboreval.run.measure import Statistics
from arboreval.significance import bootstrap_scores, paired_tests

SEGMENTS = (50, 500)


def main() -> None:
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    for n in SEGMENTS:
        rng = np.random.default_rng(7)
        found = {"bootstrap": 0, "randomisation": 0, "both": 0}
        for seed in range(simulations):
            scores = rng.beta(2, 2, size=(2, n))
            stats = np.stack([scores, scores, scores, np.ones_like(scores)], axis=-1)
            statistics = [Statistics(Rouge1(), stats, np.ones((2, n), dtype=bool), ())]
            boot = bootstrap_scores(statistics, seed=seed)
            test = paired_tests(statistics, boot, ar_trials=1_000, seed=seed)[0][0]
            found["bootstrap"] += test.p_bootstrap < 0.05
            found["randomisation"] += test.p_ar < 0.05
            found["both"] += max(test.p_bootstrap, test.p_ar) < 0.05
        shares = ", ".join(f"{name} {100 * count / simulations:.1f} %" for name, count in found.items())
        print(f"{n} segments, {simulations} pairs of equal systems called different at 0.05: {shares}")


if __name__ == "__main__":
    main()
