"""What unrelated sentences score: the baseline of `bertscore:baseline=bundled`.

    python benchmarks/bertscore_baseline.py SENTENCES [--pairs N] [--seed N] [--encoder SPEC]

SENTENCES is a file with one sentence a line, or a CoNLL-U file, also compressed with gzip. Pairs of two different
sentences are drawn at random, and the mean precision, recall and F of the pairs are printed as a file that
`bertscore:baseline=FILE` reads.
"""

from __future__ import annotations

import argparse
import gzip
import random
from pathlib import Path

import arboreval


def sentences(path: Path) -> list[str]:
    """The distinct sentences of a file, in its order."""
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
    if ".conllu" in path.name:
        lines = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument("--encoder")
    args = parser.parse_args()
    texts, rng = sentences(args.sentences), random.Random(args.seed)
    pairs = [rng.sample(texts, 2) for _ in range(args.pairs)]
    hypotheses, references = [list(side) for side in zip(*pairs, strict=True)]
    report = arboreval.score(hypotheses, references, metrics=["bertscore"], encoder=args.encoder, cache=False)
    score = report.systems[0].scores["bertscore"]
    (first,) = arboreval.analyze(references[:1], layers="vectors", encoder=args.encoder, cache=False)
    layer = first.vectors.layer if first.vectors is not None else 0
    print("LAYER,P,R,F")
    print(f"{layer},{score.components['precision']:.6f},{score.components['recall']:.6f},{score.value:.6f}")


if __name__ == "__main__":
    main()
