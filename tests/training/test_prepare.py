"""Preparing the training data on a folder of a few sentences: what must not be trained on is not there."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import prepare
import pytest

REVIEW = "(TOP (S (NP (DT This)) (VP (VBZ is) (ADJP (JJ great))) (. .)))"
#: the same words with other marks and another tree
REVIEW_AGAIN = "(TOP (FRAG (NP (DT this)) (VP (VBZ is) (NP (JJ great))) (. !)))"
LAW = "(TOP (NP (DT The) (NN law)))"
TALK = "(TOP (S (NP (PRP We)) (VP (VBD met))))"
ARTICLE = "(TOP (TITLE (S (NP (DT The) (NN cell)) (VP (VBD grew)))))"


def conllu(doc: str, count: int = 1) -> str:
    rows = ("1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_", "2\tbarked\tbark\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No")
    rows += ("3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_",)
    marks = [f"# newdoc id = {doc}\n", *[""] * (count - 1)]
    return "".join(f"{mark}# sent_id = {doc}-{n}\n" + "\n".join(rows) + "\n\n" for n, mark in enumerate(marks, 1))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("out")

    def write(name: str, *rows: Any) -> None:
        path = data / name
        path.parent.mkdir(exist_ok=True)
        text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())

    words = ["Dogs", "barked", "."]
    tags = "Dogs\tB-MISC\nbarked\tO\n.\tO\n\n"
    graph = {"tokens": words, "punct": [2], "n": 4, "roots": [0], "terms": {"1": [0], "2": [1], "3": [2]}}
    graph |= {"edges": [[0, 1, "A", 0], [0, 2, "P", 0], [0, 3, "U", 0]], "implicit": []}
    frames = [
        {"index": 1, "sense": "bark.01", "v": [[1, 2]], "args": [[0, 1, "ARG0"]]},
        {"index": 1, "sense": "do.01", "v": [[1, 2]], "args": []},
    ]
    for split in ("train", "dev", "test"):
        write(f"treebanks/ewt-{split}.conllu.gz", conllu(f"ewt-{split}", 2))
        write(f"ner/uner-ewt-{split}.conll.gz", f"# sent_id = ewt-{split}-1\nDogs\tB-ORG\nbarked\tO\n.\tO\n\n")
        write(f"srl/ewt-{split}.jsonl.gz", {"id": f"ewt-{split}-1", "tokens": words, "predicates": frames})
        write(f"ucca/ewt-{split}.jsonl.gz")
        write(f"ucca/wiki-{split}.jsonl.gz", graph | {"id": f"{split}001"})
        write(f"ner/wikigold-{split}.conll.gz", f"# sent_id = wikigold-{split}-1\n{tags}")
        docs = [f"GUM_free_{split}", f"GUM_nc_{split}"]
        write(f"treebanks/gum-{split}.conllu.gz", *map(conllu, docs))
        write(f"treebanks/gum-const-{split}.ptb.gz", *["(TOP (S (NP (NNS Dogs)) (VP (VBD barked)) (. .)))\n"] * 2)
        write(f"ner/gum-{split}.conll.gz", *(f"# sent_id = {doc}-1\n{tags}" for doc in docs))
        write(f"rst/gum-{split}.sents.jsonl.gz", *({"id": f"{doc}-1", "edus": [0], "tree": 0} for doc in docs))
        units = {"genre": "x", "edus": ["Dogs barked."], "sents": [[0, 0]], "binary": 0}
        write(f"rst/gum-{split}.docs.jsonl.gz", *({"id": doc} | units for doc in docs))
        for source in ("craft", "genia"):
            write(f"treebanks/{source}-{split}.ptb.gz", ARTICLE + "\n")
    listed = "".join(f"GUM_free_{split}\tno\nGUM_nc_{split}\tyes\n" for split in ("train", "dev", "test"))
    write("treebanks/gum-documents.tsv", "document\tnon_commercial_only\n" + listed)
    write("ucca/lpp-test.jsonl.gz", graph | {"id": "lpp001"})
    write("ner/uner-pud-test.conll.gz", f"# sent_id = pud-1\n{tags}")
    write("treebanks/mctb-law.ptb.gz", LAW + "\n")
    write("treebanks/mctb-review.ptb.gz", REVIEW + "\n")
    write("treebanks/mctb-forum.ptb.gz", f"{TALK}\n" * 902)
    write("treebanks/mctb-dialogue.ptb.gz", f"{TALK}\n" * 898, f"{REVIEW_AGAIN}\n" * 3, TALK + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["prepare.py", "--data", str(data), "--out", str(out)])
        prepare.main()
    return out


def rows(prepared: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(prepared / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_text_under_non_commercial_terms_is_only_tested_on(prepared: Path) -> None:
    for split, docs in (("train", ["GUM_free_train"]), ("dev", ["GUM_free_dev"])):
        assert [row["doc"] for row in rows(prepared, split) if row["source"] == "gum"] == docs
        assert not any("nc" in row["doc"] for row in rows(prepared, split))
    assert [(row["doc"], row["nc"]) for row in rows(prepared, "test") if row["source"] == "gum"] == [
        ("GUM_free_test", False),
        ("GUM_nc_test", True),
    ]
    assert [row["doc"] for row in rows(prepared, "rst-docs")] == ["GUM_free_train"]
    assert [row["doc"] for row in rows(prepared, "rst-docs-dev")] == ["GUM_free_dev"]


def test_sentences_of_held_out_domains_are_not_trained_on(prepared: Path) -> None:
    counts = {
        split: [sum(row["source"] == f"mctb-{domain}" for row in rows(prepared, split)) for domain in domains]
        for split, domains in (("train", ("forum", "dialogue")), ("dev", ("forum", "dialogue")), ("test", ("review",)))
    }
    # two of the three copies of the review stand before the border of train and dev, one behind it
    assert counts == {"train": [900, 898], "dev": [2, 1], "test": [1]}
    seen = {" ".join(row["words"]) for split in ("train", "dev") for row in rows(prepared, split)}
    assert seen == {"Dogs barked .", "We met", "The cell grew"}


def test_layers_of_one_sentence_are_joined(prepared: Path) -> None:
    first, second = (row for row in rows(prepared, "train") if row["source"] == "ewt")
    assert (first["words"], first["space"], first["par"]) == (["Dogs", "barked", "."], [1, 0, 1], True)
    assert (first["head"], first["deprel"]) == ([1, -1, 1], ["nsubj", "root", "punct"])
    assert first["ner"] == ["B-ORG", "O", "O"]
    # the auxiliary's sense is no predicate
    assert first["srl"] == [{"index": 1, "tags": ["B-ARG0", "B-V", "O"]}]
    assert second["par"] is False
    assert second["ner"] is second["srl"] is second["const"] is None
    (gum,) = (row for row in rows(prepared, "train") if row["source"] == "gum")
    assert gum["const"] == [[0, 3, "S"], [0, 1, "NP"], [1, 2, "VP"]]
    assert (gum["ner"], gum["edu"]) == (["O"] * 3, [1, 0, 0])
    # the label of a part of an article is dropped
    (craft,) = (row for row in rows(prepared, "train") if row["source"] == "craft")
    assert craft["const"] == [[0, 3, "S"], [0, 2, "NP"], [2, 3, "VP"]]


def test_labels_and_lexicon_come_from_train(prepared: Path) -> None:
    labels = json.loads((prepared / "labels.json").read_text())
    assert labels["ner"] == ["O", "B-ORG", "I-ORG"]
    assert labels["srl"] == ["O", "B-ARG0", "I-ARG0", "B-V", "I-V"]
    assert labels["const"] == ["NP", "S", "VP"]
    assert json.loads((prepared / "lemmas.json").read_text()) == {
        "NOUN": {"Dogs": "dog"},
        "PUNCT": {".": "."},
        "VERB": {"barked": "bark"},
    }


def test_rare_chains_lose_parts() -> None:
    kept, simpler = prepare.frequent_chains(["S+VP"] * 5 + ["VP"] * 9 + ["S+NP+VP", "VP+X", "A|B^"] + ["A^"] * 5)
    assert set(kept) == {"S+VP", "VP", "A^"}
    assert simpler == {"S+NP+VP": "S+VP", "VP+X": "VP", "A|B^": "A^"}
