"""Paired bootstrap, 1,000 trials, all 45 pairs of 10 systems on 2,000 segments, from statistics; and sacrebleu's time
for the nine pairs it would test (every system against one baseline) on the same statistics.

    python benchmarks/resampling.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
import sacrebleu
from scoring import corpus

from arboreval import Corpus
from arboreval.registry import make_metric
from arboreval.run.measure import measure
from arboreval.significance import bootstrap_scores, paired_tests

SYSTEMS, SEGMENTS, LIMIT_SECONDS = 10, 2_000, 2.0


def main() -> None:
    hypotheses, references = corpus(SYSTEMS * SEGMENTS)
    references = references[:SEGMENTS]
    systems = {
        f"system-{i}": [
            hyp if k % SYSTEMS > i else ref
            for k, (hyp, ref) in enumerate(zip(hypotheses[:SEGMENTS], references, strict=True))
        ]
        for i in range(SYSTEMS)
    }
    statistics = measure(Corpus.from_lists(systems, references), [make_metric("bleu"), make_metric("chrf")])

    start = time.perf_counter()
    scores = bootstrap_scores(statistics)
    pairs = [np.abs(metric[a] - metric[b]) for metric in scores for a in range(SYSTEMS) for b in range(a + 1, SYSTEMS)]
    seconds = time.perf_counter() - start
    print(
        f"paired bootstrap, 1,000 trials, {len(pairs)} pairs (BLEU and chrF): {seconds:.2f} s (limit {LIMIT_SECONDS})"
    )

    start = time.perf_counter()
    paired_tests(statistics, scores)
    print(f"approximate randomisation, 10,000 trials, the same pairs: {time.perf_counter() - start:.2f} s")

    bleu = sacrebleu.BLEU()
    start = time.perf_counter()
    index = np.random.default_rng(12345).choice(SEGMENTS, size=(1_000, SEGMENTS), replace=True)
    for system in statistics[0].stats.astype("float32"):
        for sample in system[index]:
            bleu._compute_score_from_stats(sample.sum(0))
    print(f"sacrebleu's way, BLEU alone, 10 systems: {time.perf_counter() - start:.2f} s")
    if seconds > LIMIT_SECONDS:
        sys.exit("over the limit")


if __name__ == "__main__":
    main()
