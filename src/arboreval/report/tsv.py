"""Tab-separated tables."""

from __future__ import annotations

from collections.abc import Iterable

from arboreval.report.model import Report


def render(report: Report) -> str:
    """One table: pairs of systems for a comparison, else systems, or segments at the level ``seg``."""
    if report.comparisons:
        return _tsv(_comparison_rows(report))
    return _tsv(_segment_rows(report) if report.level == "seg" else _system_rows(report))


def _system_rows(report: Report) -> Iterable[list[object]]:
    yield ["system", "metric", "value", "ci_low", "ci_high", "n", "failed", "degraded", "signature"]
    for system in report.systems:
        for score in system.scores.values():
            low, high = score.ci or (None, None)
            yield [
                system.name, score.metric, score.value, low, high,
                score.n, score.failed, score.degraded, score.signature,
            ]  # fmt: skip


def _segment_rows(report: Report) -> Iterable[list[object]]:
    metrics = [name for name, score in report.systems[0].scores.items() if score.segment_signature]
    yield ["system", "doc", "seg", *metrics]
    for system in report.systems:
        by_metric = report.segment_scores(system.name)
        for i, (document, seg) in enumerate(report.corpus.ids()):
            yield [system.name, document, seg, *(by_metric[name][i] for name in metrics)]


def _comparison_rows(report: Report) -> Iterable[list[object]]:
    yield [
        "metric", "a", "b", "score_a", "score_b", "difference", "ci_low", "ci_high",
        "p_bootstrap", "p_ar", "p_bootstrap_holm", "p_ar_holm", "winner", "signature",
    ]  # fmt: skip
    for c in report.comparisons:
        a, b = report.system(c.a).scores[c.metric], report.system(c.b).scores[c.metric]
        low, high = c.ci or (None, None)
        yield [
            c.metric, c.a, c.b, a.value, b.value, c.difference, low, high,
            c.p_bootstrap, c.p_ar, c.p_bootstrap_holm, c.p_ar_holm, c.winner, a.signature,
        ]  # fmt: skip


def _tsv(rows: Iterable[list[object]]) -> str:
    return "".join("\t".join(_cell(value) for value in row) + "\n" for row in rows)


def _cell(value: object) -> str:
    """Missing values are empty; numbers keep every digit."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value).replace("\t", " ").replace("\n", " ")
