"""The pictures of a meta-evaluation for papers: bars with intervals, scatter, win matrix, partial correlations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from arboreval.errors import UsageError
from arboreval.report.canvas import Box, Canvas, Dot, Line, Words, text_width
from arboreval.report.files import write_atomically
from arboreval.report.html import Axis
from arboreval.report.meta_model import Cluster, MetaReport, Partial, Points, Result
from arboreval.report.meta_text import win_matrix

_UNSAFE = re.compile(r"[^A-Za-z0-9.+-]+")
_ROW = 20.0
_CELL = 34.0


def pictures(report: MetaReport) -> Iterator[tuple[str, Canvas]]:
    """Every picture with a name for its file."""
    for d in report.data:
        for level, corr in report.corrs:
            mine = [
                r
                for r in report.results
                if (r.dataset, r.lp, r.level, r.corr) == (d.dataset, d.lp, level, corr) and r.value is not None
            ]
            if mine:
                yield _name("bars", d.dataset, d.lp, level, corr), bars(mine)
    for points in report.points:
        if len(points.x) > 1:
            yield _name("scatter", points.dataset, points.lp, points.level, points.metric), scatter(points)
    for cluster in report.clusters:
        name = _name("wins", cluster.dataset, cluster.lp, cluster.level, cluster.corr, cluster.test)
        yield name, wins(report, cluster)
    for partial in report.partial:
        yield _name("partial", partial.dataset, partial.lp, partial.level), partial_correlations(partial)


def save_pictures(report: MetaReport, folder: Path, formats: tuple[str, ...] = ("svg", "pdf")) -> list[Path]:
    for format_ in formats:
        if format_ not in ("svg", "pdf"):
            raise UsageError(f"pictures are written as svg or pdf, not as {format_!r}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name, canvas in pictures(report):
            for format_ in formats:
                path = folder / f"{name}.{format_}"
                if format_ == "svg":
                    write_atomically(path, canvas.svg())
                else:
                    path.write_bytes(canvas.pdf())
                written.append(path)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}.") from error
    return written


def _name(*parts: str) -> str:
    return "_".join(_UNSAFE.sub("-", part) for part in parts)


def _share(axis: Axis, value: float) -> float:
    return (value - axis.low) / (axis.high - axis.low)


def close_axis(values: Sequence[float]) -> Axis | None:
    """An axis with up to eight ticks, so that a cloud of points fills its plot."""
    coarse = Axis.around(values)
    if coarse is None:
        return None
    low, high, step = min(values), max(values), coarse.step
    for part in (2, 4, 5):
        finer = step / part
        start, stop = math.floor(low / finer), math.ceil(high / finer)
        if finer < 0.999 * step and start < stop <= start + 8:  # one value alone spans nothing
            coarse = Axis(start * finer, stop * finer, finer)
    return coarse


def _tick_values(axis: Axis) -> list[tuple[float, str]]:
    digits = next((d for d in range(7) if abs(axis.step * 10**d - round(axis.step * 10**d)) < 1e-6), 6)
    count = round((axis.high - axis.low) / axis.step) + 1
    return [(value := axis.low + i * axis.step, f"{value:z.{digits}f}") for i in range(count)]


def bars(results: list[Result]) -> Canvas:
    """A bar for every metric, best first, with its interval."""
    ordered = sorted(results, key=lambda r: -(r.value or 0.0))
    first = ordered[0]
    ends = [0.0, *(r.value for r in ordered if r.value is not None), *(x for r in ordered for x in r.ci or ())]
    axis = Axis.around(ends) or Axis(0.0, 1.0, 0.5)
    left = max(text_width(r.metric, 9) for r in ordered) + 16
    width, top = 400.0, 28.0
    bottom = top + _ROW * len(ordered)
    span = width - left - 46
    title = f"{first.dataset} {first.lp}: {first.corr}, {_level(first.level)}"
    canvas = Canvas(width, bottom + 26, title)

    def at(value: float) -> float:
        return left + span * _share(axis, value)

    canvas.add(Words(left, 14, title, 10, bold=True))
    for value, label in _tick_values(axis):
        canvas.add(Line(at(value), top, at(value), bottom, "grid", 0.8))
        canvas.add(Words(at(value), bottom + 13, label, 8, "middle", "muted"))
    for i, r in enumerate(ordered):
        if r.value is None:
            continue
        y = top + _ROW * i
        start, stop = sorted((at(0.0), at(r.value)))
        canvas.add(Words(left - 8, y + 13, r.metric, 9, "end"))
        canvas.add(Box(start, y + 5, stop - start, _ROW - 10, "cool" if r.value >= 0 else "warm", 0.45))
        if r.ci is not None:
            low, high = at(r.ci[0]), at(r.ci[1])
            canvas.add(Line(low, y + 10, high, y + 10), *(Line(x, y + 7, x, y + 13) for x in (low, high)))
        canvas.add(Words(width - 4, y + 13, f"{r.value:.3f}", 9, "end"))
    canvas.add(Line(at(0.0), top, at(0.0), bottom, "muted", 0.8))
    return canvas


def scatter(points: Points) -> Canvas:
    """Metric scores from left to right, human scores from below."""
    width, height, left, top, low = 320.0, 290.0, 46.0, 26.0, 250.0
    across, up = close_axis(points.x) or Axis(0, 1, 0.5), close_axis(points.y) or Axis(0, 1, 0.5)
    title = f"{points.dataset} {points.lp}: {points.metric}"
    canvas = Canvas(width, height, title)
    right = width - 10

    def x_at(value: float) -> float:
        return left + (right - left) * _share(across, value)

    def y_at(value: float) -> float:
        return low - (low - top) * _share(up, value)

    canvas.add(Words(left, 14, title, 10, bold=True))
    for value, label in _tick_values(across):
        canvas.add(Line(x_at(value), top, x_at(value), low, "grid", 0.8))
        canvas.add(Words(x_at(value), low + 13, label, 8, "middle", "muted"))
    for value, label in _tick_values(up):
        canvas.add(Line(left, y_at(value), right, y_at(value), "grid", 0.8))
        canvas.add(Words(left - 5, y_at(value) + 3, label, 8, "end", "muted"))
    few = len(points.x) <= 40
    for x, y, label in zip(points.x, points.y, points.labels, strict=True):
        canvas.add(Dot(x_at(x), y_at(y), 3.0 if few else 1.3, "cool", 1.0 if few else 0.6))
        if few and points.level == "sys":
            end = x_at(x) + 6 + text_width(label, 6.5) > right
            canvas.add(Words(x_at(x) + (-5 if end else 5), y_at(y) + 2, label, 6.5, "end" if end else "start", "muted"))
    canvas.add(Words((left + right) / 2, height - 12, points.metric, 9, "middle"))
    canvas.add(Words(12, (top + low) / 2, f"human: {points.human}", 9, "middle", turn=90))
    return canvas


def wins(report: MetaReport, cluster: Cluster) -> Canvas:
    """Who is significantly better than whom: the row wins where a cell is filled."""
    title = f"{cluster.dataset} {cluster.lp}: {cluster.corr}, {cluster.test}"
    canvas, left, top = _grid(title, cluster.metrics)
    key = (cluster.dataset, cluster.lp, cluster.level, cluster.corr, cluster.test)
    mine = [t for t in report.tests if (t.dataset, t.lp, t.level, t.corr, t.test) == key]
    p_values = {(t.a, t.b): t.corrected(report.correction) for t in mine}
    for i, (a, cells) in enumerate(zip(cluster.metrics, win_matrix(report, cluster), strict=True)):
        for j, (b, symbol) in enumerate(zip(cluster.metrics, cells, strict=True)):
            x, y = left + _CELL * j, top + _CELL * i
            color, tint = {">": ("cool", 0.6), "<": ("warm", 0.35), "=": ("grid", 0.6)}.get(symbol, ("grid", 0.0))
            canvas.add(Box(x + 1, y + 1, _CELL - 2, _CELL - 2, color, tint))
            p = p_values.get((a, b), p_values.get((b, a)))
            if a != b:
                text = symbol if p is None or symbol == "<" else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")
                canvas.add(Words(x + _CELL / 2, y + _CELL / 2 + 3, text, 8, "middle"))
    return canvas


def partial_correlations(partial: Partial) -> Canvas:
    title = f"{partial.dataset} {partial.lp}: correlation given human scores (n = {partial.n})"
    canvas, left, top = _grid(title, partial.metrics)
    for i, row in enumerate(partial.partial):
        for j, value in enumerate(row):
            x, y = left + _CELL * j, top + _CELL * i
            if value is None or i == j:
                continue
            color = "cool" if value >= 0 else "warm"
            canvas.add(Box(x + 1, y + 1, _CELL - 2, _CELL - 2, color, 0.08 + 0.72 * abs(value)))
            canvas.add(Words(x + _CELL / 2, y + _CELL / 2 + 3, f"{value:.2f}".replace("0.", ".", 1), 8, "middle"))
    return canvas


def _grid(title: str, names: tuple[str, ...]) -> tuple[Canvas, float, float]:
    """Names down the left side and, upright, across the top."""
    longest = max(text_width(name, 9) for name in names)
    left, top = longest + 14, longest + 36
    width = max(left + _CELL * len(names) + 8, text_width(title, 10) * 1.1 + 16)
    canvas = Canvas(width, top + _CELL * len(names) + 8, title)
    canvas.add(Words(8, 14, title, 10, bold=True))
    for i, name in enumerate(names):
        canvas.add(Words(left - 6, top + _CELL * i + _CELL / 2 + 3, name, 9, "end"))
        canvas.add(Words(left + _CELL * i + _CELL / 2 + 3, top - 6, name, 9, turn=90))
    return canvas, left, top


def _level(level: str) -> str:
    return "systems" if level == "sys" else "segments"
