from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboreval.analysis.english.ucca_tree import graph_to_spans, join_sentences, spans_to_graph


def graph(words: str, terms: dict[int, list[int]], edges: list[list[Any]], implicit: tuple[int, ...] = ()) -> Any:
    nodes = {0, *(edge[1] for edge in edges)}
    named = {str(node): under for node, under in terms.items()}
    return {
        "tokens": words.split(),
        "n": len(nodes),
        "roots": [0],
        "edges": edges,
        "terms": named,
        "implicit": list(implicit),
    }


def edges_by_words(made: Any) -> list[tuple[tuple[int, ...], str, int]]:
    """The edges of a graph as (words of the child, category, remote), sorted."""
    children: dict[int, list[int]] = {}
    for parent, child, _, remote in made["edges"]:
        if not remote:
            children.setdefault(parent, []).append(child)

    def words(node: int) -> set[int]:
        found = set(made["terms"].get(str(node), ()))
        return found.union(*(words(child) for child in children.get(node, ())))

    return sorted((tuple(sorted(words(child))), category, far) for _, child, category, far in made["edges"])


def round_trip(given_graph: Any) -> Any:
    spans, remotes = graph_to_spans(given_graph)
    return spans_to_graph(len(given_graph["tokens"]), spans, remotes)


SIMPLE = graph(
    "John kicked the bucket .",
    {2: [0], 3: [1, 2, 3], 4: [4]},
    [[0, 1, "H", 0], [1, 2, "A", 0], [1, 3, "P", 0], [0, 4, "U", 0]],
)

# "He picked it up": the process is "picked ... up"
DISCONTINUOUS = graph(
    "He picked it up",
    {2: [0], 3: [1, 3], 4: [2]},
    [[0, 1, "H", 0], [1, 2, "A", 0], [1, 3, "P", 0], [1, 4, "A", 0]],
)

# "Did she go home ?": the process "Did ... go" has two children, one on either side of the gap
QUESTION = graph(
    "Did she go home ?",
    {3: [0], 4: [2], 5: [1], 6: [3], 7: [4]},
    [
        [0, 1, "H", 0],
        [1, 2, "P", 0],
        [2, 3, "F", 0],
        [2, 4, "C", 0],
        [1, 5, "A", 0],
        [1, 6, "A", 0],
        [0, 7, "U", 0],
    ],
)

# "He came and left": he also left
REMOTE = graph(
    "He came and left",
    {3: [0], 4: [1], 5: [2], 6: [3]},
    [
        [0, 1, "H", 0],
        [0, 5, "L", 0],
        [0, 2, "H", 0],
        [1, 3, "A", 0],
        [1, 4, "P", 0],
        [2, 6, "P", 0],
        [2, 3, "A", 1],
    ],
)


def test_categories_label_the_spans_and_an_unanalysable_unit_has_none_inside() -> None:
    spans, remotes = graph_to_spans(SIMPLE)
    assert spans == [(0, 5, "ROOT"), (0, 4, "H"), (0, 1, "A"), (1, 4, "P"), (4, 5, "U")]
    assert remotes == []


def test_a_detached_part_is_marked_and_found_again() -> None:
    spans, _ = graph_to_spans(DISCONTINUOUS)
    assert spans == [(0, 4, "ROOT+H"), (0, 1, "A"), (1, 2, "P"), (2, 3, "A"), (3, 4, "P^")]
    rebuilt = round_trip(DISCONTINUOUS)
    assert [3] not in rebuilt["terms"].values()
    assert [1, 3] in rebuilt["terms"].values()


def test_a_detached_child_keeps_its_own_category() -> None:
    spans, _ = graph_to_spans(QUESTION)
    assert (0, 1, "P+F") in spans
    assert (2, 3, "P^+C") in spans


def test_remote_edges_are_told_by_their_spans() -> None:
    spans, remotes = graph_to_spans(REMOTE)
    assert (3, 4, "H+P") in spans
    assert remotes == [((3, 4), (0, 1), "A")]
    rebuilt = round_trip(REMOTE)
    (remote,) = [edge for edge in rebuilt["edges"] if edge[3]]
    # the parent is the scene, not the process that covers the same word
    assert [edge[2] for edge in rebuilt["edges"] if edge[1] == remote[0]] == ["H"]


@pytest.mark.parametrize("whole", [SIMPLE, DISCONTINUOUS, QUESTION, REMOTE])
def test_the_edges_come_back(whole: Any) -> None:
    assert edges_by_words(round_trip(whole)) == edges_by_words(whole)


def test_units_without_words_are_left_out() -> None:
    spans, remotes = graph_to_spans(
        graph("Go", {2: [0]}, [[0, 1, "H", 0], [1, 2, "P", 0], [1, 3, "A", 0], [1, 3, "A", 1]], implicit=(3,))
    )
    assert spans == [(0, 1, "ROOT+H+P")]
    assert remotes == []


def test_a_part_of_a_unit_inside_a_smaller_unit_moves_above_it() -> None:
    # E ("that I saw") belongs to A ("The man ... that I saw") across the verb
    whole = graph(
        "The man left that I saw",
        {3: [0], 4: [1], 5: [2], 7: [3], 8: [4], 9: [5]},
        [
            [0, 1, "H", 0],
            [1, 2, "A", 0],
            [2, 3, "F", 0],
            [2, 4, "C", 0],
            [1, 5, "P", 0],
            [2, 6, "E", 0],
            [6, 7, "R", 0],
            [6, 8, "A", 0],
            [6, 9, "P", 0],
        ],
    )
    assert (3, 6, "A^+E") in graph_to_spans(whole)[0]
    assert edges_by_words(round_trip(whole)) == edges_by_words(whole)


