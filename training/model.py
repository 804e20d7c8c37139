"""The analyzer's network: MPNet's first layers and one head for every structure.

All heads read word vectors, the mean of a word's first and last sub-word in the last layer plus its case features.
The layer before the last is the one whose vectors are shipped; a loss keeps it close to the pretrained one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD = 1
TAGGERS = ("upos", "xpos", "ner", "lemma", "sent", "edu", "pred")
SPANS = ("const", "ucca", "rst")


@dataclass(frozen=True)
class Sizes:
    """Numbers of labels; the two-way taggers sent, edu and pred have no inventory."""

    upos: int
    xpos: int
    ner: int
    lemma: int
    deprel: int
    const: int
    ucca: int
    rst: int
    srl: int
    ucca_remote: int

    @property
    def tags(self) -> list[int]:
        return [self.upos, self.xpos, self.ner, self.lemma, 2, 2, 2]


def encoder_sizes(state: dict[str, Tensor]) -> dict[str, int]:
    """The sizes of a pretrained encoder, from its Hugging Face weights."""
    vocab, dim = state["embeddings.word_embeddings.weight"].shape
    return {
        "dim": dim,
        "heads": state["encoder.relative_attention_bias.weight"].shape[1],
        "inner": len(state["encoder.layer.0.intermediate.dense.weight"]),
        "vocab": vocab,
        "positions": len(state["embeddings.position_embeddings.weight"]),
    }


class Layer(nn.Module):
    """One MPNet layer (post-norm)."""

    def __init__(self, dim: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(dim, 1e-5), nn.LayerNorm(dim, 1e-5)
        self.up, self.down = nn.Linear(dim, inner), nn.Linear(inner, dim)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        b, s, d = x.shape
        q, k, v = (f(x).view(b, s, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype), dropout_p=p)
        y = self.o(y.transpose(1, 2).reshape(b, s, d))
        x = self.norm1(x + F.dropout(y, p))
        y = self.down(F.gelu(self.up(x)))
        return self.norm2(x + F.dropout(y, p))


class Encoder(nn.Module):
    """MPNet: absolute positions in the embeddings, relative position bias shared by all layers."""

    def __init__(
        self, layers: int, dim: int, heads: int, inner: int, vocab: int, positions: int, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.positions = nn.Embedding(positions, dim, padding_idx=PAD)
        self.norm = nn.LayerNorm(dim, 1e-5)
        self.relative = nn.Embedding(32, heads)
        self.layers = nn.ModuleList(Layer(dim, heads, inner, dropout) for _ in range(layers))
        self.dropout = dropout

    def forward(self, ids: Tensor, keep: int) -> tuple[Tensor, Tensor]:
        """The last hidden state and that of layer ``keep``."""
        mask = ids != PAD
        x = self.norm(self.words(ids) + self.positions(mask.cumsum(1) * mask + PAD))
        x = F.dropout(x, self.dropout, self.training)
        bias = self.relative(relative_buckets(ids.shape[1], ids.device)).permute(2, 0, 1)[None]
        bias = bias.masked_fill(~mask[:, None, None, :], -1e4)
        kept = x
        for i, layer in enumerate(self.layers, 1):
            x = layer(x, bias)
            if i == keep:
                kept = x
        return x, kept

    def set_dropout(self, dropout: float) -> None:
        self.dropout = dropout
        for layer in self.layers:
            layer.dropout = dropout

    def load_pretrained(self, state: dict[str, Tensor]) -> None:
        """Copies the Hugging Face weights of the layers there are."""
        names = {
            "embeddings.word_embeddings.weight": "words.weight",
            "embeddings.position_embeddings.weight": "positions.weight",
            "embeddings.LayerNorm.weight": "norm.weight",
            "embeddings.LayerNorm.bias": "norm.bias",
            "encoder.relative_attention_bias.weight": "relative.weight",
        }
        parts = {"attention.attn.q": "q", "attention.attn.k": "k", "attention.attn.v": "v", "attention.attn.o": "o",
                 "attention.LayerNorm": "norm1", "intermediate.dense": "up", "output.dense": "down",
                 "output.LayerNorm": "norm2"}  # fmt: skip
        for i in range(len(self.layers)):
            for old, new in parts.items():
                for kind in ("weight", "bias"):
                    names[f"encoder.layer.{i}.{old}.{kind}"] = f"layers.{i}.{new}.{kind}"
        self.load_state_dict({new: state[old].float() for old, new in names.items()})


def relative_buckets(n: int, device: torch.device) -> Tensor:
    """MPNet's (that is T5's) 32 buckets: exact up to 7 on each side, then logarithmic up to 128."""
    position = torch.arange(n, device=device)
    distance = position[:, None] - position[None, :]
    bucket = (distance < 0).long() * 16
    distance = distance.abs()
    large = 8 + (torch.log(distance.clamp(min=1).float() / 8) / math.log(128 / 8) * 8).long()
    return bucket + torch.where(distance < 8, distance, large.clamp(max=15))


class SpanScorer(nn.Module):
    """Scores every span [i, j) from the words on both sides of its two ends; label 0 is 'no constituent'."""

    def __init__(self, dim: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(2 * dim, hidden), nn.Linear(2 * dim, hidden)
        self.out = nn.Linear(hidden, labels + 1)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """(B, W, D) → (B, W, W, 1 + labels); entry [i, k] is the span from word i to word k, both included."""
        outside = torch.zeros_like(x[:, :1])
        left = self.left(torch.cat([torch.cat([outside, x[:, :-1]], 1), x], -1))
        right = self.right(torch.cat([x, torch.cat([x[:, 1:], outside], 1)], -1))
        z = F.gelu(left[:, :, None] + right[:, None])
        return self.out(F.dropout(z, self.dropout, self.training))


@dataclass
class Output:
    """Scores of a batch. Spans are (B, W, W, labels); arcs (B, W, 1 + W) with the root first."""

    kept: Tensor
    tags: dict[str, Tensor]
    arcs: Tensor
    dep: Tensor
    head: Tensor
    spans: dict[str, Tensor]
    words: Tensor


class Network(nn.Module):
    """Encoder and heads."""

    def __init__(self, sizes: Sizes, layers: int, keep: int, dropout: float, **encoder: int) -> None:
        super().__init__()
        self.sizes, self.keep, self.dropout = sizes, keep, dropout
        self.encoder = Encoder(layers, **encoder)
        dim = self.encoder.words.embedding_dim
        self.case = nn.Linear(8, dim, bias=False)
        self.tags = nn.Linear(dim, sum(sizes.tags))
        self.arc_dep, self.arc_head = nn.Linear(dim, 384), nn.Linear(dim, 384)
        self.arc_u, self.arc_b = nn.Parameter(torch.zeros(384, 384)), nn.Parameter(torch.zeros(384))
        self.lab_dep, self.lab_head = nn.Linear(dim, 128), nn.Linear(dim, 128)
        self.lab_u = nn.Parameter(torch.zeros(sizes.deprel, 128, 128))
        self.lab_a = nn.Parameter(torch.zeros(sizes.deprel, 128))
        self.lab_b = nn.Parameter(torch.zeros(sizes.deprel, 128))
        self.lab_c = nn.Parameter(torch.zeros(sizes.deprel))
        self.const, self.ucca, self.rst = (SpanScorer(dim, 256, getattr(sizes, s), dropout) for s in SPANS)
        self.srl_pred, self.srl_arg, self.srl_out = nn.Linear(dim, 192), nn.Linear(dim, 192), nn.Linear(192, sizes.srl)
        self.rem_pf, self.rem_pl, self.rem_cf, self.rem_cl = (nn.Linear(dim, 128) for _ in range(4))
        self.rem_u = nn.Parameter(torch.zeros(sizes.ucca_remote + 1, 128, 128))
        self.rem_v = nn.Parameter(torch.zeros(sizes.ucca_remote + 1))
        nn.init.normal_(self.arc_u, std=0.02)
        nn.init.normal_(self.lab_u, std=0.02)
        nn.init.normal_(self.rem_u, std=0.02)

    def forward(self, ids: Tensor, first: Tensor, last: Tensor, features: Tensor) -> Output:
        hidden, kept = self.encoder(ids, self.keep)
        rows = torch.arange(len(ids), device=ids.device)[:, None]
        x = 0.5 * (hidden[rows, first] + hidden[rows, last]) + self.case(features)
        root = hidden[:, :1]
        x, root = self._drop(x), self._drop(root)
        tags = dict(zip(TAGGERS, self.tags(x).split(self.sizes.tags, -1), strict=True))
        dep = self._drop(F.gelu(self.arc_dep(x)))
        head = self._drop(F.gelu(self.arc_head(torch.cat([root, x], 1))))
        arcs = dep @ (head @ self.arc_u.T).transpose(1, 2) + (head @ self.arc_b)[:, None, :]
        lab_dep = self._drop(F.gelu(self.lab_dep(x)))
        lab_head = self._drop(F.gelu(self.lab_head(torch.cat([root, x], 1))))
        spans = {name: getattr(self, name)(x) for name in SPANS}
        return Output(kept, tags, arcs, lab_dep, lab_head, spans, x)

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)

    def labels(self, dep: Tensor, head: Tensor) -> Tensor:
        """Relation scores of pairs: (N, 128) and (N, 128) → (N, relations)."""
        pair = torch.einsum("nd,rde,ne->nr", dep, self.lab_u.to(dep.dtype), head)
        return pair + dep @ self.lab_a.T.to(dep.dtype) + head @ self.lab_b.T.to(dep.dtype) + self.lab_c.to(dep.dtype)

    def all_labels(self, dep: Tensor, head: Tensor) -> Tensor:
        """Relation scores of all pairs: (B, W, 1 + W, relations)."""
        pair = torch.einsum("bid,rde,bje->bijr", dep, self.lab_u.to(dep.dtype), head)
        alone = (dep @ self.lab_a.T.to(dep.dtype))[:, :, None] + (head @ self.lab_b.T.to(dep.dtype))[:, None]
        return pair + alone + self.lab_c.to(dep.dtype)

    def roles(self, predicates: Tensor, words: Tensor) -> Tensor:
        """(P, D) predicate vectors and (P, W, D) words of their segments → (P, W, tags)."""
        return self.srl_out(self._drop(F.gelu(self.srl_pred(predicates)[:, None] + self.srl_arg(words))))

    def remotes(self, pf: Tensor, pl: Tensor, cf: Tensor, cl: Tensor) -> Tensor:
        """Vectors of the first and last words of parent and child nodes → (N, 1 + categories)."""
        parent = F.gelu(self.rem_pf(pf) + self.rem_pl(pl))
        child = F.gelu(self.rem_cf(cf) + self.rem_cl(cl))
        return torch.einsum("nd,kde,ne->nk", parent, self.rem_u.to(parent.dtype), child) + self.rem_v.to(parent.dtype)
