"""Tables of a meta-evaluation for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arboreval.report.meta_model import Cluster, MetaReport, Partial, Result
from arboreval.report.text import _Page as Page
from arboreval.significance import ALPHA

CORRECTED = {"holm": "Holm's", "bonferroni": "Bonferroni's"}

_REASONS = 8  # reasons listed one by one; the JSON has all


def number(value: float | None, digits: int = 4, sign: str = "") -> str:
    return "n/a" if value is None else f"{value:{sign}.{digits}f}"


def interval(ci: tuple[float, float] | None) -> str:
    return "-" if ci is None else f"[{ci[0]:.3f}, {ci[1]:.3f}]"


def counts(results: Iterable[Result]) -> str:
    """n of the results that have a value, as a range where metrics lack different outputs."""
    found = sorted({r.n for r in results if r.value is not None})
    return "-" if not found else str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def render(report: MetaReport) -> str:
    page = Page()
    if len(report.data) == 1:
        _one(page, report)
    else:
        _many(page, report)
    if report.phenomena:
        _phenomena(page, report)
    _tests(page, report)
    for partial in report.partial:
        _partial(page, partial)
    return page.text() + "\n" + "\n".join(_notes(report)) + "\n"


def _one(page: Page, report: MetaReport) -> None:
    """One data set: a line for each metric and coefficient, with its interval."""
    failed = any(r.failed for r in report.results)
    columns = [("corr", "left"), ("metric", "left"), ("value", "right"), ("95% interval", "right"), ("n", "right")]
    columns += [("failed", "right")] * failed
    rows = []
    for level, corr in report.corrs:
        mine = [r for r in report.results if (r.level, r.corr) == (level, corr)]
        for i, r in enumerate(sorted(mine, key=_order)):
            cells = [corr if i == 0 else "", r.metric, number(r.value), interval(r.ci), str(r.n)]
            rows.append(cells + [str(r.failed)] * failed)
    d = report.data[0]
    size = f"{d.segments:,} segments, {d.outputs:,} outputs" + (f", {d.systems} systems" if d.systems else "")
    page.table(f"{d.name}, level {d.level}, human: {d.human} ({size})", columns, rows)


def _order(r: Result) -> float:
    return float("inf") if r.value is None else -r.value


def _many(page: Page, report: MetaReport) -> None:
    """Several data sets: a table for each coefficient, a line for each data set, and one below it for intervals."""
    values = {(r.level, r.corr, r.dataset, r.lp, r.metric): r for r in report.results}
    for level, corr in report.corrs:
        data = [d for d in report.data if any(k[:4] == (level, corr, d.dataset, d.lp) for k in values)]
        columns = [("data", "left"), ("human", "left"), ("n", "right"), *((m, "right") for m in report.metrics)]
        rows = []
        for d in data:
            mine = [values.get((level, corr, d.dataset, d.lp, m)) for m in report.metrics]
            rows.append([d.name, d.human, counts(r for r in mine if r), *(number(r.value) if r else "" for r in mine)])
            if any(r is not None and r.ci for r in mine):
                rows.append(["", "", "", *(interval(r.ci) if r is not None and r.ci else "" for r in mine)])
        for a_dataset in dict.fromkeys(a.dataset for a in report.averages):
            mine_averages = {
                a.metric: a
                for a in report.averages
                if (a.dataset, a.level, a.corr) == (a_dataset, level, corr) and a.pairs > 1
            }
            if mine_averages:
                name = "average of all" if a_dataset is None else f"average of {a_dataset}"
                pairs = max(a.pairs for a in mine_averages.values())
                cells = [number(mine_averages[m].value) if m in mine_averages else "" for m in report.metrics]
                rows.append([name, "", f"{pairs} sets", *cells])
        page.table(f"{corr}, level {level}", columns, rows)


def _phenomena(page: Page, report: MetaReport) -> None:
    for d in report.data:
        mine = [p for p in report.phenomena if (p.dataset, p.lp) == (d.dataset, d.lp)]
        if not mine:
            continue
        by = {(p.phenomenon, p.metric): p for p in mine}
        columns = [("phenomenon", "left"), ("n", "right"), *((m, "right") for m in report.metrics)]
        rows = [
            [name, str(by[name, report.metrics[0]].n), *(number(by[name, m].value, 3) for m in report.metrics)]
            for name in dict.fromkeys(p.phenomenon for p in mine)
        ]
        page.table(f"{d.name}: share of pairs in which the right text scores higher", columns, rows)


def _tests(page: Page, report: MetaReport) -> None:
    for cluster in report.clusters:
        where = f"{cluster.dataset} {cluster.lp}, {cluster.corr}, level {cluster.level}"
        columns = [("", "left"), ("rank", "right"), *((m, "center") for m in cluster.metrics)]
        matrix = win_matrix(report, cluster)
        rows = [[m, str(rank), *cells] for m, rank, cells in zip(cluster.metrics, cluster.ranks, matrix, strict=True)]
        page.table(f"{where}, {cluster.test}: row significantly better (>), worse (<), else =", columns, rows)


def win_matrix(report: MetaReport, cluster: Cluster) -> list[list[str]]:
    """Row against column, in the order of the cluster."""
    key = (cluster.dataset, cluster.lp, cluster.level, cluster.corr, cluster.test)
    winners: dict[tuple[str, str], str | None] = {}
    for t in report.tests:
        if (t.dataset, t.lp, t.level, t.corr, t.test) == key:
            winners[t.a, t.b] = winners[t.b, t.a] = t.winner

    def cell(a: str, b: str) -> str:
        if a == b:
            return "·"
        winner = winners.get((a, b))
        return "=" if winner is None else ">" if winner == a else "<"

    return [[cell(a, b) for b in cluster.metrics] for a in cluster.metrics]


def _partial(page: Page, partial: Partial) -> None:
    columns = [("", "left"), *((m, "right") for m in partial.metrics)]
    rows = [
        [m, *("·" if i == j else number(v, 3) for j, v in enumerate(row))]
        for i, (m, row) in enumerate(zip(partial.metrics, partial.partial, strict=True))
    ]
    title = f"{partial.dataset} {partial.lp}: correlation between metrics given the human scores"
    page.table(f"{title} (level {partial.level}, n = {partial.n})", columns, rows)


def _notes(report: MetaReport) -> list[str]:
    lines = []
    humans = dict.fromkeys(d.human for d in report.data)
    lines.append(f"human scores: {', '.join(humans)}")
    if any(r.ci for r in report.results):
        lines.append(f"intervals: {report.trials:,} bootstrap resamples of {report.unit}, seed {report.seed}")
    if any(t.p is not None for t in report.tests):
        lines.append(f"significant: p <= {ALPHA:g} after {CORRECTED[report.correction]} correction")
    lines += _signature_lines(report.signatures)
    missing = _missing(report.results)
    lines += missing[:_REASONS]
    lines += partial_reasons(report)
    if len(missing) > _REASONS:
        lines.append(f"n/a: {len(missing) - _REASONS} more; --format json lists all.")
    lines += report.notes
    return lines


def partial_reasons(report: MetaReport) -> list[str]:
    return [f"n/a: correlation between metrics, {p.dataset} {p.lp}: {why}" for p in report.partial for why in p.reasons]


def _signature_lines(signatures: object) -> list[str]:
    return list(dict.fromkeys(dict(signatures).values()))  # type: ignore[call-overload]  # a mapping


def _missing(results: Sequence[Result]) -> list[str]:
    lines = [
        f"n/a: {r.metric}, {r.dataset} {r.lp}, {r.corr}: {r.reason}" for r in results if r.value is None and r.reason
    ]
    return list(dict.fromkeys(lines))
