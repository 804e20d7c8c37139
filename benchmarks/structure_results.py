"""Structure alignment in all its modes against people: docs/results/structure-alignment.md and structure-choice.md.

    python benchmarks/structure_results.py [--judgments DIR] [--jobs N] [--only wmt16] [--pages]

Values are kept in docs/results/structure-values.jsonl and computed again only where the recipe changed; --pages writes
the pages from them and computes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from result_pages import HUMAN, JUDGMENTS, OUT, SYS_LIMIT
from scipy.stats import binomtest
from structure_pages import BESIDE, CRITERIA, DEFAULT, PAPER, TO_ENGLISH, TOGETHER, write_pages

from arboreval.analysis.source import AnalysisSource
from arboreval.analysis.structures import Analysis, ConstituencyTree
from arboreval.meta.correlation import pearson
from arboreval.meta.evalset import EvalSet
from arboreval.meta.evaluate import meta_evaluate
from arboreval.meta.readers import read_evalsets
from arboreval.meta.score_store import ScoreStore
from arboreval.meta.scores import Scored, recipe, score_evalset
from arboreval.metrics.base import Batch
from arboreval.metrics.structural import StructuralMetric
from arboreval.registry import make_metric
from arboreval.report.files import write_atomically

Floats = NDArray[np.float64]
Key = tuple[str, str, str]

VALUES = OUT / "structure-values.jsonl"
TRIPLES = Path(__file__).with_name("attachment-triples.tsv")


def labels(*specs: str) -> tuple[str, ...]:
    """The metrics' names as reports have them."""
    return tuple(make_metric(spec).label for spec in specs)


#: the paper's inventory in every mode of its tables, and the default with filters
MODES = labels(
    *(f"{PAPER}:filter={f}" for f in ("none", "label", "head")),
    *(f"{PAPER}:tree=dep:filter={f}" for f in ("none", "label", "head")),
    *(f"{PAPER}:tree=dep:scheme=prep-head:filter={f}" for f in ("none", "head")),
    DEFAULT,
    *(f"{DEFAULT}:filter={f}" for f in ("label", "head")),
    *(f"{DEFAULT}:tree=dep:filter={f}" for f in ("none", "head")),
)
WEIGHTED = labels(
    *(f"{PAPER}:filter={f}:weighting=length" for f in ("none", "label", "head")),
    *(f"{PAPER}:tree=dep:filter={f}:weighting=length" for f in ("none", "head")),
    f"{DEFAULT}:weighting=length",
)
#: what was tried on WMT15 to choose the default
TRIED = labels(
    *(f"{DEFAULT}:max_len={n}" for n in (4, 6, 8, 10, 16, 20, 0)),
    *(f"{DEFAULT}:{o}" for o in ("leaves=word", "include_tokens=false", "collapse_unary=false", "drop_punct=true")),
    *(f"{DEFAULT}:tree=dep:{o}" for o in ("max_len=4", "max_len=8", "max_len=0", "dedup=none", "scheme=prep-head")),
)
#: WMT's rule for systems that decide a correlation on their own (Mathur et al. 2020)
OUTLIER = 2.5
TRIALS = 1_000


class Values:
    """Values with their recipes, by file, metric and key."""

    def __init__(self) -> None:
        self.rows: dict[Key, dict[str, Any]] = {}
        if VALUES.exists():
            for line in VALUES.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["file"], row["metric"], row["key"]] = row

    def put(self, file: str, metric: str, key: str, value: Any, n: int, how: str) -> None:
        today = datetime.date.today().isoformat()
        row = {"file": file, "metric": metric, "key": key, "value": value, "n": n, "recipe": how, "date": today}
        self.rows[file, metric, key] = row

    def current(self, file: str, metrics: Iterable[str]) -> bool:
        """Whether a file has been computed with the present recipes."""
        known = {(row["file"], row["metric"], row["recipe"]) for row in self.rows.values()}
        return all((file, metric, recipe(make_metric(metric))) in known for metric in metrics)

    def save(self) -> None:
        lines = [json.dumps(self.rows[key], ensure_ascii=False) for key in sorted(self.rows)]
        write_atomically(VALUES, "".join(line + "\n" for line in lines))


