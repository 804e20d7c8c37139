"""Averages two states of one network, and puts the frozen word embeddings back.

    python training/merge.py --first A.safetensors --second B.safetensors --pretrained P.safetensors --out W.safetensors

The first state parses best, the second keeps layer 7 closest to the pretrained vectors; a weighted mean of the two has
most of both, because the second was trained from the first.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    from safetensors.torch import load_file, save_file

    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("first", "second", "pretrained", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.7, help="of the second state")
    args = parser.parse_args()
    first, second = load_file(args.first), load_file(args.second)
    merged = {k: ((1 - args.share) * first[k].float() + args.share * second[k].float()).half() for k in first}
    merged["encoder.words.weight"] = load_file(args.pretrained)["embeddings.word_embeddings.weight"].half()
    save_file(merged, args.out)


if __name__ == "__main__":
    main()
