"""EvalSet: one test set and language pair with outputs, human judgments and scores of metrics computed elsewhere.

Outputs are rows (a system's output for a segment), because systems need not have translated, and people need not have
judged, every segment. A row knows its segment and its system by index, so that every array of scores has one value a
row; :meth:`EvalSet.matrix` arranges it as systems x segments. What is missing is NaN and stays missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arboreval.corpus.model import SegmentId
from arboreval.errors import InputError, UsageError, unknown_name

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: what the judgments are: scores of outputs, preferences, scores of systems, good against bad, labelled sentence pairs
Shape = Literal["scored", "ranking", "system", "contrastive", "pair"]

#: index of the system of a row whose system is not published
NO_SYSTEM = -1


@dataclass(frozen=True, eq=False)
class Outputs:
    """One row an output; all fields have the same length."""

    hypotheses: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    sources: tuple[str | None, ...]
    documents: tuple[str | None, ...]
    system: IntArray
    segment: IntArray

    def __len__(self) -> int:
        return len(self.hypotheses)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairs of rows of one segment. ``first`` is the better one, unless it is a ``tie``; ``count`` people said so."""

    first: IntArray
    second: IntArray
    count: IntArray
    tie: BoolArray

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Pairs of rows of which the first is right and the second is a perturbation; ``kind`` indexes ``phenomena``."""

    good: IntArray
    bad: IntArray
    kind: IntArray
    phenomena: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.good)


@dataclass(frozen=True, eq=False)
class ForeignScores:
    """Scores of a metric computed elsewhere: of rows, of systems, or both."""

    name: str
    rows: FloatArray | None
    systems: Mapping[str, float]
    higher_is_better: bool = True
    origin: str = ""
    #: systems that the file scores and the data does not have
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class EvalSet:
    """A test set x language pair."""

    dataset: str
    lp: str
    shape: Shape
    origin: str
    systems: tuple[str, ...]
    segment_ids: tuple[SegmentId, ...]
    outputs: Outputs
    #: how people judged, in the words of the data
    kind: str = ""
    #: human scores of rows by name: ``raw``, ``z``, and ``raw:X`` / ``z:X`` for a criterion X
    human: Mapping[str, FloatArray] = field(default_factory=dict)
    comparisons: Comparisons | None = None
    contrasts: Contrasts | None = None
    #: published human scores of systems, by the name of the human score
    system_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    #: the human score to use where none is asked for; empty: ``z`` where present, else ``raw``
    preferred: str = ""
    foreign: Mapping[str, ForeignScores] = field(default_factory=dict)
    #: number of segments before :meth:`limit`
    full_size: int = 0

    @property
    def name(self) -> str:
        return f"{self.dataset} {self.lp}"

    @property
    def target(self) -> str:
        """The language of the outputs."""
        return self.lp.rpartition("-")[2]

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names that ``human`` can be asked for."""
        names = [key.partition(":")[2] or key for key in (*self.human, *self.system_scores)]
        return tuple(dict.fromkeys(names))

    def resolve_human(self, wanted: str | None = None) -> str:
        """The key of the human scores to use: what is wanted, else ``z`` where present, else ``raw``.

        Scores of outputs come before published scores of systems. Empty where nobody scored anything.
        """
        if wanted is None:
            order = (self.preferred, "z", "raw", *self.human)
            published = (key for key in ("z", "raw", *self.system_scores) if key in self.system_scores)
            return next((key for key in order if self.has_human(key)), next(published, ""))
        for has in (self.has_human, self.system_scores.__contains__):
            for key in (wanted, f"z:{wanted}", f"raw:{wanted}"):
                if has(key):
                    return key
        raise InputError(f"{self.origin}: {unknown_name('human score', wanted, self.criteria)}")

    def has_human(self, key: str) -> bool:
        return key in self.human and bool(np.isfinite(self.human[key]).any())

    def matrix(self, values: FloatArray) -> FloatArray:
        """Values of rows as systems x segments, NaN where there is no row."""
        grid = np.full((len(self.systems), len(self.segment_ids)), np.nan)
        named = self.outputs.system != NO_SYSTEM
        grid[self.outputs.system[named], self.outputs.segment[named]] = values[named]
        return grid

    def row_index(self) -> dict[tuple[str | None, SegmentId], int]:
        """Rows by system and segment id; the system is None where it is not published."""
        names = [*self.systems, None]
        pairs = zip(self.outputs.system.tolist(), self.outputs.segment.tolist(), strict=True)
        return {(names[s], self.segment_ids[i]): row for row, (s, i) in enumerate(pairs)}

    def subset(self, keep: BoolArray, systems: Sequence[str] | None = None) -> EvalSet:
        """The rows where ``keep`` is true, with what is known about them."""
        rows = np.flatnonzero(keep)
        new_row = np.full(len(keep), -1)
        new_row[rows] = np.arange(len(rows))
        old = self.outputs
        segments = np.unique(old.segment[rows])
        new_segment = np.full(len(self.segment_ids), -1)
        new_segment[segments] = np.arange(len(segments))
        kept = self.systems if systems is None else tuple(systems)
        new_system = np.array([*(kept.index(s) if s in kept else NO_SYSTEM for s in self.systems), NO_SYSTEM])
        outputs = Outputs(
            tuple(old.hypotheses[i] for i in rows),
            tuple(old.references[i] for i in rows),
            tuple(old.sources[i] for i in rows),
            tuple(old.documents[i] for i in rows),
            new_system[old.system[rows]],
            new_segment[old.segment[rows]],
        )
        comparisons, contrasts = self.comparisons, self.contrasts
        if comparisons is not None:
            both = keep[comparisons.first] & keep[comparisons.second]
            comparisons = Comparisons(
                new_row[comparisons.first[both]],
                new_row[comparisons.second[both]],
                comparisons.count[both],
                comparisons.tie[both],
            )
        if contrasts is not None:
            both = keep[contrasts.good] & keep[contrasts.bad]
            contrasts = replace(
                contrasts,
                good=new_row[contrasts.good[both]],
                bad=new_row[contrasts.bad[both]],
                kind=contrasts.kind[both],
            )
        foreign = {
            name: replace(
                scores,
                rows=None if scores.rows is None else scores.rows[rows],
                systems={s: value for s, value in scores.systems.items() if s in kept},
            )
            for name, scores in self.foreign.items()
        }
        return replace(
            self,
            systems=kept,
            segment_ids=tuple(self.segment_ids[i] for i in segments),
            outputs=outputs,
            human={key: values[rows] for key, values in self.human.items()},
            comparisons=comparisons,
            contrasts=contrasts,
            system_scores={
                key: {s: value for s, value in scores.items() if s in kept}
                for key, scores in self.system_scores.items()
            },
            foreign=foreign,
        )

    def limit(self, n: int | None) -> EvalSet:
        """The first ``n`` segments. System scores, which are of all segments, are left out where segments have scores
        to take their place: those of metrics computed elsewhere, and those published beside scores of outputs."""
        if n is None or n >= len(self.segment_ids):
            return self
        part = self.subset(self.outputs.segment < n)
        return replace(
            part,
            foreign={k: replace(f, systems={}) for k, f in part.foreign.items() if f.rows is not None},
            system_scores={k: scores for k, scores in part.system_scores.items() if not part.has_human(k)},
        )

    def without(self, names: Collection[str]) -> EvalSet:
        """Leaves out systems; names that are not there are left out already."""
        gone = [i for i, name in enumerate(self.systems) if name in names]
        if not gone:
            return self
        left = [name for name in self.systems if name not in names]
        if not left:
            raise UsageError(f"{self.origin}: no system is left.")
        return self.subset(~np.isin(self.outputs.system, gone), left)

    def with_lower_is_better(self, names: Collection[str]) -> EvalSet:
        """Says of metrics computed elsewhere that a lower score is better."""
        low = {name: replace(f, higher_is_better=False) for name, f in self.foreign.items() if name in names}
        return replace(self, foreign={**self.foreign, **low})

    def with_foreign(self, scores: Sequence[ForeignScores]) -> EvalSet:
        for one in scores:
            if one.name in self.foreign:
                raise InputError(f"{one.origin}: the metric {one.name!r} is also in {self.foreign[one.name].origin}.")
        return replace(self, foreign={**self.foreign, **{one.name: one for one in scores}})
