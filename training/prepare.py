"""Builds the training data of the English analyzer: one JSON object per sentence with every annotation it has.

    python training/prepare.py --data DIR --out DIR

Only data without non-commercial terms goes into ``train``. See training/README.md for sources and licences.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from readers import (
    guess_spaces,
    letters,
    plain_quotes,
    read_brackets,
    read_conll_tags,
    read_conllu,
    read_json,
    read_lines,
)

from arboreval.analysis.english.lemma import derive
from arboreval.analysis.english.rst_tree import brackets_to_spans
from arboreval.analysis.english.ucca_tree import graph_to_spans

Sentence = dict[str, Any]

SPLITS = ("train", "dev", "test")
LAYERS = ("upos", "xpos", "lemma", "head", "deprel", "const", "ner", "edu", "rst", "ucca", "srl")
AUXILIARY_SENSES = frozenset({"be.03", "have.01", "do.01", "get.03"})
# CRAFT's labels for parts of an article say nothing about syntax
ARTICLE_LABELS = frozenset({"TITLE", "HEADING", "CAPTION", "CIT"})
# sub-samples: biomedical trees would outnumber everything else
BIOMEDICAL = {"train": 3000, "dev": 150, "test": 500}
MIN_CHAIN_COUNT = 5
MIN_SCRIPT_COUNT = 2
SEED = 13


def blank(identifier: str, doc: str, source: str, words: list[str], space: list[int]) -> Sentence:
    """Return a sentence without annotation."""
    start: Sentence = {"id": identifier, "doc": doc, "source": source, "par": None, "words": words, "space": space}
    return start | dict.fromkeys(LAYERS)


def dependency_sentences(path: Path, source: str) -> list[Sentence]:
    sentences = []
    for tree in read_conllu(path):
        sentence = blank(tree.id, tree.doc, source, tree.words, tree.space)
        # the second part of a word torn apart by a space has no lemma; its form is the sanest thing to predict
        lemma = [form if lemma == "_" else lemma for form, lemma in zip(tree.words, tree.lemma, strict=True)]
        sentence.update(par=tree.paragraph, upos=tree.upos, xpos=tree.xpos, lemma=lemma)
        sentence.update(head=tree.head, deprel=tree.deprel)
        sentences.append(sentence)
    return sentences


# --- named entities, roles ---


def without_misc(tags: list[str]) -> list[str]:
    return ["O" if tag.endswith("-MISC") else tag for tag in tags]


def role_tags(words: list[str], predicates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return BIO tags for every content predicate; the predicate itself is tagged V."""
    frames = []
    for predicate in predicates:
        if predicate["sense"] in AUXILIARY_SENSES:
            continue
        tags = ["O"] * len(words)
        for start, end, role in [*predicate["args"], *((*span, "V") for span in predicate["v"])]:
            if all(tag == "O" for tag in tags[start:end]):
                tags[start:end] = [f"B-{role}"] + [f"I-{role}"] * (end - start - 1)
        frames.append({"index": predicate["index"], "tags": tags})
    return frames


# --- sources ---


def ucca_layer(graph: dict[str, Any]) -> dict[str, Any]:
    spans, remotes = graph_to_spans(graph)
    return {"spans": spans, "remote": remotes}


def ewt(data: Path, split: str) -> list[Sentence]:
    """EWT trees with UNER entities, PropBank roles and UCCA graphs joined by sentence id."""
    sentences = dependency_sentences(data / f"treebanks/ewt-{split}.conllu.gz", "ewt")
    by_id = {sentence["id"]: sentence for sentence in sentences}
    for identifier, words, tags in read_conll_tags(data / f"ner/uner-ewt-{split}.conll.gz"):
        sentence = by_id.get(identifier)
        if sentence is not None and sentence["words"] == words:
            sentence["ner"] = without_misc(tags)
    for row in read_json(data / f"srl/ewt-{split}.jsonl.gz"):
        sentence = by_id.get(row["id"])
        if sentence is not None and sentence["words"] == row["tokens"]:
            sentence["srl"] = role_tags(row["tokens"], row["predicates"])
    # UCCA ids lack the genre: "003418-0001" is "reviews-003418-0001"
    for graph in read_json(data / f"ucca/ewt-{split}.jsonl.gz"):
        sentence = by_id.get(f"reviews-{graph['id']}")
        if sentence is not None and sentence["words"] == graph["tokens"]:
            sentence["ucca"] = ucca_layer(graph)
        else:
            other = blank(
                graph["id"], graph["id"].split("-")[0], "uccaewt", graph["tokens"], guess_spaces(graph["tokens"])
            )
            other["ucca"] = ucca_layer(graph)
            sentences.append(other)
    return sentences


