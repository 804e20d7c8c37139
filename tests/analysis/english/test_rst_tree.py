import pytest

from arboreval.analysis.english.rst_tree import (
    CLASSES,
    brackets_to_spans,
    relation_class,
    spans_to_tree,
    tree_to_spans,
)
from arboreval.analysis.structures import RstTree

TREE = ["SN", "attribution-positive", 0, ["NS", "elaboration-attribute", 1, ["NN", "joint-list", 2, 3]]]
SPANS = [(0, 4, "SN-attribution"), (1, 4, "NS-elaboration"), (2, 4, "NN-joint")]


def test_relation_names_fall_into_fifteen_classes() -> None:
    assert len(CLASSES) == 15
    assert relation_class("joint-list") == "joint"
    assert relation_class("same-unit") == "same-unit"
    assert relation_class("elaboration") == "elaboration"
    with pytest.raises(ValueError, match="unknown discourse relation: 'span'"):
        relation_class("span")


def test_nested_trees_become_spans() -> None:
    assert brackets_to_spans(TREE) == SPANS
    assert brackets_to_spans(0) == []


def test_left_branching_trees_keep_pre_order() -> None:
    tree = ["NS", "causal-result", ["NN", "same-unit", 0, 1], 2]
    assert brackets_to_spans(tree) == [(0, 3, "NS-causal"), (0, 2, "NN-same-unit")]


def test_deep_documents_need_no_recursion() -> None:
    tree: object = 3000
    for edu in range(2999, -1, -1):
        tree = ["NN", "joint-list", edu, tree]
    spans = brackets_to_spans(tree)
    assert len(spans) == 3000
    assert spans[-1] == (2999, 3001, "NN-joint")


def test_subtrees_that_are_not_neighbours_are_refused() -> None:
    with pytest.raises(ValueError, match="not adjacent"):
        brackets_to_spans(["NN", "joint-list", 0, 2])


def test_spans_become_a_tree_with_roles_and_relations() -> None:
    tree = spans_to_tree([0, 3, 5, 9], SPANS)
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2, 4, 4]
    assert tree.first.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert tree.last.tolist() == [4, 1, 4, 2, 4, 3, 4]
    assert tree.nuclearity == ("root", "S", "N", "N", "S", "N", "N")
    assert tree.relation == ("attribution", "", "elaboration", "", "joint", "", "")
    assert tree.edu_start.tolist() == [0, 3, 5, 9]
    assert tree_to_spans(tree) == SPANS


def test_one_unit_and_none() -> None:
    assert spans_to_tree([0], []).nuclearity == ("root",)
    assert len(spans_to_tree([], [])) == 0


def test_a_node_with_many_children_branches_to_the_right() -> None:
    tree = RstTree.from_nested([0, 1, 2], ["NN", "joint-list", 0, 1, 2])
    assert tree_to_spans(tree) == [(0, 3, "NN-joint"), (1, 3, "NN-joint")]


@pytest.mark.parametrize(
    ("spans", "message"),
    [([(0, 3, "NN-joint")], "has 2 spans, not 1"), ([(0, 2, "NN-joint"), (1, 3, "NN-joint")], "1-3 crosses")],
)
def test_what_is_no_binary_tree_is_refused(spans: list[tuple[int, int, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spans_to_tree([0, 1, 2], spans)
