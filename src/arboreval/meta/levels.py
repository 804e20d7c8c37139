"""Brings metric scores and judgments of an EvalSet together at one level, whatever shape the judgments have.

A :class:`Task` knows which coefficients make sense there, computes them, and resamples them. The resampling unit is the
segment with all its outputs, so that the dependence between systems is kept; single rows (or single preferences) are
the alternative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from arboreval.meta.coefficient import Averaging, Coefficient, undefined
from arboreval.meta.correlation import Name, correlate, variant_of
from arboreval.meta.evalset import NO_SYSTEM, EvalSet, FloatArray
from arboreval.meta.pairwise import Pairs, acc23_of, contrastive_accuracy, wmt_kendall
from arboreval.meta.scores import Scored

Level = Literal["seg", "sys"]
Unit = Literal["segment", "row"]

CORRELATIONS = ("pearson", "spearman", "kendall")
WMT_VARIANTS = ("kendall-wmt12", "kendall-wmt13", "kendall-wmt14", "kendall-darr", "kendall-xties")
#: over hybrid systems: all metrics share them
HYBRID = ("hybrid", "hybrid-exact")
#: everything `--corr` takes; the last ones have meaning for one kind of data only
CORRS = (*CORRELATIONS, *WMT_VARIANTS, "acc23", "spa", "pairwise-accuracy", "auc", "accuracy", *HYBRID)

NO_SEGMENT_SCORES = "the metric has no segment scores"
NO_SYSTEMS = "the data does not name systems"


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """Judgments at one level."""

    data: EvalSet
    human_key: str
    average: Averaging = "none"

    @property
    @abstractmethod
    def level(self) -> Level: ...

    @property
    @abstractmethod
    def default(self) -> tuple[str, ...]:
        """Coefficients to compute when none is asked for."""

    @property
    def human_name(self) -> str:
        """What the report calls the human side."""
        return self.human_key

    @abstractmethod
    def coefficient(self, scored: Scored, corr: str) -> Coefficient: ...

    def averaging(self, corr: str) -> Averaging:
        """How segments are grouped for this coefficient."""
        return "none"

    def coefficients(self, scored: Sequence[Scored], corr: str, *, seed: int) -> dict[str, Coefficient]:
        """The coefficient of every metric; the seed is for those that are drawn at random."""
        return {s.name: self(s, corr) for s in scored}

    def __call__(self, scored: Scored, corr: str) -> Coefficient:
        if scored.reason:
            return undefined(scored.reason)
        return self.coefficient(scored, corr)


@dataclass(frozen=True, eq=False)
class ScoredSegments(Task):
    """People scored outputs (or labelled sentence pairs)."""

    @property
    def level(self) -> Level:
        return "seg"

    @property
    def default(self) -> tuple[str, ...]:
        return (*CORRELATIONS, "auc") if self.judged and self.binary else CORRELATIONS

    @cached_property
    def human(self) -> FloatArray:
        return self.data.human[self.human_key]

    @cached_property
    def binary(self) -> bool:
        known = self.human[np.isfinite(self.human)]
        return self.data.shape == "pair" and bool(np.isin(known, (0.0, 1.0)).all())

    @cached_property
    def points(self) -> FloatArray | None:
        """Human scores in points, for daRR: those that were not standardised."""
        key = self.human_key.replace("z:", "raw:") if ":" in self.human_key else "raw"
        return self.data.human.get(key)

    @cached_property
    def judged(self) -> bool:
        """Whether people scored outputs at all."""
        return self.human_key in self.data.human

    @cached_property
    def shares_segments(self) -> bool:
        """Whether most outputs have others of the same segment to be compared with."""
        if not self.judged:
            return False
        sizes = np.bincount(self.data.outputs.segment[np.isfinite(self.human)])
        return bool(sizes[sizes > 1].sum() * 2 >= sizes.sum())

    def averaging(self, corr: str) -> Averaging:
        if corr == "acc23":
            return "item" if self.shares_segments else "none"
        return self.average if corr in CORRELATIONS else "item" if corr in WMT_VARIANTS else "none"

    def side(self, corr: str) -> tuple[FloatArray | None, str]:
        """The human scores that a coefficient reads, or why there are none."""
        if not self.judged:
            only_systems = bool(self.data.system_scores or self.data.comparisons)
            return None, f"people did not judge segments here{': use --level sys' if only_systems else ''}"
        if corr == "kendall-darr":
            return (self.points, "") if self.points is not None else (None, "daRR needs raw scores, in points of 100")
        if corr == "spa" and not self.data.systems:
            return None, NO_SYSTEMS
        if corr == "auc" and not self.binary:
            return None, "AUC needs labels that are 0 or 1"
        if corr in ("pairwise-accuracy", "hybrid", "hybrid-exact"):
            return None, f"{corr} is for systems: use --level sys"
        if corr == "accuracy":
            return None, "accuracy is for contrastive data"
        return self.human, ""

    def coefficient(self, scored: Scored, corr: str) -> Coefficient:
        x = scored.oriented_rows
        if x is None:
            return undefined(NO_SEGMENT_SCORES)
        y, reason = self.side(corr)
        if y is None:
            return undefined(reason)
        out = self.data.outputs
        segment = None if corr == "acc23" and not self.shares_segments else out.segment
        if corr == "spa":
            named = out.system != NO_SYSTEM
            x, y, segment, system = x[named], y[named], out.segment[named], out.system[named]
        else:
            system = out.system
        average = self.average if corr in CORRELATIONS else "none"
        return correlate(_name(corr), x, y, segment=segment, system=system, average=average)


@dataclass(frozen=True, eq=False)
class RankedSegments(Task):
    """People preferred one of two outputs."""

    @property
    def level(self) -> Level:
        return "seg"

    @property
    def default(self) -> tuple[str, ...]:
        return ("kendall-wmt12", "kendall-wmt14")

    @property
    def human_name(self) -> str:
        return "preferences"

    def averaging(self, corr: str) -> Averaging:
        return "item"

    def side(self, corr: str) -> str:
        """Why a coefficient makes no sense here, if so."""
        if corr == "kendall-darr":
            return "daRR needs raw scores; these are preferences"
        if corr not in WMT_VARIANTS and corr != "acc23":
            return f"{corr} needs scores; these are preferences"
        return ""

    def pairs(self, scored: Scored) -> Pairs | None:
        x, judged = scored.oriented_rows, self.data.comparisons
        if x is None or judged is None:
            return None
        segment = self.data.outputs.segment[judged.first]
        return Pairs.from_rankings(x[judged.first], x[judged.second], judged.count, segment, tie=judged.tie)

    def coefficient(self, scored: Scored, corr: str) -> Coefficient:
        if reason := self.side(corr):
            return undefined(reason)
        pairs = self.pairs(scored)
        if pairs is None:
            return undefined(NO_SEGMENT_SCORES)
        return acc23_of(pairs).coefficient if corr == "acc23" else wmt_kendall(pairs, variant_of(corr))


@dataclass(frozen=True, eq=False)
class ContrastedSegments(Task):
    """A right text and a perturbed one."""

    @property
    def level(self) -> Level:
        return "seg"

    @property
    def default(self) -> tuple[str, ...]:
        return ("accuracy",)

    @property
    def human_name(self) -> str:
        return "contrasts"

    def coefficient(self, scored: Scored, corr: str) -> Coefficient:
        if corr != "accuracy":
            return undefined(f"{corr} needs scores; this data is contrastive")
        x, contrasts = scored.oriented_rows, self.data.contrasts
        if x is None or contrasts is None:
            return undefined(NO_SEGMENT_SCORES)
        return contrastive_accuracy(x[contrasts.good], x[contrasts.bad])[0].accuracy

    def successes(self, scored: Scored) -> FloatArray | None:
        """1 where the right text scores higher, 0 where not, NaN where a score is missing."""
        x, contrasts = scored.oriented_rows, self.data.contrasts
        if x is None or contrasts is None:
            return None
        good, bad = x[contrasts.good], x[contrasts.bad]
        known = np.isfinite(good) & np.isfinite(bad)
        return np.where(known, (good > bad).astype(np.float64), np.nan)


@dataclass(frozen=True, eq=False)
class Systems(Task):
    """Systems: published scores, or means of the scores of their outputs, or shares of preferences won."""

    @property
    def level(self) -> Level:
        return "sys"

    @property
    def default(self) -> tuple[str, ...]:
        return CORRELATIONS

    @property
    def human_name(self) -> str:
        if self.published is not None:
            return f"published {self.human_key}" if self.data.human else "system scores"
        if self.data.comparisons is not None:
            return "share of preferences won"
        return f"mean {self.human_key}" if self.human_key else ""

    @cached_property
    def published(self) -> Mapping[str, float] | None:
        """System scores that came with the data; they go before means of the scores of outputs."""
        return self.data.system_scores.get(self.human_key)

    @cached_property
    def human(self) -> FloatArray:
        if self.published is not None:
            return np.array([self.published.get(name, np.nan) for name in self.data.systems], dtype=np.float64)
        won, all_ = self.human_sums()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(all_.sum(axis=1) > 0, won.sum(axis=1) / all_.sum(axis=1), np.nan)

    def human_sums(self) -> tuple[FloatArray, FloatArray]:
        """Numerators and denominators of the systems' human scores by segment: systems x segments each."""
        out, shape = self.data.outputs, (len(self.data.systems), len(self.data.segment_ids))
        won, all_ = np.zeros(shape), np.zeros(shape)
        if self.data.comparisons is not None:
            c = self.data.comparisons
            real = ~c.tie
            for rows, wins in ((c.first, 1.0), (c.second, 0.0)):
                at = (out.system[rows[real]], out.segment[rows[real]])
                np.add.at(won, at, wins * c.count[real])
                np.add.at(all_, at, c.count[real])
        else:
            y = self.data.human.get(self.human_key, np.full(len(out), np.nan))
            known = np.isfinite(y) & (out.system != NO_SYSTEM)
            np.add.at(won, (out.system[known], out.segment[known]), y[known])
            np.add.at(all_, (out.system[known], out.segment[known]), 1.0)
        return won, all_

    def side(self, corr: str) -> str:
        if not self.data.systems:
            return NO_SYSTEMS
        if corr == "kendall-darr":
            return "daRR is a segment-level coefficient"
        if corr in ("spa", "hybrid", "hybrid-exact") and self.human_key not in self.data.human:
            return f"{corr} needs human scores of segments"
        if not (self.published or self.data.human or self.data.comparisons):
            return "people did not score anything here"
        if corr in ("auc", "accuracy"):
            return f"{corr} is not for systems"
        return ""

    def coefficients(self, scored: Sequence[Scored], corr: str, *, seed: int) -> dict[str, Coefficient]:
        if corr not in HYBRID or self.side(corr):
            return super().coefficients(scored, corr, seed=seed)
        from arboreval.meta.hybrids import hybrid_correlations

        human = self.data.human[self.human_key]
        return hybrid_correlations(self.data, human, scored, exact=corr == "hybrid-exact", seed=seed)

    def coefficient(self, scored: Scored, corr: str) -> Coefficient:
        if reason := self.side(corr):
            return undefined(reason)
        if corr == "spa":
            return ScoredSegments(self.data, self.human_key).coefficient(scored, corr)
        x, y = scored.oriented_systems, self.human
        return correlate(_name(corr), x, y)


def level_of(task: Task, corr: str) -> Level:
    """The level of a value: soft pairwise accuracy is about systems, from whatever level it was asked."""
    return "sys" if corr == "spa" else task.level


def _name(corr: str) -> Name:
    return corr  # type: ignore[return-value]  # checked when the command was read


def make_task(data: EvalSet, *, human: str | None, level: Level | None, average: Averaging) -> Task:
    """The judgments at the level wanted, else at segments where people judged them, else at systems."""
    if level is None:
        only_systems = data.system_scores and not data.human and data.comparisons is None
        level = "sys" if only_systems or data.shape == "system" else "seg"
    # the system level shape has one score a system, which has no name
    named = None if data.shape == "system" else human
    key = data.resolve_human(named) if data.human or data.system_scores else ""
    if level == "sys":
        return Systems(data, key)
    if data.comparisons is not None:
        return RankedSegments(data, key)
    if data.contrasts is not None:
        return ContrastedSegments(data, key)
    return ScoredSegments(data, key, average)
