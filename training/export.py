"""Trained weights to the files the analyzer ships: ONNX graphs built by hand, weights in parts of less than 50 MB.

    python training/export.py --weights W.npz|W.safetensors --labels labels.json --lemmas lemmas.json
        --tokenizer tokenizer.json --out DIR [--base PRETRAINED] [--precision int8|fp32] [--keep N] [--layers N]
        [--name NAME]

No torch is needed. One graph encodes texts; one small graph per structure scores it from the word vectors, so that
only the structures asked for are computed.

The graphs are in graphs.py, which says how results are kept independent of the batch.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import onnx
from graphs import Graph, State, graphs, layer_of
from numpy.typing import NDArray
from onnx import helper, numpy_helper

MAX_FILE = 45_000_000


# -- reading weights -----------------------------------------------------------------------------------------------


def read_state(path: Path) -> dict[str, NDArray]:
    """A state dict from .npz or .safetensors (float32, float16 or bfloat16)."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            state = {name: file[name] for name in file.files}
    else:
        state = _read_safetensors(path)
    return rename_pretrained({name: _float(value) for name, value in state.items()})


def _float(value: NDArray) -> NDArray:
    return value if value.dtype.kind in "iu" else value.astype(np.float32)


def _read_safetensors(path: Path) -> dict[str, NDArray]:
    kinds = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8"), "BF16": np.dtype("<u2")}
    data = np.memmap(path, dtype=np.uint8, mode="r")
    size = int(data[:8].view("<u8")[0])
    state = {}
    for name, entry in json.loads(bytes(data[8 : 8 + size])).items():
        if name == "__metadata__":
            continue
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        value = np.array(data[start:end]).view(kinds[entry["dtype"]])
        if entry["dtype"] == "BF16":
            value = (value.astype(np.uint32) << 16).view(np.float32)
        state[name] = value.reshape(entry["shape"])
    return state


def rename_pretrained(state: State) -> dict[str, NDArray]:
    """Hugging Face's names of MPNet become those of the network; others stay."""
    whole = {
        "embeddings.word_embeddings.weight": "encoder.words.weight",
        "embeddings.position_embeddings.weight": "encoder.positions.weight",
        "embeddings.LayerNorm.weight": "encoder.norm.weight",
        "embeddings.LayerNorm.bias": "encoder.norm.bias",
        "encoder.relative_attention_bias.weight": "encoder.relative.weight",
    }
    parts = {
        "attention.attn.": "", "attention.LayerNorm": "norm1", "intermediate.dense": "up",
        "output.dense": "down", "output.LayerNorm": "norm2", "encoder.layer.": "encoder.layers.",
    }  # fmt: skip
    renamed = {}
    for name, value in state.items():
        new = whole.get(name, name)
        if name.startswith("encoder.layer."):
            for old, short in parts.items():
                new = new.replace(old, short)
        renamed[new] = value
    return renamed


# -- writing files -------------------------------------------------------------------------------------------------


def write(
    state: State, labels: Mapping[str, Sequence[str]], tokenizer: Mapping[str, object], out: Path,
    precision: str = "int8", keep: int = 7, name: str = "arboreval-en",
    lemmas: Mapping[str, Mapping[str, str]] | None = None,
) -> None:  # fmt: skip
    """Writes graphs, weights in parts, tokenizer, configuration, and the manifest with every file's SHA-256."""
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("*.onnx"), *out.glob("weights-*.bin")):
        old.unlink()
    parts = Parts(out)
    for title, graph in graphs(state, labels, precision, keep).items():
        (out / f"{title}.onnx").write_bytes(_model(graph, parts, title).SerializeToString())
    parts.close()
    fixed = {**tokenizer, "truncation": None, "padding": None}
    (out / "tokenizer.json").write_text(json.dumps(fixed, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    lexicon = json.dumps(lemmas or {}, ensure_ascii=False, separators=(",", ":"))
    (out / "lemmas.json").write_text(lexicon, encoding="utf-8")
    config = {
        "name": name, "precision": precision, "layer": keep, "dim": int(state["encoder.words.weight"].shape[1]),
        "pieces": len(state["encoder.positions.weight"]) - 2, "labels": labels,
    }  # fmt: skip
    if "unit.weight" in state:  # of a word, the one before and the one after
        config["units"] = {"weight": state["unit.weight"].tolist(), "bias": float(state["unit.bias"][0])}
    (out / "config.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    files = sorted(path for path in out.iterdir() if path.suffix in (".onnx", ".bin") or path.name in _EXTRA)
    manifest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


_EXTRA = ("tokenizer.json", "config.json", "lemmas.json")


class Parts:
    """Weights of all graphs in files of bounded size; equal weights are written once."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.number, self.offset = 1, 0
        self.file = self._open()
        self.places: dict[bytes, tuple[str, int]] = {}

    def _open(self) -> BinaryIO:
        return (self.out / f"weights-{self.number}.bin").open("wb")

    def add(self, data: bytes) -> tuple[str, int]:
        """The file and offset of some bytes."""
        key = hashlib.sha256(data).digest()
        if key not in self.places:
            # aligned, so that the file can be mapped into memory
            gap = -self.offset % 4096
            if self.offset and self.offset + gap + len(data) > MAX_FILE:
                self.close()
                self.number, self.offset, gap = self.number + 1, 0, 0
                self.file = self._open()
            self.file.write(b"\0" * gap + data)
            self.places[key] = f"weights-{self.number}.bin", self.offset + gap
            self.offset += gap + len(data)
        return self.places[key]

    def close(self) -> None:
        self.file.close()


def _model(graph: Graph, parts: Parts, title: str) -> onnx.ModelProto:
    tensors = []
    for name, value in graph.weights.items():
        if value.nbytes < 1024:
            tensors.append(numpy_helper.from_array(value, name))
            continue
        location, offset = parts.add(value.tobytes())
        tensor = onnx.TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(value.dtype), dims=value.shape)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, entry in (("location", location), ("offset", str(offset)), ("length", str(value.nbytes))):
            tensor.external_data.add(key=key, value=entry)
        tensors.append(tensor)
    made = helper.make_graph(graph.nodes, title, graph.inputs, graph.outputs, tensors)
    domains = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=domains, ir_version=9, producer_name="arboreval")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--base", type=Path, help="weights for names that --weights lacks, as frozen ones do")
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--lemmas", type=Path, required=True, help="lexicon that training/prepare.py wrote")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8")
    parser.add_argument("--keep", type=int, default=7, help="the layer whose vectors are kept")
    parser.add_argument("--layers", type=int, help="use only the first layers of the weights")
    parser.add_argument("--name", default="arboreval-en")
    args = parser.parse_args()
    state = read_state(args.weights)
    if args.base:
        state = {**{k: v for k, v in read_state(args.base).items() if not k.startswith("encoder.layers.")}, **state}
    if args.layers:
        state = {k: v for k, v in state.items() if not k.startswith("encoder.layers.") or layer_of(k) < args.layers}
    found = json.loads(args.labels.read_text(encoding="utf-8"))
    labels = {name: values for name, values in found.items() if isinstance(values, list)}
    tokenizer = json.loads(args.tokenizer.read_text(encoding="utf-8"))
    lemmas = json.loads(args.lemmas.read_text(encoding="utf-8"))
    write(state, labels, tokenizer, args.out, args.precision, args.keep, args.name, lemmas)


if __name__ == "__main__":
    main()