def gum(data: Path, split: str, non_commercial: dict[str, bool]) -> list[Sentence]:
    """GUM trees with silver constituents, entities, EDUs and sentence-level RST trees; files are in the same order."""
    sentences = dependency_sentences(data / f"treebanks/gum-{split}.conllu.gz", "gum")
    constituents = read_lines(data / f"treebanks/gum-const-{split}.ptb.gz")
    entities = read_conll_tags(data / f"ner/gum-{split}.conll.gz")
    discourse = read_json(data / f"rst/gum-{split}.sents.jsonl.gz")
    for sentence, line, (_, words, tags), units in zip(sentences, constituents, entities, discourse, strict=True):
        tree = read_brackets(line)
        if not len(sentence["words"]) == len(tree.words) == len(words) or sentence["id"] != units["id"]:
            raise ValueError(f"GUM files disagree at {sentence['id']}")
        starts = set(units["edus"])
        sentence.update(
            nc=non_commercial[sentence["doc"]],
            const=tree.spans,
            ner=without_misc(tags),
            edu=[int(index in starts) for index in range(len(words))],
            rst=None if units["tree"] is None else brackets_to_spans(units["tree"]),
        )
    # NC text is never trained or tuned on; the test figures are reported for both kinds
    return sentences if split == "test" else [sentence for sentence in sentences if not sentence["nc"]]


def brackets_file(path: Path, source: str) -> list[Sentence]:
    """Sentences of a bracketed file. Their tags are left out: conventions differ from EWT's and GUM's."""
    sentences = []
    for number, line in enumerate(read_lines(path), start=1):
        tree = read_brackets(line, ARTICLE_LABELS)
        sentence = blank(f"{source}-{number}", source, source, plain_quotes(tree.words), guess_spaces(tree.words))
        sentence["const"] = tree.spans
        sentences.append(sentence)
    return sentences


def sample(sentences: list[Sentence], size: int) -> list[Sentence]:
    """Return a fixed random sample in document order, without very long sentences."""
    usable = [index for index, sentence in enumerate(sentences) if 3 <= len(sentence["words"]) <= 80]
    chosen = random.Random(SEED).sample(usable, min(size, len(usable)))
    return [sentences[index] for index in sorted(chosen)]


def entity_file(path: Path, source: str) -> list[Sentence]:
    sentences = []
    for identifier, words, tags in read_conll_tags(path):
        sentence = blank(identifier, identifier.rsplit("-", 1)[0], source, plain_quotes(words), guess_spaces(words))
        sentence["ner"] = without_misc(tags)
        sentences.append(sentence)
    return sentences


def ucca_file(path: Path, source: str) -> list[Sentence]:
    sentences = []
    for graph in read_json(path):
        words = plain_quotes(graph["tokens"])
        sentence = blank(graph["id"], graph["id"][:-3] or graph["id"], source, words, guess_spaces(graph["tokens"]))
        sentence["ucca"] = ucca_layer(graph)
        sentences.append(sentence)
    return sentences


def gather(data: Path, split: str, non_commercial: dict[str, bool]) -> list[Sentence]:
    banks = data / "treebanks"
    sentences = [*ewt(data, split), *gum(data, split, non_commercial)]
    sentences += ucca_file(data / f"ucca/wiki-{split}.jsonl.gz", "uccawiki")
    sentences += entity_file(data / f"ner/wikigold-{split}.conll.gz", "wikigold")
    if split == "test":
        sentences += ucca_file(data / "ucca/lpp-test.jsonl.gz", "ucca-lpp")
        sentences += entity_file(data / "ner/uner-pud-test.conll.gz", "uner-pud")
        # whole domains are held out: law and review are tests, forum and dialogue are trained on
        for domain in ("law", "review"):
            sentences += brackets_file(banks / f"mctb-{domain}.ptb.gz", f"mctb-{domain}")
    else:
        # the file of dialogue has sentences of review in it
        held_out = {
            letters(read_brackets(line).words)
            for domain in ("law", "review")
            for line in read_lines(banks / f"mctb-{domain}.ptb.gz")
        }
        for domain in ("forum", "dialogue"):
            trees = brackets_file(banks / f"mctb-{domain}.ptb.gz", f"mctb-{domain}")
            part = trees[:900] if split == "train" else trees[900:]
            sentences += [tree for tree in part if letters(tree["words"]) not in held_out]
    for source in ("craft", "genia"):
        sentences += sample(brackets_file(banks / f"{source}-{split}.ptb.gz", source), BIOMEDICAL[split])
    return sentences


