"""Tests of every pair of metrics on one data set, their correction, and the clusters that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from arboreval.meta.cells import system_cells
from arboreval.meta.coefficient import Coefficient
from arboreval.meta.correlation import Name, pairs_for, pearson
from arboreval.meta.evalset import FloatArray
from arboreval.meta.hybrids import hybrids_of
from arboreval.meta.levels import (
    CORRELATIONS,
    WMT_VARIANTS,
    RankedSegments,
    ScoredSegments,
    Systems,
    Task,
    level_of,
)
from arboreval.meta.pairwise import Pairs
from arboreval.meta.partial import partial_matrix
from arboreval.meta.scores import Scored
from arboreval.meta.supersampling import SuperSample
from arboreval.meta.tests import (
    Comparison,
    Permutation,
    SystemScores,
    clusters,
    compare_pearson,
    pair_permutation_test,
    paired_bootstrap,
    permutation_test,
    system_permutation_test,
)
from arboreval.report.meta_model import Cluster, Partial, Test
from arboreval.significance import ALPHA, holm

Correction = Literal["holm", "bonferroni"]
Matrix = tuple[tuple[float | None, ...], ...]


def compare_metrics(
    task: Task,
    scored: Sequence[Scored],
    corr: str,
    test: str,
    values: Mapping[str, Coefficient],
    samples: Mapping[str, FloatArray],
    *,
    correction: Correction,
    permutations: int,
    seed: int,
) -> tuple[list[Test], Cluster | None, list[str]]:
    """Every pair, the better metric first; p-values are corrected over the pairs of this data set."""
    level = level_of(task, corr)
    known = {s.name: value for s in scored if (value := values[s.name].value) is not None}
    ranked = sorted((s for s in scored if s.name in known), key=lambda s: -known[s.name])
    if len(ranked) < 2:
        return [], None, []
    hybrids = None
    if corr == "hybrid" and isinstance(task, Systems):
        hybrids = hybrids_of(task.data, task.data.human[task.human_key], scored, seed)
    found = [
        (a, b, _compare(task, a, b, corr, test, values, samples, hybrids, permutations, seed))
        for a, b in combinations(ranked, 2)
    ]
    p_values = [c.p for _, _, c in found if c.p is not None]
    corrected = iter(holm(p_values))
    tests = []
    wins: set[tuple[str, str]] = set()
    for a, b, c in found:
        p_holm = next(corrected) if c.p is not None else None
        p_bonferroni = None if c.p is None else min(1.0, c.p * len(p_values))
        p = p_holm if correction == "holm" else p_bonferroni
        better = p <= ALPHA if p is not None else c.wins()
        if better:
            wins.add((a.name, b.name))
        tests.append(
            Test(
                dataset=task.data.dataset,
                lp=task.data.lp,
                level=level,
                corr=corr,
                test=test,
                a=a.name,
                b=b.name,
                difference=c.difference,
                ci=c.ci,
                p=c.p,
                p_holm=p_holm,
                p_bonferroni=p_bonferroni,
                winner=a.name if better else None,
                reason=c.reason,
            )
        )
    notes = list(dict.fromkeys(f"{test}: {c.note}" for _, _, c in found if c.note))
    if all(c.reason for _, _, c in found):
        return tests, None, [*notes, f"{test}, {corr}: {found[0][2].reason}"]
    if hybrids is not None:
        notes += [n for n in hybrids.notes if n not in notes]
    names = [s.name for s in ranked]
    ranks = clusters([[(a, b) in wins for b in names] for a in names])
    where = (task.data.dataset, task.data.lp, level, corr, test)
    return tests, Cluster(*where, tuple(names), ranks), notes


def _compare(
    task: Task,
    a: Scored,
    b: Scored,
    corr: str,
    test: str,
    values: Mapping[str, Coefficient],
    samples: Mapping[str, FloatArray],
    hybrids: SuperSample | None,
    permutations: int,
    seed: int,
) -> Comparison:
    if test == "bootstrap":
        if a.name not in samples or b.name not in samples:
            return Comparison(0, reason="there are no segments to resample")
        first, second = values[a.name].value, values[b.name].value
        if first is None or second is None:
            return Comparison(0, reason="a coefficient is undefined")
        return paired_bootstrap(samples[a.name], samples[b.name], first, second)
    if test in ("williams", "zou"):
        return _by_formula(task, a, b, corr, "williams" if test == "williams" else "zou", hybrids)
    return _by_permutation(task, a, b, corr, _kind(test), permutations, seed)


def _kind(test: str) -> Permutation:
    return test  # type: ignore[return-value]  # checked when the command was read


def _columns(task: Task, a: Scored, b: Scored) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    if isinstance(task, Systems):
        return a.oriented_systems, b.oriented_systems, task.human
    if isinstance(task, ScoredSegments) and a.oriented_rows is not None and b.oriented_rows is not None:
        return a.oriented_rows, b.oriented_rows, task.human
    return None


def _by_formula(
    task: Task, a: Scored, b: Scored, corr: str, test: Literal["williams", "zou"], hybrids: SuperSample | None
) -> Comparison:
    if hybrids is not None:
        if test == "zou":
            return hybrids.zou(a.name, b.name)
        return Comparison(0, reason="hybrids are compared by zou or bootstrap")
    columns = _columns(task, a, b)
    average = task.average if isinstance(task, ScoredSegments) else "none"
    if corr != "pearson" or columns is None or average != "none":
        return Comparison(0, reason=f"{test} compares pooled Pearson correlations; use perm-both or bootstrap")
    return compare_pearson(*columns, test)


def _by_permutation(
    task: Task, a: Scored, b: Scored, corr: str, kind: Permutation, permutations: int, seed: int
) -> Comparison:
    columns = _columns(task, a, b)
    if isinstance(task, Systems):
        if corr not in (*CORRELATIONS, "pairwise-accuracy"):
            return Comparison(0, reason=f"{kind} cannot permute {corr}; use bootstrap")
        x, y = (SystemScores(s.oriented_systems, system_cells(task.data, s)) for s in (a, b))
        return system_permutation_test(x, y, task.human, kind=kind, corr=_name(corr), trials=permutations, seed=seed)
    if corr in (*WMT_VARIANTS, "acc23"):
        first, second = (_pairs(task, s, corr) for s in (a, b))
        if first is None or second is None or kind != "perm-both":
            return Comparison(0, reason=f"{kind} cannot permute {corr}; use perm-both or bootstrap")
        return pair_permutation_test(first, second, _name(corr), trials=permutations, seed=seed)
    if corr not in CORRELATIONS or columns is None or not isinstance(task, ScoredSegments):
        return Comparison(0, reason=f"{kind} cannot permute {corr}; use bootstrap")
    if kind == "perm-sys" and not task.data.systems:
        return Comparison(0, reason="the data does not name systems")
    out = task.data.outputs
    return permutation_test(
        *columns,
        kind=kind,
        corr=_name(corr),
        segment=out.segment,
        system=out.system,
        average=task.average,
        trials=permutations,
        seed=seed,
    )


def _name(corr: str) -> Name:
    return corr  # type: ignore[return-value]  # checked when the command was read


def _pairs(task: Task, scored: Scored, corr: str) -> Pairs | None:
    if isinstance(task, RankedSegments):
        return task.pairs(scored)
    if isinstance(task, ScoredSegments) and scored.oriented_rows is not None:
        y, _ = task.side(corr)
        if y is not None and (corr != "acc23" or task.shares_segments):
            return pairs_for(_name(corr), scored.oriented_rows, y, task.data.outputs.segment)
    return None


def partial_of(task: ScoredSegments | Systems, columns: Mapping[str, FloatArray]) -> Partial:
    """Plain and partial correlations between metrics, on the rows that have all scores."""
    found = partial_matrix(columns, task.human)
    kept = ~np.logical_or.reduce([np.isnan(v) for v in (task.human, *columns.values())])
    rows = [values[kept] for values in columns.values()]
    return Partial(
        dataset=task.data.dataset,
        lp=task.data.lp,
        level=task.level,
        metrics=found.names,
        plain=tuple(tuple(pearson(a, b).value for b in rows) for a in rows),
        partial=tuple(tuple(cell.value for cell in line) for line in found.cells),
        n=found.n,
        reasons=tuple(dict.fromkeys(cell.reason for line in found.cells for cell in line if cell.reason)),
    )
