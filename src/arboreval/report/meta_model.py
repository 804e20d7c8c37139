"""The results of a meta-evaluation: plain data that the renderers read. ``to_dict`` is the JSON of docs/formats.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from arboreval.errors import UsageError

SCHEMA_VERSION = 1
FORMATS = ("text", "json", "tsv", "latex", "html")


@dataclass(frozen=True)
class DataSummary:
    """What was evaluated on."""

    dataset: str
    lp: str
    origin: str
    shape: str
    kind: str
    #: the human scores used: ``z``, ``raw``, ``z:Fluency``, ``preferences``, ...
    human: str
    level: str
    outputs: int
    segments: int
    full_segments: int
    systems: int

    @property
    def name(self) -> str:
        return f"{self.dataset} {self.lp}"


@dataclass(frozen=True)
class Result:
    """One coefficient of one metric on one data set."""

    dataset: str
    lp: str
    metric: str
    level: str
    corr: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    #: outputs the metric could not score
    failed: int
    #: why there is no value
    reason: str = ""
    #: how segments were grouped: ``none`` (pooled), ``item`` or ``sys``
    average: str = "none"


@dataclass(frozen=True)
class Average:
    """The mean of a coefficient over language pairs; ``dataset`` None is the mean over all files."""

    dataset: str | None
    metric: str
    level: str
    corr: str
    value: float | None
    pairs: int
    reason: str = ""


@dataclass(frozen=True)
class Test:
    """Metric ``a`` against metric ``b`` on one data set; the difference is a's coefficient minus b's."""

    dataset: str
    lp: str
    level: str
    corr: str
    test: str
    a: str
    b: str
    difference: float | None
    ci: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    p_bonferroni: float | None
    winner: str | None
    reason: str = ""

    def corrected(self, correction: str) -> float | None:
        """The p-value after this correction."""
        return self.p_holm if correction == "holm" else self.p_bonferroni


@dataclass(frozen=True)
class Cluster:
    """Metrics in order of their coefficient; a new cluster begins with a metric that any in the present one beats."""

    dataset: str
    lp: str
    level: str
    corr: str
    test: str
    metrics: tuple[str, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Phenomenon:
    """How often a metric prefers the right text, for one kind of perturbation."""

    dataset: str
    lp: str
    metric: str
    phenomenon: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    reason: str = ""


@dataclass(frozen=True)
class Partial:
    """Correlations between metrics, and what is left of them given the human scores."""

    dataset: str
    lp: str
    level: str
    metrics: tuple[str, ...]
    plain: tuple[tuple[float | None, ...], ...]
    partial: tuple[tuple[float | None, ...], ...]
    n: int
    #: why cells have no value
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Points:
    """Scores to draw against human scores; only in pictures."""

    dataset: str
    lp: str
    metric: str
    level: str
    human: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...]
    total: int


@dataclass(frozen=True)
class MetaReport:
    """The result of :func:`arboreval.meta_evaluate`."""

    version: str
    seed: int
    trials: int
    unit: str
    #: of p-values for the number of pairs: ``holm`` or ``bonferroni``
    correction: str
    data: tuple[DataSummary, ...]
    results: tuple[Result, ...]
    averages: tuple[Average, ...]
    tests: tuple[Test, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    phenomena: tuple[Phenomenon, ...] = ()
    partial: tuple[Partial, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    points: tuple[Points, ...] = field(default=(), repr=False)

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.metric for r in self.results))

    @property
    def corrs(self) -> tuple[tuple[str, str], ...]:
        """(level, coefficient) in the order they were asked for."""
        return tuple(dict.fromkeys((r.level, r.corr) for r in self.results))

    @property
    def failed(self) -> int:
        return sum({(r.dataset, r.lp, r.metric): r.failed for r in self.results}.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "arboreval_version": self.version,
            "seed": self.seed,
            "trials": self.trials,
            "resampling_unit": self.unit,
            "correction": self.correction,
            "data": [_plain(d) for d in self.data],
            "signatures": dict(self.signatures),
            "results": [_plain(r) for r in self.results],
            "averages": [_plain(a) for a in self.averages],
            "tests": [_plain(t) for t in self.tests],
            "clusters": [_plain(c) for c in self.clusters],
            "phenomena": [_plain(p) for p in self.phenomena],
            "partial": [_plain(p) for p in self.partial],
            "notes": list(self.notes),
        }

    def render(self, format: str) -> str:
        """The report as ``text``, ``json``, ``tsv``, ``latex`` or ``html``."""
        if format not in FORMATS:
            raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
        render: Callable[[MetaReport], str] = import_module(f"arboreval.report.meta_{format}").render
        return render(self)

    def save_pictures(self, folder: str | Path, formats: tuple[str, ...] = ("svg", "pdf")) -> list[Path]:
        """Writes every picture of the report for use in papers."""
        from arboreval.report.meta_figures import save_pictures

        return save_pictures(self, Path(folder), formats)


def _plain(value: Any) -> dict[str, Any]:
    return asdict(value, dict_factory=lambda pairs: {k: _listed(v) for k, v in pairs})


def _listed(value: object) -> object:
    return [_listed(v) for v in value] if isinstance(value, tuple | list) else value
