"""Training from end to end on a processor: a tiny network, a few sentences, every command up to the analyzer."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# ruff: noqa: E402  (the programs import torch)
torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
safetensors = pytest.importorskip("safetensors.torch", reason="needs safetensors, which transformers brings")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analysis" / "english"))

import batches
import export
import merge
import refit
import tiny
import train
from model import Network, encoder_sizes

from arboreval.analysis.english.analyzer import EnglishAnalyzer

DIM, LAYERS, KEEP = 128, 3, 2
WORDS = ["dogs", "chase", "cats", "of", "ann", "."]
SENTENCE: dict[str, Any] = {
    "words": WORDS,
    "space": [1, 1, 1, 1, 0, 1],
    "upos": ["NOUN", "VERB", "NOUN", "ADP", "NOUN", "PUNCT"],
    "xpos": ["NN", "VBZ", "NN", "IN", "NN", "."],
    "lemma": ["dog", "chase", "cat", "of", "ann", "."],
    "head": [1, -1, 1, 4, 2, 1],
    "deprel": ["nsubj", "root", "obj", "punct", "acl:relcl", "punct"],
    "const": [[0, 6, "S"], [0, 1, "NP"], [1, 5, "VP"], [2, 5, "NP"], [3, 5, "PP"]],
    "ner": ["O", "O", "O", "O", "B-PER", "O"],
    "edu": [1, 0, 0, 1, 0, 0],
    "rst": [[0, 2, "NS-elaboration"]],
    "ucca": {"spans": [[0, 6, "H"], [0, 1, "A"], [1, 2, "P"], [2, 5, "A"]], "remote": [[[1, 2], [0, 1], "A"]]},
    "srl": [{"index": 1, "tags": ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "I-ARG1", "O"]}],
}


def rows(doc: str, count: int) -> list[dict[str, Any]]:
    return [{"id": f"{doc}-{n}", "doc": doc, "source": "gum", "par": n == 0, **SENTENCE} for n in range(count)]


def document(doc: str, count: int) -> dict[str, Any]:
    spans = [[2 * n, 2 * n + 2, "NS-elaboration"] for n in range(count)]
    edus = [n for n in range(count) for _ in range(2)]
    names = [f"{doc}-{n}" for n in range(count)]
    return {"doc": doc, "n_edus": 2 * count, "sentences": names, "edu_sentence": edus, "spans": spans}


def pretrained() -> dict[str, Any]:
    """Random weights with the names that Hugging Face gives MPNet's."""
    state = tiny.state(dim=DIM, layers=LAYERS, positions=120)
    whole = {
        "words": "embeddings.word_embeddings", "positions": "embeddings.position_embeddings",
        "norm": "embeddings.LayerNorm", "relative": "encoder.relative_attention_bias",
    }  # fmt: skip
    parts = {**{x: f"attention.attn.{x}" for x in "qkvo"}, "norm1": "attention.LayerNorm"}
    parts |= {"up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}
    named = {}
    for name, value in state.items():
        pieces = name.split(".")
        if pieces[0] == "encoder":
            start = f"encoder.layer.{pieces[2]}.{parts[pieces[3]]}" if len(pieces) == 5 else whole[pieces[1]]
            named[f"{start}.{pieces[-1]}"] = torch.from_numpy(value)
    return named


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")

    def write(name: str, found: list[dict[str, Any]]) -> None:
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in found)

    write("train", rows("a", 3) + rows("b", 2))
    write("dev", rows("c", 2))
    write("rst-docs", [document("a", 3), document("b", 2)])
    write("rst-docs-dev", [document("c", 2)])
    write("unlabelled", [dict.fromkeys(SENTENCE) | {"words": ["cats", "chase", "."], "space": [1, 0, 1]}] * 2)
    (folder / "labels.json").write_text(json.dumps(tiny.LABELS))
    (folder / "lemmas.json").write_text("{}")
    (folder / "tokenizer.json").write_text(json.dumps(tiny.tokenizer()))
    safetensors.save_file(pretrained(), folder / "pretrained.safetensors")
    return folder


