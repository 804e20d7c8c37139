"""Scoring 100,000 segments with BLEU and chrF: time against sacrebleu's own API in the same run, and peak memory.

arboreval's time includes what sacrebleu's does not: the input report and the bootstrap intervals. Each side runs in a
process of its own, alternately, three times; the fastest of each counts, since everything slower is other load.

    python benchmarks/scoring.py [SEGMENTS]
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time

LIMIT_RATIO, LIMIT_MB = 1.3, 600
ROUNDS = 3


def corpus(n: int) -> tuple[list[str], list[str]]:
    """Sentences of 5 to 40 words with Zipf-like frequencies; hypotheses are noisy copies of the references."""
    rng = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(20_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    references, hypotheses = [], []
    for _ in range(n):
        reference = rng.choices(words, weights, k=rng.randint(5, 40))
        hypothesis = [rng.choice(words) if rng.random() < 0.3 else word for word in reference if rng.random() > 0.05]
        references.append(" ".join(reference).capitalize() + ".")
        hypotheses.append(" ".join(hypothesis).capitalize() + ".")
    return hypotheses, references


def run_sacrebleu(hypotheses: list[str], references: list[str]) -> list[float]:
    import sacrebleu

    return [metric.corpus_score(hypotheses, [references]).score for metric in (sacrebleu.BLEU(), sacrebleu.CHRF())]


def run_arboreval(hypotheses: list[str], references: list[str]) -> list[float]:
    import arboreval

    report = arboreval.score(hypotheses, references, metrics=["bleu", "chrf"])
    return [score.value for score in report.systems[0].scores.values()]


def worker(name: str, n: int) -> None:
    hypotheses, references = corpus(n)
    start = time.perf_counter()
    scores = {"sacrebleu": run_sacrebleu, "arboreval": run_arboreval}[name](hypotheses, references)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, "scores": scores}))


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    runs: dict[str, list[dict]] = {"sacrebleu": [], "arboreval": []}
    for _ in range(ROUNDS):
        for name, done in runs.items():
            command = [sys.executable, __file__, "--worker", name, str(n)]
            done.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    best = {name: min(run["seconds"] for run in done) for name, done in runs.items()}
    memory = {name: max(run["megabytes"] for run in done) for name, done in runs.items()}
    assert runs["sacrebleu"][0]["scores"] == runs["arboreval"][0]["scores"], "the scores differ"
    for name in runs:
        seconds = ", ".join(f"{run['seconds']:.1f}" for run in runs[name])
        print(
            f"{name:10} {n} segments, BLEU + chrF: {best[name]:6.1f} s (runs: {seconds}), peak {memory[name]:5.0f} MB"
        )
    ratio = best["arboreval"] / best["sacrebleu"]
    print(f"ratio {ratio:.2f} (limit {LIMIT_RATIO}), memory {memory['arboreval']:.0f} MB (limit {LIMIT_MB})")
    if ratio > LIMIT_RATIO or memory["arboreval"] > LIMIT_MB:
        sys.exit("over the limit")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], int(sys.argv[3]))
    else:
        main()
