"""Lexical heads of phrases: the rules of Collins (1999), as used by Collins (2003).

A node with one child takes it. Otherwise the row of the node's label is followed: its categories in order of priority,
and for each the children from the given side; the first child of that category is the head, and where no category is
found, the first child from that side. Noun phrases have rules of their own. Coordination then moves the head from
behind a conjunction to before it. The word is reached by following head children down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboreval.analysis.structures.base import IntArray
from arboreval.analysis.structures.constituency import ConstituencyTree
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError

#: label: (side the scan starts from, categories in order of priority)
HEAD_RULES: dict[str, tuple[str, tuple[str, ...]]] = {
    label: (side, tuple(categories.split()))
    for label, side, categories in [
        ("ADJP", "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        ("ADVP", "right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        ("CONJP", "right", "CC RB IN"),
        ("FRAG", "right", ""),
        ("INTJ", "left", ""),
        ("LST", "right", "LS :"),
        ("NAC", "left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        ("NX", "left", ""),
        ("PP", "right", "IN TO VBG VBN RP FW"),
        ("PRN", "left", ""),
        ("PRT", "right", "RP"),
        ("QP", "left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        ("RRC", "right", "VP NP ADVP ADJP PP"),
        ("S", "left", "TO IN VP S SBAR ADJP UCP NP"),
        ("SBAR", "left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        ("SBARQ", "left", "SQ S SINV SBARQ FRAG"),
        ("SINV", "left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        ("SQ", "left", "VBZ VBD VBP VB MD VP SQ"),
        ("UCP", "right", ""),
        ("VP", "left", "TO VBD VBN MD VBZ VB VBG VBP AUX AUXG VP ADJP NN NNS NP"),
        ("WHADJP", "left", "CC WRB JJ ADJP"),
        ("WHADVP", "right", "CC WRB"),
        ("WHNP", "left", "WDT WP WP$ WHADJP WHPP WHNP"),
        ("WHPP", "right", "IN TO FW"),
        ("X", "right", ""),
    ]
}
#: labels without a row of their own that borrow one; all other unknown labels take the last child
SAME_RULES = {"NML": "NP", "JJP": "ADJP"}
#: noun phrases: (side, categories that are equally good), in this order, after the possessive rule
NP_RULES: tuple[tuple[str, frozenset[str]], ...] = (
    ("right", frozenset({"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"})),
    ("left", frozenset({"NP"})),
    ("right", frozenset({"$", "ADJP", "PRN"})),
    ("right", frozenset({"CD"})),
    ("right", frozenset({"JJ", "JJS", "RB", "QP"})),
)
PUNCTUATION_TAGS = frozenset({"''", "``", "-LRB-", "-RRB-", ".", ":", ","})
CONJUNCTIONS = frozenset({"CC", "CONJP"})


def basic_category(label: str) -> str:
    """The label without functional tags and indices: ``NP-SBJ=2`` is ``NP``; ``-LRB-`` stays as it is."""
    for i, character in enumerate(label):
        if i and character in "-=|":
            return label[:i] if label[0] != "-" else label
    return label


def head_child(label: str, children: Sequence[str], is_word: Sequence[bool]) -> int:
    """The position of the head among the children of a phrase.

    ``children`` are phrase labels and part-of-speech tags; ``is_word`` says which are tags of words.
    """
    if not children:
        raise StructureError(f"a phrase ({label}) without children has no head.")
    if len(children) == 1:
        return 0
    categories = [basic_category(child) for child in children]
    row = SAME_RULES.get(basic_category(label), basic_category(label))
    if row == "NP":
        found = _np_head(categories, is_word)
        side = "right"
    else:
        side, priority = HEAD_RULES.get(row, ("right", ()))
        found = next((at for category in priority if (at := _scan(categories, side, {category})) is not None), None)
    if found is None:
        return 0 if side == "left" else len(children) - 1
    return _before_conjunction(found, categories, is_word)


def _scan(categories: Sequence[str], side: str, wanted: set[str] | frozenset[str]) -> int | None:
    positions = range(len(categories)) if side == "left" else range(len(categories) - 1, -1, -1)
    return next((i for i in positions if categories[i] in wanted), None)


def _np_head(categories: Sequence[str], is_word: Sequence[bool]) -> int | None:
    if categories[-1] == "POS" and is_word[-1]:
        return len(categories) - 1
    return next((at for side, wanted in NP_RULES if (at := _scan(categories, side, wanted)) is not None), None)


def _before_conjunction(head: int, categories: Sequence[str], is_word: Sequence[bool]) -> int:
    if head < 2 or categories[head - 1] not in CONJUNCTIONS:
        return head
    before = head - 2
    while before >= 0 and is_word[before] and categories[before] in PUNCTUATION_TAGS:
        before -= 1
    return before if before >= 0 else head


def lexical_heads(tree: ConstituencyTree, tokens: Tokens) -> IntArray:
    """The head word of every node of the tree; part-of-speech tags are taken from ``tokens.xpos``."""
    tree.check(tokens)
    heads = np.zeros(len(tree), np.int32)
    # pre-order: every child comes after its parent, so its head is known when the parent's turn comes
    for node in range(len(tree) - 1, -1, -1):
        items = tree.items(node)
        labels = [tree.label[child] if child >= 0 else tokens.xpos[word] for child, word in items]
        child, word = items[head_child(tree.label[node], labels, [child < 0 for child, _ in items])]
        heads[node] = heads[child] if child >= 0 else word
    heads.flags.writeable = False
    return heads
