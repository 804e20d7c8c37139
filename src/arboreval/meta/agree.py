"""``arboreval.agreement``: how far annotators agree with one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from arboreval import __version__
from arboreval.errors import UsageError
from arboreval.meta.agreement import (
    CUT_SECONDS,
    annotation_times,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    one_vs_rest,
    trap_bins,
    z_scores,
)
from arboreval.meta.coefficient import Coefficient, FloatArray, average_of
from arboreval.meta.ratings import Ratings, read_ratings
from arboreval.report.agree_model import AgreementReport, AgreementTask, Annotator, Statistic

#: with more distinct ratings than this, kappa of single values says nothing; it is left out
_CLASSES = 11


def agreement(
    ratings: str | Path | Ratings | Sequence[str | Path | Ratings],
    *,
    criterion: str | None = None,
    cut: float = CUT_SECONDS,
) -> AgreementReport:
    """Agreement of annotators on every task and criterion: with traps, and without them where there are any.

    :param ratings: TSV or JSON Lines files with a rating a line (``annotator``, ``item`` or ``system`` and ``seg``, and
        a score; ``trap``, ``seconds`` and ``task`` where known), or :class:`Ratings`. Files of one annotator each are
        joined; they need no ``annotator`` if the file is named by the annotator.
    :param criterion: the column to use; all columns with numbers if none is given.
    :param cut: seconds above which a time is left out of the second mean.
    """
    listed = [ratings] if isinstance(ratings, str | Path | Ratings) else list(ratings)
    if not listed:
        raise UsageError("no ratings were given.")
    if cut <= 0:
        raise UsageError("cut must be above 0 seconds.")
    files = [one for one in listed if not isinstance(one, Ratings)]
    read = [one for one in listed if isinstance(one, Ratings)] + (read_ratings(files, criterion) if files else [])
    return AgreementReport(__version__, tuple(_task(r, cut) for r in read))


def _task(ratings: Ratings, cut: float) -> AgreementTask:
    everything = ratings.scores
    real = np.where(ratings.traps, np.nan, everything)
    has_traps = bool(ratings.traps.any())
    z = z_scores(everything, ratings.traps)
    notes = [
        f"{ratings.annotators[a]} gave every item the same rating; the z-score is 0 throughout" for a in z.constant
    ]
    times = annotation_times(ratings.seconds, cut=cut)
    with_traps, without = one_vs_rest(everything), one_vs_rest(real)
    annotators = []
    for a, name in enumerate(ratings.annotators):
        mine, seconds = real[a][np.isfinite(real[a])], annotation_times(ratings.seconds[a], cut=cut)
        annotators.append(
            Annotator(
                name=name,
                ratings=int(np.isfinite(everything[a]).sum()),
                mean=float(mine.mean()) if len(mine) else None,
                sd=float(mine.std(ddof=1)) if len(mine) > 1 else None,
                one_vs_rest=with_traps.annotators[a].value,
                reason=with_traps.annotators[a].reason,
                one_vs_rest_without_traps=without.annotators[a].value,
                reason_without_traps=without.annotators[a].reason,
                traps=_bins(everything[a][ratings.traps[a]]) if has_traps else None,
                seconds=seconds.all_mean,
                seconds_cut=seconds.cut_mean,
            )
        )
    no_trap: list[bool] = np.logical_not(ratings.traps.all(axis=0)).tolist()
    item_z = zip(ratings.items, z.items.tolist(), no_trap, strict=True)
    return AgreementTask(
        task=ratings.name,
        criterion=ratings.criterion,
        annotators=tuple(annotators),
        items=len(ratings.items),
        ratings=ratings.count,
        traps=_bins(everything[ratings.traps]) if has_traps else None,
        statistics=tuple(
            _statistic(name, f(everything), f(real)) for name, f in _STATISTICS.items() if _fits(name, everything)
        ),
        seconds=times.all_mean,
        seconds_cut=times.cut_mean,
        cut=cut,
        z=tuple((item, value if np.isfinite(value) else None) for item, value, real_item in item_z if real_item),
        notes=tuple(notes),
    )


def _bins(values: FloatArray) -> tuple[int, int, int] | None:
    """None on scales that go below 0, where the bins have no meaning."""
    values = values[np.isfinite(values)]
    if (values < 0).any():
        return None
    found = trap_bins(values)
    return found.zero, found.low, found.high


def _fits(name: str, scores: FloatArray) -> bool:
    """Nominal statistics are for classes, not for a slider from 0 to 100."""
    few = len(np.unique(scores[np.isfinite(scores)])) <= _CLASSES
    return few or not ("kappa" in name or "nominal" in name)


def _mean_cohen(scores: FloatArray, weights: str | None = None) -> Coefficient:
    parts = [
        cohen_kappa(scores[a], scores[b], weights=weights)  # type: ignore[arg-type]  # a Literal there
        for a, b in combinations(range(len(scores)), 2)
    ]
    return average_of(parts)


_STATISTICS: dict[str, Callable[[FloatArray], Coefficient]] = {
    "one-vs-rest Pearson, mean": lambda scores: one_vs_rest(scores).mean,
    "Krippendorff's alpha, interval": lambda scores: krippendorff_alpha(scores, "interval"),
    "Krippendorff's alpha, ordinal": lambda scores: krippendorff_alpha(scores, "ordinal"),
    "Krippendorff's alpha, nominal": lambda scores: krippendorff_alpha(scores, "nominal"),
    "Cohen's kappa, mean of pairs": _mean_cohen,
    "Cohen's kappa, quadratic weights": lambda scores: _mean_cohen(scores, "quadratic"),
    "Fleiss' kappa": fleiss_kappa,
}


def _statistic(name: str, all_: Coefficient, real: Coefficient) -> Statistic:
    return Statistic(name, all_.value, all_.n, all_.reason, real.value, real.n, real.reason)
