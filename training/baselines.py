"""Trivial baselines of every measure in docs/results/analyzer.md, and spaCy's small model where it is installed.

    python training/baselines.py [--data DIR] [--spacy]

They need no trained model, so their figures are kept in training/baselines.json, from which the results page takes
them. What they learn (most frequent tags, labels and names) comes from the training splits without non-commercial
terms. ``--spacy`` runs spaCy's en_core_web_sm on the same texts and adds its figures to the file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gold
from readers import Tree
from scorers import (
    NO_BRACKETS,
    Argument,
    Counts,
    Word,
    bio_spans,
    edu_starts,
    evalb,
    multiset,
    rst_parseval,
    srl,
    text_counts,
    ucca,
)
from ucca_rules import ucca_from_ud

STORE = Path(__file__).with_name("baselines.json")
NO_V = frozenset({"V"})
_WORD = re.compile(r"\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?]+")


def most_common(items: Iterable[Any]) -> Any:
    return Counter(items).most_common(1)[0][0]


def training_trees(data: Path) -> list[Tree]:
    restricted = gold.non_commercial(data)
    gum = [tree for tree in gold.trees(data, "gum-train") if not restricted[tree.doc]]
    return [*gold.trees(data, "ewt-train"), *gum]


# -- words, tags, lemmas, dependencies -----------------------------------------------------------------------------


class Dictionary:
    """The most frequent tags and lemma of each word, and the most frequent relation of each tag."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        upos, xpos, lemma, relation = (defaultdict(Counter) for _ in range(4))
        for tree in trees:
            rows = zip(tree.words, tree.upos, tree.xpos, tree.lemma, tree.deprel, strict=True)
            for form, tag, fine, base, deprel in rows:
                upos[form][tag] += 1
                xpos[form][fine] += 1
                lemma[form][base] += 1
                relation[tag][deprel] += 1
        self.upos, self.xpos, self.lemma, self.relation = (
            {key: counts.most_common(1)[0][0] for key, counts in table.items()}
            for table in (upos, xpos, lemma, relation)
        )

    def words(self, spans: Sequence[tuple[int, int, int]], text: str, to_next: bool) -> list[Word]:
        """Tag words; each hangs on its neighbour, the next one or the one before, and the last or first is the root."""
        found = []
        for i, (start, end, sentence) in enumerate(spans):
            form = text[start:end]
            j = i + 1 if to_next else i - 1
            head = j if 0 <= j < len(spans) and spans[j][2] == sentence else -1
            upos = self.upos.get(form, "NOUN")
            deprel = "root" if head < 0 else self.relation.get(upos, "dep")
            lemma = self.lemma.get(form, form.lower())
            found.append(Word(start, end, sentence, upos, self.xpos.get(form, "NN"), lemma, head, deprel))
        return found


def plain_words(text: str) -> list[tuple[int, int, int]]:
    """Runs of letters and digits, and single marks; a sentence ends with a full stop, ! or ?, or with its paragraph."""
    found: list[tuple[int, int, int]] = []
    sentence, ended = 0, False
    for match in _WORD.finditer(text):
        gap = text[found[-1][1] : match.start()] if found else ""
        if found and ((ended and gap) or "\n\n" in gap):
            sentence, ended = sentence + 1, False
        found.append((match.start(), match.end(), sentence))
        ended = _SENTENCE_END.fullmatch(match.group()) is not None
    return found


def sum_counts(results: Iterable[dict[str, Counts]]) -> dict[str, Counts]:
    total: dict[str, Counts] = defaultdict(Counts)
    for result in results:
        for name, counts in result.items():
            total[name] += counts
    return dict(total)


