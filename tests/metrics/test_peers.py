"""BLEU, chrF, TER and ROUGE are those of sacrebleu and rouge-score, to the last digit."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

import arboreval
from arboreval.metrics.rouge import tokenize

SACREBLEU = {
    "bleu": (sacrebleu.BLEU(), sacrebleu.BLEU(effective_order=True)),
    "bleu:lowercase=true": (sacrebleu.BLEU(lowercase=True), sacrebleu.BLEU(lowercase=True, effective_order=True)),
    "bleu:tokenize=zh": (sacrebleu.BLEU(tokenize="zh"), sacrebleu.BLEU(tokenize="zh", effective_order=True)),
    "bleu:tokenize=intl:smooth_method=floor": (
        sacrebleu.BLEU(tokenize="intl", smooth_method="floor"),
        sacrebleu.BLEU(tokenize="intl", smooth_method="floor", effective_order=True),
    ),
    "bleu:smooth_method=add-k": (
        sacrebleu.BLEU(smooth_method="add-k"),
        sacrebleu.BLEU(smooth_method="add-k", effective_order=True),
    ),
    "bleu:smooth_method=none": (
        sacrebleu.BLEU(smooth_method="none"),
        sacrebleu.BLEU(smooth_method="none", effective_order=True),
    ),
    "bleu:max_ngram_order=2": (
        sacrebleu.BLEU(max_ngram_order=2),
        sacrebleu.BLEU(max_ngram_order=2, effective_order=True),
    ),
    "chrf": (sacrebleu.CHRF(),) * 2,
    "chrf:char_order=4:beta=1:lowercase=true:whitespace=true": (
        sacrebleu.CHRF(beta=1, char_order=4, lowercase=True, whitespace=True),
    )
    * 2,
    "chrf++": (sacrebleu.CHRF(word_order=2),) * 2,
    "ter": (sacrebleu.TER(),) * 2,
    "ter:normalized=true:no_punct=true:asian_support=true:case_sensitive=true": (
        sacrebleu.TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),
    )
    * 2,
}
ROUGE = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}

EDGE_CASES = [
    ("", ["reference"]),
    ("hypothesis", [""]),
    ("", [""]),
    (" ", ["a"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
    ("naïve café — “quoted” … 3,5 %", ['naive cafe - "quoted" ... 3.5 %']),
    ("今天天气很好。", ["今天的天气真好。"]),
    ("日本語のテキスト", ["日本語テキスト"]),
    ("Привет, мир!", ["Здравствуй, мир!"]),
    ("مرحبا بالعالم", ["مرحبا أيها العالم"]),
    ("हिन्दी में वाक्य", ["हिन्दी का वाक्य"]),
    ("👩‍👩‍👧 family 👍🏽", ["👩‍👩‍👧 families 👍"]),
    ("a\u2028b\u0085c\x0bd", ["a b c d"]),
    ("e\u0301tude", ["\u00e9tude"]),
    ("&quot;x&amp;y&quot; &lt;z&gt;", ['"x&y" <z>']),
    ("tok-en ised , text .", ["token-ised, text."]),
    ("İstanbul ǅ ß ﬁ", ["istanbul dž ss fi"]),
    ("\x00\x01 control\x7f", ["control"]),
    ("a" * 3000, ["b" * 3000]),
]


def corpus_scores(hypotheses, references, metric, lang=None):
    report = arboreval.score(hypotheses, references, metrics=[metric], level="seg", lang=lang)
    return report.systems[0].scores[metric], report.segment_scores("system").get(metric)


def streams(references):
    """Segment-major references as sacrebleu wants them: K streams, None where a segment has fewer."""
    width = max(len(refs) for refs in references)
    return [[refs[k] if k < len(refs) else None for refs in references] for k in range(width)]


def assert_equals_sacrebleu(metric, hypotheses, references):
    corpus, sentence = SACREBLEU[metric]
    score, segments = corpus_scores(hypotheses, references, metric)
    assert score.value == corpus.corpus_score(hypotheses, streams(references)).score
    assert segments == [
        sentence.sentence_score(hyp, list(refs)).score for hyp, refs in zip(hypotheses, references, strict=True)
    ]


@pytest.mark.parametrize("metric", SACREBLEU)
def test_sacrebleu_on_the_example(demo, metric):
    for hypotheses in demo.systems.values():
        assert_equals_sacrebleu(metric, hypotheses, demo.references)
        assert_equals_sacrebleu(metric, hypotheses, [refs[:1] for refs in demo.references])


@pytest.mark.parametrize("metric", SACREBLEU)
def test_sacrebleu_on_unicode_edge_cases(metric):
    assert_equals_sacrebleu(metric, [hyp for hyp, _ in EDGE_CASES], [refs for _, refs in EDGE_CASES])
    for hypothesis, references in EDGE_CASES:
        assert_equals_sacrebleu(metric, [hypothesis], [references])


WORDS = st.sampled_from(
    ["the", "cat", "Cat", "sat", "on", "a", "mat", ".", ",", "猫", "坐", "été", "3.5", "x-y", "don't"]
)
TEXT = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=30))
SEGMENTS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(SEGMENTS)
def test_sacrebleu_on_random_text(segments):
    hypotheses, references = [hyp for hyp, _ in segments], [refs for _, refs in segments]
    for metric in ("bleu", "chrf", "chrf++", "ter"):
        assert_equals_sacrebleu(metric, hypotheses, references)


def assert_equals_rouge_score(metric, hypotheses, references, *, stem=False):
    scorer = RougeScorer([ROUGE[metric]], use_stemmer=stem)
    expected = [
        scorer.score_multi(list(refs), hyp)[ROUGE[metric]] for hyp, refs in zip(hypotheses, references, strict=True)
    ]
    for measure, attribute in (("p", "precision"), ("r", "recall"), ("f", "fmeasure")):
        options = (f":measure={measure}" if measure != "f" else "") + (":stem=true" if stem else "")
        score, segments = corpus_scores(hypotheses, references, metric + options)
        values = [getattr(e, attribute) for e in expected]
        assert segments == values
        assert score.value == sum(values) / len(values)
        assert score.components[measure] == score.value


@pytest.mark.parametrize("metric", ROUGE)
@pytest.mark.parametrize("stem", [False, True])
def test_rouge_score_on_the_example(demo, metric, stem):
    for hypotheses in demo.systems.values():
        assert_equals_rouge_score(metric, hypotheses, demo.references, stem=stem)


@pytest.mark.parametrize("metric", ROUGE)
def test_rouge_score_on_unicode_edge_cases(metric):
    cases = [case for case in EDGE_CASES if len(case[0]) < 1000]
    assert_equals_rouge_score(metric, [hyp for hyp, _ in cases], [refs for _, refs in cases])


@settings(max_examples=60, deadline=None)
@given(SEGMENTS)
def test_rouge_score_on_random_text(segments):
    for metric in ROUGE:
        assert_equals_rouge_score(metric, [hyp for hyp, _ in segments], [refs for _, refs in segments])


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60), st.booleans())
def test_the_unicode_tokenizer_is_rouge_scores_on_ascii(text, stem):
    assert tokenize(text, "unicode", stem) == tokenize(text, "rouge-score", stem)


def test_the_unicode_tokenizer_on_other_scripts():
    assert tokenize("今天 AI很好！", "unicode", False) == ("今", "天", "ai", "很", "好")
    assert tokenize("Ünïcode e\u0301t हिन्दी", "unicode", False) == ("ünïcode", "ét", "हिन्दी")
    assert tokenize("カタカナ ひら", "unicode", False) == ("カ", "タ", "カ", "ナ", "ひ", "ら")
    assert tokenize("under_score", "unicode", False) == ("under", "score")


def test_rouge_on_chinese_by_character():
    # 今天天气很好 against 今天的天气真好: common characters 今 天 天 气 好, lengths 6 and 7
    score, _ = corpus_scores(["今天天气很好"], ["今天的天气真好"], "rouge-1", lang="zh")
    assert score.components == {"p": 5 / 6, "r": 5 / 7, "f": pytest.approx(10 / 13)}
    assert "|tok:unicode|" in score.signature
    score, _ = corpus_scores(["今天天气很好"], ["今天的天气真好"], "rouge-1:tokenizer=unicode")
    assert score.components["p"] == 5 / 6


def test_text_without_a_word_is_degraded_not_a_silent_zero():
    report = arboreval.score(["今天", "a b"], ["今天", "a b"], metrics=["rouge-1"])
    score = report.systems[0].scores["rouge-1"]
    assert (score.value, score.n, score.degraded, score.failed) == (0.5, 2, 1, 0)
    assert report.degraded[0].reason == "no word found in '今天'; choose tokenizer=unicode"


@pytest.mark.parametrize("name", sorted({*SACREBLEU, *ROUGE, "rouge-w", "bleu-star"}))
def test_vectorised_scores_equal_the_reported_ones(demo, name):
    """Resampling uses Metric.aggregate; reported numbers come from the peer. Both must say the same."""
    report = arboreval.score(demo.systems, demo.references, metrics=[name])
    for statistics in report.statistics:
        metric = statistics.metric
        for system in range(3):
            totals = statistics.totals(system)
            assert metric.aggregate(totals[None])[0] == pytest.approx(metric.corpus_score(totals), abs=1e-10)
            for row in statistics.stats[system]:
                assert metric.aggregate(row[None])[0] == pytest.approx(metric.corpus_score(row), abs=1e-10)
