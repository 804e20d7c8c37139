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
    {"although", "because", "if", "once", "that", "though", "unless", "when", "whenever", "where", "whereas"}
    | {"wherever", "whether", "while"}
)

# no prepositions, whatever a parser takes them for
_NOUNS = frozenset({"NOUN", "PROPN"})
# their first words are modifiers of the last one in trees of the scheme `clear`
_EXPRESSIONS = frozenset({"such as", "instead of", "rather than", "as well as"})


def case_as_head(tree: DependencyTree, tokens: Tokens) -> DependencyTree:
    """The tree with prepositions and other case markers on top of their nouns, which become their ``pobj``.

    The marker takes over the head and the relation of its noun, and the noun's dependents to its left, so that a
    projective tree stays projective; of several markers each is on top of the next. A conjunct with a marker of its
    own, and what follows it, is attached to the marker of the first conjunct. Markers of markers and the possessive
    *'s* stay where they are.
    Trees of the scheme ``clear`` have prepositions on top already and are returned as they are.
    """
    if tree.scheme in ("clear", PREP_HEAD):
        return tree
    if tree.scheme != "ud2":
        raise StructureError(f"case markers cannot be made heads in a tree of the scheme {tree.scheme!r}.")
    head, relation = tree.head.tolist(), list(tree.relation)
    marking = {w for w, above in enumerate(head) if w < above and _is_preposition(tree, tokens, w)}
    markers = {
        noun: found
        for noun in range(len(tree))
        # a marker cannot be below another one as its noun and on top of its own noun
        if noun not in marking and (found := [w for w in tree.children[noun] if w in marking])
    }
    # first where each phrase hangs now, then who stands for the phrase there: its marker or the word itself
    for noun, found in markers.items():
        # a conjunct with its own marker goes to the top, and so does what follows it: its edge would be crossed
        conjuncts = [w for w in tree.children[noun] if w > noun and tree.relation[w] == "conj" and w in markers]
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
    return tree.relation[word] == "case" and not _is_possessive(tokens, word)


def _is_possessive(tokens: Tokens, case: int) -> bool:
    # not all treebanks have Penn's tags
    return tokens.xpos[case] == "POS" or tokens.upos[case] == "PART"


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

    def punctuation(self) -> set[int]:
        """The words to drop at once; a root stays whatever its relation."""
        head = self.tree.head.tolist()
        return {word for word, relation in enumerate(self.tree.relation) if relation == "punct" and head[word] >= 0}

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
        dropped = self.punctuation()
        relation = [self.label(word, dropped) for word in range(len(self.tree))]
        head = self.tree.head.tolist()
        for word in range(len(self.tree)):
            self.share_object(word, head, relation, dropped)
        for word in range(len(self.tree)):
            if relation[word].startswith("conj"):
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
            return "possessive" if _is_possessive(self.tokens, word) else "prep"
        if base == "advmod" and self.forms[word] in _NEGATIONS:
            return "neg"
        if base == "xcomp" and self.tokens.upos[word] == "ADJ" and not self.below(word, "cop", "mark"):
            return "acomp"
        return _UD_LABELS.get(relation) or _UD_LABELS.get(base, base)

    def oblique(self, word: int, dropped: set[int]) -> str:
        relation = self.tree.relation[word]
        whole = self.with_fixed(self.cases(word))
        dropped.update(whole)
        if relation == "obl:agent" or (relation == "obl" and self.phrase(whole) == "by" and self.is_passive(word)):
            return "agent"
        if whole:
            return f"prep_{self.phrase(whole)}"
        if self.tokens.upos[word] == "ADP":  # a preposition without its object: "the house we live in"
            return "prep"
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

    def cases(self, word: int) -> list[int]:
        return [w for w in self.below(word, "case") if not _is_possessive(self.tokens, w)]

    def gerund_markers(self, word: int) -> list[int]:
        # of "without having been seen" the first verb is the gerund
        first_verb = min([word, *self.below(word, "aux", "aux:pass", "cop")])
        if self.tokens.xpos[first_verb] != "VBG" or self.below(word, "nsubj", "nsubj:pass", "csubj"):
            return []
        # of "because of" the last word decides
        return [w for w in self.below(word, "mark") if self.forms[self.with_fixed([w])[-1]] not in _SUBORDINATORS]

    def share_object(self, word: int, head: list[int], relation: list[str], dropped: set[int]) -> None:
        """Prepositions that share their object ("to and from school") stay words, with the object below the last.

        Stanford's graphs have two edges here, prep_to and prep_from; with one edge a word, either would be lost. So
        the edges are those of trees with prepositions on top, where only one with an object of its own is collapsed.
        """
        markers = [w for w in self.below(word, "case", "mark") if w in dropped]
        prepositions = self.with_conjuncts(markers, word)
        if len(prepositions) == len(markers):
            return
        dropped.difference_update(self.with_fixed(markers))
        kind = relation[word].partition("_")[0]
        head[markers[0]], relation[markers[0]] = head[word], "agent" if kind == "agent" else "prep"
        for upper, lower in pairwise(markers):
            head[lower], relation[lower] = upper, "prep"
        head[word], relation[word] = max(prepositions), "pcomp" if kind == "prepc" else "pobj"

    def with_conjuncts(self, markers: list[int], word: int) -> list[int]:
        """Prepositions before a word, and those coordinated with them."""
        found = list(markers)
        for each in found:
            found.extend(w for w in self.below(each, "conj") if w < word)
        return found

    def coordinate(self, word: int, head: list[int], relation: list[str], dropped: set[int]) -> None:
        """A conjunct with a preposition of its own ("to Paris and from London"), where the first one's was collapsed:
        another preposition makes it a relation of its own, the same one is said twice."""
        first = head[word]
        gerund = self.gerund_markers(word)
        markers = gerund or self.cases(word)
        if first < 0 or not markers or not relation[first].startswith(("prep_", "prepc_", "agent")):
            return
        if len(self.with_conjuncts(markers, word)) > len(markers):
            return
        whole = self.with_fixed(markers)
        if self.phrase(whole) != self.phrase(self.with_fixed(self.gerund_markers(first) or self.cases(first))):
            head[word] = head[first]
            relation[word] = f"{'prepc' if gerund else 'prep'}_{self.phrase(whole)}"
        dropped.update(whole)

    def is_passive(self, word: int) -> bool:
        verb = int(self.tree.head[word])
        return verb >= 0 and bool(self.below(verb, "nsubj:pass", "csubj:pass", "aux:pass"))

    def with_fixed(self, words: list[int]) -> list[int]:
        """The words with the other parts of fixed expressions: "because" with its "of"."""
        return sorted([*words, *(part for word in words for part in self.below(word, "fixed"))])


