"""How much of the UCCA annotation survives the conversion to spans and back.

SemEval-2019 edge F1: an edge is the yield of its child (punctuation left out) with its categories; two edges with the
same yield match when they share a category. This is the upper bound of a parser that predicts the spans.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from arboreval.analysis.english.ucca_tree import graph_to_spans, spans_to_graph

Edge = tuple[tuple[int, ...], frozenset[str]]


def edge_lists(graph: dict[str, Any], punctuation: set[int]) -> tuple[list[Edge], list[Edge]]:
    """Return the primary and the remote edges of a graph."""
    children: dict[int, list[int]] = defaultdict(list)
    for parent, child, _, remote in graph["edges"]:
        if not remote:
            children[parent].append(child)
    yields: dict[int, tuple[int, ...]] = {}
    order = list(graph["roots"])
    for node in order:
        order.extend(children[node])
    for node in reversed(order):
        words = {word for word in graph["terms"].get(str(node), ()) if word not in punctuation}
        for child in children[node]:
            words.update(yields[child])
        yields[node] = tuple(sorted(words))
    lists: tuple[list[Edge], list[Edge]] = ([], [])
    for _, child, category, remote in graph["edges"]:
        if yields[child]:
            lists[remote].append((yields[child], frozenset(category.split("|"))))
    return lists


def matched(gold: list[Edge], predicted: list[Edge]) -> int:
    """Return how many edges of the two lists can be paired one to one (greedily, exact category sets first)."""
    pool: dict[tuple[int, ...], list[frozenset[str]]] = defaultdict(list)
    for words, categories in gold:
        pool[words].append(categories)
    left, count = [], 0
    for words, categories in predicted:
        if categories in pool[words]:
            pool[words].remove(categories)
            count += 1
        else:
            left.append((words, categories))
    for words, categories in left:
        for other in pool[words]:
            if other & categories:
                pool[words].remove(other)
                count += 1
                break
    return count


def f1(match: int, gold: int, predicted: int) -> float:
    return 200.0 * match / (gold + predicted) if gold + predicted else 100.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="UCCA JSON lines, gzipped")
    for path in parser.parse_args().files:
        totals = [[0, 0, 0], [0, 0, 0]]
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                graph = json.loads(line)
                spans, remotes = graph_to_spans(graph)
                rebuilt = spans_to_graph(len(graph["tokens"]), spans, remotes)
                punctuation = set(graph["punct"])
                pairs = zip(edge_lists(graph, punctuation), edge_lists(rebuilt, punctuation), strict=True)
                for total, (gold, predicted) in zip(totals, pairs, strict=True):
                    total[0] += matched(gold, predicted)
                    total[1] += len(gold)
                    total[2] += len(predicted)
        print(
            f"{path.name}: primary F1 {f1(*totals[0]):.2f} ({totals[0][1]} edges), "
            f"remote F1 {f1(*totals[1]):.2f} ({totals[1][1]} edges)"
        )


if __name__ == "__main__":
    main()
