"""What a metric is.

A metric is a frozen dataclass whose fields are its options. It turns a batch of segments into an array of sufficient
statistics, one row a segment; corpus scores, intervals and significance tests are computed from sums of those rows
and never look at the text again.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from arboreval.errors import SegmentError, UsageError, unknown_name
from arboreval.registry import parse_value
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    from arboreval.analysis.source import AnalysisSource
    from arboreval.analysis.structures import Analysis

FloatArray = NDArray[np.float64]
Level = Literal["seg", "sys"]


@dataclass(frozen=True)
class MetricInfo:
    """What can be said about a metric without running it."""

    name: str
    summary: str
    definition: str
    higher_is_better: bool
    scale: tuple[float | None, float | None]
    citation: str
    #: ISO 639-1 codes of the target languages it judges, or ``any``
    languages: tuple[str, ...] = ("any",)
    levels: tuple[Level, ...] = ("sys", "seg")
    needs_source: bool = False


def option(default: Any, help: str, *, choices: Sequence[str] = ()) -> Any:
    """A dataclass field that users can set: ``metric:name=value`` on the command line.

    ``Any`` because, like ``dataclasses.field``, it stands for a default of whatever type the field has.
    """
    return field(default=default, metadata={"help": help, "choices": tuple(choices)})


@dataclass(frozen=True)
class Batch:
    """Some consecutive segments with the outputs of all systems, so that references are prepared once."""

    references: Sequence[Sequence[str]]
    hypotheses: Sequence[Sequence[str]]  # one sequence per system
    sources: Sequence[str] | None = None
    #: the analysis of every text of the batch, if a metric asked for some
    analyses: Mapping[str, Analysis] | None = None


@dataclass(frozen=True)
class Problem:
    """A segment that got no score (``failed``), or one by the metric's stated fallback (``degraded``)."""

    system: int
    segment: int
    status: Literal["failed", "degraded"]
    reason: str


@dataclass(frozen=True)
class Measured:
    """Statistics of a batch, shape (systems, segments, k), and what went wrong; rows that failed are ignored."""

    stats: FloatArray
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics. Sub-classes are frozen dataclasses; each field made by :func:`option` is an option."""

    info: ClassVar[MetricInfo]
    #: number of statistics a segment has
    width: ClassVar[int]

    #: the target language, from ``--lang`` or the data; chooses a tokenizer where a metric has several
    lang: str = field(default="en", kw_only=True)

    def __post_init__(self) -> None:
        for f in option_fields(type(self)):
            value, choices = getattr(self, f.name), f.metadata["choices"]
            if choices and value not in choices:
                raise UsageError(
                    f"{self.info.name}: option {f.name} must be one of {', '.join(choices)}, not {value!r}."
                )

    def __getstate__(self) -> dict[str, object]:
        """Only the options travel to worker processes, not what was computed from them."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    @property
    def label(self) -> str:
        """The name and every option that is not at its default; unique within a run."""
        changed = [
            f"{f.name}={_text(getattr(self, f.name))}"
            for f in option_fields(type(self))
            if getattr(self, f.name) != f.default
        ]
        return ":".join([self.info.name, *changed])

    @property
    def analysis(self) -> AnalysisSource | None:
        """Where the analyses come from that the metric finds in ``Batch.analyses``; None if it reads plain text."""
        return None

    @property
    def layers(self) -> frozenset[str]:
        """The layers of an analysis that the metric reads."""
        return frozenset()

    def fitted(self, references: Iterable[Sequence[str]]) -> Metric:
        """The metric for a corpus with these references. Only one that weighs words by how rare they are differs."""
        return self

    @property
    def languages(self) -> tuple[str, ...]:
        """Target languages under the options chosen; ``any`` for all."""
        return self.info.languages

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        """Everything besides the number of references and the versions that can change a score at this level."""
        return {f.name: getattr(self, f.name) for f in option_fields(type(self))}

    def version(self) -> str:
        """Names the code that computes the metric; the last field of the signature."""
        from arboreval import __version__

        return f"arboreval-{__version__}"

    @abstractmethod
    def statistics(self, batch: Batch) -> Measured:
        """Sufficient statistics of every segment and system of the batch."""

    @abstractmethod
    def aggregate(self, totals: FloatArray) -> FloatArray:
        """Corpus scores of summed statistics: shape (..., k) in, (...) out. Vectorised; used in resampling."""

    def corpus_score(self, totals: FloatArray) -> float:
        """The corpus score of one vector of summed statistics; the number that is reported."""
        return float(self.aggregate(totals[None])[0])

    def segment_scores(self, stats: FloatArray) -> FloatArray:
        """One score a row of ``stats``; only called if the metric has the level ``seg``."""
        return self.aggregate(stats)

    def components(self, totals: FloatArray) -> dict[str, float]:
        """Parts of the corpus score worth showing, by name."""
        return {}


@dataclass(frozen=True)
class SegmentMetric(Metric):
    """A metric that looks at one segment at a time: the usual base of a plug-in."""

    def prepare(self, references: Sequence[str], source: str | None) -> Any:
        """What is needed of a segment's references, computed once and used for all systems.

        ``Any`` because only :meth:`segment_stats` of the same metric reads it.
        """
        return references

    @abstractmethod
    def segment_stats(self, hypothesis: str, prepared: Any) -> Sequence[float]:
        """The sufficient statistics of one hypothesis; raise :class:`SegmentError` if it cannot be scored."""

    def degraded(self, hypothesis: str, prepared: Any) -> str | None:
        """A reason if the score of this segment comes from a fallback, else None."""
        return None

    def statistics(self, batch: Batch) -> Measured:
        stats = np.zeros((len(batch.hypotheses), len(batch.references), self.width))
        problems: list[Problem] = []
        for i, references in enumerate(batch.references):
            source = batch.sources[i] if batch.sources is not None else None
            prepared = self.prepare(references, source)
            for s, hypotheses in enumerate(batch.hypotheses):
                try:
                    stats[s, i] = self.segment_stats(hypotheses[i], prepared)
                    reason = self.degraded(hypotheses[i], prepared)
                except SegmentError as error:
                    problems.append(Problem(s, i, "failed", str(error)))
                else:
                    if reason is not None:
                        problems.append(Problem(s, i, "degraded", reason))
        return Measured(stats, problems)


def option_fields(metric: type[Metric]) -> list[dataclasses.Field[Any]]:
    """The fields of a metric class that are options."""
    return [f for f in dataclasses.fields(metric) if "choices" in f.metadata]


def parse_options(metric: type[Metric], texts: Mapping[str, str]) -> dict[str, Any]:
    """Turns option texts into values of the types their fields have (the type of the default decides)."""
    fields = {f.name: f for f in option_fields(metric)}
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in fields:
            raise UsageError(unknown_name(f"option of {metric.info.name}", name, fields))
        values[name] = parse_value(f"{metric.info.name}: option {name}", text, _type_name(fields[name]))
    return values


def _type_name(f: dataclasses.Field[Any]) -> str:
    return f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
