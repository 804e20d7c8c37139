"""The measures of the analyzer's accuracy, as pure functions on plain data.

Every measure first returns :class:`Counts`, which add up over sentences and documents, so that all figures are
micro-averages. Spans are ``[start, end)`` everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Counts:
    """How many items are right, how many the gold standard has and how many the system gave."""

    correct: int = 0
    gold: int = 0
    system: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.correct + other.correct, self.gold + other.gold, self.system + other.system)

    @property
    def precision(self) -> float:
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """2 correct / (gold + system), the harmonic mean of precision and recall."""
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0


def multiset(gold: Iterable[Hashable], system: Iterable[Hashable]) -> Counts:
    """Items compared as multisets: each gold item can be matched once."""
    wanted, given = Counter(gold), Counter(system)
    return Counts((wanted & given).total(), wanted.total(), given.total())


def accuracy(gold: Sequence[Hashable], system: Sequence[Hashable]) -> Counts:
    """Position by position; precision, recall and F1 are all the accuracy."""
    if len(gold) != len(system):
        raise ValueError(f"{len(gold)} gold items and {len(system)} system items cannot be compared one by one.")
    return Counts(sum(a == b for a, b in zip(gold, system, strict=True)), len(gold), len(system))


# -- words, tags and dependencies (CoNLL-2018) ---------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """One word of a text. ``head`` is the index of another word of the same text, -1 for the root."""

    start: int
    end: int
    sentence: int
    upos: str = ""
    xpos: str = ""
    lemma: str = ""
    head: int = -1
    deprel: str = ""


def basic(deprel: str) -> str:
    """The universal part of a relation: ``acl:relcl`` is ``acl``."""
    return deprel.split(":")[0]


def sentence_spans(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Character spans of the sentences, from the first word's start to the last word's end."""
    spans: dict[int, tuple[int, int]] = {}
    for word in words:
        spans[word.sentence] = (spans.get(word.sentence, (word.start, 0))[0], word.end)
    return list(spans.values())


def text_counts(gold: Sequence[Word], system: Sequence[Word]) -> dict[str, Counts]:
    """All CoNLL-2018 measures of one raw text.

    Words are aligned when they cover the same characters. A tag is right on an aligned word; an attachment is right
    when the two heads are aligned to each other as well, or are both the root. Contractions count as the words they
    consist of: every contraction of the treebanks is the concatenation of its words, so each word has offsets. "LAS"
    compares whole relations, with subtypes; "LAS-basic" only what stands before the colon, as the shared task did.
    """
    at = {(word.start, word.end): i for i, word in enumerate(system)}
    to_gold = {at[word.start, word.end]: i for i, word in enumerate(gold) if (word.start, word.end) in at}
    totals = (len(gold), len(system))
    right: Counter[str] = Counter()
    for j, i in to_gold.items():
        g, s = gold[i], system[j]
        attached = g.head == (-1 if s.head < 0 else to_gold.get(s.head, -2))
        right.update(
            {
                "words": 1,
                "UPOS": g.upos == s.upos,
                "XPOS": g.xpos == s.xpos,
                # a word torn apart by a space has its lemma at its first part; the rest cannot be wrong
                "lemma": g.lemma in ("_", s.lemma),
                "UAS": attached,
                "LAS": attached and g.deprel == s.deprel,
                "LAS-basic": attached and basic(g.deprel) == basic(s.deprel),
            }
        )
    names = ("words", "UPOS", "XPOS", "lemma", "UAS", "LAS", "LAS-basic")
    found = {name: Counts(right[name], *totals) for name in names}
    found["sentences"] = multiset(sentence_spans(gold), sentence_spans(system))
    return found


# -- constituents (EVALB with COLLINS.prm) -------------------------------------------------------------------------

#: labels and tags that COLLINS.prm deletes: punctuation is no word, and TOP no bracket
DELETED = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})

Bracket = tuple[int, int, str]


class Brackets(NamedTuple):
    """Bracket counts, how many sentences are wholly right, how many were compared, how many skipped as errors."""

    counts: Counts
    complete: int = 0
    sentences: int = 0
    errors: int = 0

    def plus(self, other: Brackets) -> Brackets:
        return Brackets(
            self.counts + other.counts,
            self.complete + other.complete,
            self.sentences + other.sentences,
            self.errors + other.errors,
        )


NO_BRACKETS = Brackets(Counts())


