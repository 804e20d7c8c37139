"""Speed of structure alignment and BERTScore: on 2,000 analysed pairs for every mode, and end to end against the
analyzer alone on the same texts, all in one run.

    python benchmarks/structure_alignment.py [--pairs FILE] [--count N] [--rounds N] [--only MODE] [--skip-end-to-end]

FILE has an output and its reference a line, with a tab between them. Without it, outputs and references of WMT17 are
taken where the shared data lie beside the repository, and made-up sentences where not. The best of several interleaved
rounds counts, since other programs can only slow a round down.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path

from analyzer import sentences

import arboreval
from arboreval.analysis.structures import Analysis
from arboreval.metrics.base import Batch
from arboreval.metrics.structural import StructuralMetric
from arboreval.registry import make_metric
from arboreval.run.measure import DEFAULT_BATCH_SIZE

JUDGMENTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "judgments"
LAYERS = frozenset({"tokens", "dep", "const", "vectors"})
LIMIT_MODE, LIMIT_END_TO_END = 2.0, 1.3
PAPER = "leaves=word:max_len=0:dedup=none"
MODES = [
    "bertscore",
    "bertscore:idf=true",
    *(
        f"structure-alignment:tree={tree}:filter={filter_}:weighting={weighting}{inventory}"
        for tree, inventory, filter_, weighting in product(
            ("const", "dep"), ("", f":{PAPER}"), ("none", "label", "head"), ("none", "length")
        )
    ),
]
END_TO_END = ["structure-alignment", "structure-alignment:tree=dep", "structure-alignment,bertscore"]


def pairs(path: Path | None, count: int) -> list[tuple[str, str]]:
    if path is not None:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [(x, y) for x, y in (line.split("\t")[:2] for line in lines)][:count]
    files = sorted(JUDGMENTS.glob("wmt17-da-seg.*-en.jsonl.gz"))
    if files:
        rows = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
        return [(row["hyp"], row["refs"][0]) for row in rows][:count]
    rng = random.Random(1)
    return [(" ".join(rng.sample(y.split(), len(y.split()))), y) for y in islice(sentences(), count)]


def batches(found: list[tuple[str, str]], analyses: dict[str, Analysis]) -> list[Batch]:
    """As arboreval.score makes them."""
    parts = [found[i : i + DEFAULT_BATCH_SIZE] for i in range(0, len(found), DEFAULT_BATCH_SIZE)]
    return [Batch([(y,) for _, y in part], [[x for x, _ in part]], analyses=analyses) for part in parts]


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def on_analysed_input(found: list[tuple[str, str]], modes: list[str], rounds: int) -> None:
    texts = list(dict.fromkeys(text for pair in found for text in pair))
    analyses = dict(zip(texts, arboreval.analyze(texts, layers=LAYERS, cache=False), strict=True))
    words = sum(map(len, analyses.values())) / len(texts)
    print(f"{len(found)} pairs, {len(texts)} texts of {words:.1f} words; best of {rounds}")
    made = batches(found, analyses)
    references = [[y] for _, y in found]
    best = dict.fromkeys(modes, float("inf"))
    for _ in range(rounds):
        for mode in modes:
            metric = make_metric(mode).fitted(references)
            best[mode] = min(best[mode], timed(lambda metric=metric: [metric.statistics(batch) for batch in made]))
    for mode, seconds in best.items():
        metric = make_metric(mode)
        over = "  OVER" if seconds > LIMIT_MODE else ""
        assert isinstance(metric, StructuralMetric)
        print(f"{seconds:6.2f} s (limit {LIMIT_MODE:.0f})  {mode}{over}")


def end_to_end(found: list[tuple[str, str]], rounds: int) -> None:
    hypotheses, references = (list(side) for side in zip(*found, strict=True))
    texts = list(dict.fromkeys(references + hypotheses))
    for metrics in END_TO_END:
        layers = frozenset[str]().union(*(make_metric(name).layers for name in metrics.split(",")))
        alone = score = float("inf")
        for _ in range(rounds):
            alone = min(alone, timed(lambda layers=layers: list(arboreval.analyze(texts, layers=layers, cache=False))))
            options = {"metrics": metrics.split(","), "cache": False}
            score = min(score, timed(lambda o=options: arboreval.score(hypotheses, references, **o)))
        ratio = score / alone
        print(
            f"end to end {metrics}: {score:.2f} s, the analyzer alone {alone:.2f} s, ratio {ratio:.2f} "
            f"(limit {LIMIT_END_TO_END})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="modes that contain this text")
    parser.add_argument("--skip-end-to-end", action="store_true")
    args = parser.parse_args()
    found = pairs(args.pairs, args.count)
    on_analysed_input(found, [mode for mode in MODES if args.only in mode], args.rounds)
    if not args.skip_end_to_end:
        end_to_end(found, min(args.rounds, 2))


if __name__ == "__main__":
    main()
