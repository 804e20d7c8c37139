"""The public function that says what a score is made of. The command line calls it with the same defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from arboreval import __version__
from arboreval.api import analysis_source, as_corpus, resolve_metrics, score_signature
from arboreval.corpus.model import Corpus, Hypotheses, References
from arboreval.errors import MissingExtraError, UsageError
from arboreval.metrics.base import Metric
from arboreval.registry import metric_class, registrations, split_spec
from arboreval.report.explain_model import Explanation
from arboreval.run.explain import explain_segments, has_evidence

if TYPE_CHECKING:
    from arboreval.analysis.analyzer import Analyzer

#: segments that are explained where none are named
MAX_SEGMENTS = 20


def explain(
    hypotheses: str | Hypotheses | Corpus,
    references: str | References | None = None,
    *,
    metric: str | Metric = "structure-alignment",
    segments: Iterable[int | str] | None = None,
    lang: str | None = None,
    analyzer: str | Analyzer | None = None,
    encoder: str | None = None,
    cache: bool = True,
    files: Sequence[str] = (),
) -> Explanation:
    """Says which parts of a text were matched with which parts of its reference, and what each adds to the score.

    :param hypotheses: a text, or what :func:`arboreval.score` takes.
    :param references: for a text one reference or several, else what :func:`arboreval.score` takes.
    :param metric: one whose score is a sum over parts: ``structure-alignment`` or ``bertscore``, with options.
    :param segments: the segments to explain, by their ids or, where the data has none, their numbers from 1; a range
        of numbers may be written ``3-7``. The first 20 if it is None.
    :param lang: as for :func:`arboreval.score`, as are the others.
    """
    if isinstance(hypotheses, str):
        given = [references] if isinstance(references, str) else references
        hypotheses, references = [hypotheses], None if given is None else [cast("Sequence[str | None]", given)]
    elif isinstance(references, str):
        raise UsageError("references must be a list with one text, or a list of texts, for each segment.")
    check_metric(metric)
    corpus = as_corpus(hypotheses, references, None, lang)
    chosen = range(min(len(corpus), MAX_SEGMENTS)) if segments is None else select_segments(corpus, segments)
    (made,) = resolve_metrics([metric], corpus.lang, analysis_source(analyzer, encoder, cache, files))
    made = made.fitted(corpus.references)
    return Explanation(
        version=__version__,
        metric=made.label,
        signature=score_signature(made, "seg", corpus, {}),
        lang=corpus.lang,
        segments_in_file=len(corpus),
        segments=len(chosen),
        outputs=tuple(explain_segments(made, [(s, i) for i in chosen for s in corpus.systems], corpus)),
    )


def check_metric(metric: str | Metric) -> None:
    """Refuses a metric that has no evidence."""
    cls = metric_class(split_spec(metric)[0]) if isinstance(metric, str) else type(metric)
    if not has_evidence(cls):
        raise UsageError(f"{cls.info.name} has no evidence to show; those that have: {', '.join(with_evidence())}.")


def with_evidence() -> list[str]:
    """The names of all metrics that have evidence."""
    found = []
    for name in sorted(registrations()):
        try:
            if has_evidence(metric_class(name)):
                found.append(name)
        except MissingExtraError:
            continue
    return found


def select_segments(corpus: Corpus, wanted: Iterable[int | str]) -> list[int]:
    """Positions of segments named by id or by a range of numbers, in the order of the corpus."""
    ids = [str(seg) for seg in corpus.segment_ids]
    chosen: set[int] = set()
    for name in map(str, wanted):
        found = {i for i, seg in enumerate(ids) if seg == name}
        bounds = re.fullmatch(r"(\d+)-(\d+)", name)
        if not found and bounds:
            low, high = map(int, bounds.groups())
            found = {i for i, seg in enumerate(ids) if seg.isdecimal() and low <= int(seg) <= high}
        if not found:
            raise UsageError(f"there is no segment {name!r}; there are {len(ids)}, from {ids[0]!r} to {ids[-1]!r}.")
        chosen |= found
    return sorted(chosen)
