"""Gold standards of the evaluation: the treebanks' words, raw texts and annotations in the form the measures take."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from readers import (
    Tree,
    guess_spaces,
    letters,
    plain_quotes,
    read_brackets,
    read_conll_tags,
    read_conllu,
    read_json,
    read_lines,
)
from scorers import AUXILIARY_SENSES, Argument, Bracket, Word

#: the words of one sentence, each with whether a space follows it
Sentence = list[tuple[str, bool]]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
#: source languages of the WMT16 pairs into English that are measured
WMT16 = ("cs", "de", "fi", "ru")


class DataMissingError(Exception):
    """The data folder is not there."""


def check(data: Path) -> None:
    for name in ("treebanks", "ucca", "rst", "ner", "srl", "judgments"):
        if not (data / name).is_dir():
            raise DataMissingError(
                f"{data / name} is not there. The evaluation needs the data folder (treebanks, ucca, rst, ner, srl, "
                f"judgments) beside the repository, or where --data says."
            )


def spaced(words: Sequence[str], space: Iterable[int]) -> Sentence:
    return [(word, bool(follows)) for word, follows in zip(words, space, strict=True)]


def guessed(words: Sequence[str]) -> Sentence:
    """Tokens of a source without raw text, with the spaces that text most likely has."""
    return spaced(plain_quotes(list(words)), guess_spaces(list(words)))


# -- dependencies --------------------------------------------------------------------------------------------------


def trees(data: Path, name: str) -> list[Tree]:
    return list(read_conllu(data / "treebanks" / f"{name}.conllu.gz"))


def non_commercial(data: Path) -> dict[str, bool]:
    """Whether the text of each GUM document is for non-commercial use only."""
    with (data / "treebanks" / "gum-documents.tsv").open(encoding="utf-8") as lines:
        return {row["document"]: row["non_commercial_only"] == "yes" for row in csv.DictReader(lines, delimiter="\t")}


@dataclass(frozen=True)
class Text:
    """A raw text and its gold words."""

    id: str
    text: str
    words: list[Word]


def texts(sentences: Iterable[Tree], whole_documents: bool) -> list[Text]:
    """Raw texts rebuilt from sentences: documents with blank lines between their paragraphs, or single sentences."""
    found: list[Text] = []
    pieces: list[str] = []
    words: list[Word] = []
    length, number, at = 0, 0, ""

    def close() -> None:
        if words:
            found.append(Text(at, "".join(pieces), list(words)))

    for tree in sentences:
        name = tree.doc if whole_documents else tree.id
        if name != at:
            close()
            pieces.clear()
            words.clear()
            length, number, at = 0, 0, name
        if pieces and tree.paragraph:
            while pieces[-1] == " ":
                length -= len(pieces.pop())
            pieces.append("\n\n")
            length += 2
        base = len(words)
        for i, form in enumerate(tree.words):
            head = -1 if tree.head[i] < 0 else base + tree.head[i]
            row = (tree.upos[i], tree.xpos[i], tree.lemma[i], head, tree.deprel[i])
            words.append(Word(length, length + len(form), number, *row))
            pieces.append(form)
            length += len(form)
            if tree.space[i]:
                pieces.append(" ")
                length += 1
        number += 1
    close()
    return found


# -- constituents --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constituents:
    words: Sentence
    tags: list[str]
    spans: list[Bracket]


def constituents(data: Path, name: str, sentences: Sequence[Tree] | None = None) -> list[Constituents]:
    """The trees of one file; ``sentences`` gives the true spaces where a treebank with the same words has them."""
    found = []
    for i, line in enumerate(read_lines(data / "treebanks" / f"{name}.ptb.gz")):
        tree = read_brackets(line)
        spans = [(start, end, label) for start, end, chain in tree.spans for label in chain.split("+")]
        # MCTB has marks glued together ("-RRB-."); text has the brackets themselves
        forms = [word.replace("-LRB-", "(").replace("-RRB-", ")") for word in tree.words]
        words = guessed(forms) if sentences is None else spaced(sentences[i].words, sentences[i].space)
        found.append(Constituents(words, tree.tags, spans))
    return found


def constituent_tests(data: Path) -> dict[str, list[Constituents]]:
    """What is measured. "review-unseen" lacks the sentences of review that the files of forum and dialogue have too."""
    tests = {"law": constituents(data, "mctb-law"), "review": constituents(data, "mctb-review")}
    trained = {
        letters([form for form, _ in tree.words])
        for domain in ("forum", "dialogue")
        for tree in constituents(data, f"mctb-{domain}")
    }
    tests["review-unseen"] = [
        tree for tree in tests["review"] if letters([form for form, _ in tree.words]) not in trained
    ]
    return tests | {"gum-silver": constituents(data, "gum-const-test", trees(data, "gum-test"))}


# -- UCCA ----------------------------------------------------------------------------------------------------------


def ucca(data: Path, name: str, sentences: Iterable[Tree] = ()) -> list[tuple[Sentence, dict[str, Any], Tree | None]]:
    """Words, graph and, where ``sentences`` has the same words, the dependency tree."""
    by_words = {tuple(tree.words): tree for tree in sentences}
    found = []
    for graph in read_json(data / "ucca" / f"{name}.jsonl.gz"):
        tree = by_words.get(tuple(graph["tokens"]))
        words = spaced(tree.words, tree.space) if tree else guessed(graph["tokens"])
        found.append((words, graph, tree))
    return found


# -- discourse -----------------------------------------------------------------------------------------------------


def relation_classes(data: Path) -> dict[str, str]:
    """The class of each of the 32 GUM relations."""
    with (data / "rst" / "relations.tsv").open(encoding="utf-8") as lines:
        return {row["relation"]: row["gum_class"] for row in csv.DictReader(lines, delimiter="\t")}


def with_classes(tree: Any, classes: dict[str, str]) -> Any:
    if isinstance(tree, int):
        return tree
    return [tree[0], classes[tree[1]], *(with_classes(child, classes) for child in tree[2:])]


@dataclass(frozen=True)
class Discourse:
    """One sentence: words, EDU starts and, if it is a complete subtree of its document, its tree by classes."""

    id: str
    words: Sentence
    edus: list[int]
    tree: Any


def discourse(data: Path, split: str) -> list[Discourse]:
    classes = relation_classes(data)
    found = []
    for row in read_json(data / "rst" / f"gum-{split}.sents.jsonl.gz"):
        tree = None if row["tree"] is None else with_classes(row["tree"], classes)
        found.append(Discourse(row["id"], spaced(row["tokens"], row["space"]), row["edus"], tree))
    return found


# -- entities and roles --------------------------------------------------------------------------------------------


def entities(data: Path, name: str, sentences: Iterable[Tree] = ()) -> list[tuple[Sentence, list[str]]]:
    """Words and BIO tags (PER, ORG, LOC) of each sentence."""
    by_id = {tree.id: tree for tree in sentences}
    found = []
    for identifier, words, tags in read_conll_tags(data / "ner" / f"{name}.conll.gz"):
        tree = by_id.get(identifier)
        known = tree is not None and tree.words == words
        found.append((spaced(words, tree.space) if tree is not None and known else guessed(words), tags))
    return found


@dataclass(frozen=True)
class Roles:
    words: Sentence
    tree: Tree
    #: arguments of each predicate that is no auxiliary
    arguments: dict[int, list[Argument]]


def roles(data: Path, name: str, sentences: Iterable[Tree]) -> list[Roles]:
    by_id = {tree.id: tree for tree in sentences}
    found = []
    for row in read_json(data / "srl" / f"{name}.jsonl.gz"):
        tree = by_id[row["id"]]
        arguments: dict[int, list[Argument]] = {}
        for predicate in row["predicates"]:
            if predicate["sense"] not in AUXILIARY_SENSES:
                arguments.setdefault(predicate["index"], []).extend((a, b, role) for a, b, role in predicate["args"])
        found.append(Roles(spaced(tree.words, tree.space), tree, arguments))
    return found


# -- judgments -----------------------------------------------------------------------------------------------------


def judgments(data: Path, source: str) -> Iterator[tuple[str, str, float]]:
    """Hypothesis, reference and human score of the WMT16 segments."""
    for row in read_json(data / "judgments" / f"wmt16-da-seg.{source}-en.jsonl.gz"):
        yield row["hyp"], row["refs"][0], row["z"]