def text_baselines(data: Path) -> dict[str, float]:
    train = training_trees(data)
    dictionary = Dictionary(train)

    def tagged(trees: Iterable[Tree], to_next: bool) -> dict[str, Counts]:
        """With gold words, one sentence at a time."""
        return sum_counts(
            text_counts(t.words, dictionary.words([(w.start, w.end, 0) for w in t.words], t.text, to_next))
            for t in gold.texts(trees, whole_documents=False)
        )

    to_next = tagged(train[:2000], True)["LAS"].f1 > tagged(train[:2000], False)["LAS"].f1
    restricted = gold.non_commercial(data)
    gum = gold.trees(data, "gum-test")
    found: dict[str, float] = {}
    for name, trees in {
        "ewt": gold.trees(data, "ewt-test"),
        "gum": [tree for tree in gum if not restricted[tree.doc]],
        "gum-nc": [tree for tree in gum if restricted[tree.doc]],
        "gum-all": gum,
    }.items():
        total = tagged(trees, to_next)
        found |= {f"{name}.gold.{key}": counts.f1 for key, counts in total.items() if key not in ("words", "sentences")}
        raw = sum_counts(
            text_counts(t.words, dictionary.words(plain_words(t.text), t.text, to_next))
            for t in gold.texts(trees, whole_documents=True)
        )
        found |= {f"{name}.raw.{key}": counts.f1 for key, counts in raw.items()}
    return found


# -- constituents --------------------------------------------------------------------------------------------------


def right_branching(n: int, top: str, inner: str) -> list[tuple[int, int, str]]:
    return [(i, n, inner if i else top) for i in range(n - 1)]


def constituency_baselines(data: Path) -> dict[str, float]:
    """Right-branching trees; the labels that fit best are chosen on the training part of GUM."""
    restricted = gold.non_commercial(data)
    pairs = zip(gold.constituents(data, "gum-const-train"), gold.trees(data, "gum-train"), strict=True)
    train = [tree for tree, sentence in pairs if not restricted[sentence.doc]]
    # the most frequent labels of whole sentences and of what ends where its sentence does
    top = most_common(label for tree in train for i, j, label in tree.spans if j - i == len(tree.tags))
    last = Counter(label for tree in train for i, j, label in tree.spans if i and j >= len(tree.tags) - 1)
    inner = last.most_common(1)[0][0]
    found = {}
    for key, rows in gold.constituent_tests(data).items():
        total = NO_BRACKETS
        for tree in rows:
            total = total.plus(evalb(tree.spans, tree.tags, right_branching(len(tree.tags), top, inner), tree.tags))
        found[f"const.{key}"] = found[f"const.{key}.gold-punct"] = total.counts.f1
        found[f"const.{key}.complete"] = total.complete / total.sentences
    return found


# -- UCCA ----------------------------------------------------------------------------------------------------------


def flat_ucca(tokens: Sequence[str], categories: dict[str, str]) -> dict[str, Any]:
    """One scene with every word directly in it, in its most frequent category."""
    edges = [[0, 1, "H", 0], *([1, i + 2, categories.get(word.lower(), "A"), 0] for i, word in enumerate(tokens))]
    return {"edges": edges, "terms": {str(i + 2): [i] for i in range(len(tokens))}, "implicit": []}


def ucca_by_rules(tree: Tree, punctuation: list[int]) -> dict[str, Any]:
    return ucca_from_ud(tree.words, tree.upos, tree.xpos, tree.head, tree.deprel) | {"punct": punctuation}


