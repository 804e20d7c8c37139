"""UCCA graphs by rules from UD trees: the baseline that the learned UCCA parser must beat.

A verb, or a word with a subject or copula, makes a scene; its arguments are participants (A), its adverbs and modals
adverbials (D), auxiliaries and articles functions (F), adpositions relators (R). Coordinated and adverbial clauses are
parallel scenes (H) joined by linkers (L). Inside noun phrases the head is the centre (C), what modifies it elaborates
(E) or counts (Q). Written with the guidelines in hand and adjusted on ewt-train only.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "csubj:outer"})
PARTICIPANTS = SUBJECTS | {"obj", "iobj", "obl", "obl:agent", "ccomp", "xcomp", "nmod", "obl:unmarked"}
UNANALYSABLE = frozenset({"flat", "fixed", "goeswith", "compound:prt", "flat:foreign", "flat:name"})
#: what belongs to a noun phrase even when its head is a predicate
INNER = frozenset({"det", "amod", "nmod", "nmod:poss", "compound", "nummod", "case", "acl", "acl:relcl", "nmod:tmod"})
PARALLEL = frozenset({"advcl", "parataxis", "conj", "list"})
MODALS = frozenset({"MD"})
ARTICLES = frozenset({"the", "a", "an"})
QUANTIFIERS = frozenset(["all", "some", "any", "no", "every", "each", "both", "many", "few", "several"])
STATES = frozenset(["have", "has", "had", "'s", "need", "love", "like", "know"])
TIMES = frozenset(
    [
        "today",
        "yesterday",
        "tomorrow",
        "now",
        "then",
        "ago",
        "year",
        "years",
        "month",
        "months",
        "week",
        "weeks",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "time",
        "times",
        "always",
        "never",
        "often",
        "again",
        "already",
        "still",
        "once",
        "soon",
        "later",
        "before",
        "recently",
    ]
)


class _Builder:
    def __init__(
        self, words: Sequence[str], upos: Sequence[str], xpos: Sequence[str], head: Sequence[int], rel: Sequence[str]
    ) -> None:
        self.words, self.upos, self.xpos, self.rel = [w.lower() for w in words], upos, xpos, rel
        self.children: list[list[int]] = [[] for _ in words]
        self.root = 0
        for word, governor in enumerate(head):
            if governor < 0:
                self.root = word
            else:
                self.children[governor].append(word)
        self.edges: list[list[Any]] = []
        self.terms: dict[str, list[int]] = {}
        self.n = 1
        #: node that stands for a word's phrase, the target of remote edges
        self.unit: dict[int, int] = {}

    def node(self, parent: int, category: str) -> int:
        self.edges.append([parent, self.n, category, 0])
        self.n += 1
        return self.n - 1

    def leaf(self, parent: int, category: str, words: list[int]) -> int:
        node = self.node(parent, category)
        self.terms[str(node)] = sorted(words)
        return node

    def core(self, word: int) -> list[int]:
        """The word with the parts of an unanalysable expression."""
        return [word, *(x for c in self.children[word] if self.rel[c] in UNANALYSABLE for x in self.core(c))]

    def is_scene(self, word: int) -> bool:
        return self.upos[word] == "VERB" or any(self.rel[c] in {*SUBJECTS, "cop"} for c in self.children[word])

    def parallel(self, word: int, parent: int) -> int:
        """A parallel scene under ``parent``, followed by the scenes that depend on it; returns the scene's node."""
        scene = self.node(parent, "H")
        self.unit[word] = scene
        later = self.fill(word, scene)
        for child in later:
            self.linkers(child, parent)
            other = self.parallel(child, parent)
            if self.rel[child] == "conj" and not any(self.rel[c] in SUBJECTS for c in self.children[child]):
                for subject in (c for c in self.children[word] if self.rel[c] in SUBJECTS):
                    self.edges.append([other, self.unit[subject], "A", 1])
        return scene

    def linkers(self, word: int, parent: int) -> None:
        for child in self.children[word]:
            if self.rel[child] == "cc" or (self.rel[child] == "mark" and self.words[child] != "to"):
                self.leaf(parent, "L", self.core(child))

    def embedded(self, word: int, node: int) -> None:
        """What stands in ``node``: a scene, several parallel ones, or a noun phrase."""
        if not self.is_scene(word):
            self.phrase(word, node)
        elif any(self.rel[c] in PARALLEL and self.is_scene(c) for c in self.children[word]):
            self.parallel(word, node)
        else:
            self.fill(word, node)

    def fill(self, word: int, node: int) -> list[int]:
        """Put a scene, or a phrase, into ``node``; returns the dependents that are parallel scenes."""
        if not self.is_scene(word):
            self.phrase(word, node)
            return []
        later, nominal = [], self.upos[word] != "VERB"
        copula = [c for c in self.children[word] if self.rel[c] == "cop"]
        nested = nominal and self.upos[word] in ("NOUN", "PROPN", "PRON", "NUM")
        if nested and copula:
            # "was a singer": the copula is the state, the noun phrase a participant
            for c in copula:
                self.leaf(node, "S", [c])
            self.phrase(word, self.node(node, "A"), only=INNER)
        elif nested:
            self.phrase(word, self.node(node, "P"), only=INNER)
        else:
            state = nominal or self.words[word] in STATES
            self.leaf(node, "S" if state else "P", self.core(word))
        for c in self.children[word]:
            rel = self.rel[c]
            if rel in UNANALYSABLE or rel == "punct" or (nested and (rel in INNER or rel == "cop")):
                continue
            if rel in ("cc", "mark", "cop"):
                if rel != "cc" and (rel == "cop" or self.words[c] == "to"):
                    self.leaf(node, "F", self.core(c))
                elif self.rel[word] not in PARALLEL or self.root == word:
                    self.leaf(node, "L" if rel == "cc" else "R", self.core(c))
            elif rel in PARALLEL and self.is_scene(c):
                later.append(c)
            elif rel in ("aux", "aux:pass"):
                self.leaf(node, "D" if self.xpos[c] in MODALS else "F", self.core(c))
            elif rel == "expl":
                self.leaf(node, "F", self.core(c))
            elif rel in ("discourse", "vocative"):
                self.embedded(c, self.node(node, "G"))
            elif rel in ("advmod", "advmod:emph") or self.upos[c] == "ADV":
                self.embedded(c, self.node(node, "T" if self.words[c] in TIMES else "D"))
            elif rel == "case":
                self.leaf(node, "R", self.core(c))
            else:
                time = rel in ("obl:tmod", "obl:unmarked") or (rel == "obl" and self.words[c] in TIMES)
                category = "T" if time else "A" if rel in PARTICIPANTS else "D"
                unit = self.unit[c] = self.node(node, category)
                self.embedded(c, unit)
                if rel == "xcomp":
                    governors = [d for d in self.children[word] if self.rel[d] == "obj"] or [
                        d for d in self.children[word] if self.rel[d] in SUBJECTS
                    ]
                    # 2: the participant may come later, so its node is looked up at the end
                    self.edges.extend([unit, d, "A", 2] for d in governors)
        return later

    def phrase(self, word: int, node: int, only: AbstractSet[str] | None = None) -> None:
        """A phrase without a scene of its own: centre, elaborators, relators, coordination."""
        parts = [
            c
            for c in self.children[word]
            if self.rel[c] not in UNANALYSABLE and self.rel[c] != "punct" and (only is None or self.rel[c] in only)
        ]
        if not parts:
            self.terms[str(node)] = sorted(self.core(word))
            return
        centre = self.unit[word] = self.leaf(node, "C", self.core(word))
        for c in parts:
            rel = self.rel[c]
            if rel == "det":
                form = self.words[c]
                self.leaf(node, "F" if form in ARTICLES else "Q" if form in QUANTIFIERS else "E", [c])
            elif rel in ("case", "mark"):
                self.leaf(node, "R", self.core(c))
            elif rel == "cc":
                self.leaf(node, "N", self.core(c))
            elif rel in ("cop", "aux", "expl"):
                self.leaf(node, "F", self.core(c))
            elif rel == "conj":
                for d in self.children[c]:
                    if self.rel[d] == "cc":
                        self.leaf(node, "N", self.core(d))
                self.rest(c, self.node(node, "C"))
            elif rel in ("nummod", "nummod:gov"):
                self.embedded(c, self.node(node, "Q"))
            else:
                unit = self.node(node, "E")
                self.embedded(c, unit)
                if rel in ("acl", "acl:relcl"):
                    self.edges.append([unit, centre, "A", 1])

    def rest(self, word: int, node: int) -> None:
        """A coordinated phrase without its conjunction, which belongs to the whole."""
        kept = {self.rel[c] for c in self.children[word]} - {"cc"}
        if self.is_scene(word):
            self.fill(word, node)
        else:
            self.phrase(word, node, only=kept)


def ucca_from_ud(
    words: Sequence[str],
    upos: Sequence[str],
    xpos: Sequence[str],
    head: Sequence[int],
    deprel: Sequence[str],
) -> dict[str, Any]:
    """The graph of one sentence in the JSON form of the UCCA files (``punct`` is left to the caller)."""
    builder = _Builder(words, upos, xpos, head, deprel)
    builder.parallel(builder.root, 0)
    edges = [
        [parent, builder.unit[child], category, 1] if remote == 2 else [parent, child, category, remote]
        for parent, child, category, remote in builder.edges
        if remote != 2 or child in builder.unit
    ]
    return {"edges": edges, "terms": builder.terms, "n": builder.n, "roots": [0], "implicit": []}
