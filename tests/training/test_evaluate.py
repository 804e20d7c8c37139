"""The evaluation from end to end: on a data folder of a few sentences, an analyzer that knows the answers gets 100."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import baselines
import evaluate
import gold
import numpy as np
import pytest
from results_page import Figure, Row, needed, render, table
from ucca_rules import ucca_from_ud

from arboreval.analysis.structures import (
    Analysis,
    ConstituencyTree,
    DependencyTree,
    Entities,
    Roles,
    RstTree,
    Tokens,
    UccaGraph,
    Vectors,
)

WORDS = ["Ann", "says", "Bob", "did", "n't", "leave", "."]
SPACE = [1, 1, 1, 0, 1, 0, 1]
TAGS = ["NNP", "VBZ", "NNP", "VBD", "RB", "VB", "."]
UPOS = ["PROPN", "VERB", "PROPN", "AUX", "PART", "VERB", "PUNCT"]
LEMMAS = ["Ann", "say", "Bob", "do", "not", "leave", "."]
HEADS = [1, -1, 5, 5, 5, 1, 1]
RELATIONS = ["nsubj", "root", "nsubj", "aux", "advmod", "ccomp", "punct"]
CONST = [(0, 7, "TOP"), (0, 7, "S"), (0, 1, "NP"), (1, 6, "VP"), (2, 6, "S"), (2, 3, "NP"), (3, 6, "VP"), (5, 6, "VP")]
CONST_PARENTS = [-1, 0, 1, 1, 3, 4, 4, 6]
PTB = "(TOP (S (NP (NNP Ann)) (VP (VBZ says) (S (NP (NNP Bob)) (VP (VBD did) (RB n't) (VP (VB leave))))) (. .)))"
EDGES = [[0, 1, "H", 0], [1, 2, "A", 0], [1, 3, "P", 0], [1, 4, "A", 0], [0, 5, "U", 0]]
EDGES += [[4, 6, "A", 0], [4, 7, "F", 0], [4, 8, "D", 0], [4, 9, "P", 0], [4, 2, "A", 1]]
TERMS = {"2": [0], "3": [1], "5": [6], "6": [2], "7": [3], "8": [4], "9": [5]}
EDUS = [0, 2]
ARGUMENTS = {1: [(0, 1, "ARG0"), (2, 6, "ARG1")], 5: [(2, 3, "ARG0"), (4, 5, "ARGM-NEG")]}
ENTITIES = [(0, 1, "PER"), (2, 3, "PER")]


def conllu(doc: str) -> str:
    rows = []
    for i, word in enumerate(WORDS):
        if word == "did":
            rows.append("4-5\tdidn't\t" + "\t".join("_" * 8))
        # inside the contraction the space is that of the whole token
        misc = "_" if SPACE[i] or word == "did" else "SpaceAfter=No"
        columns = [i + 1, word, LEMMAS[i], UPOS[i], TAGS[i], "_", HEADS[i] + 1, RELATIONS[i], "_", misc]
        rows.append("\t".join(map(str, columns)))
    marks = [f"# newdoc id = {doc}\n# newpar\n", "", "# newpar\n"]
    return "".join(f"{mark}# sent_id = {doc}-{n + 1}\n" + "\n".join(rows) + "\n\n" for n, mark in enumerate(marks))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text, encoding="utf-8")

    gum = conllu("GUM_free_x") + conllu("GUM_nc_y")
    for split in ("train", "test"):
        write(f"treebanks/ewt-{split}.conllu.gz", conllu("ewt"))
        write(f"treebanks/gum-{split}.conllu.gz", gum)
        write(f"treebanks/gum-const-{split}.ptb.gz", f"{PTB}\n" * 6)
        graph = {"id": "1", "tokens": WORDS, "punct": [6], "n": 10, "roots": [0], "terms": TERMS, "edges": EDGES}
        for name in ("wiki", "ewt", "lpp"):
            write(f"ucca/{name}-{split}.jsonl.gz", json.dumps(graph | {"implicit": []}) + "\n")
        tree = ["SN", "attribution-positive", 0, 1]
        rows = [
            {"id": f"{doc}-{n}", "tokens": WORDS, "space": SPACE, "edus": EDUS, "tree": tree}
            for doc in ("GUM_free_x", "GUM_nc_y")
            for n in (1, 2, 3)
        ]
        write(f"rst/gum-{split}.sents.jsonl.gz", "".join(json.dumps(row) + "\n" for row in rows))
        predicates = [{"index": p, "sense": "x.01", "args": args} for p, args in ARGUMENTS.items()]
        predicates.append({"index": 3, "sense": "do.01", "args": []})
        write(f"srl/ewt-{split}.jsonl.gz", json.dumps({"id": "ewt-1", "predicates": predicates}) + "\n")
        tags = "".join(f"{w}\t{'B-PER' if w in ('Ann', 'Bob') else 'O'}\n" for w in WORDS)
        for name in ("ewt", "pud"):
            write(f"ner/uner-{name}-{split}.conll.gz", f"# sent_id = ewt-1\n{tags}\n")
    for name in ("law", "review"):
        write(f"treebanks/mctb-{name}.ptb.gz", PTB + "\n")
    for name in ("forum", "dialogue"):
        write(f"treebanks/mctb-{name}.ptb.gz", "(TOP (NP (DT A) (NN dog)))\n")
    write("rst/relations.tsv", "relation\tgum_class\nattribution-positive\tattribution\n")
    header = "document\tnon_commercial_only\n"
    write("treebanks/gum-documents.tsv", header + "GUM_free_x\tno\nGUM_nc_y\tyes\n")
    for source in gold.WMT16:
        rows = [{"hyp": h, "refs": ["a b"], "z": z} for h, z in (("a b", 1.0), ("a c", 0.5), ("c d", 0.0))]
        write(f"judgments/wmt16-da-seg.{source}-en.jsonl.gz", "".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"wmt16-da-seg.{source}-en.jsonl.gz\tp\t.5\t.6\t.4\t.4\n" for source in gold.WMT16]
    write("judgments/baselines.tsv", "".join(lines))
    return tmp_path


class Oracle:
    """Analyses texts that repeat the one sentence above, perfectly."""

    name = "oracle"
    fingerprint = "oracle-1"
    provides = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner", "vectors"})

    def analyze(self, texts):
        for text in texts:
            yield self.vectors(text) if len(text) < 5 else self.structures(text)

    def analyze_words(self, sentences, *, edu_starts=None, predicates=None):
        for i, sentence in enumerate(sentences):
            assert [form for form, _ in sentence] == WORDS
            assert edu_starts is None or list(edu_starts[i]) == EDUS
            assert predicates is None or list(predicates[i]) == [1, 5]
            yield self.structures("".join(form + " " * space for form, space in sentence))

    def vectors(self, text):
        letters = text.split()
        values = np.zeros((len(letters), 4), np.float32)
        values[range(len(letters)), ["abcd".index(letter) for letter in letters]] = 1
        places = np.array([0, 2])
        words = Tokens(places, places + 1, [0, 0], *[("", "")] * 3)
        return Analysis(text, words, vectors=Vectors(values, places, places + 1, [False] * 2, [0, 1], 7, "test"))

    def structures(self, text):
        starts, at = [], 0
        n = text.count("Ann")
        for word in WORDS * n:
            at = text.index(word, at)
            starts.append(at)
            at += len(word)
        ends = [start + len(word) for start, word in zip(starts, WORDS * n, strict=True)]
        shifts = [k * len(WORDS) for k in range(n)]
        tokens = Tokens(
            starts, ends, np.repeat(np.arange(n), len(WORDS)), tuple(UPOS * n), tuple(TAGS * n), tuple(LEMMAS * n)
        )
        heads = [head if head < 0 else head + shift for shift in shifts for head in HEADS]
        rst = [edu + shift for shift in shifts for edu in EDUS]
        tree = ["SN", "attribution", 0, 1] if n == 1 else baselines.right_branching_rst(len(rst), "NS", "x")
        spans = [(i + shift, j + shift, label) for shift in shifts for i, j, label in CONST]
        parents = [-1 if p < 0 else p + k * len(CONST) for k in range(n) for p in CONST_PARENTS]
        single = n == 1
        return Analysis(
            text,
            tokens,
            DependencyTree(heads, tuple(RELATIONS * n), "ud2"),
            ConstituencyTree(tuple(s[2] for s in spans), parents, [s[0] for s in spans], [s[1] for s in spans]),
            UccaGraph(
                10,
                (0,),
                [e[0] for e in EDGES],
                [e[1] for e in EDGES],
                tuple(e[2] for e in EDGES),
                [bool(e[3]) for e in EDGES],
                [int(node) for node in TERMS],
                [words[0] for words in TERMS.values()],
            )
            if single
            else None,
            RstTree.from_nested(rst, tree),
            Entities([0, 2], [1, 3], ("PER", "PER")) if single else None,
            Roles([1, 5], ("", ""), [0, 0, 1, 1], [0, 2, 2, 4], [1, 6, 3, 5], ("ARG0", "ARG1", "ARG0", "ARGM-NEG"))
            if single
            else None,
        )


def test_an_analyzer_that_knows_the_answers_gets_everything_right(data: Path) -> None:
    context = evaluate.Context(data, evaluate.Runner(Oracle()))
    found = {key: figure for part in evaluate.PARTS.values() for key, figure in part(context).items()}
    wrong = {key: figure for key, figure in found.items() if "rules" not in key and figure.value != pytest.approx(1)}
    # vectors: the F of the three hypotheses is 1, .5 and 0, and so are the human scores
    assert not wrong
    assert found["ewt.gold.LAS"] == Figure(1.0, 21)
    assert found["gum-all.raw.sentences"].n == 6
    assert found["gum-nc.raw.EDU"].n == 6
    assert found["const.law"] == Figure(1.0, 7, "0 of 1 sentences skipped")
    assert found["srl.gold"].n == 4

    page = render(found, {}, date="2026-01-01", fingerprint="oracle-1", command="make eval-analyzer", machine="test")
    assert "| EWT: LAS | 100.0 | ≥ 89.5 ✓ | UDPipe 2: 92.4 |  | 21 |" in page
    assert "not measured" not in page
    assert "Not run" in page


def test_sentences_of_review_that_are_trained_on_are_left_out_apart(data: Path) -> None:
    other = PTB.replace("Bob", "Tom")
    (data / "treebanks/mctb-review.ptb.gz").write_bytes(gzip.compress(f"{PTB}\n{other}\n".encode()))
    again = "(TOP (FRAG (NP (NNP ANN)) (X (VBZ says) (NP (NNP Bob)) (VBD did) (RB n't) (VB leave))))"
    (data / "treebanks/mctb-dialogue.ptb.gz").write_bytes(gzip.compress(f"{again}\n".encode()))
    tests = gold.constituent_tests(data)
    assert [[word for word, _ in tree.words][2] for tree in tests["review"]] == ["Bob", "Tom"]
    assert [[word for word, _ in tree.words][2] for tree in tests["review-unseen"]] == ["Tom"]


def test_raw_text_has_blank_lines_between_paragraphs(data: Path) -> None:
    (text,) = gold.texts(gold.trees(data, "ewt-test"), whole_documents=True)
    sentence = "Ann says Bob didn't leave."
    assert text.text.rstrip() == f"{sentence} {sentence}\n\n{sentence}"
    assert [text.text[w.start : w.end] for w in text.words] == WORDS * 3
    assert text.words[8].head == -1
    assert text.words[9].head == 12


def test_baselines_of_the_small_folder(data: Path) -> None:
    found = baselines.compute(data)
    assert found["ewt.gold.UPOS"] == found["ewt.gold.lemma"] == 1.0
    # the next word governs Ann and n't; the word before governs none
    assert found["ewt.gold.UAS"] == pytest.approx(2 / 7, abs=1e-6)
    assert found["edu.gum.all"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["rst.gum.full"] == 1.0
    assert found["ner.ewt"] == 1.0
    assert found["wmt16.mean"] == 0.6
    # "Ann says [Bob did n't leave]": every dependent's role is known from training
    assert found["srl.gold"] == 1.0


def test_longest_name_wins_and_common_words_are_none() -> None:
    york = [("New", True), ("York", True)]
    names = baselines.Names(
        [(york, ["B-LOC", "I-LOC"]), ([("New", True)], ["B-LOC"]), ([("New", True)] * 3, ["O"] * 3)]
    )
    # "New" alone is a name once in five occurrences
    assert names.find(["In", "New", "York", "New"]) == [(1, 3, "LOC")]


def test_rules_make_ucca_from_a_dependency_tree() -> None:
    graph = ucca_from_ud(WORDS, UPOS, TAGS, HEADS, RELATIONS) | {"punct": [6]}
    (words, edges) = graph["terms"], graph["edges"]
    assert sorted(w for below in words.values() for w in below) == [0, 1, 2, 3, 4, 5]
    category = {tuple(words[str(child)]): c for _, child, c, _ in edges if str(child) in words}
    assert category == {(0,): "A", (1,): "P", (2,): "A", (3,): "F", (4,): "D", (5,): "P"}


def test_missing_data_is_said(tmp_path: Path) -> None:
    with pytest.raises(gold.DataMissingError, match="treebanks is not there"):
        gold.check(tmp_path)


def test_requirements_are_marked() -> None:
    rows = [
        Row("a", "a", 80.0, "best"),
        Row("b", "b", above=10.0),
        Row("c", "c", 0.7, correlation=True),
        Row("d", "d", 1),
    ]
    found = {"a": Figure(0.7996, 1234), "b": Figure(0.61, 5), "c": Figure(0.7, 4, "note")}
    lines = table(rows, found, {"a": 0.5, "b": 0.5})
    assert lines[2:] == [
        "| a | 80.0 | ≥ 80.0 ✗ | best | 50.0 | 1,234 |",
        "| b | 61.0 | ≥ 60.0 ✓ |  | 50.0 | 5 |",
        "| c | .7000 (note) | ≥ .7000 ✓ |  |  | 4 |",
        "| d | not measured | ≥ 1.0 ✗ |  |  |  |",
    ]
    assert needed(rows[1], None) is None
