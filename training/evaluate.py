"""Measures the English analyzer on its test splits and writes docs/results/analyzer.md.

    python training/evaluate.py [--data DIR] [--analyzer SPEC] [--only PART,...] [--out FILE]

Everything goes through the public analyzer, with the files it ships. Where a measure gives gold words, EDUs or
predicates, they go through ``analyze_words``, so that only the structure in question is predicted. ``--only`` prints
some parts (text, const, ucca, rst, ner, srl, vectors) without writing the page.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import gold
from baselines import STORE, sum_counts, ucca_by_rules
from readers import Tree
from results_page import Figure, render
from scorers import (
    NO_BRACKETS,
    Argument,
    Bracket,
    Counts,
    Word,
    bertscore_f,
    bio_spans,
    edu_starts,
    evalb,
    multiset,
    pearson,
    rst_parseval,
    srl,
    text_counts,
    ucca,
)

from arboreval.analysis.analyzer import Analyzer, make_analyzer, narrowed
from arboreval.analysis.structures import Analysis

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "analyzer.md"
BATCH = 512
STRUCTURES = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner"})
#: roles that are no arguments: the predicate itself; its continuation (a particle) counts as the data has it
NO_V, NO_V_PARTS = frozenset({"V"}), frozenset({"V", "C-V"})


class WordAnalyzer(Protocol):
    """What the evaluation needs beside ``analyze``."""

    @property
    def fingerprint(self) -> str: ...

    def analyze_words(
        self,
        sentences: Sequence[gold.Sentence],
        *,
        edu_starts: Sequence[Sequence[int]] | None = None,
        predicates: Sequence[Sequence[int]] | None = None,
    ) -> Iterable[Analysis]:
        """One analysis for each sentence, over exactly its words ``(form, space follows)`` and as one sentence.

        With ``edu_starts`` the discourse tree is built over these EDUs; with ``predicates`` the roles are those of
        these words.
        """


class Runner:
    """Runs the analyzer in batches and remembers sentences that several measures share."""

    def __init__(self, spec: str | Analyzer) -> None:
        analyzer = make_analyzer(spec)
        self.fingerprint = analyzer.fingerprint
        self.structures: Any = narrowed(analyzer, STRUCTURES)[0]
        self.vectors: Any = narrowed(analyzer, frozenset({"tokens", "vectors"}))[0]
        self._known: dict[tuple[tuple[str, bool], ...], Analysis] = {}

    def words(self, sentences: Sequence[gold.Sentence]) -> list[Analysis]:
        new = list({tuple(s): s for s in sentences if tuple(s) not in self._known}.values())
        for at in range(0, len(new), BATCH):
            batch = new[at : at + BATCH]
            for sentence, analysis in zip(batch, self.structures.analyze_words(batch), strict=True):
                self._known[tuple(sentence)] = replace(checked(analysis, len(sentence)), vectors=None)
        return [self._known[tuple(sentence)] for sentence in sentences]

    def given(self, sentences: Sequence[gold.Sentence], **known: Sequence[Sequence[int]]) -> Iterator[Analysis]:
        """Analyses with gold EDUs or predicates."""
        for at in range(0, len(sentences), BATCH):
            batch = sentences[at : at + BATCH]
            parts = {name: values[at : at + BATCH] for name, values in known.items()}
            for sentence, analysis in zip(batch, self.structures.analyze_words(batch, **parts), strict=True):
                yield checked(analysis, len(sentence))

    def texts(self, texts: Sequence[gold.Text]) -> Iterator[tuple[gold.Text, Analysis]]:
        yield from zip(texts, self.structures.analyze(text.text for text in texts), strict=True)


def checked(analysis: Analysis, n_words: int) -> Analysis:
    if analysis.status == "failed" or len(analysis.tokens) != n_words:
        raise SystemExit(
            f"{n_words} gold words came back as {len(analysis.tokens)} ({analysis.reason or 'no reason'})."
        )
    return analysis


# -- analyses as plain data ----------------------------------------------------------------------------------------


def words_of(analysis: Analysis, places: Sequence[Word] | None = None) -> list[Word]:
    """The words with tags and heads; ``places`` are gold words whose offsets and sentence are taken over."""
    tokens, tree = analysis.tokens, analysis.dependency
    heads = tree.head.tolist() if tree else [-1] * len(tokens)
    relations = tree.relation if tree else [""] * len(tokens)
    where = (
        [(word.start, word.end, word.sentence) for word in places]
        if places is not None
        else list(zip(tokens.start.tolist(), tokens.end.tolist(), tokens.sentence.tolist(), strict=True))
    )
    rows = zip(where, tokens.upos, tokens.xpos, tokens.lemma, heads, relations, strict=True)
    return [Word(*place, upos, xpos, lemma, head, relation) for place, upos, xpos, lemma, head, relation in rows]


def brackets_of(analysis: Analysis) -> list[Bracket]:
    tree = analysis.constituency
    if tree is None:
        return []
    return list(zip(tree.start.tolist(), tree.end.tolist(), tree.label, strict=True))


def ucca_of(analysis: Analysis, punctuation: list[int]) -> dict[str, Any]:
    graph = analysis.ucca
    if graph is None:
        return {"edges": [], "terms": {}, "implicit": [], "punct": punctuation}
    terms: dict[str, list[int]] = {}
    for node, word in zip(graph.term_node.tolist(), graph.term_word.tolist(), strict=True):
        terms.setdefault(str(node), []).append(word)
    edges = zip(graph.parent.tolist(), graph.child.tolist(), graph.category, graph.remote.tolist(), strict=True)
    return {"edges": list(edges), "terms": terms, "implicit": sorted(graph.implicit), "punct": punctuation}


def tree_of(analysis: Analysis) -> Tree:
    """The predicted dependency tree in the form that the rule baselines read."""
    tokens, tree = analysis.tokens, analysis.dependency
    if tree is None:
        raise SystemExit("the analyzer makes no dependency trees.")
    lists = (list(tokens.lemma), list(tokens.upos), list(tokens.xpos), tree.head.tolist(), list(tree.relation))
    return Tree("", "", False, tokens.forms(analysis.text), [], *lists)


def roles_of(analysis: Analysis) -> dict[int, list[Argument]]:
    roles = analysis.roles
    if roles is None:
        return {}
    return {int(word): roles.arguments(number) for number, word in enumerate(roles.predicate)}


# -- the parts -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Context:
    data: Path
    run: Runner

    def gum_groups(self, trees: Sequence[Tree]) -> dict[str, list[Tree]]:
        restricted = gold.non_commercial(self.data)
        return {
            "gum": [tree for tree in trees if not restricted[tree.doc]],
            "gum-nc": [tree for tree in trees if restricted[tree.doc]],
            "gum-all": list(trees),
        }


Figures = dict[str, Figure]


def figures(prefix: str, counts: dict[str, Counts]) -> Figures:
    return {f"{prefix}.{name}": Figure(found.f1, found.gold) for name, found in counts.items()}


def text_part(context: Context) -> Figures:
    """Words, sentences, tags, lemmas and dependencies, with gold words and from raw text."""
    found: Figures = {}
    groups = {"ewt": gold.trees(context.data, "ewt-test"), **context.gum_groups(gold.trees(context.data, "gum-test"))}
    for name, trees in groups.items():
        analyses = context.run.words([gold.spaced(tree.words, tree.space) for tree in trees])
        total = sum_counts(
            text_counts(text.words, words_of(analysis, text.words))
            for text, analysis in zip(gold.texts(trees, whole_documents=False), analyses, strict=True)
        )
        found |= figures(f"{name}.gold", total)
    gum = groups.pop("gum-all")
    starts = {row.id: row.edus for row in gold.discourse(context.data, "test")}
    raw: dict[str, list[dict[str, Counts]]] = {name: [] for name in (*groups, "gum-all")}
    restricted = gold.non_commercial(context.data)
    for name, trees in (("ewt", groups["ewt"]), ("gum-all", gum)):
        for text, analysis in context.run.texts(gold.texts(trees, whole_documents=True)):
            counts = text_counts(text.words, words_of(analysis))
            if name != "ewt":
                counts["EDU"] = raw_edus(text, analysis, [tree for tree in trees if tree.doc == text.id], starts)
                raw["gum-nc" if restricted[text.id] else "gum"].append(counts)
            raw[name].append(counts)
    for name, results in raw.items():
        found |= figures(f"{name}.raw", sum_counts(results))
    return found


def raw_edus(text: gold.Text, analysis: Analysis, trees: Sequence[Tree], starts: dict[str, list[int]]) -> Counts:
    """EDU starts of a raw text by character."""
    wanted, base = [], 0
    for tree in trees:
        wanted += [text.words[base + start].start for start in starts[tree.id]]
        base += len(tree.words)
    given = [] if analysis.rst is None else analysis.tokens.start[analysis.rst.edu_start].tolist()
    return multiset(wanted, given)


def const_part(context: Context) -> Figures:
    found: Figures = {}
    for key, rows in gold.constituent_tests(context.data).items():
        own = given = NO_BRACKETS
        for row, analysis in zip(rows, context.run.words([row.words for row in rows]), strict=True):
            spans = brackets_of(analysis)
            own = own.plus(evalb(row.spans, row.tags, spans, analysis.tokens.xpos))
            given = given.plus(evalb(row.spans, row.tags, spans, row.tags))
        note = f"{own.errors} of {own.errors + own.sentences} sentences skipped"
        found[f"const.{key}"] = Figure(own.counts.f1, own.counts.gold, note)
        found[f"const.{key}.gold-punct"] = Figure(given.counts.f1, given.counts.gold)
        found[f"const.{key}.complete"] = Figure(given.complete / given.sentences, given.sentences)
    return found


def ucca_part(context: Context) -> Figures:
    found: Figures = {}
    for name in ("wiki", "ewt", "lpp"):
        rows = gold.ucca(context.data, f"{name}-test", gold.trees(context.data, "ewt-test") if name == "ewt" else ())
        analyses = context.run.words([words for words, _, _ in rows])
        results, rules = [], []
        for (_, graph, _), analysis in zip(rows, analyses, strict=True):
            results.append(ucca(graph, ucca_of(analysis, graph["punct"])))
            rules.append(ucca(graph, ucca_by_rules(tree_of(analysis), graph["punct"])))
        found |= figures(f"ucca.{name}", sum_counts(results))
        found |= figures(f"ucca-rules.{name}", sum_counts(rules))
    return found


def rst_part(context: Context) -> Figures:
    found: Figures = {}
    restricted = gold.non_commercial(context.data)
    test = gold.discourse(context.data, "test")
    for name, rows in {
        "gum": [row for row in test if not restricted[row.id.rsplit("-", 1)[0]]],
        "gum-all": test,
    }.items():
        segmented = sum_counts(
            edu_starts(row.edus, [] if analysis.rst is None else analysis.rst.edu_start.tolist())
            for row, analysis in zip(rows, context.run.words([row.words for row in rows]), strict=True)
        )
        found |= figures(f"edu.{name}", segmented)
        trees = [row for row in rows if row.tree is not None and len(row.edus) > 1]
        analyses = context.run.given([row.words for row in trees], edu_starts=[row.edus for row in trees])
        parsed = []
        for row, analysis in zip(trees, analyses, strict=True):
            if analysis.rst is None or analysis.rst.edu_start.tolist() != row.edus:
                raise SystemExit("the discourse tree is not over the EDUs that were given.")
            parsed.append(rst_parseval(row.tree, analysis.rst.nested()))
        found |= figures(f"rst.{name}", sum_counts(parsed))
    return found


def ner_part(context: Context) -> Figures:
    found: Figures = {}
    for name in ("ewt", "pud"):
        trees = gold.trees(context.data, "ewt-test") if name == "ewt" else ()
        rows = gold.entities(context.data, f"uner-{name}-test", trees)
        total = Counts()
        for (_, tags), analysis in zip(rows, context.run.words([words for words, _ in rows]), strict=True):
            spans = [] if analysis.entities is None else analysis.entities.spans()
            total += multiset(bio_spans(tags), spans)
        found[f"ner.{name}"] = Figure(total.f1, total.gold)
    return found


def srl_part(context: Context) -> Figures:
    rows = gold.roles(context.data, "ewt-test", gold.trees(context.data, "ewt-test"))
    sentences = [row.words for row in rows]
    total: dict[str, Counts] = dict.fromkeys(("gold", "gold-without-C-V", "predicted", "predicates"), Counts())
    given = context.run.given(sentences, predicates=[sorted(row.arguments) for row in rows])
    for row, known, free in zip(rows, given, context.run.words(sentences), strict=True):
        with_gold = {word: args for word, args in roles_of(known).items() if word in row.arguments}
        total["gold"] += srl(row.arguments, with_gold, NO_V)
        total["gold-without-C-V"] += srl(row.arguments, with_gold, NO_V_PARTS)
        total["predicted"] += srl(row.arguments, roles_of(free), NO_V)
        total["predicates"] += multiset(list(row.arguments), list(roles_of(free)))
    return figures("srl", total)


def vectors_part(context: Context) -> Figures:
    """Pearson's correlation of a BERTScore-like F with people, on WMT16."""
    found: Figures = {}
    for suffix, special in (("", False), (".bert-score", True)):
        values = []
        for source in gold.WMT16:
            rows = list(gold.judgments(context.data, source))
            scores = [bertscore_f(h.values, h.special, r.values, r.special, special) for h, r in _pairs(context, rows)]
            values.append(pearson(scores, [z for _, _, z in rows]))
            found[f"wmt16.{source}{suffix}"] = Figure(values[-1], len(rows))
        found[f"wmt16.mean{suffix}"] = Figure(sum(values) / len(values), len(values))
    return found


