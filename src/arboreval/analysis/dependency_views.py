"""Other ways to look at a dependency tree: prepositions as heads, and collapsed Stanford-style edges.

Universal Dependencies put content words on top (``case`` markers hang below their nouns), Stanford's collapsed
dependencies drop function words into the relation (``prep_of``), and other parsers put prepositions on top. The views
bring trees of different schemes to a common form.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from arboreval.analysis.structures.dependency import DependencyTree
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError

#: (head, relation, dependent); the head of a root edge is -1
Edge = tuple[int, str, int]

PREP_HEAD = "ud2+prep-head"

_UD_LABELS = {
    "acl": "vmod",
    "acl:relcl": "rcmod",
    "advcl:relcl": "advcl",
    "aux:pass": "auxpass",
    "cc:preconj": "preconj",
    "compound": "nn",
    "compound:prt": "prt",
    "csubj:outer": "csubj",
    "csubj:pass": "csubjpass",
    "det:predet": "predet",
    "dislocated": "dep",
    "fixed": "mwe",
    "flat": "nn",
    "list": "dep",
    "nmod": "nn",
    "nmod:poss": "poss",
    "nsubj:outer": "nsubj",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
    "obl": "npadvmod",
    "orphan": "dep",
    "reparandum": "dep",
    "vocative": "dep",
}
_CLEAR_LABELS = {
    "ROOT": "root",
    "acl": "vmod",
    "attr": "xcomp",
    "case": "possessive",
    "compound": "nn",
    "dative": "iobj",
    "intj": "discourse",
    "meta": "dep",
    "nmod": "nn",
    "nummod": "num",
    "oprd": "dobj",
    "relcl": "rcmod",
}
# adverbs; the determiner "no" of "no money" stays one
_NEGATIONS = frozenset({"not", "n't", "n’t", "nt", "never", "no"})
# bare noun phrases with these lemmas say when something happens (tmod); the others are npadvmod
_TIMES = frozenset(
    {"second", "minute", "hour", "day", "week", "weekend", "month", "year", "decade", "century", "time", "moment"}
    | {"night", "morning", "afternoon", "evening", "noon", "midnight", "today", "tomorrow", "yesterday", "tonight"}
    | {"season", "spring", "summer", "autumn", "fall", "winter"}
    | {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
    | {"january", "february", "march", "april", "may", "june", "july"}
    | {"august", "september", "october", "november", "december"}
)
# they introduce clauses only, so a gerund after them is a shortened clause and not the object of a preposition
_SUBORDINATORS = frozenset(
    {"although", "because", "if", "once", "that", "though", "to", "unless", "when", "whenever", "where", "whereas"}
    | {"wherever", "whether", "while"}
)


def case_as_head(tree: DependencyTree, tokens: Tokens) -> DependencyTree:
    """The tree with prepositions and other case markers on top of their nouns, which become their ``pobj``.

    The marker takes over the head and the relation of its noun, and the noun's dependents to its left, so that a
    projective tree stays projective; of several markers each is on top of the next. A conjunct with a marker of its
    own, and what follows it, is attached to the marker of the first conjunct. The possessive *'s* stays where it is.
    Trees of the scheme ``clear`` have prepositions on top already and are returned as they are.
    """
    if tree.scheme in ("clear", PREP_HEAD):
        return tree
    if tree.scheme != "ud2":
        raise StructureError(f"case markers cannot be made heads in a tree of the scheme {tree.scheme!r}.")
    head, relation = tree.head.tolist(), list(tree.relation)
    markers = {
        noun: found
        for noun in range(len(tree))
        if (found := [w for w in tree.children[noun] if w < noun and _is_preposition(tree, tokens, w)])
    }
    # first where each phrase hangs now, then who stands for the phrase there: its marker or the word itself
    for noun, found in markers.items():
        # a conjunct with its own marker goes to the top, and so does what follows it: its edge would be crossed
        conjuncts = [w for w in tree.children[noun] if tree.relation[w] == "conj" and w in markers]
        for other in tree.children[noun]:
            if other < found[-1] and other not in found:
                head[other] = max((m for m in found if m < other), default=found[0])
            elif conjuncts and other >= conjuncts[0]:
                head[other] = found[0]
    for noun, found in markers.items():
        head[found[0]], relation[found[0]] = head[noun], relation[noun]
        for upper, lower in pairwise([*found, noun]):
            head[lower], relation[lower] = upper, "pobj"
    return DependencyTree(np.asarray(head, np.int32), tuple(relation), PREP_HEAD)


def _is_preposition(tree: DependencyTree, tokens: Tokens, word: int) -> bool:
    return tree.relation[word] == "case" and tokens.xpos[word] != "POS"


def collapsed(tree: DependencyTree, tokens: Tokens, text: str) -> tuple[Edge, ...]:
    """Stanford-style collapsed edges with Stanford's relation names, ordered by their dependents.

    Prepositions and conjunctions become part of the relation (``prep_out_of``, ``conj_and``) and are then no nodes;
    punctuation is dropped, roots are kept. Made for trees of the schemes ``ud2`` and ``clear``.
    """
    tree.check(tokens)
    if tree.scheme == "ud2":
        return _Ud(tree, tokens, tokens.lower_forms(text)).edges()
    if tree.scheme == "clear":
        return _Clear(tree, tokens, tokens.lower_forms(text)).edges()
    raise StructureError(f"a tree of the scheme {tree.scheme!r} cannot be collapsed; known: ud2, clear.")


@dataclass(frozen=True)
class _View:
    tree: DependencyTree
    tokens: Tokens
    forms: list[str]

    def below(self, word: int, *relations: str) -> list[int]:
        return [child for child in self.tree.children[word] if self.tree.relation[child] in relations]

    def when_or_how_much(self, word: int) -> str:
        return "tmod" if (self.tokens.lemma[word] or self.forms[word]).lower() in _TIMES else "npadvmod"

    def kept(self, head: list[int], relation: list[str], dropped: set[int]) -> tuple[Edge, ...]:
        """The edges of the words that stay. What hung below a dropped word goes to the next word above that stays."""
        edges = []
        for word in range(len(self.tree)):
            if word in dropped:
                continue
            above = head[word]
            while above in dropped:
                above = head[above]
            edges.append((above, relation[word], word))
        return tuple(edges)

    def phrase(self, words: list[int]) -> str:
        return "_".join(self.forms[word] for word in sorted(words))


class _Ud(_View):
    def edges(self) -> tuple[Edge, ...]:
        dropped = {w for w in range(len(self.tree)) if self.tree.relation[w] == "punct"}
        relation = [self.label(word, dropped) for word in range(len(self.tree))]
        head = self.tree.head.tolist()
        for word in range(len(self.tree)):
            self.coordinate(word, head, relation, dropped)
        return self.kept(head, relation, dropped)

    def label(self, word: int, dropped: set[int]) -> str:
        """The Stanford relation of a word; function words that went into it are added to ``dropped``."""
        relation = self.tree.relation[word]
        base = relation.partition(":")[0]
        if base in ("nmod", "obl") and relation != "nmod:poss":
            return self.oblique(word, dropped)
        if base == "conj":
            return self.conjunct(word, dropped)
        if base in ("advcl", "acl") and (markers := self.gerund_markers(word)):
            whole = self.with_fixed(markers)
            dropped.update(whole)
            return f"prepc_{self.phrase(whole)}"
        if base == "case":
            return "possessive" if self.tokens.xpos[word] == "POS" else "prep"
        if base == "advmod" and self.forms[word] in _NEGATIONS:
            return "neg"
        if base == "xcomp" and self.tokens.upos[word] == "ADJ" and not self.below(word, "cop", "mark"):
            return "acomp"
        return _UD_LABELS.get(relation) or _UD_LABELS.get(base, base)

    def oblique(self, word: int, dropped: set[int]) -> str:
        relation = self.tree.relation[word]
        cases = [w for w in self.below(word, "case") if self.tokens.xpos[w] != "POS"]
        whole = self.with_fixed(cases)
        dropped.update(whole)
        if relation == "obl:agent" or (relation == "obl" and self.phrase(whole) == "by" and self.is_passive(word)):
            return "agent"
        if whole:
            return f"prep_{self.phrase(whole)}"
        if relation in ("obl:tmod", "nmod:tmod"):
            return "tmod"
        if relation in ("obl:npmod", "nmod:npmod"):
            return "npadvmod"
        if relation in ("obl", "obl:unmarked", "nmod:unmarked"):
            return self.when_or_how_much(word)
        return _UD_LABELS[relation.partition(":")[0]]

    def conjunct(self, word: int, dropped: set[int]) -> str:
        """The conjunction is the conjunct's own, or that of the next conjunct that has one: "a, b and c"."""
        first = int(self.tree.head[word])
        if first < 0:  # a root with this label is no second conjunct
            return "conj"
        later = [w for w in self.tree.children[first] if w >= word and self.tree.relation[w].startswith("conj")]
        own = self.with_fixed(self.below(word, "cc"))
        dropped.update(own)
        for candidate in later:
            if words := self.with_fixed(self.below(candidate, "cc")):
                return f"conj_{self.phrase(words)}"
        return "conj"

    def gerund_markers(self, word: int) -> list[int]:
        if self.tokens.xpos[word] != "VBG" or self.below(word, "nsubj", "nsubj:pass", "csubj"):
            return []
        return [w for w in self.below(word, "mark") if self.forms[w] not in _SUBORDINATORS]

    def coordinate(self, word: int, head: list[int], relation: list[str], dropped: set[int]) -> None:
        """Prepositions that share their object ("to and from school") stay words, with the object below the last.

        Stanford's graphs have two edges here, prep_to and prep_from; with one edge a word, either would be lost. So
        the edges are those of trees with prepositions on top, where only one with an object of its own is collapsed.
        """
        markers = [w for w in self.below(word, "case", "mark") if w in dropped]
        prepositions = list(markers)
        for each in prepositions:
            prepositions.extend(w for w in self.below(each, "conj") if w < word)
        if len(prepositions) == len(markers):
            return
        dropped.difference_update(self.with_fixed(markers))
        kind = relation[word].partition("_")[0]
        head[markers[0]], relation[markers[0]] = head[word], "agent" if kind == "agent" else "prep"
        for upper, lower in pairwise(markers):
            head[lower], relation[lower] = upper, "prep"
        head[word], relation[word] = max(prepositions), "pcomp" if kind == "prepc" else "pobj"

    def is_passive(self, word: int) -> bool:
        verb = int(self.tree.head[word])
        return verb >= 0 and bool(self.below(verb, "nsubj:pass", "csubj:pass", "aux:pass"))

    def with_fixed(self, words: list[int]) -> list[int]:
        """The words with the other parts of fixed expressions: "because" with its "of"."""
        return sorted([*words, *(part for word in words for part in self.below(word, "fixed"))])


