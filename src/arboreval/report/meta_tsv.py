"""Coefficients of a meta-evaluation as one tab-separated table; numbers keep every digit, what is missing is empty.

Means over the language pairs of a data set come last, with ``average`` in place of the pair (and no data set for the
mean over all files); their n counts pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from arboreval.report.meta_model import MetaReport

_HEAD = ["dataset", "lp", "metric", "level", "corr", "average", "value", "ci_low", "ci_high", "n", "failed", "reason"]


def render(report: MetaReport) -> str:
    return "".join("\t".join(_cell(value) for value in row) + "\n" for row in _rows(report))


def _rows(report: MetaReport) -> Iterator[list[object]]:
    notes = " ".join(report.notes)
    human = {(d.dataset, d.lp): d.human for d in report.data}
    yield [*_HEAD, "human", "signature", "notes"]
    for r in report.results:
        low, high = r.ci or (None, None)
        values = [r.dataset, r.lp, r.metric, r.level, r.corr, r.average, r.value, low, high, r.n, r.failed, r.reason]
        yield [*values, human[r.dataset, r.lp], report.signatures.get(r.metric), notes]
    for a in report.averages:
        if a.pairs > 1:
            values = [
                a.dataset,
                "average",
                a.metric,
                a.level,
                a.corr,
                None,
                a.value,
                None,
                None,
                a.pairs,
                None,
                a.reason,
            ]
            yield [*values, None, report.signatures.get(a.metric), notes]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value).replace("\t", " ").replace("\n", " ")