class Run:
    """What all parts need."""

    def __init__(self, judgments: Path, jobs: int) -> None:
        self.judgments, self.jobs, self.values = judgments, jobs, Values()

    def read(self, name: str, *, without: Sequence[str] = (), limit: int | None = None) -> EvalSet | None:
        path = self.judgments / name
        if not path.exists():
            print(f"{name}: the data is not there")
            return None
        (data,) = read_evalsets(path)
        return data.without([s for s in without if s in data.systems]).limit(limit)

    def score(self, data: EvalSet, metrics: Sequence[str]) -> list[Scored]:
        store = ScoreStore()
        try:
            return score_evalset(data, metrics, store=store, jobs=self.jobs)
        finally:
            store.close()

    def coefficients(
        self,
        name: str,
        data: EvalSet,
        metrics: Sequence[str],
        corr: str,
        level: str,
        key: str,
        human: str | None = None,
    ) -> None:
        report = meta_evaluate(data, metrics, corr=[corr], level=level, human=human, trials=0, jobs=self.jobs)  # type: ignore[arg-type]
        for r in report.results:
            self.values.put(name, r.metric, key, r.value, r.n, recipe(make_metric(r.metric)))


# --- data sets ---------------------------------------------------------------------------------------------------


def segments(run: Run, year: int) -> None:
    """Segment-level Pearson, all modes; and BERTScore with and without the default beside it."""
    human, scores = [], []
    metrics = [*BESIDE, *MODES, *WEIGHTED]
    if all(run.values.current(f"wmt{year}-da-seg.{pair}-en.jsonl.gz", metrics) for pair in TO_ENGLISH):
        return
    for pair in TO_ENGLISH:
        name = f"wmt{year}-da-seg.{pair}-en.jsonl.gz"
        data = run.read(name)
        if data is None:
            return
        run.coefficients(name, data, metrics, "pearson", "seg", "pearson/seg")
        rows = {s.name: s.oriented_rows for s in run.score(data, ["bertscore", DEFAULT])}
        people = data.human["z" if np.isfinite(data.human["z"]).any() else "raw"]
        pair_scores = np.array([rows["bertscore"], rows[DEFAULT]])
        kept = np.isfinite(people) & np.isfinite(pair_scores).all(axis=0)
        human.append(people[kept])
        scores.append(pair_scores[:, kept])
        value = pearson(together(scores[-1]), human[-1]).value
        run.values.put(name, TOGETHER, "pearson/seg", value, int(kept.sum()), "")
    low, high, share = difference(human, scores)
    mean = gain(human, scores)
    value = {"mean": mean, "low": low, "high": high, "none": share}
    run.values.put(f"wmt{year}-da-seg", TOGETHER, "gain", value, TRIALS, "")


def together(scores: Floats) -> Floats:
    """The mean of metrics, each z-normalised within the file."""
    z = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    mean: Floats = z.mean(axis=0)
    return mean


def gain(human: Sequence[Floats], scores: Sequence[Floats]) -> float:
    """How much Pearson, averaged over files, the default adds to BERTScore."""
    pairs = list(zip(human, scores, strict=True))
    with_it = [np.corrcoef(together(s), h)[0, 1] for h, s in pairs]
    return float(np.mean(with_it) - np.mean([np.corrcoef(s[0], h)[0, 1] for h, s in pairs]))


def difference(human: Sequence[Floats], scores: Sequence[Floats]) -> tuple[float, float, float]:
    """A 95 % bootstrap interval of the gain over segments, and the share of resamples in which there is none."""
    rng = np.random.default_rng(12345)
    gains = []
    for _ in range(TRIALS):
        rows = [rng.integers(0, len(h), len(h)) for h in human]
        resampled = (
            [h[i] for h, i in zip(human, rows, strict=True)],
            [s[:, i] for s, i in zip(scores, rows, strict=True)],
        )
        gains.append(gain(*resampled))
    low, high = np.percentile(gains, [2.5, 97.5])
    return float(low), float(high), float(np.mean(np.array(gains) <= 0))


def wmt18(run: Run) -> None:
    for path in sorted(run.judgments.glob("wmt18-sys.*-en.jsonl.gz")):
        data = run.read(path.name, limit=SYS_LIMIT)
        metrics = [*BESIDE, *MODES, *WEIGHTED]
        if data is not None and not run.values.current(path.name, metrics):
            run.coefficients(path.name, data, metrics, "pearson", "sys", "pearson/sys")
            run.values.save()