class _Clear(_View):
    def edges(self) -> tuple[Edge, ...]:
        head = self.tree.head.tolist()
        relation = [self.label(word) for word in range(len(self.tree))]
        dropped = {w for w in range(len(self.tree)) if self.tree.relation[w] == "punct"}
        for word in range(len(self.tree)):
            if self.is_top_preposition(word):
                self.collapse(word, head, relation, dropped)
        for word in range(len(self.tree)):
            if self.tree.relation[word] == "conj" and relation[word] == "conj":
                head[word], relation[word] = self.conjunct(word, dropped)
        return self.kept(head, relation, dropped)

    def label(self, word: int) -> str:
        relation = self.tree.relation[word]
        return self.when_or_how_much(word) if relation == "npadvmod" else _CLEAR_LABELS.get(relation, relation)

    def is_top_preposition(self, word: int) -> bool:
        above = int(self.tree.head[word])
        # a preposition inside a multiword one belongs to it
        return self.is_preposition(word) and not (above >= 0 and self.is_preposition(above) and not self.objects(above))

    def is_preposition(self, word: int) -> bool:
        relation = self.tree.relation[word]
        return relation in ("prep", "agent") or (relation == "dative" and bool(self.objects(word)))

    def objects(self, word: int) -> list[int]:
        found = self.below(word, "pobj", "pcomp")
        # in "because of" the second preposition is the pcomp of the first
        return [w for w in found if not (self.tokens.upos[w] == "ADP" and self.below(w, "pobj", "pcomp"))]

    def collapse(self, word: int, head: list[int], relation: list[str], dropped: set[int]) -> None:
        """Replace a preposition, with the others of a multiword one ("because of"), by edges to its objects."""
        parts = [word]
        while not (objects := self.objects(parts[-1])):
            inner = [w for w in self.below(parts[-1], "prep", "pcomp") if self.tokens.upos[w] in ("ADP", "SCONJ")]
            if not inner:
                return
            parts.append(inner[0])
        governor = int(self.tree.head[word])
        for target in objects:
            head[target] = governor
            kind = "prepc" if self.tree.relation[target] == "pcomp" else "prep"
            agent = self.tree.relation[word] == "agent"
            relation[target] = "agent" if agent else f"{kind}_{self.phrase(parts)}"
        dropped.update(parts)
        self.coordinate(word, parts[-1], head, relation, dropped)
        # what else hung below the preposition ("right after the game") goes to its object
        for part in parts:
            for other in self.tree.children[part]:
                if other not in dropped and other not in objects and head[other] == part:
                    head[other] = objects[0]

    def coordinate(self, word: int, last: int, head: list[int], relation: list[str], dropped: set[int]) -> None:
        """Coordinated prepositions ("to Paris and from London") share their governor."""
        todo = [last]
        while todo:
            before = todo.pop()
            for other in self.below(before, "conj"):
                if objects := self.objects(other):
                    for target in objects:
                        head[target] = int(self.tree.head[word])
                        kind = "prepc" if self.tree.relation[target] == "pcomp" else "prep"
                        relation[target] = f"{kind}_{self.forms[other]}"
                    dropped.add(other)
                    dropped.update(self.below(before, "cc"))
                    todo.append(other)

    def conjunct(self, word: int, dropped: set[int]) -> tuple[int, str]:
        """First conjunct and relation. Conjuncts form a chain; each conjunction hangs below the conjunct before it."""
        first = int(self.tree.head[word])
        if first < 0:  # a root with this label is no second conjunct
            return first, "conj"
        while self.tree.head[first] >= 0 and self.tree.relation[first] == "conj":
            first = int(self.tree.head[first])
        before: int | None = int(self.tree.head[word])
        while before is not None:
            after = next(iter(self.below(before, "conj")), None)
            words = [w for w in self.below(before, "cc") if after is not None and before < w < after]
            if words:
                dropped.update(words)
                return first, f"conj_{self.phrase(words)}"
            before = after
        return first, "conj"
