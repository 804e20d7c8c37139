"""Signs of discourse units: by value on one sentence, and for trees as deep as a text is long."""

import pytest

from arboreval.analysis.english.units import Sentence, UnitSigns, signs

# The man who called left, because it rained.
SENTENCE = Sentence(
    ["The", "man", "who", "called", "left", ",", "because", "it", "rained", "."],
    ["DET", "NOUN", "PRON", "VERB", "VERB", "PUNCT", "SCONJ", "PRON", "VERB", "PUNCT"],
    ["DT", "NN", "WP", "VBD", "VBD", ",", "IN", "PRP", "VBD", "."],
    [1, 4, 3, 1, -1, 8, 8, 8, 4, 4],
    ["det", "nsubj", "nsubj", "acl:relcl", "root", "punct", "mark", "expl", "advcl", "punct"],
)


def test_signs_of_a_word_after_a_clause_and_of_one_that_begins_a_clause() -> None:
    left, because = signs(SENTENCE, [4, 6])
    assert {
        "form left", "form, next left ,", "before called", "tag VBD", "tag before VBD", "tag after ,", "tags VBD VBD",
        "relation root", "relation, before root VBD",
    } <= set(left)  # fmt: skip
    # the subject with its relative clause ends before "left"; no subtree begins with it, so its own stands there
    assert {
        "begins root right", "ends nsubj NOUN", "ends, before nsubj NOUN VBD", "ends, goes on nsubj NOUN VBD True VERB",
        "ends, verb nsubj VBD True False", "clause ends acl:relcl VERB VBD", "clause ends, begins acl:relcl root",
    } <= set(left)  # fmt: skip
    assert "step other root" in left
    # the adverbial clause begins with "because"; nothing but the word before ends, punctuation left aside
    assert {
        "form because", "before ,", "tags, next IN PRP", "begins advcl right", "begins, size advcl 2 ,",
        "begins, form advcl because", "begins, under advcl left", "ends, begins root VERB advcl", "step down advcl",
        "step, from down root advcl", "step, form down advcl left", "step, tags down IN ,",
        "step, relation down mark advcl", "step, first down advcl VERB False True",
    } <= set(because)  # fmt: skip


def test_a_start_is_a_sum_above_zero() -> None:
    fitted = UnitSigns({"before ,": 2.0, "form because": 0.5, "tag VBD": -9.0}, network=0.5, bias=-1.0, doubt=8.0)
    # 0.5 * -2.9 - 1 + 2.5 = 0.05; 0.5 * -3.1 - 1 + 2.5 = -0.05; 0.5 * 7 - 1 - 9 < 0
    assert fitted.starts(SENTENCE, [6, 6, 4], [-2.9, -3.1, 7.0]) == [True, False, False]


@pytest.mark.parametrize("step", [1, -1])
def test_a_tree_as_deep_as_the_sentence_is_long(step: int) -> None:
    n = 5000
    heads = [i - step if 0 <= i - step < n else -1 for i in range(n)]
    words = ["w"] * n
    found = list(signs(Sentence(words, ["NOUN"] * n, ["NN"] * n, heads, ["nmod"] * n), [1, n - 1]))
    assert "tags NN NN" in found[0]
    assert len(found) == 2
