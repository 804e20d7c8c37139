"""One HTML file that needs no network: tables and plots are in the markup, a small script adds the segment explorer."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeGuard

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arboreval.report.model import Comparison, Report, Score, System
from arboreval.report.text import decimals, win_matrix
from arboreval.report.trees.text import clean
from arboreval.significance import ALPHA, BOOTSTRAP_TRIALS, RANDOMISATION_TRIALS

if TYPE_CHECKING:
    from types import ModuleType

    from arboreval.report.explain_report import Embedded

#: segments in the explorer; more would make a file that browsers open slowly
MAX_SEGMENTS = 2_000
_ISSUE_LISTING = 100  # failed segments named one by one; the JSON has all
_PLOT_MARGIN = 4.0  # percent of a plot's width left free on both sides, for dots at the ends of the axis


def render(report: Report) -> str:
    chosen = _choose(report)
    evidence, limits = _evidence(report, chosen)
    # figures and the script that links them, only where there are some
    assets = ("report", "explain") if evidence else ("report",)
    css = Markup("".join(_asset(f"{name}.css") for name in assets))  # our own files
    js = Markup("".join(_asset(f"{name}.js") for name in reversed(assets)))
    environment = Environment(
        loader=PackageLoader("arboreval.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(fixed=_fixed, component=_component, count=_count, clean=clean)
    environment.tests["finite"] = _is_finite
    page = environment.get_template("report.html.j2").render(
        report=report,
        metrics=[MetricView(report, name) for name in report.metrics],
        issues=_issues(report, chosen),
        issue_listing=_ISSUE_LISTING,
        embedded=len(chosen),
        data=_script_json(_explorer_data(report, chosen, evidence)),
        evidence=evidence,
        grades=limits.legend(),
        limits=limits,
        alpha=ALPHA,
        bootstrap=BOOTSTRAP_TRIALS,
        randomisation=RANDOMISATION_TRIALS,
        css=css,
        js=js,
        # only this very script may run, whatever a text or a name holds
        js_hash=base64.b64encode(hashlib.sha256(js.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace").decode()  # a lone surrogate in a text must not lose the report


def _asset(name: str) -> str:
    return (files("arboreval.report") / "assets" / name).read_text(encoding="utf-8")


# --- what the template shows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricView:
    """One metric of the report, arranged for the page."""

    report: Report
    name: str

    @cached_property
    def scores(self) -> list[tuple[System, Score]]:
        """Systems with their scores, best first."""
        return [(system, system.scores[self.name]) for system in self.report.ranked(self.name)]

    @property
    def first(self) -> Score:
        return self.scores[0][1]

    @property
    def digits(self) -> int:
        return decimals(self.first)

    @property
    def direction(self) -> str:
        return "higher is better" if self.first.higher_is_better else "lower is better"

    @property
    def summary(self) -> str:
        return next(s.metric.info.summary for s in self.report.statistics if s.metric.label == self.name)

    @cached_property
    def axis(self) -> Axis | None:
        return Axis.around(_ends((score.value, score.ci) for _, score in self.scores))

    @property
    def component_names(self) -> list[str]:
        return list(dict.fromkeys(name for _, score in self.scores for name in score.components))

    def has(self, count: str) -> bool:
        """Whether any system has ``failed`` or ``degraded`` segments."""
        return any(getattr(score, count) for _, score in self.scores)

    @cached_property
    def pairs(self) -> list[Comparison]:
        return [c for c in self.report.comparisons if c.metric == self.name]

    @cached_property
    def pair_axis(self) -> Axis | None:
        return Axis.around([0.0, *_ends((c.difference, c.ci) for c in self.pairs)])

    @cached_property
    def matrix(self) -> list[tuple[str, list[Cell]]]:
        """Rows and columns best first."""
        differences = {(c.a, c.b): c.difference for c in self.pairs}
        differences |= {(b, a): -difference for (a, b), difference in differences.items()}
        largest = max(map(abs, differences.values()), default=0.0)
        rows = win_matrix(self.report, self.name)
        names = [name for name, _ in rows]
        return [
            (
                a,
                [
                    Cell(a, b, symbol, differences.get((a, b)), largest)
                    for b, symbol in zip(names, symbols, strict=True)
                ],
            )
            for a, symbols in rows
        ]


@dataclass(frozen=True)
class Cell:
    """One cell of the win matrix: the row's system against the column's."""

    row: str
    column: str
    symbol: str
    difference: float | None
    largest: float

    @property
    def kind(self) -> str:
        return {">": "better", "<": "worse", "=": "equal"}.get(self.symbol, "self")

    @property
    def words(self) -> str:
        if self.kind == "equal":
            return f"no significant difference between {self.row} and {self.column}"
        return f"{self.row} is significantly {self.kind} than {self.column}"

    @property
    def strength(self) -> int:
        """Tint in percent: stronger for larger differences, always light enough to read the text on it."""
        return round(12 + 26 * abs(self.difference or 0.0) / self.largest) if self.largest else 12


@dataclass(frozen=True)
class Axis:
    """A shared axis with round numbers at its ticks; positions are percentages of a plot's width."""

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float | None]) -> Axis | None:
        finite = [value for value in values if _is_finite(value)]
        if not finite:
            return None
        low, high = min(finite), max(finite)
        size = max(abs(low), abs(high), 1.0)
        span = high - low if high - low > 1e-6 * size else size / 10  # equal scores may differ in their last bits
        power = 10.0 ** math.floor(math.log10(span / 3))
        step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 3.5)
        start, stop = math.floor(low / step), math.ceil(high / step)
        return cls(start * step, max(stop, start + 1) * step, step)

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """Positions and labels."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        values = [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]
        return [(self.at(value), f"{value:z.{digits}f}") for value in values]

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{_PLOT_MARGIN + share * (100 - 2 * _PLOT_MARGIN):.2f}%"


def _ends(scores: Iterable[tuple[float | None, tuple[float, float] | None]]) -> Iterable[float | None]:
    for value, ci in scores:
        yield from (value, *(ci or ()))


def _is_finite(value: float | None) -> TypeGuard[float]:
    """False for what is missing, and for the NaN that a plug-in's formula may give."""
    return value is not None and math.isfinite(value)


