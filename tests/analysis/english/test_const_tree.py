import pytest

from arboreval.analysis.english.const_tree import spans_to_tree, tree_to_spans

# "He wants to go . / Stop"
SPANS = [
    [(0, 5, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "S+VP"), (3, 4, "VP")],
    [(0, 1, "S+VP")],
]


def test_chains_become_nodes_in_pre_order_over_the_segment() -> None:
    tree = spans_to_tree([5, 1], SPANS)
    assert tree.label == ("TOP", "S", "NP", "VP", "S", "VP", "VP", "TOP", "S", "VP")
    assert tree.parent.tolist() == [-1, 0, 1, 1, 3, 4, 5, -1, 7, 8]
    assert tree.start.tolist() == [0, 0, 0, 1, 2, 2, 3, 5, 5, 5]
    assert tree.end.tolist() == [5, 5, 1, 4, 4, 4, 4, 6, 6, 6]


def test_the_spans_come_back() -> None:
    assert tree_to_spans(spans_to_tree([5, 1], SPANS)) == SPANS


def test_a_sentence_without_phrases_is_a_bare_top() -> None:
    tree = spans_to_tree([2], [[]])
    assert tree.label == ("TOP",)
    assert tree_to_spans(tree) == [[]]


def test_an_empty_segment_has_no_nodes() -> None:
    assert spans_to_tree([], []).label == ()


def test_the_order_of_the_spans_does_not_matter() -> None:
    assert spans_to_tree([5], [SPANS[0][::-1]]) == spans_to_tree([5], [SPANS[0]])


def test_crossing_spans_are_refused() -> None:
    with pytest.raises(ValueError, match="1-3 crosses"):
        spans_to_tree([3], [[(0, 2, "NP"), (1, 3, "VP")]])


def test_a_span_outside_the_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="outside a sentence of 3 words"):
        spans_to_tree([3], [[(0, 4, "NP")]])
