"""What arboreval relies on in a metric, as checks that plug-in authors can run on theirs."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np

from arboreval.corpus.model import Corpus
from arboreval.metrics.base import Metric
from arboreval.run.measure import measure

_REFERENCES = [
    ("The girl saw the man with the telescope.", "With her telescope the girl saw the man."),
    ("He did not come, because it was raining.",),
    ("Prices rose by 3.5 % in May, the ministry said.",),
    ("She gave him the book.", "The book was given to him by her."),
    ("Yes.",),
]
_SYSTEMS = {
    "same": [references[0] for references in _REFERENCES],
    "other": ["The man saw the girl.", "", "Prices fell in May said ministry", "He gave her the book book.", "No no."],
}


class MetricCheckError(AssertionError):
    """A metric breaks a rule; the message says which."""


def check_metric(metric: Metric) -> None:
    """Raises :class:`MetricCheckError` if ``metric`` breaks one of the rules below."""
    sources = [f"Satz {i}" for i in range(len(_REFERENCES))]
    corpus = Corpus.from_lists(_SYSTEMS, _REFERENCES, sources=sources)
    (whole,) = measure(corpus, [metric])
    k = metric.width
    _require(whole.stats.shape == (2, len(corpus), k), f"statistics must have the shape (systems, segments, {k})")
    _require(bool(np.isfinite(whole.stats).all()), "statistics must be finite numbers")
    for size in (1, 2, 3):
        (parts,) = measure(corpus, [metric], batch_size=size)
        _require(np.array_equal(parts.stats, whole.stats), "statistics must not depend on the batch")
    alone = replace(corpus, systems={"other": corpus.systems["other"]})
    (single,) = measure(alone, [metric])
    _require(np.array_equal(single.stats[0], whole.stats[1]), "statistics must not depend on the other systems")
    copy = pickle.loads(pickle.dumps(metric))  # made in this line
    _require(copy == metric, "a metric must survive a trip to another process")
    low, high = metric.info.scale
    for system in range(2):
        totals = whole.totals(system)
        value = metric.corpus_score(totals)
        _require(abs(value - metric.aggregate(totals[None])[0]) < 1e-9, "corpus_score and aggregate must agree")
        above = low is None or value >= low - 1e-9  # BLEU of a copy is 100.00000000000004
        below = high is None or value <= high + 1e-9
        _require(above and below, f"{value} is off the scale")
        if "seg" in metric.info.levels:
            segments = metric.segment_scores(whole.stats[system])
            _require(segments.shape == (len(corpus),), "segment_scores must give one score per row")
    many = metric.aggregate(whole.stats)
    _require(many.shape == (2, len(corpus)), "aggregate must keep the leading axes of its input")
    same, other = (metric.corpus_score(whole.totals(system)) for system in range(2))
    better = same >= other if metric.info.higher_is_better else same <= other
    _require(better, "a copy of the reference must not score worse than a bad output")


def _require(condition: bool, rule: str) -> None:
    if not condition:
        raise MetricCheckError(rule)
