"""Where discourse units start: the network's score and, where that is in doubt, signs in the words, tags and tree.

Units are mostly clauses, and a vector does not show well whether the clause it stands in ended just before. The tree
does: which clause a word belongs to, which one the word before it, which subtrees end or begin between them. Each of
these signs is a text; the weights of those present are added to the network's score (logistic regression, fitted by
``training/fit_units.py``). A word's sum has a fixed order and looks at its own sentence alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Sentence", "UnitSigns", "signs"]

#: relations of words that lead a clause, or what stands in the place of one
_CLAUSES = frozenset(
    {
        "root", "conj", "parataxis", "advcl", "advcl:relcl", "acl", "acl:relcl", "ccomp", "xcomp", "csubj",
        "csubj:pass", "appos", "list", "reparandum", "discourse", "dislocated", "orphan",
    }
)  # fmt: skip
#: relations that say something when their subtree ends, without subtypes
_ENDING = frozenset({"advcl", "ccomp", "acl", "parataxis", "conj", "appos"})


class Sentence(NamedTuple):
    """The words of a sentence with tags and tree; heads count from 0, the root has -1."""

    forms: Sequence[str]
    upos: Sequence[str]
    xpos: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]


@dataclass(frozen=True)
class UnitSigns:
    """Scores of signs, and what they are added to: ``network`` times the network's score, and ``bias``."""

    weights: Mapping[str, float]
    network: float
    bias: float
    #: the network alone decides where its score is further from 0 than this
    doubt: float

    def starts(self, sentence: Sentence, words: Sequence[int], scores: Sequence[float]) -> list[bool]:
        """Whether a unit starts at each of the words, none of them the sentence's first, given the network's scores."""
        weight = self.weights.get
        return [
            self.network * score + self.bias + sum([weight(sign, 0.0) for sign in found]) > 0
            for score, found in zip(scores, signs(sentence, words), strict=True)
        ]


def signs(sentence: Sentence, words: Sequence[int]) -> Iterator[list[str]]:
    """The signs at some words of a sentence; none of them is its first word."""
    forms, upos, xpos, heads, relations = sentence
    n = len(forms)
    lower = [form.lower() for form in forms]
    verbal = [tag in ("VERB", "AUX") for tag in upos]
    order = _top_down(heads)
    copula = {heads[i] for i in range(n) if relations[i] == "cop"}
    # the head of the clause that each word belongs to
    clause = list(range(n))
    # first and last word of each subtree, its punctuation left aside
    left, right = list(range(n)), list(range(n))
    for i in order:
        if not (upos[i] == "VERB" or relations[i] in _CLAUSES or i in copula):
            clause[i] = clause[heads[i]]
    for i in reversed(order):
        above = heads[i]
        if above >= 0 and relations[i] != "punct":
            left[above] = min(left[above], left[i])
            right[above] = max(right[above], right[i])
    # the largest subtree that begins, or ends, with each word; where none does, the word's own
    begins, ends = list(range(n)), list(range(n))
    ending: dict[int, list[int]] = {}
    for i in reversed(order):
        begins[left[i]] = ends[right[i]] = i
        if relations[i].partition(":")[0] in _ENDING:
            ending.setdefault(right[i], []).append(i)

    for i in words:
        form, tag, relation = lower[i], xpos[i], relations[i]
        before, after = xpos[i - 1], xpos[i + 1] if i + 1 < n else ""
        found = [
            f"form {form}", f"form, next {form} {after}", f"before {lower[i - 1]}", f"tag {tag}",
            f"tag before {before}", f"tag after {after}", f"tags {before} {tag}", f"tags, next {tag} {after}",
            f"relation {relation}", f"relation, before {relation} {before}",
        ]  # fmt: skip
        # the subtree that begins here
        new = begins[i]
        above = heads[new]
        name = relations[new]
        side = "right" if above < i else "left"
        size = min((right[new] - left[new] + 1).bit_length(), 4)
        found += [
            f"begins {name} {side}", f"begins, size {name} {size} {before}", f"begins, form {name} {form}",
            f"begins, under {name} {lower[above] if above >= 0 else ''}",
        ]  # fmt: skip
        # the subtrees that end with the last word before that is no punctuation
        last = i - 1
        while last and relations[last] == "punct":
            last -= 1
        old = ends[last]
        kind = f"{relations[old]} {upos[old]}"
        over = heads[old]
        goes_on = over >= 0 and right[over] > last
        found += [
            f"ends {kind}", f"ends, before {kind} {before}", f"ends, tag {kind} {tag}", f"ends, begins {kind} {name}",
            f"ends, verb {relations[old]} {before} {any(verbal[left[old] : last + 1])} {right[old] - left[old] > 3}",
            f"ends, goes on {kind} {before} {goes_on} {upos[i]}",
        ]  # fmt: skip
        for k in ending.get(last, ()):
            found += [f"clause ends {relations[k]} {upos[k]} {before}", f"clause ends, begins {relations[k]} {name}"]
        # from the clause of that word to the clause of this one
        a, b = clause[last], clause[i]
        step = "same" if a == b else "up" if heads[a] == b else "down" if heads[b] == a else "other"
        found += [
            f"step {step} {relations[b]}", f"step, from {step} {relations[a]} {relations[b]}",
            f"step, form {step} {relations[b]} {lower[a]}", f"step, relation {step} {relation} {name}",
            f"step, tags {step} {tag} {before}", f"step, first {step} {relations[b]} {upos[b]} {b == i} {left[b] == i}",
        ]  # fmt: skip
        yield found


def _top_down(heads: Sequence[int]) -> list[int]:
    """The words of a tree, heads before their dependents."""
    below: list[list[int]] = [[] for _ in heads]
    order = []
    for i, head in enumerate(heads):
        if head < 0:
            order.append(i)
        else:
            below[head].append(i)
    for i in order:
        order += below[i]
    return order