def _pairs(context: Context, rows: Sequence[tuple[str, str, float]]) -> Iterator[tuple[Any, Any]]:
    sides = [context.run.vectors.analyze([row[side] for row in rows]) for side in (0, 1)]
    for hypothesis, reference in zip(*sides, strict=True):
        if hypothesis.vectors is None or reference.vectors is None:
            raise SystemExit("the analyzer gives no vectors.")
        yield hypothesis.vectors, reference.vectors


PARTS: dict[str, Callable[[Context], Figures]] = {
    "text": text_part,
    "const": const_part,
    "ucca": ucca_part,
    "rst": rst_part,
    "ner": ner_part,
    "srl": srl_part,
    "vectors": vectors_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=gold.DATA, help="data folder (default: ../shared/data)")
    parser.add_argument("--analyzer", default="english", help="analyzer to measure, as in `arboreval analyze`")
    parser.add_argument("--only", help="parts to measure and print, without writing the page")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    try:
        gold.check(options.data)
    except gold.DataMissingError as error:
        sys.exit(str(error))
    wanted = options.only.split(",") if options.only else list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        sys.exit(f"unknown part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}.")
    context = Context(options.data, Runner(options.analyzer))
    found: Figures = {}
    for name in wanted:
        start = time.perf_counter()
        part = PARTS[name](context)
        found |= part
        sys.stderr.write(f"{name}: {time.perf_counter() - start:.0f} s\n")
        for key, figure in part.items():
            sys.stdout.write(f"{key}\t{figure.value:.4f}\t{figure.n}\t{figure.note}\n")
    if options.only:
        return
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    page = render(
        found,
        stored,
        date=time.strftime("%Y-%m-%d"),
        fingerprint=context.run.fingerprint,
        command="make eval-analyzer",
        machine=f"Python {platform.python_version()}, {platform.machine()}",
    )
    options.out.write_text(page, encoding="utf-8")
    sys.stderr.write(f"wrote {options.out}\n")


if __name__ == "__main__":
    main()