@dataclass(frozen=True)
class _Phrase:
    """A preposition, perhaps of several words, with the words below it."""

    words: list[int]
    objects: list[int]
    name: str


class _Clear(_View):
    def edges(self) -> tuple[Edge, ...]:
        head = self.tree.head.tolist()
        relation = [self.label(word) for word in range(len(self.tree))]
        dropped = self.punctuation()
        collapsed = {}
        for word in range(len(self.tree)):
            if self.is_top_preposition(word) and (phrase := self.prepositions(word)):
                collapsed[word] = phrase
                self.collapse(phrase, head[word], self.tree.relation[word] == "agent", head, relation, dropped)
        for word in range(len(self.tree)):
            if self.tree.relation[word] != "conj" or head[word] < 0:
                self.coordinate(word, collapsed.get(word), head, relation, dropped)
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
        if self.tokens.upos[word] in _NOUNS:
            return False
        # in "one rather than another" a conjunction has an object
        return relation in ("prep", "agent") or (relation in ("dative", "cc") and bool(self.objects(word)))

    def objects(self, word: int) -> list[int]:
        """What is below a preposition, but for the rest of the preposition itself: in "because of rain" the second
        word is the pcomp of the first, and the noun may be below either."""
        found = self.below(word, "pobj", "pcomp")
        if real := [w for w in found if self.tokens.upos[w] != "ADP"]:
            return real
        return [w for w in found if not self.below(w, "pobj", "pcomp")]

    def prepositions(self, word: int) -> _Phrase | None:
        """The whole preposition that starts at or before this word; None if it has no object of its own."""
        words = [*self.opening(word), word]
        while not (objects := self.objects(words[-1])):
            inner = [w for w in self.below(words[-1], "prep", "pcomp") if self.tokens.upos[w] in ("ADP", "SCONJ")]
            if not inner:
                return None
            words.append(inner[0])
        words += [w for w in self.below(words[-1], "pcomp") if w < objects[0] and w not in objects]
        return _Phrase(words, objects, self.phrase(words))

    def opening(self, word: int) -> list[int]:
        """The words before that form an expression with this one."""
        for first in (word - 2, word - 1):
            words = list(range(first, word))
            if first >= 0 and " ".join(self.forms[first : word + 1]) in _EXPRESSIONS:
                return [w for w in words if int(self.tree.head[w]) == word]
        return []

    def collapse(
        self, phrase: _Phrase, governor: int, agent: bool, head: list[int], relation: list[str], dropped: set[int]
    ) -> None:
        """Replace a preposition by edges to its objects. What else hung below it ("right after lunch") goes to them."""
        for target in phrase.objects:
            head[target] = governor
            kind = "prepc" if self.tree.relation[target] == "pcomp" else "prep"
            relation[target] = "agent" if agent else f"{kind}_{phrase.name}"
        dropped.update(phrase.words)
        for part in phrase.words:
            for other in self.tree.children[part]:
                if other not in dropped and other not in phrase.objects and head[other] == part:
                    head[other] = phrase.objects[0]

    def coordinate(
        self, first: int, before: _Phrase | None, head: list[int], relation: list[str], dropped: set[int]
    ) -> None:
        """All conjuncts go to the first. Of prepositions with objects ("to Paris and from London") each is a relation
        of its own, and the same one is said twice."""
        anchor = before.objects[0] if before else first
        names = self.conjuncts(first, head, dropped)
        for word, name in names.items():
            phrase = self.prepositions(word) if before and self.tokens.upos[word] not in _NOUNS else None
            if before is None or phrase is None:
                head[word], relation[word] = anchor, name
                continue
            self.collapse(phrase, int(self.tree.head[first]), False, head, relation, dropped)
            if phrase.name == before.name:
                for target in phrase.objects:
                    head[target], relation[target] = anchor, name

    def conjuncts(self, first: int, head: list[int], dropped: set[int]) -> dict[int, str]:
        """The conjuncts, which form chains, with their relations. A conjunction hangs below a conjunct before it and
        belongs to the next one after it; a conjunct without has that of the next conjunct that has one."""
        words = self.below(first, "conj")
        for word in words:
            words.extend(self.below(word, "conj"))
        found: dict[int, str] = {}
        name = "conj"
        conjunctions = [w for above in (first, *words) for w in self.below(above, "cc") if w > first]
        words.sort()
        for before, word in reversed(list(zip([first, *words], words, strict=False))):
            if own := [w for w in conjunctions if before < w < word and w not in dropped]:
                own += [w for each in own for w in self.opening(each)]
                name = f"conj_{self.phrase(own)}"
                dropped.update(own)
                for other in (w for each in own for w in self.tree.children[each] if head[w] in own):
                    head[other] = word
            found[word] = name
        return dict(reversed(found.items()))