def _fixed(value: float | None, digits: int, sign: str = "") -> str:
    return f"{value:{sign}z.{digits}f}" if _is_finite(value) else "–"  # z: no -0.00


def _component(value: float) -> str:
    """Parts have scales of their own: counts, percentages, ratios."""
    if value == int(value) and abs(value) >= 1:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 2 else f"{value:.4f}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _issues(report: Report, chosen: Sequence[int]) -> dict[str, list[dict[str, Any]]]:
    """Failed and degraded segments. The statistics know them by position, which is unique; a segment id may not be."""
    embedded, names, anchors = set(chosen), list(report.corpus.systems), _anchors(report)
    found: dict[str, list[dict[str, Any]]] = {"failed": [], "degraded": []}
    for statistics in report.statistics:
        for p in statistics.problems:
            found[p.status].append(
                {
                    "metric": statistics.metric.label,
                    "system": names[p.system],
                    "seg": report.corpus.segment_ids[p.segment],
                    "link": anchors[p.segment] if p.segment in embedded else None,
                    "reason": p.reason,
                }
            )
    return found


def _evidence(report: Report, chosen: Sequence[int]) -> tuple[list[Embedded], ModuleType]:
    """What the scores of some outputs are made of, where a metric can tell; and the module that has the limits."""
    from arboreval.report import explain_report

    return explain_report.embedded(report, chosen), explain_report


# --- what the explorer shows -------------------------------------------------------------------------------------


def _choose(report: Report, limit: int = MAX_SEGMENTS) -> list[int]:
    """Positions of the segments to embed: where systems differ most or, for one system, the worst."""
    n = len(report.corpus)
    levelled = [s for s in report.systems[0].scores.values() if s.segment_signature]
    if n <= limit or not levelled:
        return list(range(min(n, limit)))
    first = levelled[0]
    columns = [report.segment_scores(system.name)[first.metric] for system in report.systems]

    def interest(i: int) -> float:
        values = [value for column in columns if (value := column[i]) is not None]
        if not values:
            return -math.inf
        if len(columns) > 1:
            return max(values) - min(values)
        return -values[0] if first.higher_is_better else values[0]

    return sorted(sorted(range(n), key=interest, reverse=True)[:limit])


def _explorer_data(report: Report, chosen: Sequence[int], evidence: Sequence[Embedded] = ()) -> dict[str, Any]:
    corpus, anchors = report.corpus, _anchors(report)
    scores = [report.segment_scores(system.name) for system in report.systems]
    metrics = [s for s in report.systems[0].scores.values() if s.segment_signature]
    index = {score.metric: i for i, score in enumerate(metrics)}
    problems: dict[int, list[tuple[int, int, str, str]]] = {}
    for statistics in report.statistics:
        for p in statistics.problems:
            if statistics.metric.label in index:
                entry = (p.system, index[statistics.metric.label], p.status, p.reason)
                problems.setdefault(p.segment, []).append(entry)
    systems = list(corpus.systems)
    explained: dict[int, list[tuple[int, int, int]]] = {}
    for number, each in enumerate(evidence):
        explained.setdefault(each.segment, []).append((systems.index(each.system), index[each.metric], number))
    return {
        "lang": corpus.lang,
        "sourceLang": corpus.source_lang or "",
        "systems": [system.name for system in report.systems],
        "metrics": [
            {
                "name": s.metric,
                "higher": s.higher_is_better,
                "digits": decimals(s),
                "low": s.scale[0] or 0,
                "high": s.scale[1] if s.scale[1] is not None else _bar_end(x for by in scores for x in by[s.metric]),
            }
            for s in metrics
        ],
        "segments": [
            {
                "id": str(corpus.segment_ids[i]),
                "anchor": anchors[i],
                "doc": corpus.documents[i] if corpus.documents is not None else None,
                "source": corpus.sources[i] if corpus.sources is not None else None,
                "refs": corpus.references[i],
                "outputs": [texts[i] for texts in corpus.systems.values()],
                "scores": [[_rounded(by[s.metric][i]) for s in metrics] for by in scores],
                "problems": problems.get(i, []),
                "evidence": explained.get(i, []),
            }
            for i in chosen
        ],
    }


def _anchors(report: Report) -> list[str]:
    """Names of all segments in links: their ids or, where ids repeat (in several documents), their positions."""
    ids = [str(seg) for seg in report.corpus.segment_ids]
    return [f"seg-{seg}" for seg in (ids if len(set(ids)) == len(ids) else range(1, len(ids) + 1))]


def _bar_end(values: Iterable[float | None]) -> float:
    """Where the bars of a metric without an upper bound (TER) end: a few runaway outputs must not dwarf the rest."""
    finite = sorted(v for v in values if _is_finite(v))
    return (finite[int(0.95 * (len(finite) - 1))] if finite else 0.0) or 1.0


def _rounded(value: float | None) -> float | None:
    """More digits than are shown, so that sorting is that of the scores; JSON has no NaN."""
    return round(value, 6) if _is_finite(value) else None


def _script_json(data: object) -> Markup:
    """JSON for a script element: no ``<`` is left, so no text can end the element or open a comment in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e"))
