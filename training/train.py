"""Trains the network.

    python training/train.py --data DATA --pretrained model.safetensors --tokenizer tokenizer.json --out OUT

``--layers 12 --keep-weight 0`` trains a teacher; ``--teacher OUT/teacher.safetensors --unlabelled FILE`` distils one.
Runs on a GPU if there is one. The averaged weights are saved as fp16 safetensors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent))

from batches import IGNORE, Documents, Inventory, Sentence, epoch_batches, load
from model import SPANS, TAGGERS, Encoder, Network, Output, encoder_sizes

#: weights of the losses; those of small or easy tasks are lower so that the parsers lead
WEIGHTS = {"upos": 0.5, "xpos": 0.5, "ner": 0.5, "lemma": 0.8, "sent": 0.3, "edu": 0.5, "pred": 0.3, "arc": 1.0,
           "label": 0.7, "const": 1.0, "ucca": 1.0, "rst": 0.3, "srl": 0.7, "remote": 0.3}  # fmt: skip


def span_targets(batch: dict[str, Tensor], name: str) -> Tensor:
    """(B, W, W): 0 where there is no constituent, its label + 1 where there is, IGNORE where we do not know."""
    has = batch[f"has_{name}"]
    inside = has[:, :, None] & has[:, None, :]
    n = has.shape[1]
    inside &= torch.ones(n, n, dtype=torch.bool, device=has.device).triu()
    if name == "rst":
        inside &= batch["edu_start"][:, :, None] & batch["edu_end"][:, None, :]
        # one EDU is a leaf, not a span to label
        count = batch["edu_start"].long().cumsum(1)
        inside &= count[:, None, :] > count[:, :, None]
    else:
        inside &= batch["sentence_of"][:, :, None] == batch["sentence_of"][:, None, :]
    target = torch.where(inside, 0, IGNORE)
    rows = batch[name]
    if len(rows):
        target[rows[:, 0], rows[:, 1], rows[:, 2]] = rows[:, 3]
    return target


def cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Mean over the targets that are known; zero if none is."""
    known = target != IGNORE
    if not known.any():
        return scores.sum() * 0
    return F.cross_entropy(scores[known].float(), target[known])


def arc_mask(batch: dict[str, Tensor]) -> Tensor:
    """(B, W, 1 + W): heads must be the root or a word of the same sentence."""
    sentence = batch["sentence_of"]
    same = (sentence[:, :, None] == sentence[:, None, :]) & (sentence[:, None, :] >= 0)
    return torch.cat([torch.ones_like(same[:, :, :1]), same], 2)


def losses(net: Network, batch: dict[str, Tensor], out: Output) -> dict[str, Tensor]:
    found = {name: cross_entropy(out.tags[name], batch[name]) for name in TAGGERS}
    known = batch["head"] != IGNORE
    arcs = out.arcs.float().masked_fill(~arc_mask(batch), -1e4)
    found["arc"] = cross_entropy(arcs, batch["head"])
    if known.any():
        rows = torch.arange(len(known), device=known.device)[:, None].expand_as(known)[known]
        scores = net.labels(out.dep[known], out.head[rows, batch["head"][known]])
        found["label"] = cross_entropy(scores, batch["deprel"][known])
    for name in SPANS:
        found[name] = cross_entropy(out.spans[name], span_targets(batch, name))
    if len(batch["srl_at"]):
        row, word = batch["srl_at"].T
        found["srl"] = cross_entropy(net.roles(out.words[row, word], out.words[row]), batch["srl_tags"])
    if len(batch["remote"]):
        row, pf, pl, cf, cl, target = batch["remote"].T
        x = out.words
        found["remote"] = cross_entropy(net.remotes(x[row, pf], x[row, pl], x[row, cf], x[row, cl]), target)
    return found


def kl(student: Tensor, teacher: Tensor, mask: Tensor) -> Tensor:
    """Mean KL(teacher || student) over the cells of the mask."""
    if not mask.any():
        return student.sum() * 0
    s, t = student[mask].float(), teacher[mask].float()
    return F.kl_div(F.log_softmax(s, -1), F.log_softmax(t, -1), log_target=True, reduction="batchmean")


def distillation(net: Network, batch: dict[str, Tensor], out: Output, teacher: Network, soft: Output) -> Tensor:
    """The teacher's opinion on every head, wherever there are words."""
    words = batch["sentence_of"] >= 0
    total = sum(WEIGHTS[name] * kl(out.tags[name], soft.tags[name], words) for name in TAGGERS)
    mask = arc_mask(batch)
    arcs = [o.arcs.float().masked_fill(~mask, -1e4) for o in (out, soft)]
    total = total + kl(arcs[0], arcs[1], words)
    best = arcs[1].argmax(-1)[words]
    rows = torch.arange(len(words), device=words.device)[:, None].expand_as(words)[words]
    pairs = [n.labels(o.dep[words], o.head[rows, best]) for n, o in ((net, out), (teacher, soft))]
    total = total + WEIGHTS["label"] * kl(pairs[0], pairs[1], torch.ones_like(best, dtype=torch.bool))
    n = words.shape[1]
    same = (batch["sentence_of"][:, :, None] == batch["sentence_of"][:, None, :]) & words[:, :, None]
    same &= torch.ones(n, n, dtype=torch.bool, device=words.device).triu()
    for name in ("const", "ucca", "rst"):
        total = total + WEIGHTS[name] * kl(out.spans[name], soft.spans[name], same)
    likely = (soft.tags["pred"].float().softmax(-1)[..., 1] > 0.5) & words
    if likely.any():
        row, word = likely.nonzero().T
        roles = [m.roles(o.words[row, word], o.words[row]) for m, o in ((net, out), (teacher, soft))]
        total = total + WEIGHTS["srl"] * kl(roles[0], roles[1], words[row])
    return total