def _kept_brackets(spans: Iterable[Bracket], tags: Sequence[str]) -> tuple[list[int], list[Bracket]]:
    kept = [i for i, tag in enumerate(tags) if tag not in DELETED]
    position = np.cumsum([0, *(tag not in DELETED for tag in tags)]).tolist()
    renumbered = [(position[i], position[j], "ADVP" if label == "PRT" else label) for i, j, label in spans]
    return kept, [(i, j, label) for i, j, label in renumbered if i < j and label not in DELETED]


def evalb(
    gold: Iterable[Bracket], gold_tags: Sequence[str], system: Iterable[Bracket], system_tags: Sequence[str]
) -> Brackets:
    """One sentence. Each side loses the words that its own tags call punctuation.

    When that leaves different words, EVALB cannot compare the two trees: the sentence is an error and is skipped.
    Give the gold tags twice to compare every sentence.
    """
    gold_words, gold_kept = _kept_brackets(gold, gold_tags)
    system_words, system_kept = _kept_brackets(system, system_tags)
    if not gold_words:
        return NO_BRACKETS
    if gold_words != system_words:
        return Brackets(Counts(), errors=1)
    counts = multiset(gold_kept, system_kept)
    return Brackets(counts, int(counts.correct == counts.gold == counts.system), 1)


# -- UCCA (SemEval-2019 task 1) ------------------------------------------------------------------------------------


def ucca_edges(graph: Mapping[str, Any]) -> tuple[list[tuple[frozenset[int], frozenset[str]]], ...]:
    """The primary and the remote edges as (words below the child, categories).

    ``graph`` is the JSON of one sentence. Words are reached by primary edges only and punctuation is no word; edges to
    implicit nodes, edges of category U and edges without a word are left out, as the task's scorer does.
    """
    children: dict[int, list[int]] = {}
    for parent, child, _, remote in graph["edges"]:
        if not remote:
            children.setdefault(parent, []).append(child)
    punctuation, implicit = set(graph["punct"]), set(graph["implicit"])
    words = {int(node): set(below) - punctuation for node, below in graph["terms"].items()}

    def below(node: int) -> frozenset[int]:
        found, stack = set(), [node]
        while stack:
            at = stack.pop()
            found |= words.get(at, set())
            stack.extend(children.get(at, ()))
        return frozenset(found)

    primary, remotes = [], []
    for _, child, category, remote in graph["edges"]:
        categories = frozenset(category.split("|"))
        span = below(child)
        if span and child not in implicit and "U" not in categories:
            (remotes if remote else primary).append((span, categories))
    return primary, remotes


def ucca(gold: Mapping[str, Any], system: Mapping[str, Any]) -> dict[str, Counts]:
    """Labelled primary and remote edges of one sentence, by the task's scorer without its normalisation.

    A yield counts once even if several edges have it (a unit and its only child), and it is right when the two sides
    have a category in common. "primary-edges" and "remote-edges" count every edge instead (multisets, any common
    category), which is stricter on such chains.
    """
    found: dict[str, Counts] = {}
    for name, wanted, given in zip(("primary", "remote"), ucca_edges(gold), ucca_edges(system), strict=True):
        merged: list[dict[frozenset[int], frozenset[str]]] = [{}, {}]
        for edges, by_yield in zip((wanted, given), merged, strict=True):
            for span, categories in edges:
                by_yield[span] = by_yield.get(span, frozenset()) | categories
        shared = sum(bool(categories & merged[1].get(span, frozenset())) for span, categories in merged[0].items())
        found[name] = Counts(shared, len(merged[0]), len(merged[1]))
        found[f"{name}-edges"] = Counts(_matched(wanted, given), len(wanted), len(given))
    return found


def _matched(
    wanted: Sequence[tuple[frozenset[int], frozenset[str]]], given: Sequence[tuple[frozenset[int], frozenset[str]]]
) -> int:
    """The most edges that can be paired one to one (augmenting paths, since an edge may have several categories)."""
    candidates = [[j for j, (s, c) in enumerate(given) if s == span and c & cats] for span, cats in wanted]
    owner: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for j in candidates[i]:
            if j not in tried:
                tried.add(j)
                if j not in owner or place(owner[j], tried):
                    owner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(wanted)))


# -- discourse -----------------------------------------------------------------------------------------------------

#: a leaf is an EDU number, an inner node [nuclearity, relation, child, child, ...]
RstNode = Any


def binarized(tree: RstNode) -> RstNode:
    """Inner nodes with more than two children become right-branching, as the gold trees are."""
    if isinstance(tree, int):
        return tree
    nuclearity, relation, *children = tree
    children = [binarized(child) for child in children]
    while len(children) > 2:
        children[-2:] = [["NN", relation, *children[-2:]]]
    return [nuclearity, relation, *children]


