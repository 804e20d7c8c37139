"""The report of annotator agreement: plain data, and its renderers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from arboreval.errors import UsageError
from arboreval.report.latex import escape
from arboreval.report.text import _Page as Page

SCHEMA_VERSION = 1
FORMATS = ("text", "json", "tsv", "latex", "html")

Value = float | None


@dataclass(frozen=True)
class Statistic:
    """One number of agreement, on all items and on those that are no traps; None with a reason where undefined."""

    name: str
    value: Value
    n: int
    reason: str
    without_traps: Value
    n_without_traps: int
    reason_without_traps: str


@dataclass(frozen=True)
class Annotator:
    """One annotator; mean and deviation leave traps out."""

    name: str
    ratings: int
    mean: Value
    sd: Value
    one_vs_rest: Value
    reason: str
    one_vs_rest_without_traps: Value
    reason_without_traps: str
    traps: tuple[int, int, int] | None
    seconds: Value
    seconds_cut: Value


@dataclass(frozen=True)
class AgreementTask:
    """One task and criterion."""

    task: str
    criterion: str
    annotators: tuple[Annotator, ...]
    items: int
    ratings: int
    #: rated traps by bin: zero, low, high
    traps: tuple[int, int, int] | None
    statistics: tuple[Statistic, ...]
    seconds: Value
    seconds_cut: Value
    cut: float
    #: mean z-score of every item that is no trap
    z: tuple[tuple[str, Value], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.task}, {self.criterion}"


@dataclass(frozen=True)
class AgreementReport:
    """The result of :func:`arboreval.agreement`."""

    version: str
    tasks: tuple[AgreementTask, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "arboreval_version": self.version,
            "tasks": [
                {
                    **{k: v for k, v in asdict(task).items() if k not in ("z", "traps", "annotators")},
                    "traps": _bins(task.traps),
                    "annotators": [{**asdict(a), "traps": _bins(a.traps)} for a in task.annotators],
                    "z": dict(task.z),
                }
                for task in self.tasks
            ],
        }

    def render(self, format: str) -> str:
        """The report as ``text``, ``json``, ``tsv``, ``latex`` or ``html``."""
        if format == "html":
            from arboreval.report.agree_html import render

            return render(self)
        renderers = {"text": _text, "json": _json, "tsv": _tsv, "latex": _latex}
        if format not in renderers:
            raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
        return renderers[format](self)


def _bins(traps: tuple[int, int, int] | None) -> dict[str, int] | None:
    return None if traps is None else dict(zip(("zero", "low", "high"), traps, strict=True))


def number(value: Value, digits: int = 4) -> str:
    return "n/a" if value is None else f"{value:.{digits}f}"


def bins(traps: tuple[int, int, int] | None) -> str:
    return "-" if traps is None else "/".join(map(str, traps))


def _json(report: AgreementReport) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _text(report: AgreementReport) -> str:
    page, notes = Page(), []
    for task in report.tasks:
        has_traps, has_times = task.traps is not None, task.seconds is not None
        columns = [("agreement", "left"), ("value", "right"), ("n", "right")]
        columns += [("without traps", "right"), ("n", "right")] * has_traps
        rows = [
            [s.name, number(s.value), str(s.n), *([number(s.without_traps), str(s.n_without_traps)] * has_traps)]
            for s in task.statistics
        ]
        page.table(f"{task.title}: {len(task.annotators)} annotators, {task.items} items", columns, rows)
        columns = [("annotator", "left"), ("ratings", "right"), ("mean", "right"), ("sd", "right")]
        columns += [("r with the rest", "right")] + [
            ("without traps", "right"),
            ("traps 0/low/high", "right"),
        ] * has_traps
        columns += [("seconds", "right"), (f"below {task.cut:g} s", "right")] * has_times
        rows = []
        for a in task.annotators:
            cells = [a.name, str(a.ratings), number(a.mean, 2), number(a.sd, 2), number(a.one_vs_rest)]
            cells += [number(a.one_vs_rest_without_traps), bins(a.traps)] * has_traps
            rows.append(cells + [number(a.seconds, 1), number(a.seconds_cut, 1)] * has_times)
        page.table("annotators", columns, rows)
        if has_traps:
            notes.append(f"{task.title}: traps rated zero/low (to 20)/high: {bins(task.traps)}")
        if has_times:
            times = f"{number(task.seconds, 2)} s, below {task.cut:g} s: {number(task.seconds_cut, 2)} s"
            notes.append(f"{task.title}: mean time {times}")
        for s in task.statistics:
            notes += [f"n/a: {task.title}, {s.name}: {s.reason}"] * (s.value is None)
            missing = has_traps and s.without_traps is None
            notes += [f"n/a: {task.title}, {s.name} without traps: {s.reason_without_traps}"] * missing
        notes += [f"{task.title}: {note}" for note in task.notes]
    return page.text() + ("\n" + "\n".join(notes) + "\n" if notes else "")


def _tsv(report: AgreementReport) -> str:
    lines = [["task", "criterion", "statistic", "value", "n", "reason"]]
    lines[0] += ["value_without_traps", "n_without_traps", "reason_without_traps", "notes"]
    for task in report.tasks:
        for s in task.statistics:
            both = [_digits(s.value), str(s.n), s.reason]
            both += [_digits(s.without_traps), str(s.n_without_traps), s.reason_without_traps]
            lines.append([task.task, task.criterion, s.name, *both, "; ".join(task.notes)])
    return "".join("\t".join(cell.replace("\t", " ") for cell in line) + "\n" for line in lines)


def _digits(value: Value) -> str:
    return "" if value is None else repr(value)


def _latex(report: AgreementReport) -> str:
    names = list(dict.fromkeys(s.name for task in report.tasks for s in task.statistics))
    lines = ["% agreement on all items, without traps after the slash"]
    for task in report.tasks:
        lines.append(f"% {task.title}: {len(task.annotators)} annotators, {task.items} items, {task.ratings} ratings")
        lines += [f"% {task.title}, {s.name}: n = {s.n}, without traps {s.n_without_traps}" for s in task.statistics]
        lines += [f"% n/a: {task.title}, {s.name}: {s.reason}" for s in task.statistics if s.value is None]
        lines += [f"% {task.title}: {note}" for note in task.notes]
    lines += [
        r"\begin{tabular}{l" + "r" * len(names) + "}",
        r"\toprule",
        f"Task & {' & '.join(escape(name) for name in names)} \\\\",
        r"\midrule",
    ]
    for task in report.tasks:
        found = {s.name: s for s in task.statistics}
        cells = []
        for name in names:
            s = found.get(name)
            text = "" if s is None else number(s.value, 3)
            cells.append(text + (f" / {number(s.without_traps, 3)}" if s is not None and task.traps else ""))
        lines.append(f"{escape(task.title)} & {' & '.join(cells)} \\\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