def ucca_baselines(data: Path) -> dict[str, float]:
    categories: dict[str, Counter[str]] = defaultdict(Counter)
    for name in ("wiki-train", "ewt-train"):
        for _, graph, _ in gold.ucca(data, name):
            above = {child: category for _, child, category, remote in graph["edges"] if not remote}
            for node, words in graph["terms"].items():
                if len(words) == 1:
                    categories[graph["tokens"][words[0]].lower()][above[int(node)].split("|")[0]] += 1
    common = {word: counts.most_common(1)[0][0] for word, counts in categories.items()}
    found = {}
    for name in ("wiki", "ewt", "lpp"):
        pairs = [
            (graph, flat_ucca(graph["tokens"], common) | {"punct": graph["punct"]})
            for _, graph, _ in gold.ucca(data, f"{name}-test")
        ]
        total = sum_counts(ucca(graph, system) for graph, system in pairs)
        found[f"ucca.{name}.primary.flat"] = total["primary"].f1
    # the rules need dependency trees; gold ones exist for EWT only, the others get the analyzer's when it is evaluated
    pairs = []
    for _, graph, tree in gold.ucca(data, "ewt-test", gold.trees(data, "ewt-test")):
        system = ucca_by_rules(tree, graph["punct"]) if tree else flat_ucca(graph["tokens"], common)
        pairs.append((graph, system | {"punct": graph["punct"]}))
    total = sum_counts(ucca(graph, system) for graph, system in pairs)
    return found | {f"ucca.ewt.{kind}.rules-gold-trees": total[kind].f1 for kind in ("primary", "remote")}


# -- discourse -----------------------------------------------------------------------------------------------------


def right_branching_rst(n: int, nuclearity: str, relation: str) -> Any:
    tree: Any = n - 1
    for edu in range(n - 2, -1, -1):
        tree = [nuclearity, relation, edu, tree]
    return tree


def inner_nodes(tree: Any) -> list[tuple[str, str]]:
    if isinstance(tree, int):
        return []
    return [(tree[0], tree[1]), *(node for child in tree[2:] for node in inner_nodes(child))]


def discourse_baselines(data: Path) -> dict[str, float]:
    """Right-branching trees; each measure gets the labels that are most frequent for it, which flatters them."""
    restricted = gold.non_commercial(data)
    nodes = [
        node
        for sentence in gold.discourse(data, "train")
        if sentence.tree is not None and not restricted[sentence.id.rsplit("-", 1)[0]]
        for node in inner_nodes(sentence.tree)
    ]
    labels = {
        "nuclearity": (most_common(n for n, _ in nodes), ""),
        "relation": ("NS", most_common(r for _, r in nodes)),
        "full": most_common(nodes),
    }
    labels["span"] = labels["full"]
    test = gold.discourse(data, "test")
    found: dict[str, float] = {}
    for name, rows in {
        "gum": [row for row in test if not restricted[row.id.rsplit("-", 1)[0]]],
        "gum-all": test,
    }.items():
        for measure, (nuclearity, relation) in labels.items():
            total = sum_counts(
                rst_parseval(row.tree, right_branching_rst(len(row.edus), nuclearity, relation))
                for row in rows
                if row.tree is not None and len(row.edus) > 1
            )
            found[f"rst.{name}.{measure}"] = total[measure].f1
            found[f"rst.{name}.rst-{measure}"] = total[f"rst-{measure}"].f1
        starts = sum_counts(edu_starts(row.edus, [0]) for row in rows)
        found |= {f"edu.{name}.{key}": counts.f1 for key, counts in starts.items()}
    return found


# -- entities and roles --------------------------------------------------------------------------------------------


class Names:
    """Longest match of names seen in training that are names in at least half of their occurrences there."""

    def __init__(self, sentences: Sequence[tuple[gold.Sentence, list[str]]]) -> None:
        seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for words, tags in sentences:
            for i, j, label in bio_spans(tags):
                seen[tuple(form for form, _ in words[i:j])][label] += 1
        self.longest = max(map(len, seen))
        occurrences: Counter[tuple[str, ...]] = Counter()
        for words, _ in sentences:
            forms = [form for form, _ in words]
            for i in range(len(forms)):
                for j in range(i + 1, min(len(forms), i + self.longest) + 1):
                    if (name := tuple(forms[i:j])) in seen:
                        occurrences[name] += 1
        self.label = {
            name: counts.most_common(1)[0][0]
            for name, counts in seen.items()
            if counts.total() * 2 >= occurrences[name]
        }

    def find(self, forms: Sequence[str]) -> list[tuple[int, int, str]]:
        found, i = [], 0
        while i < len(forms):
            for j in range(min(len(forms), i + self.longest), i, -1):
                if label := self.label.get(tuple(forms[i:j])):
                    found.append((i, j, label))
                    i = j
                    break
            else:
                i += 1
        return found


