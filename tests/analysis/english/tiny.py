"""A tiny network with random weights in the shipped format, so that tests need neither the real weights nor torch."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "training"))

import export
from graphs import SPANS

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'\"-()$%"
LABELS = {
    "upos": ["NOUN", "VERB", "PUNCT", "ADP"],
    "xpos": ["NN", "VBZ", ".", "IN", "CD"],
    "deprel": ["nsubj", "root", "punct", "obj", "acl:relcl", "dep"],
    "ner": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"],
    "const": ["NP", "VP", "S", "S+VP", "PP"],
    "ucca": ["A", "P", "H", "U", "ROOT", "A|P", "C^", "E+S", "H+P", "C"],
    "rst": ["NS-elaboration", "NN-joint", "SN-attribution"],
    "srl": ["O", "B-V", "I-V", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1"],
    "ucca_remote": ["A", "C"],
    "lemma": ["l-0+", "k-0+", "l-1+", "l-2+y", "=be"],
}


def tokenizer() -> dict[str, object]:
    pieces = ["<s>", "<pad>", "</s>", "[UNK]", *LETTERS, *(f"##{c}" for c in LETTERS), "the", "##ing"]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "post_processor": None,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {piece: i for i, piece in enumerate(pieces)}},
    }  # fmt: skip


def state(
    seed: int = 0, dim: int = 128, inner: int = 192, layers: int = 3, positions: int = 66
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}

    def draw(name: str, *shape: int, scale: float | None = None) -> None:
        spread = scale if scale is not None else 1.5 / np.sqrt(shape[-1])
        made[name] = (rng.standard_normal(shape) * spread).astype(np.float32)

    def linear(name: str, out: int, size: int) -> None:
        draw(f"{name}.weight", out, size)
        draw(f"{name}.bias", out, scale=0.3)

    def norm(name: str) -> None:
        made[f"{name}.weight"] = rng.uniform(0.5, 1.5, dim).astype(np.float32)
        draw(f"{name}.bias", dim, scale=0.1)

    draw("encoder.words.weight", len(tokenizer()["model"]["vocab"]), dim, scale=1.0)
    draw("encoder.positions.weight", positions, dim, scale=0.3)
    draw("encoder.relative.weight", 32, dim // 64, scale=1.0)
    norm("encoder.norm")
    for i in range(layers):
        for part in "qkvo":
            linear(f"encoder.layers.{i}.{part}", dim, dim)
        linear(f"encoder.layers.{i}.up", inner, dim)
        linear(f"encoder.layers.{i}.down", dim, inner)
        norm(f"encoder.layers.{i}.norm1")
        norm(f"encoder.layers.{i}.norm2")
    size = {name: len(values) for name, values in LABELS.items()}
    draw("case.weight", dim, 8, scale=0.3)
    linear("tags", size["upos"] + size["xpos"] + size["ner"] + size["lemma"] + 6, dim)
    # sentence starts, units and predicates are rare
    made["tags.bias"][-6::2] += 4
    for name, out in (("arc_dep", 32), ("arc_head", 32), ("lab_dep", 16), ("lab_head", 16), ("srl_pred", 24),
                      ("srl_arg", 24), ("rem_pf", 16), ("rem_pl", 16), ("rem_cf", 16), ("rem_cl", 16)):  # fmt: skip
        linear(name, out, dim)
    draw("arc_u", 32, 32)
    draw("arc_b", 32, scale=0.3)
    draw("lab_u", size["deprel"], 16, 16)
    draw("lab_a", size["deprel"], 16)
    draw("lab_b", size["deprel"], 16)
    draw("lab_c", size["deprel"], scale=0.3)
    for name in SPANS:
        linear(f"{name}.left", 40, 2 * dim)
        linear(f"{name}.right", 40, 2 * dim)
        linear(f"{name}.out", size[name] + 1, 40)
    linear("srl_out", size["srl"], 24)
    draw("rem_u", size["ucca_remote"] + 1, 16, 16)
    draw("rem_v", size["ucca_remote"] + 1, scale=0.3)
    return made


def write(folder: Path, precision: str = "int8") -> Path:
    export.write(state(), LABELS, tokenizer(), folder, precision, keep=2, name="tiny")
    return folder
