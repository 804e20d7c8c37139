"""Booktabs tables of a meta-evaluation to paste into a paper: a row a metric, a column a data set."""

from __future__ import annotations

from arboreval.report.latex import escape
from arboreval.report.meta_model import DataSummary, MetaReport, Result
from arboreval.report.meta_text import counts


def render(report: MetaReport) -> str:
    """One table for each coefficient. The best metric of a column is bold; so is every metric in its cluster."""
    lines = [f"% {name}: {signature}" for name, signature in report.signatures.items()]
    lines += [f"% {d.name}: human {d.human}, {d.segments} segments, {d.outputs} outputs" for d in report.data]
    lines += [f"% {note}" for note in report.notes]
    lines += [f"% n/a: {r.metric}, {r.dataset} {r.lp}, {r.corr}: {r.reason}" for r in report.results if r.value is None]
    if any(r.ci for r in report.results):
        lines.append(f"% intervals: {report.trials} bootstrap resamples of {report.unit}; an empty \\ci hides them")
        lines.append(r"\providecommand{\ci}[2]{ {\scriptsize [#1, #2]}}")
    for level, corr in report.corrs:
        lines += ["", *_table(report, level, corr)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(report: MetaReport, level: str, corr: str) -> list[str]:
    values = {(r.dataset, r.lp, r.metric): r for r in report.results if (r.level, r.corr) == (level, corr)}
    data = [d for d in report.data if any(key[:2] == (d.dataset, d.lp) for key in values)]
    averages = {
        a.metric: a.value
        for a in report.averages
        if a.dataset is None and (a.level, a.corr) == (level, corr) and a.pairs > 1
    }
    best = {
        (c.dataset, c.lp): {m for m, rank in zip(c.metrics, c.ranks, strict=True) if rank == 1}
        for c in report.clusters
        if (c.level, c.corr) == (level, corr)
    }
    for d in data:
        column = {
            m: r.value for (ds, lp, m), r in values.items() if (ds, lp) == (d.dataset, d.lp) and r.value is not None
        }
        if column and (d.dataset, d.lp) not in best:
            best[d.dataset, d.lp] = {max(column, key=lambda m: column[m])}
    heads = [escape(d.name) for d in data] + ["avg"] * bool(averages)
    lines = [
        f"% {corr}, level {level}",
        r"\begin{tabular}{l" + "r" * len(heads) + "}",
        r"\toprule",
        f"Metric & {' & '.join(heads)} \\\\",
        r"\midrule",
    ]
    for metric in report.metrics:
        cells = []
        for d in data:
            r = values.get((d.dataset, d.lp, metric))
            text = "n/a" if r is None or r.value is None else _number(r.value)
            bold = r is not None and r.value is not None and metric in best.get((d.dataset, d.lp), set())
            cells.append((rf"\textbf{{{text}}}" if bold else text) + _interval(None if r is None else r.ci))
        if averages:
            average = averages.get(metric)
            cells.append("n/a" if average is None else _number(average))
        lines.append(f"{escape(metric)} & {' & '.join(cells)} \\\\")
    n = [counts(r for r in report.results if _is(r, d, level, corr)) for d in data]
    lines += [r"\midrule", " & ".join(["$n$", *n, *[""] * bool(averages)]) + r" \\"]
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _is(r: Result, d: DataSummary, level: str, corr: str) -> bool:
    return (r.dataset, r.lp, r.level, r.corr) == (d.dataset, d.lp, level, corr)


def _interval(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else rf"\ci{{{_number(ci[0])}}}{{{_number(ci[1])}}}"


def _number(value: float) -> str:
    """Three digits, without the zero before the point, as the field prints correlations."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