@torch.no_grad()
def evaluate(net: Network, sentences: list[Sentence], documents: Documents, device: str, pretrained: Encoder) -> dict:
    """Quick development figures without tree decoding; the real ones come from training/evaluate.py."""
    net.eval()
    right: Counter[str] = Counter()
    for batch in epoch_batches(sentences, documents, cells=400_000, seed=None):
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            out = net(batch["ids"], batch["first"], batch["last"], batch["features"])
            kept = pretrained(batch["ids"], net.keep)[1]
            arcs = out.arcs.float().masked_fill(~arc_mask(batch), -1e4)
            head = arcs.argmax(-1)
            known = batch["head"] != IGNORE
            if known.any():
                rows = torch.arange(len(known), device=known.device)[:, None].expand_as(known)[known]
                label = net.labels(out.dep[known], out.head[rows, head[known]]).argmax(-1)
                good = head[known] == batch["head"][known]
                right["uas"] += int(good.sum())
                right["las"] += int((good & (label == batch["deprel"][known])).sum())
                right["words"] += int(known.sum())
            for name in ("upos", "xpos", "lemma"):
                known = batch[name] != IGNORE
                right[name] += int((out.tags[name].argmax(-1)[known] == batch[name][known]).sum())
                right[f"{name}_n"] += int(known.sum())
            for name in ("ner", "edu", "pred"):
                known = batch[name] != IGNORE
                _counts(right, name, out.tags[name].argmax(-1)[known], batch[name][known])
            for name in SPANS:
                target = span_targets(batch, name)
                known = target != IGNORE
                if known.any():
                    _counts(right, name, out.spans[name].argmax(-1)[known], target[known])
            if len(batch["srl_at"]):
                row, word = batch["srl_at"].T
                known = batch["srl_tags"] != IGNORE
                guess = net.roles(out.words[row, word], out.words[row]).argmax(-1)
                _counts(right, "srl", guess[known], batch["srl_tags"][known])
            if len(batch["remote"]):
                row, pf, pl, cf, cl, target = batch["remote"].T
                x = out.words
                guess = net.remotes(x[row, pf], x[row, pl], x[row, cf], x[row, cl]).argmax(-1)
                _counts(right, "remote", guess, target)
            pieces = batch["ids"] != 1
            right["cos"] += float(F.cosine_similarity(out.kept.float(), kept.float(), dim=-1)[pieces].sum())
            right["cos_n"] += int(pieces.sum())
    net.train()
    result = {"uas": right["uas"] / right["words"], "las": right["las"] / right["words"]}
    result |= {name: right[name] / right[f"{name}_n"] for name in ("upos", "xpos", "lemma", "cos")}
    for name in ("ner", "edu", "pred", *SPANS, "srl", "remote"):
        p, g = right[f"{name}_p"], right[f"{name}_g"]
        result[name] = 2 * right[f"{name}_c"] / max(p + g, 1)
    return {name: round(100 * value, 2) for name, value in result.items()}


def _counts(right: Counter, name: str, guess: Tensor, gold: Tensor) -> None:
    right[f"{name}_c"] += int(((guess == gold) & (gold != 0)).sum())
    right[f"{name}_p"] += int((guess != 0).sum())
    right[f"{name}_g"] += int((gold != 0).sum())


