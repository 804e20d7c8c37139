"""Score files as mt-metrics-eval reads them: ``metric-scores/SRC-TGT/NAME-REF.LEVEL.score``, lines ``SYSTEM SCORE``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from arboreval.errors import UsageError
from arboreval.report.files import write_atomically
from arboreval.report.model import Report

_WHITE_SPACE = re.compile(r"\s+")


def write_mtme(report: Report, directory: Path) -> list[Path]:
    """Writes a system-level file for every metric, and a segment-level file where the metric has that level.

    A score that failed is written as ``None``, the convention's word for a missing score.
    """
    folder = directory / "metric-scores" / report.corpus.language_pair
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}.") from error
    reference = "refA" if report.input.references == 1 else "all"
    by_system = {system.name: report.segment_scores(system.name) for system in report.systems}
    written = []
    for metric in report.metrics:
        stem = f"{metric.replace(':', '_')}-{reference}"
        rows = [(system.name, system.scores[metric].value) for system in report.systems]
        written.append(_write(folder / f"{stem}.sys.score", rows))
        if report.systems[0].scores[metric].segment_signature:
            pairs = ((name, value) for name, scores in by_system.items() for value in scores[metric])
            written.append(_write(folder / f"{stem}.seg.score", pairs))
    return written


def _write(path: Path, rows: Iterable[tuple[str, float | None]]) -> Path:
    # names may hold no white space: it separates the columns
    write_atomically(path, "".join(f"{_WHITE_SPACE.sub('_', name)}\t{value!r}\n" for name, value in rows))
    return path