def call(main: Callable[[], None], *arguments: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["program", *map(str, arguments)])
        main()


def trained(folder: Path, name: str, *arguments: object) -> dict[str, Any]:
    files = ("--pretrained", folder / "pretrained.safetensors", "--tokenizer", folder / "tokenizer.json")
    sizes = ("--layers", LAYERS, "--keep", KEEP, "--dropout", 0, "--encoder-dropout", 0, "--cells", 2000)
    given = ("--data", folder, "--out", folder, "--name", name, "--workers", 0, *files, *sizes, *arguments)
    call(train.main, *given)
    return safetensors.load_file(folder / f"{name}.safetensors")


FAST = ("--rate", 0.003, "--head-rate", 0.03, "--epochs", 80)


@pytest.fixture(scope="module")
def states(folder: Path) -> dict[str, dict[str, Any]]:
    """A teacher, a student that keeps a layer close and the student trained on, merged and fitted anew."""
    found = {"teacher": trained(folder, "teacher", "--keep-weight", 0, *FAST)}
    taught = ("--teacher", folder / "teacher.safetensors", "--teacher-layers", LAYERS)
    taught += ("--unlabelled", folder / "unlabelled.jsonl.gz")
    found["student"] = trained(folder, "student", "--keep-weight", 300, *taught, *FAST)
    more = ("--init", folder / "student.safetensors", "--rate", 0.001, "--epochs", 2)
    found["kept"] = trained(folder, "kept", "--keep-weight", 300, *taught, *more)
    start = ("--first", folder / "student.safetensors", "--second", folder / "kept.safetensors")
    call(merge.main, *start, "--pretrained", folder / "pretrained.safetensors", "--out", folder / "merged.safetensors")
    exported(folder, "merged")
    data = ("--model", folder / "merged", "--weights", folder / "merged.safetensors", "--data", folder)
    call(refit.main, *data, "--out", folder / "final.safetensors", "--epochs", 2)
    return found | {name: safetensors.load_file(folder / f"{name}.safetensors") for name in ("merged", "final")}


def exported(folder: Path, name: str) -> Path:
    files = ("--labels", folder / "labels.json", "--lemmas", folder / "lemmas.json")
    files += ("--tokenizer", folder / "tokenizer.json", "--out", folder / name)
    call(export.main, "--weights", folder / f"{name}.safetensors", *files, "--precision", "fp32", "--keep", KEEP)
    return folder / name


def network(state: dict[str, Any]) -> Network:
    inventory = {name: len(tiny.LABELS[name]) for name in batches.Sizes.__dataclass_fields__}
    net = Network(batches.Sizes(**inventory), LAYERS, KEEP, 0.0, **encoder_sizes(pretrained()))
    words = {"encoder.words.weight": pretrained()["embeddings.word_embeddings.weight"]}
    net.load_state_dict({name: value.float() for name, value in (words | state).items()})
    return net.eval()


def development(folder: Path, state: dict[str, Any]) -> dict[str, float]:
    inventory = batches.Inventory(folder, folder / "tokenizer.json")
    untouched = train.Encoder(KEEP, **encoder_sizes(pretrained()))
    untouched.load_pretrained(pretrained())
    return train.evaluate(network(state), *batches.load(folder, "dev", inventory), "cpu", untouched.eval())


def test_the_teacher_learns_every_structure(folder: Path, states: dict[str, dict[str, Any]]) -> None:
    found = development(folder, states["teacher"])
    assert {name: value for name, value in found.items() if name != "cos" and value != 100} == {}


def test_a_loss_keeps_a_layer_close(folder: Path, states: dict[str, dict[str, Any]]) -> None:
    teacher, student = (development(folder, states[name]) for name in ("teacher", "student"))
    assert student["cos"] > 99 > teacher["cos"]
    assert student["las"] == 100


