"""A meta-evaluation as one HTML file that needs no network: tables, bars, matrices, and a scatter plot to play with."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arboreval.report.html import Axis, _asset, _script_json
from arboreval.report.meta_figures import close_axis
from arboreval.report.meta_model import Cluster, DataSummary, MetaReport, Partial, Points, Result, Test
from arboreval.report.meta_text import win_matrix

#: points in the file; more would make one that browsers open slowly
MAX_POINTS = 40_000
_LISTING = 100


def render(report: MetaReport) -> str:
    css = Markup(_asset("report.css") + _asset("meta.css"))  # our own files
    js = Markup(_asset("meta.js"))
    page = (
        environment()
        .get_template("meta.html.j2")
        .render(
            report=report,
            sets=[DataView(report, d) for d in report.data],
            overview=_overview(report),
            clusters=[ClusterView(report, c) for c in report.clusters],
            partial=[PartialView(p) for p in report.partial],
            missing=[r for r in report.results if r.value is None][:_LISTING],
            data=_script_json(_points(report.points)),
            css=css,
            js=js,
            # only this very script may run, whatever a name holds
            js_hash=base64.b64encode(hashlib.sha256(js.encode()).digest()).decode(),
        )
    )
    return page.encode("utf-8", "replace").decode()


def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("arboreval.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["fixed"] = fixed
    return made


def fixed(value: float | None, digits: int = 3) -> str:
    return "n/a" if value is None else f"{value:z.{digits}f}"


@dataclass(frozen=True)
class DataView:
    """The coefficients of one data set."""

    report: MetaReport
    data: DataSummary

    @cached_property
    def tables(self) -> list[CorrView]:
        mine = [r for r in self.report.results if (r.dataset, r.lp) == (self.data.dataset, self.data.lp)]
        kinds = dict.fromkeys((r.level, r.corr) for r in mine)
        return [CorrView([r for r in mine if (r.level, r.corr) == kind]) for kind in kinds]

    @cached_property
    def phenomena(self) -> list[tuple[str, int, list[float | None]]]:
        mine = [p for p in self.report.phenomena if (p.dataset, p.lp) == (self.data.dataset, self.data.lp)]
        by = {(p.phenomenon, p.metric): p for p in mine}
        names = dict.fromkeys(p.phenomenon for p in mine)
        metrics = self.report.metrics
        return [(name, by[name, metrics[0]].n, [by[name, m].value for m in metrics]) for name in names]


@dataclass(frozen=True)
class CorrView:
    """One coefficient of all metrics on one data set, best first."""

    results: Sequence[Result]

    @property
    def first(self) -> Result:
        return self.results[0]

    @cached_property
    def ordered(self) -> list[Result]:
        return sorted(self.results, key=lambda r: float("inf") if r.value is None else -r.value)

    @cached_property
    def axis(self) -> Axis | None:
        known = [x for r in self.results if r.value is not None for x in (r.value, *(r.ci or ()))]
        return Axis.around([0.0, *known]) if known else None

    def bar(self, value: float) -> tuple[str, str]:
        """Where the bar from zero begins and how long it is, in percent."""
        axis = self.axis
        if axis is None:
            return "0%", "0%"
        zero, end = (float(axis.at(v).rstrip("%")) for v in (0.0, value))
        return f"{min(zero, end):.2f}%", f"{abs(end - zero):.2f}%"

    @property
    def has_failed(self) -> bool:
        return any(r.failed for r in self.results)


@dataclass(frozen=True)
class ClusterView:
    """The win matrix of one test."""

    report: MetaReport
    cluster: Cluster

    @cached_property
    def tests(self) -> dict[tuple[str, str], Test]:
        c = self.cluster
        key = (c.dataset, c.lp, c.level, c.corr, c.test)
        found = {(t.a, t.b): t for t in self.report.tests if (t.dataset, t.lp, t.level, t.corr, t.test) == key}
        return found | {(b, a): t for (a, b), t in found.items()}

    @cached_property
    def rows(self) -> list[tuple[str, int, list[dict[str, Any]]]]:
        c = self.cluster
        rows = []
        for a, rank, symbols in zip(c.metrics, c.ranks, win_matrix(self.report, c), strict=True):
            rows.append((a, rank, [self._cell(a, b, s) for b, s in zip(c.metrics, symbols, strict=True)]))
        return rows

    def _cell(self, a: str, b: str, symbol: str) -> dict[str, Any]:
        kind = {">": "better", "<": "worse", "=": "equal"}.get(symbol, "self")
        test = self.tests.get((a, b))
        words = "" if test is None else _words(a, b, kind, test, self.report.correction)
        difference = test.difference if test is not None and test.difference is not None else 0.0
        largest = max((abs(t.difference or 0.0) for t in self.tests.values()), default=0.0)
        strength = round(14 + 30 * abs(difference) / largest) if largest else 14
        p = None if test is None else test.corrected(self.report.correction)
        return {"kind": kind, "symbol": symbol, "words": words, "strength": strength, "p": _p(p)}


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 0.9995 else "1"


def _words(a: str, b: str, kind: str, test: Test, correction: str) -> str:
    said = {"better": "agrees significantly better than", "worse": "agrees significantly worse than"}
    sign = 1 if test.a == a else -1
    parts = [f"{a} {said.get(kind, 'is not told apart from')} {b}"]
    if test.difference is not None:
        parts.append(f"difference {sign * test.difference:+.4f}")
    corrected = test.corrected(correction)
    if test.p is not None and corrected is not None:
        parts.append(f"p {test.p:.4f}, corrected {corrected:.4f}")
    if test.ci is not None:
        low, high = test.ci if sign > 0 else (-test.ci[1], -test.ci[0])
        parts.append(f"interval {low:+.4f} to {high:+.4f}")
    return ", ".join(parts)


@dataclass(frozen=True)
class PartialView:
    """Correlations between metrics with and without what they share with people."""

    partial: Partial

    def cells(self, i: int) -> list[dict[str, Any]]:
        rows = zip(self.partial.partial[i], self.partial.plain[i], strict=True)
        return [
            {
                "self": i == j,
                "value": given,
                "plain": plain,
                "kind": "better" if (given or 0.0) >= 0 else "worse",
                "plain_kind": "better" if (plain or 0.0) >= 0 else "worse",
                "tint": round(6 + 50 * abs(given or 0.0)),
                "plain_tint": round(6 + 50 * abs(plain or 0.0)),
            }
            for j, (given, plain) in enumerate(rows)
        ]


def _overview(report: MetaReport) -> list[dict[str, Any]]:
    """For several data sets: one table a coefficient, with the averages."""
    if len(report.data) < 2:
        return []
    values = {(r.level, r.corr, r.dataset, r.lp, r.metric): r.value for r in report.results}
    tables = []
    for level, corr in report.corrs:
        rows: list[tuple[str, list[tuple[float | None, bool]], bool]] = []
        for d in report.data:
            if any(key[:4] == (level, corr, d.dataset, d.lp) for key in values):
                mine = [values.get((level, corr, d.dataset, d.lp, m)) for m in report.metrics]
                rows.append((d.name, _marked(mine), False))
        for dataset in dict.fromkeys(a.dataset for a in report.averages):
            averages = {
                a.metric: a
                for a in report.averages
                if (a.dataset, a.level, a.corr) == (dataset, level, corr) and a.pairs > 1
            }
            if averages:
                found = [averages[m].value if m in averages else None for m in report.metrics]
                rows.append(("average" if dataset is None else f"average of {dataset}", _marked(found), True))
        tables.append({"level": level, "corr": corr, "rows": rows})
    return tables


def _marked(values: Sequence[float | None]) -> list[tuple[float | None, bool]]:
    """Each value, and whether it is the best."""
    best = max((v for v in values if v is not None), default=None)
    return [(v, v is not None and v == best) for v in values]


def _points(points: Sequence[Points]) -> dict[str, Any]:
    """Fewer points of each plot if there are many plots; each keeps points from all through the data."""
    share = max(MAX_POINTS // max(len(points), 1), 60)
    plots = []
    for p in points:
        step = max(-(-len(p.x) // share), 1)
        across, up = close_axis(p.x), close_axis(p.y)
        if across is None or up is None:
            continue
        plots.append(
            {
                "set": f"{p.dataset} {p.lp}",
                "metric": p.metric,
                "human": p.human,
                "level": p.level,
                "total": p.total,
                "x": [round(v, 4) for v in p.x[::step]],
                "y": [round(v, 4) for v in p.y[::step]],
                "labels": p.labels[::step],
                "xAxis": [across.low, across.high, across.step],
                "yAxis": [up.low, up.high, up.step],
            }
        )
    return {"plots": plots}
