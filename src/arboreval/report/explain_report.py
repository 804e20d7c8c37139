"""Which evidence a report holds: analyses are made again for these outputs only."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from arboreval.report.explain_html import View, legend
from arboreval.report.model import Report
from arboreval.run.explain import explain_segments, has_evidence

__all__ = ["EACH", "MAX_OUTPUTS", "Embedded", "embedded", "legend"]

#: for each metric and system, outputs with the lowest scores, and as many that differ most from another system's
EACH = 10
#: outputs in all
MAX_OUTPUTS = 60
#: characters in all; longer texts make fewer outputs
MAX_SIZE = 3_500_000

#: label of the metric, system, position of the segment
Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Embedded:
    """The evidence for one output by one metric; several views where the score is a mean over references."""

    metric: str
    system: str
    segment: int
    views: tuple[View, ...]

    @cached_property
    def size(self) -> int:
        return sum(len(view.drawing or "") + len(view.data) for view in self.views)


def embedded(report: Report, among: Collection[int]) -> list[Embedded]:
    """Evidence for some outputs of the segments at the positions ``among``."""
    made: list[Embedded] = []
    size = 0
    wanted = _choose(report, among)[:MAX_OUTPUTS]
    found: dict[Key, Embedded] = {}
    for statistics in report.statistics:
        label = statistics.metric.label
        mine = [(system, i) for metric, system, i in wanted if metric == label]
        if not mine:
            continue
        for (system, i), explained in zip(mine, explain_segments(statistics.metric, mine, report.corpus), strict=True):
            found[label, system, i] = Embedded(label, system, i, tuple(View(pair) for pair in explained.pairs))
    for key in wanted:
        size += found[key].size
        if size > MAX_SIZE:
            break
        made.append(found[key])
    return made


def _choose(report: Report, among: Collection[int]) -> list[Key]:
    """All candidates, the most telling of every metric and system before the second of any."""
    lists = [
        [(statistics.metric.label, name, i) for i in segments]
        for statistics in report.statistics
        if has_evidence(type(statistics.metric))
        for name, segments in _telling(report, statistics.metric.label, statistics.metric.info.higher_is_better, among)
    ]
    return list(dict.fromkeys(keys[rank] for rank in range(EACH) for keys in lists if rank < len(keys)))


def _telling(report: Report, metric: str, higher: bool, among: Collection[int]) -> Iterator[tuple[str, list[int]]]:
    """For each system its worst outputs, and those that differ most from another system's."""
    scores = {system.name: report.segment_scores(system.name)[metric] for system in report.systems}
    for name, own in scores.items():
        known = {i: value for i in among if (value := own[i]) is not None}
        yield name, sorted(known, key=lambda i, known=known: known[i] if higher else -known[i])[:EACH]  # type: ignore[misc]
        gaps = {
            i: max(abs(value - theirs) for theirs in others)
            for i, value in known.items()
            if (others := [x for other, by in scores.items() if other != name and (x := by[i]) is not None])
        }
        yield name, sorted(gaps, key=lambda i, gaps=gaps: -gaps[i])[:EACH]  # type: ignore[misc]
