"""The public functions. The command line calls these with the same defaults."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Literal

from arboreval import __version__
from arboreval.corpus.inspect import inspect_corpus
from arboreval.corpus.model import Corpus, Hypotheses, References
from arboreval.errors import InputError, UsageError
from arboreval.metrics.base import FloatArray, Level, Metric, MetricInfo
from arboreval.registry import make_metric, metric_class, registrations
from arboreval.report.model import Comparison, Issue, Report, Score, System
from arboreval.run.measure import DEFAULT_BATCH_SIZE, Progress, Statistics, measure, require_layers
from arboreval.signature import SignatureValue, format_signature
from arboreval.significance import (
    ALPHA,
    BOOTSTRAP_TRIALS,
    DEFAULT_SEED,
    RANDOMISATION_TRIALS,
    bootstrap_scores,
    holm,
    interval,
    paired_tests,
)

if TYPE_CHECKING:
    from arboreval.analysis.analyzer import Analyzer
    from arboreval.analysis.source import AnalysisSource

DEFAULT_METRICS = ("bleu", "chrf", "ter")


def score(
    hypotheses: Hypotheses | Corpus,
    references: References | None = None,
    *,
    sources: Sequence[str] | None = None,
    metrics: Sequence[str | Metric] = DEFAULT_METRICS,
    level: Literal["seg", "sys"] = "sys",
    lang: str | None = None,
    seed: int = DEFAULT_SEED,
    limit: int | None = None,
    jobs: int = 1,
    batch_size: int = DEFAULT_BATCH_SIZE,
    analyzer: str | Analyzer | None = None,
    encoder: str | None = None,
    cache: bool = True,
    files: Sequence[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Scores one or more systems.

    :param hypotheses: the output of one system (a list of texts), of several (a dict from name to list), or a
        :class:`Corpus`, which already holds everything else.
    :param references: one text, or a list of texts, for each segment.
    :param metrics: names such as ``bleu`` or ``rouge-l:measure=r``, or metric objects.
    :param level: ``seg`` adds a score for every segment.
    :param lang: the target language (``en``) or the language pair (``zh-en``); English if nothing says otherwise.
    :param jobs: number of processes. More than one needs the usual ``if __name__ == "__main__"`` guard in scripts.
    :param analyzer: who analyses, and
    :param encoder: whose vectors are used, and
    :param cache: whether analyses are kept on disk, for metrics that read analyses: see :func:`arboreval.analyze`.
    :param files: the files that the texts come from, for the analyzer ``files``.
    """
    corpus = as_corpus(hypotheses, references, sources, lang)
    made = resolve_metrics(metrics, corpus.lang, analysis_source(analyzer, encoder, cache, files))
    return _judge(corpus, made, level, seed, limit, jobs, batch_size, progress, pairs=False)