def test_words_that_no_span_explains_still_get_a_place() -> None:
    made = spans_to_graph(3, [], punctuation={2})
    assert edges_by_words(made) == [((0, 1), "H", 0), ((2,), "U", 0)]
    made = spans_to_graph(3, [(0, 3, "ROOT+H"), (0, 1, "A")])
    assert edges_by_words(made) == [((0,), "A", 0), ((0, 1, 2), "H", 0)]


def test_a_continuation_of_nothing_is_a_unit_of_its_own() -> None:
    made = spans_to_graph(2, [(0, 2, "H"), (0, 1, "A"), (1, 2, "P^")])
    assert edges_by_words(made) == [((0,), "A", 0), ((0, 1), "H", 0), ((1,), "P", 0)]


def test_what_is_no_scene_under_the_root_becomes_one() -> None:
    spans = [(0, 1, "L"), (1, 2, "A"), (2, 3, "U"), (3, 4, "P"), (4, 6, "H"), (6, 7, "A")]
    made = spans_to_graph(7, spans, [((0, 7), (4, 6), "A")])
    assert edges_by_words(made) == [
        ((0,), "L", 0),
        ((1,), "A", 0),
        ((1, 3, 6), "H", 0),
        ((2,), "U", 0),
        ((3,), "P", 0),
        ((4, 5), "A", 1),
        ((4, 5), "H", 0),
        ((6,), "A", 0),
    ]
    scene = next(edge[1] for edge in made["edges"] if edge[:1] == [0] and edge[2] == "H")
    assert [edge[0] for edge in made["edges"] if edge[3]] == [scene]


def test_a_remote_edge_to_an_ancestor_or_to_no_unit_is_dropped() -> None:
    spans = [(0, 2, "ROOT+H"), (0, 1, "A"), (1, 2, "P")]
    remotes = [((0, 1), (0, 2), "A"), ((1, 2), (5, 6), "A"), ((0, 2), (0, 1), "A")]
    assert not any(edge[3] for edge in spans_to_graph(2, spans, remotes)["edges"])


def test_of_remote_edges_that_make_a_cycle_the_first_is_kept() -> None:
    spans = [(0, 2, "H"), (0, 1, "A"), (1, 2, "P"), (2, 4, "H"), (2, 3, "A"), (3, 4, "P")]
    made = spans_to_graph(4, spans, [((0, 2), (2, 4), "A"), ((2, 4), (0, 2), "A"), ((2, 4), (0, 1), "A")])
    far = [edge for edge in edges_by_words(made) if edge[2]]
    assert far == [((0,), "A", 1), ((2, 3), "A", 1)]


@pytest.mark.parametrize(
    ("spans", "message"), [([(0, 2, "A"), (1, 3, "P")], "crosses"), ([(0, 4, "A")], "outside a sentence of 3 words")]
)
def test_spans_that_are_no_tree_are_refused(spans: list[tuple[int, int, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spans_to_graph(3, spans)


def test_sentences_join_into_one_graph() -> None:
    joined = join_sentences([5, 4], [round_trip(SIMPLE), round_trip(REMOTE)])
    assert joined.roots == (0, 5)
    assert joined.n_nodes == 12
    assert int(joined.remote.sum()) == 1
    assert sorted(joined.term_word.tolist()) == list(range(9))


LABELS = st.sampled_from(["A", "P", "H", "A^", "P^+C", "A^+P^", "ROOT+H", "E+S|A", "S|A^", "U"])


@given(st.integers(1, 8), st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), LABELS), max_size=14))
def test_any_nested_prediction_makes_a_valid_graph(n_words: int, drawn: list[tuple[int, int, str]]) -> None:
    spans: list[tuple[int, int, str]] = []
    for start, end, label in drawn:
        crossing = any(a < start < b < end or start < a < end < b for a, b, _ in spans)
        taken = any((a, b) == (start, end) for a, b, _ in spans)
        if start < end <= n_words and not crossing and not taken:
            spans.append((start, end, label))
    remotes = [((a, b), (c, d), "A") for a, b, _ in spans for c, d, _ in spans]
    made = spans_to_graph(n_words, spans, remotes, punctuation={n_words - 1})
    joined = join_sentences([n_words], [made])
    assert sorted(joined.term_word.tolist()) == list(range(n_words))
    under_root = [set(category.split("|")) for parent, _, category, _ in made["edges"] if parent == 0]
    assert all(category & {"H", "L", "U"} for category in under_root)


def test_only_single_words_are_punctuation() -> None:
    """A mark predicted over a clause would hide its scene."""
    spans = [(0, 2, "H"), (2, 5, "U"), (2, 3, "U"), (3, 4, "A"), (4, 5, "P")]
    made = spans_to_graph(5, spans)
    assert edges_by_words(made) == [
        ((0, 1), "H", 0),
        ((2,), "U", 0),
        ((3,), "A", 0),
        ((3, 4), "H", 0),
        ((4,), "P", 0),
    ]
    assert edges_by_words(spans_to_graph(2, [(0, 2, "H+U")])) == [((0, 1), "H", 0)]


def test_no_remote_edge_leaves_the_root() -> None:
    """The unit over the whole sentence takes part, or the scene that was put around it."""
    made = spans_to_graph(3, [(0, 3, "A"), (0, 1, "A"), (1, 3, "A")], [((0, 3), (0, 1), "D"), ((1, 3), (0, 3), "D")])
    remote = [edge for edge in made["edges"] if edge[3]]
    assert [[parent, category] for parent, _, category, _ in remote] == [[1, "D"]]
    assert [0, 1, "H", 0] in made["edges"]
    assert [1, 2, "A", 0] in made["edges"]
