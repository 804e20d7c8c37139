"""Coefficients of a meta-evaluation as one tab-separated table; numbers keep every digit, what is missing is empty."""

from __future__ import annotations

from collections.abc import Iterator

from arboreval.report.meta_model import MetaReport

_HEAD = ["dataset", "lp", "metric", "level", "corr", "average", "value", "ci_low", "ci_high", "n", "failed", "reason"]


def render(report: MetaReport) -> str:
    return "".join("\t".join(_cell(value) for value in row) + "\n" for row in _rows(report))


def _rows(report: MetaReport) -> Iterator[list[object]]:
    yield list(_HEAD)
    for r in report.results:
        low, high = r.ci or (None, None)
        yield [r.dataset, r.lp, r.metric, r.level, r.corr, r.average, r.value, low, high, r.n, r.failed, r.reason]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value).replace("\t", " ").replace("\n", " ")