def wmt20(run: Run) -> None:
    name = "wmt20-da.zh-en.jsonl.gz"
    data = run.read(name, without=HUMAN)
    metrics = [*BESIDE, *MODES, *WEIGHTED]
    if data is None or run.values.current(name, metrics):
        return
    run.coefficients(name, data, metrics, "kendall-darr", "seg", "kendall-darr")
    run.coefficients(name, data, metrics, "pearson", "sys", "pearson/sys")
    inliers = data.without(outliers(data))
    run.coefficients(name, inliers, metrics, "pearson", "sys", "pearson/sys/inliers")
    compared = labels(
        *BESIDE, PAPER, f"{PAPER}:filter=head", f"{PAPER}:tree=dep", f"{PAPER}:tree=dep:filter=head", DEFAULT
    )
    report = meta_evaluate(data, compared, corr=["pearson"], level="seg", trials=0, partial=True, jobs=run.jobs)
    (found,) = report.partial
    value = {"metrics": list(found.metrics), "partial": [list(row) for row in found.partial]}
    run.values.put(name, "", "partial", value, int(found.n), "")


def outliers(data: EvalSet) -> list[str]:
    z = data.human["z"]
    means = np.array([np.nanmean(z[data.outputs.system == i]) for i in range(len(data.systems))])
    spread = 1.483 * np.median(np.abs(means - np.median(means)))
    return [s for s, m in zip(data.systems, means, strict=True) if abs(m - np.median(means)) > OUTLIER * spread]


def webnlg(run: Run) -> None:
    name = "webnlg2020.en.jsonl.gz"
    data = run.read(name, without=HUMAN)
    metrics = [*BESIDE, *MODES]
    if data is None or run.values.current(name, metrics):
        return
    for criterion in CRITERIA:
        run.coefficients(name, data, metrics, "pearson", "sys", f"pearson/sys/{criterion}", human=criterion)


# --- the choice of the default -----------------------------------------------------------------------------------


def choice(run: Run) -> None:
    """Inventories on WMT15 beyond the modes, and trees that were not parsed."""
    sets = [run.read(f"wmt15-da-seg.{pair}-en.jsonl.gz") for pair in TO_ENGLISH]
    if any(data is None for data in sets) or run.values.current("wmt15-da-seg", TRIED):
        return
    texts = dict.fromkeys(t for d in sets if d is not None for t in _texts(d))
    made = AnalysisSource(cache=False).analyze(texts, frozenset({"tokens", "dep", "const", "vectors"}))
    parsed = {a.text: a for a in made}
    trials: list[tuple[str, str, Mapping[str, Analysis]]] = [(spec, spec, parsed) for spec in (*TRIED, DEFAULT)]
    for what, tree in (("random", _random_tree), ("right-branching", _right_branching)):
        unparsed = {text: _with_tree(a, tree) for text, a in parsed.items()}
        trials.append((f"{DEFAULT} on {what} trees", DEFAULT, unparsed))
    bert = [_metric_scores("bertscore", d, parsed) for d in sets if d is not None]
    for label, spec, analyses in trials:
        alone, both = [], []
        for data, beside in zip(sets, bert, strict=True):
            if data is not None:
                people = data.human["z" if np.isfinite(data.human["z"]).any() else "raw"]
                scores = _metric_scores(spec, data, analyses)
                alone.append(pearson(scores, people).value)
                both.append(pearson(together(np.array([beside, scores])), people).value)
        how = recipe(make_metric(spec))
        for key, values in (("mean", alone), ("with bertscore", both)):
            run.values.put("wmt15-da-seg", label, key, float(np.mean([v for v in values if v is not None])), 4, how)
        print(label, np.mean([v for v in alone if v is not None]), flush=True)


def _texts(data: EvalSet) -> Iterable[str]:
    yield from data.outputs.hypotheses
    yield from (text for references in data.outputs.references for text in references)


def _metric_scores(spec: str, data: EvalSet, analyses: Mapping[str, Analysis]) -> Floats:
    metric = make_metric(spec)
    assert isinstance(metric, StructuralMetric)
    pairs = list(zip(data.outputs.hypotheses, (refs[0] for refs in data.outputs.references), strict=True))
    found = metric.pairs(analyses, list(dict.fromkeys(pairs)))
    return np.array([found[pair][2] for pair in pairs])


