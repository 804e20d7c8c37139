"""Tables for the terminal. They are narrow and long rather than wide, so that 80 columns usually hold them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from arboreval.report.model import Report, Score

_SEGMENT_LISTING = 10  # failed segments named one by one; the JSON has all


def decimals(score: Score) -> int:
    """Digits after the point: 2 on a scale to 100, 4 on a scale to 1."""
    return 4 if score.scale[1] == 1 else 2


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def interval(ci: tuple[float, float] | None, digits: int, sign: str = "") -> str:
    return "-" if ci is None else f"[{ci[0]:{sign}.{digits}f}, {ci[1]:{sign}.{digits}f}]"


def arrow(score: Score) -> str:
    return "↑" if score.higher_is_better else "↓"


def win_matrix(report: Report, metric: str) -> list[tuple[str, list[str]]]:
    """For each system, best first: > where it is significantly better than the column's system, < where worse."""
    winners: dict[tuple[str, str], str | None] = {}
    for c in report.comparisons:
        if c.metric == metric:
            winners[c.a, c.b] = winners[c.b, c.a] = c.winner
    names = [system.name for system in report.ranked(metric)]

    def cell(a: str, b: str) -> str:
        if a == b:
            return "·"
        winner = winners[a, b]
        return "=" if winner is None else ">" if winner == a else "<"

    return [(a, [cell(a, b) for b in names]) for a in names] if winners else []


def render(report: Report) -> str:
    page = _Page()
    _scores(page, report)
    for metric in report.metrics:
        if any(c.metric == metric for c in report.comparisons):
            _pairs(page, report, metric)
    if report.level == "seg":
        _segments(page, report)
    return page.text() + "\n" + "\n".join(_notes(report)) + "\n"


class _Page:
    """Collects tables. Rich draws them; nothing is ever cut or wrapped, however narrow the terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer, width=100_000, force_terminal=color, no_color=not color, highlight=False, markup=False
        )

    def table(self, title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
        """Columns are (head, justification); names are plain text, never markup."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head, justify in columns:
            table.add_column(Text(head), justify=justify, no_wrap=True)  # type: ignore[arg-type]  # a Literal there
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._console.print(Text(title, style="bold"))
        self._console.print(table)
        self._console.print()

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._buffer.getvalue().rstrip("\n").split("\n")) + "\n"


def _scores(page: _Page, report: Report) -> None:
    count = report.input.references
    each = (
        "1 reference" if count == 1 else "a varying number of references" if count == "var" else f"{count} references"
    )
    scores = [score for system in report.systems for score in system.scores.values()]
    compared = bool(report.comparisons)
    optional = [name for name in ("failed", "degraded") if any(getattr(score, name) for score in scores)]
    columns = [("metric", "left"), ("system", "left"), ("score", "right"), ("95% interval", "right")]
    columns += [("rank", "right")] * compared + [(name, "right") for name in optional]
    rows = []
    for metric in report.metrics:
        for i, system in enumerate(report.ranked(metric) if compared else report.systems):
            score = system.scores[metric]
            digits = decimals(score)
            rows.append(
                [
                    f"{metric} {arrow(score)}" if i == 0 else "",
                    system.name,
                    number(score.value, digits),
                    interval(score.ci, digits),
                    *([str(score.rank)] if compared else []),
                    *(str(getattr(score, name)) for name in optional),
                ]
            )
    segments = "1 segment" if report.input.segments == 1 else f"{report.input.segments} segments"
    page.table(f"{segments}, {each} each", columns, rows)


def _pairs(page: _Page, report: Report, metric: str) -> None:
    digits = decimals(report.systems[0].scores[metric])
    columns = [("", "left"), ("", "center"), ("", "left"), ("difference", "right"), ("95% interval", "right")]
    columns += [("p bootstrap", "right"), ("p randomis.", "right")]
    rows = [
        [
            c.a,
            "=" if c.winner is None else ">" if c.winner == c.a else "<",
            c.b,
            f"{c.difference:+.{digits}f}",
            interval(c.ci, digits, "+"),
            f"{c.p_bootstrap_holm:.4f}",
            f"{c.p_ar_holm:.4f}",
        ]
        for c in report.comparisons
        if c.metric == metric
    ]
    page.table(f"{metric}: significantly better (>), worse (<), no difference found (=)", columns, rows)
    if len(report.systems) > 2:
        matrix = win_matrix(report, metric)
        columns = [(metric, "left"), *((name, "center") for name, _ in matrix)]
        page.table("row against column", columns, [[name, *cells] for name, cells in matrix])


def _segments(page: _Page, report: Report) -> None:
    scores = [score for score in report.systems[0].scores.values() if score.segment_signature]
    columns = [("seg", "right"), ("system", "left"), *((f"{s.metric} {arrow(s)}", "right") for s in scores)]
    by_system = {system.name: report.segment_scores(system.name) for system in report.systems}
    rows = [
        [str(seg), name, *(number(by_metric[s.metric][i], decimals(s)) for s in scores)]
        for i, seg in enumerate(report.corpus.segment_ids)
        for name, by_metric in by_system.items()
    ]
    page.table("segments", columns, rows)


def _notes(report: Report) -> list[str]:
    lines = []
    if report.comparisons:
        lines.append(
            "rank: 1 + the number of significantly better systems. A difference is significant if both p-values\n"
            "(Holm-corrected over all pairs of a metric) are below 0.05. Raw p-values: --format json or tsv."
        )
        if report.failures:
            lines.append("Differences leave out segments on which some system failed.")
    scores = report.systems[0].scores
    lines += [score.signature for score in scores.values()]
    if report.level == "seg":
        lines += [f"segments: {score.segment_signature}" for score in scores.values() if score.segment_signature]
    for what, issues in (("failed", report.failures), ("degraded", report.degraded)):
        lines += [f"{what}: {x.metric}, {x.system}, segment {x.seg}: {x.reason}" for x in issues[:_SEGMENT_LISTING]]
        if len(issues) > _SEGMENT_LISTING:
            lines.append(f"{what}: {len(issues) - _SEGMENT_LISTING} more; --format json lists all.")
    return lines
