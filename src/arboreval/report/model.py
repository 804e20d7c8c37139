"""The report: plain data that the renderers read. :func:`Report.to_dict` is the JSON described in docs/formats.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, Literal

from arboreval.corpus.inspect import InputReport
from arboreval.corpus.model import Corpus, SegmentId
from arboreval.errors import UsageError
from arboreval.run.measure import Statistics

SCHEMA_VERSION = 1
FORMATS = ("text", "json", "tsv", "latex", "html")


@dataclass(frozen=True)
class Score:
    """One number with its recipe: a metric's score of a system."""

    metric: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    failed: int
    degraded: int
    higher_is_better: bool
    scale: tuple[float | None, float | None]
    components: Mapping[str, float]
    signature: str
    #: how segment scores were made; None if the metric has none
    segment_signature: str | None
    #: 1 + the number of systems that are significantly better; only in comparisons
    rank: int | None = None


@dataclass(frozen=True)
class System:
    """The scores of one system by metric."""

    name: str
    scores: Mapping[str, Score]


@dataclass(frozen=True)
class Comparison:
    """System ``a`` against system ``b``; the difference is a's score minus b's."""

    metric: str
    a: str
    b: str
    difference: float
    ci: tuple[float, float] | None
    p_bootstrap: float
    p_ar: float
    p_bootstrap_holm: float
    p_ar_holm: float
    winner: str | None


@dataclass(frozen=True)
class Issue:
    """A segment that failed or was scored by a fallback; ``doc`` where the data names documents."""

    system: str
    doc: str | None
    seg: SegmentId
    metric: str
    reason: str


@dataclass(frozen=True)
class Report:
    """The result of :func:`arboreval.score` and :func:`arboreval.compare`."""

    version: str
    level: Literal["seg", "sys"]
    seed: int
    input: InputReport
    systems: tuple[System, ...]
    comparisons: tuple[Comparison, ...]
    failures: tuple[Issue, ...]
    degraded: tuple[Issue, ...]
    corpus: Corpus = field(repr=False)
    statistics: Sequence[Statistics] = field(repr=False)

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(self.systems[0].scores)

    def system(self, name: str) -> System:
        return next(s for s in self.systems if s.name == name)

    def ranked(self, metric: str) -> list[System]:
        """Systems from best to worst; those without a score last."""

        def key(system: System) -> float:
            score = system.scores[metric]
            if score.value is None:
                return float("inf")
            return -score.value if score.higher_is_better else score.value

        return sorted(self.systems, key=key)

    def segment_scores(self, system: str) -> dict[str, list[float | None]]:
        """For each metric that has the segment level, a score for every segment; None where it failed."""
        index = list(self.corpus.systems).index(system)
        return {s.metric.label: s.segment_scores(index) for s in self.statistics if "seg" in s.metric.info.levels}

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``Any`` because it is JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "arboreval_version": self.version,
            "seed": self.seed,
            "input": _plain(self.input),
            "systems": [self._system_dict(system) for system in self.systems],
            "comparisons": [_plain(c) for c in self.comparisons],
            "failures": [_known(_plain(issue)) for issue in self.failures],
            "degraded": [_known(_plain(issue)) for issue in self.degraded],
        }

    def _system_dict(self, system: System) -> dict[str, Any]:
        scores = {}
        for name, score in system.scores.items():
            entry = _plain(score)
            del entry["metric"]
            if score.rank is None:
                del entry["rank"]
            if self.level == "sys":
                del entry["segment_signature"]
            scores[name] = entry
        result: dict[str, Any] = {"name": system.name, "scores": scores}
        if self.level == "seg":
            by_metric = self.segment_scores(system.name)
            result["segments"] = [
                _known({"doc": doc, "seg": seg, "scores": {name: values[i] for name, values in by_metric.items()}})
                for i, (doc, seg) in enumerate(self.corpus.ids())
            ]
        return result

    def render(self, format: str = "text") -> str:
        """The report as text, json, tsv, latex or html."""
        return _renderer(format)(self)

    def __str__(self) -> str:
        return self.render("text")


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    """Without ``doc`` where there is none."""
    return {key: value for key, value in entry.items() if key != "doc" or value is not None}


def _plain(value: InputReport | Score | Comparison | Issue) -> dict[str, Any]:
    """A dataclass as JSON has it: lists for tuples."""

    def entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: list(entry) if isinstance(entry, tuple | list) else entry for key, entry in pairs}

    return asdict(value, dict_factory=entries)


def _renderer(format: str) -> Callable[[Report], str]:
    """Imports only the renderer that is asked for."""
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
    module = import_module(f"arboreval.report.{format}")
    render: Callable[[Report], str] = module.render
    return render