def entity_baselines(data: Path) -> dict[str, float]:
    names = Names(gold.entities(data, "uner-ewt-train"))
    found = {}
    for name in ("ewt", "pud"):
        total = Counts()
        for words, tags in gold.entities(data, f"uner-{name}-test"):
            total += multiset(bio_spans(tags), names.find([form for form, _ in words]))
        found[f"ner.{name}"] = total.f1
    return found


def subtree(tree: Tree, word: int) -> tuple[int, int]:
    """The span from the first to the last word below ``word``."""
    below, grown = {word}, True
    while grown:
        more = {i for i, head in enumerate(tree.head) if head in below} - below
        below |= more
        grown = bool(more)
    return min(below), max(below) + 1


class RoleRules:
    """Every dependent of a predicate has the role that is most frequent for its relation, or none."""

    def __init__(self, sentences: Iterable[gold.Roles]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            for predicate, arguments in sentence.arguments.items():
                role = {(a, b): name for a, b, name in arguments}
                for word, head in enumerate(sentence.tree.head):
                    if head == predicate:
                        found = role.get(subtree(sentence.tree, word), "")
                        counts[sentence.tree.deprel[word]][found] += 1
        self.role = {deprel: found.most_common(1)[0][0] for deprel, found in counts.items()}

    def arguments(self, tree: Tree, predicate: int) -> list[Argument]:
        return [
            (*subtree(tree, word), role)
            for word, head in enumerate(tree.head)
            if head == predicate and (role := self.role.get(tree.deprel[word], ""))
        ]


def role_baselines(data: Path) -> dict[str, float]:
    rules = RoleRules(gold.roles(data, "ewt-train", gold.trees(data, "ewt-train")))
    total, predicates = Counts(), Counts()
    for row in gold.roles(data, "ewt-test", gold.trees(data, "ewt-test")):
        total += srl(row.arguments, {p: rules.arguments(row.tree, p) for p in row.arguments}, NO_V)
        verbs = {i for i, tag in enumerate(row.tree.upos) if tag == "VERB"}
        predicates += multiset(list(row.arguments), verbs)
    return {"srl.gold": total.f1, "srl.predicates": predicates.f1}


# -- vectors ---------------------------------------------------------------------------------------------------------


def chrf(data: Path) -> dict[str, float]:
    """The published baseline of the judgment data: chrF's Pearson correlation."""
    found = {}
    with (data / "judgments" / "baselines.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            row = line.rstrip("\n").split("\t")
            match = re.fullmatch(r"wmt16-da-seg\.(..)-en\.jsonl\.gz", row[0])
            if match and match.group(1) in gold.WMT16:
                found[f"wmt16.{match.group(1)}"] = float(row[3])
    return found | {"wmt16.mean": sum(found.values()) / len(found)}


def compute(data: Path) -> dict[str, float]:
    parts = (
        text_baselines,
        constituency_baselines,
        ucca_baselines,
        discourse_baselines,
        entity_baselines,
        role_baselines,
        chrf,
    )
    return {key: round(value, 6) for part in parts for key, value in part(data).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=gold.DATA)
    parser.add_argument("--spacy", action="store_true", help="only add the figures of spaCy's small model")
    options = parser.parse_args()
    try:
        gold.check(options.data)
    except gold.DataMissingError as error:
        sys.exit(str(error))
    stored = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    if options.spacy:
        from spacy_beside import spacy_figures

        stored["spacy"] = spacy_figures(options.data)
    else:
        stored["baselines"] = compute(options.data)
    STORE.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for key, value in sorted((stored["spacy"]["figures"] if options.spacy else stored["baselines"]).items()):
        sys.stdout.write(f"{key}\t{value:.4f}\n")


if __name__ == "__main__":
    main()