def compare(
    hypotheses: Hypotheses | Corpus,
    references: References | None = None,
    *,
    sources: Sequence[str] | None = None,
    metrics: Sequence[str | Metric] = DEFAULT_METRICS,
    level: Literal["seg", "sys"] = "sys",
    lang: str | None = None,
    seed: int = DEFAULT_SEED,
    limit: int | None = None,
    jobs: int = 1,
    batch_size: int = DEFAULT_BATCH_SIZE,
    analyzer: str | Analyzer | None = None,
    encoder: str | None = None,
    cache: bool = True,
    files: Sequence[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Scores two or more systems and tests every pair: which is better, by how much, and is it chance?

    The parameters are those of :func:`score`.
    """
    corpus = as_corpus(hypotheses, references, sources, lang)
    if len(corpus.systems) < 2:
        raise UsageError("a comparison needs the output of at least two systems.")
    made = resolve_metrics(metrics, corpus.lang, analysis_source(analyzer, encoder, cache, files))
    return _judge(corpus, made, level, seed, limit, jobs, batch_size, progress, pairs=True)


def list_metrics() -> dict[str, MetricInfo]:
    """Everything that can be named in ``metrics``, with what is known about it."""
    return {name: metric_class(name).info for name in sorted(registrations())}


def as_corpus(
    hypotheses: Hypotheses | Corpus,
    references: References | None,
    sources: Sequence[str] | None,
    lang: str | None,
) -> Corpus:
    """What the public functions take, paired and checked."""
    if isinstance(hypotheses, Corpus):
        if references is not None or sources is not None or lang is not None:
            raise UsageError("a Corpus already has its references, sources and language.")
        return hypotheses
    if references is None:
        raise UsageError("references are missing.")
    return Corpus.from_lists(hypotheses, references, sources=sources, lang=lang)


def analysis_source(
    analyzer: str | Analyzer | None, encoder: str | None, cache: bool, files: Sequence[str] = ()
) -> AnalysisSource | None:
    """Who analyses, if anything about it was said."""
    if analyzer is None and encoder is None and cache:
        return None
    from arboreval.analysis.analyzer import DEFAULT_ANALYZER
    from arboreval.analysis.source import AnalysisSource

    if analyzer is None:
        return AnalysisSource(DEFAULT_ANALYZER, encoder, cache)
    return AnalysisSource(analyzer, encoder, cache, tuple(files))


def resolve_metrics(metrics: Sequence[str | Metric], lang: str, using: AnalysisSource | None = None) -> list[Metric]:
    """Metric objects for names; checks everything that can be checked before the first text is read."""
    if isinstance(metrics, str):
        metrics = metrics.split(",")
    made = [make_metric(m, lang=lang, using=using) if isinstance(m, str) else m for m in metrics]
    if not made:
        raise UsageError("no metric was given.")
    for metric in made:
        if "any" not in metric.languages and lang not in metric.languages:
            raise InputError(
                f"{metric.label} judges {', '.join(metric.languages)}, but the target language is {lang!r} "
                "(--lang or the data's language pair)."
            )
        require_layers(metric)
    labels = [metric.label for metric in made]
    return [metric for i, metric in enumerate(made) if metric.label not in labels[:i]]


def _judge(
    corpus: Corpus,
    made: Sequence[Metric],
    level: Level,
    seed: int,
    limit: int | None,
    jobs: int,
    batch_size: int,
    progress: Progress | None,
    *,
    pairs: bool,
) -> Report:
    if batch_size < 1 or jobs < 1 or (limit is not None and limit < 1):
        raise UsageError("batch_size, jobs and limit must be at least 1.")
    for metric in made:
        if metric.info.needs_source and corpus.sources is None:
            raise UsageError(f"{metric.label} needs the source: give it with -s (sources=).")
    corpus = corpus.limit(limit)
    statistics = measure(corpus, made, batch_size=batch_size, jobs=jobs, progress=progress)
    resampled = bootstrap_scores(statistics, seed=seed)
    names = list(corpus.systems)
    comparisons = _comparisons(statistics, resampled, names, seed) if pairs else []
    systems = tuple(
        System(
            name,
            {
                s.metric.label: _score(s, i, interval(scores[i]), corpus, seed, comparisons, name, pairs)
                for s, scores in zip(statistics, resampled, strict=True)
            },
        )
        for i, name in enumerate(names)
    )
    return Report(
        version=__version__,
        level=level,
        seed=seed,
        input=inspect_corpus(corpus),
        systems=systems,
        comparisons=tuple(comparisons),
        failures=_issues(statistics, corpus, "failed"),
        degraded=_issues(statistics, corpus, "degraded"),
        corpus=corpus,
        statistics=statistics,
    )


def _score(
    statistics: Statistics,
    system: int,
    ci: tuple[float, float] | None,
    corpus: Corpus,
    seed: int,
    comparisons: Sequence[Comparison],
    name: str,
    pairs: bool,
) -> Score:
    metric, info = statistics.metric, statistics.metric.info
    n = int(statistics.ok[system].sum())
    totals = statistics.totals(system)
    value = metric.corpus_score(totals) if n else float("nan")
    beaten_by = sum(
        c.metric == metric.label and name in (c.a, c.b) and c.winner not in (None, name) for c in comparisons
    )
    return Score(
        metric=metric.label,
        value=value if isfinite(value) else None,
        ci=ci if n else None,
        n=n,
        failed=statistics.count(system, "failed"),
        degraded=statistics.count(system, "degraded"),
        higher_is_better=info.higher_is_better,
        scale=info.scale,
        components=metric.components(totals) if n else {},
        signature=score_signature(
            metric,
            "sys",
            corpus,
            {"bs": BOOTSTRAP_TRIALS, "ar": RANDOMISATION_TRIALS if pairs else None, "seed": seed},
        ),
        segment_signature=score_signature(metric, "seg", corpus, {}) if "seg" in info.levels else None,
        rank=1 + beaten_by if pairs else None,
    )


def score_signature(metric: Metric, level: Level, corpus: Corpus, resampling: dict[str, SignatureValue]) -> str:
    """The recipe of a score of this corpus."""
    limit = len(corpus) if len(corpus) < corpus.full_size else None
    fields = {
        "nrefs": corpus.reference_count,
        "limit": limit,
        **resampling,
        **metric.signature_fields(level),
        "version": metric.version(),
    }
    return format_signature(metric.info.name, fields)


def _comparisons(
    statistics: Sequence[Statistics], resampled: Sequence[FloatArray], names: Sequence[str], seed: int
) -> list[Comparison]:
    comparisons = []
    for s, tests in zip(statistics, paired_tests(statistics, resampled, seed=seed), strict=True):
        bootstrap = holm([t.p_bootstrap for t in tests])
        ar = holm([t.p_ar for t in tests])
        for test, p_bootstrap_holm, p_ar_holm in zip(tests, bootstrap, ar, strict=True):
            better = test.a if (test.difference > 0) == s.metric.info.higher_is_better else test.b
            # a winner must pass both tests: neither printed p-value may contradict it
            significant = test.difference != 0 and max(p_bootstrap_holm, p_ar_holm) < ALPHA
            comparisons.append(
                Comparison(
                    metric=s.metric.label,
                    a=names[test.a],
                    b=names[test.b],
                    difference=test.difference,
                    ci=test.ci,
                    p_bootstrap=test.p_bootstrap,
                    p_ar=test.p_ar,
                    p_bootstrap_holm=p_bootstrap_holm,
                    p_ar_holm=p_ar_holm,
                    winner=names[better] if significant else None,
                )
            )
    return comparisons


def _issues(statistics: Sequence[Statistics], corpus: Corpus, status: str) -> tuple[Issue, ...]:
    names, ids = list(corpus.systems), list(corpus.ids())
    return tuple(
        Issue(names[p.system], *ids[p.segment], s.metric.label, p.reason)
        for s in statistics
        for p in s.problems
        if p.status == status
    )
