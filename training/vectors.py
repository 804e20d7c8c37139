"""How good are the kept vectors? Greedy matching of sub-word vectors (BERTScore's F) against human scores.

    python training/vectors.py --pretrained P.safetensors --tokenizer tokenizer.json --judgments FILE... [--weights W]

Development measures this on WMT15, so that WMT16 stays a test.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from model import PAD, Encoder, encoder_sizes


def encode(encoder: Encoder, tokenizer, texts: list[str], keep: int, device: str) -> list[torch.Tensor]:
    """Unit vectors of every piece, special tokens included."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found: list[torch.Tensor | None] = [None] * len(texts)
    for at in range(0, len(order), 64):
        rows = order[at : at + 64]
        ids = [[0, *tokenizer.encode(texts[i], add_special_tokens=False).ids[:500], 2] for i in rows]
        width = max(map(len, ids))
        batch = torch.tensor([row + [PAD] * (width - len(row)) for row in ids], device=device)
        with torch.no_grad():
            vectors = torch.nn.functional.normalize(encoder(batch, keep)[1].float(), dim=-1)
        for i, row, values in zip(rows, ids, vectors, strict=True):
            found[i] = values[: len(row)]
    return found


def f_score(hyp: torch.Tensor, ref: torch.Tensor) -> float:
    """Special tokens are candidates but have no weight of their own, as in bert-score."""
    similarity = hyp @ ref.T
    p, r = similarity.max(1).values[1:-1].mean(), similarity.max(0).values[1:-1].mean()
    return float(2 * p * r / (p + r))


def correlation(encoder: Encoder, tokenizer, path: Path, keep: int, device: str) -> float:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    hyps = encode(encoder, tokenizer, [row["hyp"] for row in rows], keep, device)
    refs = encode(encoder, tokenizer, [row["refs"][0] for row in rows], keep, device)
    scores = torch.tensor([f_score(h, r) for h, r in zip(hyps, refs, strict=True)])
    human = torch.tensor([row["z"] for row in rows])
    return float(torch.corrcoef(torch.stack([scores, human]))[0, 1])


def main() -> None:
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pretrained", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--judgments", type=Path, nargs="+", required=True)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--keep", type=int, default=7)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pretrained = load_file(args.pretrained)
    encoder = Encoder(args.keep, **encoder_sizes(pretrained))
    encoder.load_pretrained(pretrained)
    if args.weights:
        state = {k.removeprefix("encoder."): v.float() for k, v in load_file(args.weights).items()}
        encoder.load_state_dict({k: v for k, v in state.items() if k in encoder.state_dict()}, strict=False)
    encoder.to(device).eval()
    tokenizer = Tokenizer.from_file(str(args.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    values = [correlation(encoder, tokenizer, path, args.keep, device) for path in args.judgments]
    print("vectors", " ".join(f"{v:.4f}" for v in values), f"mean {sum(values) / len(values):.4f}", flush=True)


if __name__ == "__main__":
    main()