Nodes = list[tuple[int, int, int]]  # start, end, parent


def _with_tree(analysis: Analysis, tree: Callable[[int, int, np.random.Generator], Nodes]) -> Analysis:
    """The analysis with another constituency tree over each of its sentences."""
    rng = np.random.default_rng(list(analysis.text.encode()))
    nodes: Nodes = []
    for start, end in analysis.tokens.sentence_spans():
        top = len(nodes)
        nodes.append((start, end, -1))
        nodes += [(i, j, top + parent) for i, j, parent in tree(start, end, rng)]
    labels = ["TOP" if parent < 0 else "X" for _, _, parent in nodes]
    start, end, parent = (np.array(column, np.int32) for column in zip(*nodes, strict=True))
    return replace(analysis, constituency=ConstituencyTree(tuple(labels), parent, start, end))


def _random_tree(start: int, end: int, rng: np.random.Generator) -> Nodes:
    return _binary(start, end, lambda i, j: int(rng.integers(i + 1, j)))


def _right_branching(start: int, end: int, rng: np.random.Generator) -> Nodes:
    return _binary(start, end, lambda i, j: i + 1)


def _binary(start: int, end: int, split: Callable[[int, int], int]) -> Nodes:
    """A binary tree in pre-order; parents are counted from the TOP above it, which is 0."""
    nodes: Nodes = []
    left = [(start, end, 0)]
    while left:
        i, j, parent = left.pop()
        if j - i < 2:
            continue
        nodes.append((i, j, parent))
        middle = split(i, j)
        left += [(middle, j, len(nodes)), (i, middle, len(nodes))]
    return nodes


# --- triples -----------------------------------------------------------------------------------------------------


def triples(run: Run) -> None:
    """How often a paraphrase scores above the same words with another meaning."""
    lines = TRIPLES.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    metrics = [*BESIDE, *MODES, *WEIGHTED]
    if run.values.current(TRIPLES.name, metrics):
        return
    data = [(text, sentence) for _, _, sentence, paraphrase, changed in rows for text in (paraphrase, changed)]
    texts = dict.fromkeys(text for pair in data for text in pair)
    made = AnalysisSource(cache=False).analyze(texts, frozenset({"tokens", "dep", "const", "vectors"}))
    analyses = {a.text: a for a in made}
    wins: dict[str, NDArray[np.bool_]] = {}
    for spec in metrics:
        metric = make_metric(spec)
        if isinstance(metric, StructuralMetric):
            found = metric.pairs(analyses, list(dict.fromkeys(data)))
            scores = np.array([found[pair][2] for pair in data])
        else:
            measured = metric.statistics(Batch([(reference,) for _, reference in data], [[text for text, _ in data]]))
            scores = metric.segment_scores(measured.stats[0])
        wins[spec] = scores[0::2] > scores[1::2]
    for spec, won in wins.items():
        better, worse = int((won & ~wins["bertscore"]).sum()), int((~won & wins["bertscore"]).sum())
        p = float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
        kinds = {k: float(won[[row[1] == k for row in rows]].mean()) for k in dict.fromkeys(row[1] for row in rows)}
        value = {"share": float(won.mean()), "better": better, "worse": worse, "p": p, "kinds": kinds}
        run.values.put(TRIPLES.name, spec, "triples", value, len(rows), recipe(make_metric(spec)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--judgments", type=Path, default=JUDGMENTS, help="folder with the human judgments")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--only", default="", help="only the parts whose name contains this")
    parser.add_argument("--pages", action="store_true", help="only write the pages")
    options = parser.parse_args()
    run = Run(options.judgments, options.jobs)
    parts: dict[str, Callable[[], None]] = {
        **{f"wmt{year}": lambda year=year: segments(run, year) for year in (15, 16, 17)},  # type: ignore[misc]
        "triples": lambda: triples(run),
        "choice": lambda: choice(run),
        "webnlg": lambda: webnlg(run),
        "wmt20": lambda: wmt20(run),
        "wmt18": lambda: wmt18(run),
    }
    for name, part in parts.items():
        if options.only in name and not options.pages:
            part()
            run.values.save()
            print(f"{name}: done", flush=True)
    write_pages(run.values.rows)


if __name__ == "__main__":
    main()