# --- labels ---


def simpler(label: str, known: Counter[str]) -> str:
    """Return the longest frequent chain left after dropping parts of a rare one, the outermost part last."""
    parts = [part for part in label.split("+") if part]
    for size in range(len(parts), 0, -1):
        shorter = ["+".join(chosen) for chosen in combinations(parts, size)]
        frequent = [chain for chain in shorter if known[chain] > 0]
        if frequent:
            return max(frequent, key=lambda chain: (chain.split("+")[0] == parts[0], known[chain], chain))
    # several categories on one edge: the first is the main one; the mark of a continuation stays
    single = parts[0].split("|")[0] + ("^" if parts[0].endswith("^") and "|" in parts[0] else "")
    return single if known[single] > 0 else single.rstrip("^")


def frequent_chains(labels: Iterable[str]) -> tuple[Counter[str], dict[str, str]]:
    """Return the kept labels with counts, and what every other label is mapped to."""
    counts = Counter(labels)
    kept = Counter({label: count for label, count in counts.items() if count >= MIN_CHAIN_COUNT})
    return kept, {label: simpler(label, kept) for label in counts if label not in kept}


def ranked(counts: Counter[str]) -> list[str]:
    return [label for label, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def span_labels(sentences: Iterable[Sentence], layer: str) -> Iterable[str]:
    for sentence in sentences:
        spans = sentence[layer]["spans"] if layer == "ucca" and sentence[layer] else sentence[layer]
        for _, _, label in spans or ():
            yield label


def flat(sentences: Iterable[Sentence], layer: str) -> Counter[str]:
    return Counter(value for sentence in sentences for value in sentence[layer] or ())


def bio(counts: Counter[str]) -> list[str]:
    """Return O, then B- and I- of every type by frequency."""
    types = Counter({tag[2:]: count for tag, count in counts.items() if tag.startswith("B-")})
    return ["O", *(f"{prefix}-{kind}" for kind in ranked(types) for prefix in "BI")]


def make_labels(splits: dict[str, list[Sentence]], documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the label inventory of train; ``map`` says how labels of any split that are not in it are simplified.

    Discourse labels come from the document trees, which hold the sentence trees.
    """
    train = splits["train"]
    labels: dict[str, Any] = {layer: ranked(flat(train, layer)) for layer in ("upos", "xpos", "deprel")}
    labels["ner"] = bio(flat(train, "ner"))
    labels["map"] = {}
    for layer in ("const", "ucca"):
        kept, mapping = frequent_chains(span_labels(train, layer))
        for split in ("dev", "test"):
            mapping |= {label: simpler(label, kept) for label in span_labels(splits[split], layer) if not kept[label]}
        labels[layer], labels["map"][layer] = ranked(kept), dict(sorted(mapping.items()))
    in_documents = (label for document in documents for _, _, label in document["spans"])
    labels["rst"] = ranked(Counter(in_documents))
    frames = [frame for sentence in train for frame in sentence["srl"] or ()]
    labels["srl"] = bio(Counter(tag for frame in frames for tag in frame["tags"]))
    remotes = Counter(remote[2] for sentence in train if sentence["ucca"] for remote in sentence["ucca"]["remote"])
    kept = Counter({label: count for label, count in remotes.items() if count >= MIN_CHAIN_COUNT})
    labels["ucca_remote"] = ranked(kept)
    # an empty string: the edge is left out
    simple = {label: simpler(label, kept) for label in remotes if not kept[label]}
    labels["map"]["ucca_remote"] = {label: short if kept[short] else "" for label, short in simple.items()}
    scripts: Counter[str] = Counter()
    for sentence in train:
        if sentence["lemma"]:
            scripts.update(map(derive, sentence["words"], sentence["lemma"]))
    labels["lemma"] = ranked(Counter({script: count for script, count in scripts.items() if count >= MIN_SCRIPT_COUNT}))
    return labels


def simplify(sentence: Sentence, mapping: dict[str, dict[str, str]]) -> None:
    """Replace rare labels by their simpler ones, in place."""
    if sentence["const"]:
        sentence["const"] = [(i, j, mapping["const"].get(label, label)) for i, j, label in sentence["const"]]
    if sentence["ucca"]:
        ucca = sentence["ucca"]
        ucca["spans"] = [(i, j, mapping["ucca"].get(label, label)) for i, j, label in ucca["spans"]]
        remotes = [(p, c, mapping["ucca_remote"].get(label, label)) for p, c, label in ucca["remote"]]
        ucca["remote"] = [remote for remote in remotes if remote[2]]


# --- documents with discourse trees ---


def discourse_documents(data: Path, split: str, non_commercial: dict[str, bool]) -> Iterable[dict[str, Any]]:
    """Yield the document trees: spans over EDUs, sentence ids, and the sentence of every EDU."""
    ids: dict[str, list[str]] = {}
    for row in read_json(data / f"rst/gum-{split}.sents.jsonl.gz"):
        ids.setdefault(row["id"].rsplit("-", 1)[0], []).append(row["id"])
    for row in read_json(data / f"rst/gum-{split}.docs.jsonl.gz"):
        hidden = non_commercial[row["id"]]
        if hidden and split != "test":
            continue
        edu_sentence = [index for index, (first, last) in enumerate(row["sents"]) for _ in range(first, last + 1)]
        if len(edu_sentence) != len(row["edus"]) or len(ids[row["id"]]) != len(row["sents"]):
            raise ValueError(f"EDUs and sentences of {row['id']} disagree")
        yield {
            "doc": row["id"],
            "genre": row["genre"],
            "nc": hidden,
            "n_edus": len(row["edus"]),
            "sentences": ids[row["id"]],
            "edu_sentence": edu_sentence,
            "spans": brackets_to_spans(row["binary"]),
        }


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    # a fixed time stamp keeps the file the same from run to run
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as out:
        for row in rows:
            out.write((json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode())


def report(split: str, sentences: list[Sentence]) -> list[str]:
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        row = counts.setdefault(sentence["source"], Counter())
        row["sentences"] += 1
        row["words"] += len(sentence["words"])
        row.update(layer for layer in LAYERS if sentence[layer] is not None)
    lines = [f"{split}: {len(sentences)} sentences"]
    for source, row in counts.items():
        lines.append(f"  {source}: " + " ".join(f"{key}={value}" for key, value in row.items()))
    return lines


def lemma_lexicon(sentences: list[dict]) -> dict[str, dict[str, str]]:
    """{part of speech: {form: lemma}} where at least four in five of the training tokens agree.

    The encoder splits rare words into pieces and does not see where they were joined; the lexicon knows the forms seen.
    """
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        if sentence["lemma"]:
            for form, tag, lemma in zip(sentence["words"], sentence["upos"], sentence["lemma"], strict=True):
                seen[tag, form][lemma] += 1
    lexicon: dict[str, dict[str, str]] = {}
    for (tag, form), lemmas in sorted(seen.items()):
        lemma, count = lemmas.most_common(1)[0]
        if count >= 0.8 * lemmas.total():
            lexicon.setdefault(tag, {})[form] = lemma
    return lexicon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with treebanks/, ner/, rst/, srl/, ucca/")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.data / "treebanks/gum-documents.tsv").open(encoding="utf-8", newline="") as table:
        rows = csv.DictReader(table, delimiter="\t")
        non_commercial = {row["document"]: row["non_commercial_only"] != "no" for row in rows}
    splits = {split: gather(options.data, split, non_commercial) for split in SPLITS}
    documents = {split: list(discourse_documents(options.data, split, non_commercial)) for split in SPLITS}
    labels = make_labels(splits, documents["train"])
    # dev and test keep their labels: a score against simplified gold would be too good
    for sentence in splits["train"]:
        simplify(sentence, labels["map"])
    lemmas = json.dumps(lemma_lexicon(splits["train"]), ensure_ascii=False, separators=(",", ":"))
    (options.out / "lemmas.json").write_text(lemmas + "\n", encoding="utf-8")
    (options.out / "labels.json").write_text(json.dumps(labels, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    lines = [" ".join(f"{layer}={len(values)}" for layer, values in labels.items())]
    for split, sentences in splits.items():
        write(options.out / f"{split}.jsonl.gz", sentences)
        suffix = "" if split == "train" else f"-{split}"
        write(options.out / f"rst-docs{suffix}.jsonl.gz", documents[split])
        lines += report(split, sentences)
    (options.out / "counts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