def test_word_embeddings_are_not_trained_and_put_back(states: dict[str, dict[str, Any]]) -> None:
    assert "encoder.words.weight" not in states["teacher"]
    words = pretrained()["embeddings.word_embeddings.weight"]
    assert torch.equal(states["merged"]["encoder.words.weight"], words.half())
    name = "encoder.layers.1.up.weight"
    mean = 0.3 * states["student"][name].float() + 0.7 * states["kept"][name].float()
    assert not torch.equal(states["student"][name], states["kept"][name])
    assert torch.equal(states["merged"][name], mean.half())


def test_refitting_changes_two_heads_alone(states: dict[str, dict[str, Any]]) -> None:
    merged, final = states["merged"], states["final"]
    assert set(final) - set(merged) == {"unit.weight", "unit.bias"}
    assert final["unit.weight"].shape == (3 * DIM,)
    changed = {name for name in merged if not torch.equal(merged[name].float(), final[name].float())}
    assert changed
    assert {name.split("_")[0] for name in changed} == {"srl"}


def test_the_exported_files_compute_the_trained_network(folder: Path, states: dict[str, dict[str, Any]]) -> None:
    english = EnglishAnalyzer(folder=str(exported(folder, "final")))
    (analysis,) = english.analyze_words([list(zip(WORDS, map(bool, SENTENCE["space"]), strict=True))])
    assert analysis.dependency is not None
    assert analysis.vectors is not None
    assert list(analysis.tokens.upos) == SENTENCE["upos"]
    assert analysis.dependency.head.tolist() == SENTENCE["head"]
    assert list(analysis.dependency.relation) == SENTENCE["deprel"]
    assert analysis.roles is not None
    assert analysis.roles.arguments(0) == [(0, 1, "ARG0"), (2, 5, "ARG1")]
    inventory = batches.Inventory(folder, folder / "tokenizer.json")
    segment = [batches.Sentence(rows("c", 1)[0], inventory)]
    batch = batches.collate([segment], batches.Documents([], inventory))
    net = network({name: value for name, value in states["final"].items() if not name.startswith("unit.")})
    with torch.no_grad():
        kept = net(batch["ids"], batch["first"], batch["last"], batch["features"]).kept[0].numpy()
    assert np.allclose(analysis.vectors.values, kept, atol=2e-3)


def test_what_is_known_of_spans_and_heads(folder: Path) -> None:
    inventory = batches.Inventory(folder, folder / "tokenizer.json")
    sentences, documents = batches.load(folder, "train", inventory)
    bare = batches.Sentence({"words": ["cats"], "space": [1]}, inventory)
    batch = batches.collate([sentences[:2], [bare]], documents)
    const = train.span_targets(batch, "const")
    label = tiny.LABELS["const"].index
    # all of the first sentence is S, and "dogs chase" nothing; spans over two sentences and of the bare one are unknown
    assert const[0, 0, 5] == const[0, 6, 11] == label("S") + 1
    assert const[0, 0, 1] == 0
    assert const[0, 5, 6] == const[0, 1, 0] == const[1, 0, 0] == train.IGNORE
    rst = train.span_targets(batch, "rst")
    # units start at 0, 3, 6 and 9: the sentences are nodes of the tree, both together are none
    assert (rst[0, 0, 5], rst[0, 6, 11], rst[0, 0, 11]) == (1, 1, 0)
    assert rst[0, 0, 2] == rst[0, 0, 4] == train.IGNORE
    mask = train.arc_mask(batch)
    assert mask[0, 0].tolist() == [True] * 7 + [False] * 6
    assert batch["head"][0].tolist() == [2, 0, 2, 5, 3, 2, 8, 0, 8, 11, 9, 8]


def test_segments_are_neighbours_in_one_document(folder: Path) -> None:
    inventory = batches.Inventory(folder, folder / "tokenizer.json")
    sentences, _ = batches.load(folder, "train", inventory)
    sizes = set()
    for seed in range(20):
        made = batches.segments(sentences, batches.random.Random(seed))
        assert [sentence for segment in made for sentence in segment] == sentences
        assert all(len({sentence.doc for sentence in segment}) == 1 for segment in made)
        sizes |= {len(segment) for segment in made}
    assert sizes == {1, 2, 3}