def read_unlabelled(path: Path, inventory: Inventory, limit: int) -> list[Sentence]:
    """The first sentences of the file that training/unlabelled.py writes, which are in random order."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if 3 <= len(row["words"]) <= 60:
                rows.append(Sentence(row, inventory))
            if len(rows) >= limit:
                break
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pretrained", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="student")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--keep", type=int, default=7)
    parser.add_argument("--keep-weight", type=float, default=4.0)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=9.0, help="stop after this time; the schedule ends there")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--head-rate", type=float, default=1e-3)
    parser.add_argument("--cells", type=int, default=250_000)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--encoder-dropout", type=float, default=0.1)
    parser.add_argument("--init", type=Path, help="go on from these weights")
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--teacher-layers", type=int, default=12)
    parser.add_argument("--soft-weight", type=float, default=1.0)
    parser.add_argument("--unlabelled", type=Path)
    parser.add_argument("--unlabelled-limit", type=int, default=40_000)
    parser.add_argument("--limit", type=int, help="sentences, for a trial run")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    from safetensors.torch import load_file, save_file

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    start = time.time()
    inventory = Inventory(args.data, args.tokenizer)
    train, train_docs = load(args.data, "train", inventory)
    dev, dev_docs = load(args.data, "dev", inventory)
    if args.limit:
        random.Random(0).shuffle(train)
        train, dev = train[: args.limit], dev[: args.limit // 4]
    if args.unlabelled:
        train += read_unlabelled(args.unlabelled, inventory, args.unlabelled_limit)
    print(f"{len(train)} sentences read after {time.time() - start:.0f} s", inventory.sizes, flush=True)
    state = load_file(args.pretrained)
    shape = encoder_sizes(state)
    pretrained = Encoder(args.keep, **shape)
    pretrained.load_pretrained(state)
    pretrained.to(device).eval().requires_grad_(False)
    net = Network(inventory.sizes, args.layers, args.keep, args.dropout, **shape)
    net.encoder.load_pretrained(state)
    net.encoder.set_dropout(args.encoder_dropout)
    if args.init:
        net.load_state_dict({k: v.float() for k, v in load_file(args.init).items()}, strict=False)
    net.to(device)
    # the word embeddings stay as they are: they need not be sent anywhere, and the vectors keep their ground
    net.encoder.words.requires_grad_(False)
    teacher = None
    if args.teacher:
        teacher = Network(inventory.sizes, args.teacher_layers, args.keep, args.dropout, **shape)
        teacher.encoder.load_pretrained(state)
        teacher.load_state_dict({k: v.float() for k, v in load_file(args.teacher).items()}, strict=False)
        teacher.to(device).eval().requires_grad_(False)
    encoder = [p for n, p in net.named_parameters() if n.startswith("encoder.") and p.requires_grad]
    heads = [p for n, p in net.named_parameters() if not n.startswith("encoder.")]
    groups = [{"params": encoder, "lr": args.rate}, {"params": heads, "lr": args.head_rate}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda")
    rates = [group["lr"] for group in optimiser.param_groups]
    average = {k: v.detach().clone() for k, v in net.state_dict().items()}
    current = net.state_dict()  # shares its tensors with the network
    averaged = [name for name, value in current.items() if name != "encoder.words.weight"]
    step, began, epoch, done = 0, time.time(), 0, False
    per_epoch = None
    net.train()
    while not done and epoch < args.epochs:
        seen: Counter[str] = Counter()
        epoch_start = step
        for batch in epoch_batches(train, train_docs, cells=args.cells, seed=args.seed * 1000 + epoch,
                                   workers=args.workers):  # fmt: skip
            batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}
            # progress is the larger of the share of time and the share of steps, so that the rate ends at zero
            progress = (time.time() - began) / (60 * args.minutes)
            if per_epoch:
                progress = max(progress, step / (per_epoch * args.epochs))
            if progress >= 1:
                done = True
                break
            scale = min(1.0, (step + 1) / 300) * (1 - progress)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * scale
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                out = net(batch["ids"], batch["first"], batch["last"], batch["features"])
                parts = losses(net, batch, out)
                total = sum(WEIGHTS[name] * value for name, value in parts.items())
                if args.keep_weight:
                    with torch.no_grad():
                        kept = pretrained(batch["ids"], args.keep)[1]
                    pieces = batch["ids"] != 1
                    close = 1 - F.cosine_similarity(out.kept.float(), kept.float(), dim=-1)[pieces].mean()
                    total = total + args.keep_weight * close
                    seen["cos"] += float(close.detach()) if step % 20 == 0 else 0
                if teacher is not None:
                    with torch.no_grad():
                        soft = teacher(batch["ids"], batch["first"], batch["last"], batch["features"])
                    total = total + args.soft_weight * distillation(net, batch, out, teacher, soft)
            optimiser.zero_grad(set_to_none=True)
            total.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            step += 1
            decay = min(0.998, step / (step + 50))
            torch._foreach_lerp_([average[n] for n in averaged], [current[n] for n in averaged], 1 - decay)
            if step % 20 == 0:
                for name, value in parts.items():
                    seen[name] += float(value.detach())
                seen["n"] += 1
        per_epoch = per_epoch or (step - epoch_start) or 1
        epoch += 1
        shown = {k: round(v / max(seen["n"], 1), 3) for k, v in seen.items() if k != "n"}
        print(f"epoch {epoch} step {step} {time.time() - began:.0f} s", shown, flush=True)
        if epoch % 4 == 0 and not done:
            print("  dev", evaluate(net, dev, dev_docs, device, pretrained), flush=True)
    net.load_state_dict(average)
    print("final dev", evaluate(net, dev, dev_docs, device, pretrained), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    saved = {k: v.half().contiguous().cpu() for k, v in net.state_dict().items() if k != "encoder.words.weight"}
    save_file(saved, args.out / f"{args.name}.safetensors")
    print(f"saved after {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