def _rst_items(tree: RstNode, top: bool, role: str, label: str, inner: list[Any], units: list[Any]) -> tuple[int, int]:
    if isinstance(tree, int):
        span = (tree, tree + 1)
    else:
        nuclearity, relation, left, right = tree
        at = len(inner)
        inner.append(None)
        # RST-Parseval: the relation stands at the satellite, "span" at its nucleus, at every nucleus if there are two
        labels = [relation if nuclearity == "NN" or letter == "S" else "span" for letter in nuclearity]
        start, _ = _rst_items(left, False, nuclearity[0], labels[0], inner, units)
        _, end = _rst_items(right, False, nuclearity[1], labels[1], inner, units)
        span = (start, end)
        inner[at] = (span, nuclearity, relation)
    if not top:
        units.append((span, role, label))
    return span


def rst_parseval(gold: RstNode, system: RstNode) -> dict[str, Counts]:
    """One tree over given EDUs: original Parseval and, with the prefix "rst-", RST-Parseval.

    Original Parseval compares the inner nodes of the binary trees (n - 1 for n EDUs) with the nuclearity pattern and
    relation that join their children. RST-Parseval compares all nodes but the root, leaves included (2n - 2), with the
    role and relation each has in its parent; since leaves always match, its figures are higher.
    """
    sides: list[tuple[list[Any], list[Any]]] = [([], []), ([], [])]
    for tree, (inner, units) in zip((gold, system), sides, strict=True):
        _rst_items(binarized(tree), True, "root", "", inner, units)
    found = {}
    for prefix, which in (("", 0), ("rst-", 1)):
        wanted, given = sides[0][which], sides[1][which]
        for name, key in (
            ("span", lambda item: item[0]),
            ("nuclearity", lambda item: item[:2]),
            ("relation", lambda item: (item[0], item[2])),
            ("full", lambda item: item),
        ):
            found[prefix + name] = multiset(map(key, wanted), map(key, given))
    return found


def edu_starts(gold: Iterable[int], system: Iterable[int]) -> dict[str, Counts]:
    """EDU starts of one sentence: "all" counts every start (DISRPT), "inside" only those after its first word."""
    wanted, given = set(gold), set(system)
    return {
        "all": Counts(len(wanted & given), len(wanted), len(given)),
        "inside": Counts(len(wanted & given - {0}), len(wanted - {0}), len(given - {0})),
    }


# -- spans: entities and roles -------------------------------------------------------------------------------------

#: PropBank senses of auxiliary verbs, which have no arguments
AUXILIARY_SENSES = frozenset({"be.03", "have.01", "do.01", "get.03"})

Argument = tuple[int, int, str]


def bio_spans(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Entities of IOB2 tags. An I- that continues nothing starts an entity, as conlleval has it."""
    spans: list[tuple[int, int, str]] = []
    for i, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if prefix == "I" and spans and spans[-1][1] == i and spans[-1][2] == label:
            spans[-1] = (spans[-1][0], i + 1, label)
        elif prefix in ("B", "I"):
            spans.append((i, i + 1, label))
    return spans


def srl(
    gold: Mapping[int, Iterable[Argument]], system: Mapping[int, Iterable[Argument]], leave_out: frozenset[str]
) -> Counts:
    """Arguments of one sentence by predicate word, exact span and role; ``leave_out`` names roles that are none."""
    wanted = [(p, *a) for p, arguments in gold.items() for a in arguments if a[2] not in leave_out]
    given = [(p, *a) for p, arguments in system.items() for a in arguments if a[2] not in leave_out]
    return multiset(wanted, given)


# -- vectors -------------------------------------------------------------------------------------------------------


def bertscore_f(
    hypothesis: np.ndarray,
    hypothesis_special: np.ndarray,
    reference: np.ndarray,
    reference_special: np.ndarray,
    special_candidates: bool = False,
) -> float:
    """Greedy matching of sub-word vectors by cosine, F without idf weights. A text without sub-words gives 0.

    Special tokens (``<s>``, ``</s>``) take no part. With ``special_candidates`` they can be matched but their own best
    match has no weight, which is what the bert_score program does.
    """
    if hypothesis_special.all() or reference_special.all():
        return 0.0
    a = hypothesis / np.linalg.norm(hypothesis, axis=1, keepdims=True)
    b = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    rows, columns = ~hypothesis_special, ~reference_special
    similarity = a @ b.T
    precision = float(similarity[rows][:, columns | special_candidates].max(axis=1).mean())
    recall = float(similarity[:, columns][rows | special_candidates].max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    return float(np.corrcoef(np.asarray(x, float), np.asarray(y, float))[0, 1])
