"""What a score is made of: exact values for figure 1's pair, and properties of all modes."""

from __future__ import annotations

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from telescopes import BY, HAVING, OTHER, explained, metric

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.corpus import Corpus
from arboreval.errors import InputError, UsageError
from arboreval.metrics.bertscore import BertScore
from arboreval.metrics.bleu import Bleu
from arboreval.registry import make_metric

from hand_analyses import HandMade, analysis, random_analysis  # isort: skip  # telescopes says where it is

MODES = [
    {"tree": tree, "filter": filter_, "weighting": weighting, **inventory}
    for tree, filter_, weighting in product(("dep", "const"), ("none", "label", "head"), ("none", "length"))
    for inventory in (
        {},
        {"leaves": "word", "max_len": 0, "drop_punct": True},
        {"leaves": "word", "dedup": "none", "collapse_unary": False, "max_len": 4},
        {"scheme": "prep-head", "include_tokens": False, "drop_punct": True},
        {"min_len": 2, "max_len": 0, "collapse_unary": False},
    )
]


def found(evidence, side="hypothesis"):
    """For each part of a side what it found, by their texts, and how similar it is."""
    mine, theirs = (evidence.hypothesis, evidence.reference)[:: 1 if side == "hypothesis" else -1]
    return {
        part.text: (theirs.parts[part.partner].text if part.partner is not None else None, part.similarity)
        for part in mine.parts
    }


def close(value):
    return pytest.approx(value, abs=1e-6)


# --- figure 1 ------------------------------------------------------------------------------------------------------


def test_figure_1_by_dependencies():
    evidence = metric(tree="dep").evidence(BY, HAVING)
    assert len(evidence.hypothesis.parts) == 16
    assert len(evidence.reference.parts) == 18
    for text, same in (("saw → girl → a", 1), ("girl → a", 1), ("telescope → a", 1), ("saw → I", 1)):
        assert found(evidence)[text] == (text, close(same))
    assert found(evidence)["by"] == (None, 0.0)
    assert found(evidence)["by → telescope → a"] == ("telescope → a", close(2 / sqrt(6)))
    assert found(evidence)["saw → by → telescope → a"] == ("telescope → a", close(2 / sqrt(8)))
    assert found(evidence)[BY.text] == (HAVING.text, close(7 / 8))
    p = (12 + 2 / sqrt(6) + 2 / sqrt(8) + 7 / 8) / 16
    back = found(evidence, "reference")
    assert back["having"] == (None, 0.0)
    assert back["girl → having → telescope → a"] == ("telescope → a", close(2 / sqrt(8)))
    assert back["saw → girl → having → telescope → a"] == ("saw → by → telescope → a", close(3 / sqrt(20)))
    assert back["a girl having a telescope"][1] == close(4 / sqrt(40))
    r = (12 + 3 / sqrt(20) + 2 / sqrt(8) + 2 / sqrt(6) + 7 / 8 + 4 / sqrt(40)) / 18
    assert evidence.scores == (close(p), close(r), close(2 * p * r / (p + r)))
    assert sum(part.contribution for part in evidence.hypothesis.parts) == pytest.approx(p, abs=1e-6)
    assert sum(part.contribution for part in evidence.reference.parts) == pytest.approx(r, abs=1e-6)


def test_figure_1_by_constituents():
    evidence = metric().evidence(BY, HAVING)
    assert found(evidence)["by a telescope"] == ("a telescope", close(2 / sqrt(6)))
    assert found(evidence)["saw a girl by a telescope"] == ("saw a girl having a telescope", close(5 / 6))
    # having hangs from girl: what stands there in the output is the whole verb phrase
    assert found(evidence, "reference")["a girl having a telescope"] == (
        "saw a girl by a telescope",
        close(4 / sqrt(30)),
    )
    by = evidence.hypothesis.parts[4]
    assert (by.kind, by.words, by.label, by.partner, by.loss) == ("word", (4,), "IN", None, close(1 / 13))
    phrase = next(part for part in evidence.hypothesis.parts if part.text == "by a telescope")
    assert (phrase.kind, phrase.words, phrase.label, phrase.nodes) == ("span", (4, 5, 6), "PP", (5,))
    assert evidence.hypothesis.parts[0].label == "NP"  # the phrase over "I" is that word's subtree


def test_filters_leave_parts_without_a_partner():
    evidence = metric(filter="label").evidence(BY, HAVING)
    assert found(evidence)["by a telescope"] == (None, 0.0)
    assert found(evidence)["by"] == (None, 0.0)
    assert {part.feature for part in evidence.hypothesis.parts} == {"NP", "VBD", "DT", "NN", "IN", ".", "S", "VP", "PP"}
    assert found(evidence, "reference")["a girl having a telescope"] == ("a girl", close(2 / sqrt(10)))
    evidence = metric(tree="dep", filter="head").evidence(BY, HAVING)
    assert found(evidence)["by → telescope → a"] == (None, 0.0)
    assert found(evidence)["saw → by → telescope → a"] == ("saw → girl → having → telescope → a", close(3 / sqrt(20)))
    assert {part.feature for part in evidence.hypothesis.parts if part.kind == "path"} == {
        "saw",
        "girl",
        "by",
        "telescope",
    }


def test_length_weights_leave_words_out_of_the_weakest():
    side = metric(weighting="length").evidence(BY, HAVING).hypothesis
    assert {part.text for part in side.parts if not part.weight} == set(BY.words)
    assert [side.parts[i].text for i in side.weakest[:2]] == ["by a telescope", "saw a girl by a telescope"]


def test_sub_words_stand_in_their_words():
    word = analysis(["telescopes", "saw"], np.eye(3), pieces=[0, 0, 1], tree=[("TOP", -1, 0, 2), ("S", 0, 0, 2)])
    object.__setattr__(word.vectors, "end", np.array([-1, 4, 10, 14, -1], np.int32))
    object.__setattr__(word.vectors, "start", np.array([-1, 0, 4, 11, -1], np.int32))
    evidence = metric(leaves="piece").evidence(word, word)
    assert [(p.kind, p.text, p.chars) for p in evidence.hypothesis.parts] == [
        ("piece", "[tele]scopes", (0, 4)), ("piece", "tele[scopes]", (4, 10)), ("piece", "saw", (11, 14)),
        ("span", "telescopes saw", None),
    ]  # fmt: skip
    tokens = BertScore().evidence(word, word).hypothesis
    assert [p.text for p in tokens.parts] == ["special token", "[tele]scopes", "tele[scopes]", "saw", "special token"]


# --- all modes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MODES, ids=str)
def test_contributions_sum_to_precision_and_recall(options):
    rng = np.random.default_rng(7)
    made = metric(**options)
    for _ in range(12):
        x, y = random_analysis(rng), random_analysis(rng)
        evidence = made.evidence(x, y)
        assert evidence.scores == made.pairs({"x": x, "y": y}, [("x", "y")])["x", "y"]
        table = made.subtrees([x, y])
        similarity = made.align(table, 0, 1).similarity
        sides = (evidence.hypothesis, evidence.reference)
        for t, (side, matrix, score) in enumerate(
            zip(sides, (similarity, similarity.T), evidence.scores, strict=False)
        ):
            parts = side.parts
            if parts and matrix.shape[1]:
                assert sum(part.contribution for part in parts) == pytest.approx(score, abs=1e-9)
                assert sum(part.weight for part in parts) == pytest.approx(1, abs=1e-9)
                for part, row in zip(parts, matrix, strict=True):
                    assert part.similarity == min(row.max(), 1)
                    if part.partner is None:
                        assert part.similarity == 0
                    else:
                        assert part.partner == row.argmax()
                        assert part.feature == sides[1 - t].parts[part.partner].feature
            # the words of each part are as many as the table says, and its vector is their maximum
            assert [len(part.words) for part in parts] == table.length[table.of(t)].tolist()
            pooled = side.analysis.vectors.pooled(part.words for part in parts)
            for part, vector, unit in zip(parts, pooled, table.vector[table.of(t)], strict=True):
                if part.kind != "piece" and np.linalg.norm(vector) > 0:
                    np.testing.assert_allclose(vector / np.linalg.norm(vector), unit, atol=1e-5)


@pytest.mark.parametrize("rescaled", [False, True])
def test_contributions_of_bertscore(rescaled, tmp_path):
    (tmp_path / "floor.tsv").write_text("LAYER,P,R,F\n7,.2,.3,.25\n")
    made = BertScore(baseline=str(tmp_path / "floor.tsv") if rescaled else "")
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y = random_analysis(rng), random_analysis(rng)
        evidence = made.evidence(x, y)
        assert evidence.scores == made.pairs({x.text: x, y.text: y}, [(x.text, y.text)])[x.text, y.text]
        for side, score in ((evidence.hypothesis, evidence.precision), (evidence.reference, evidence.recall)):
            assert sum(part.contribution for part in side.parts) == pytest.approx(score, abs=1e-9)
            assert {part.weight for part in side.parts if part.kind == "special"} == {0.0}


def test_bertscore_with_idf_on_the_bundled_encoder():
    texts = ["The girl saw a telescope.", "The girl saw a man.", "The girl saw the stars."]
    explanation = arboreval.explain(texts[:2], [texts[2], texts[0]], metric="bertscore:idf=true", segments=[2])
    report = arboreval.score(texts[:2], [texts[2], texts[0]], metrics=["bertscore:idf=true"])
    (output,) = explanation.outputs
    assert output.score == report.segment_scores("system")[next(iter(report.metrics))][1]
    (pair,) = output.pairs
    weights = {part.text: part.weight for part in pair.evidence.hypothesis.parts}
    # in none, in one and in both of the references
    assert weights["man"] / weights["a"] == pytest.approx(log(3 / 1) / log(3 / 2))
    assert weights["girl"] == 0
    assert sum(part.contribution for part in pair.evidence.hypothesis.parts) == pytest.approx(
        output.precision, abs=1e-9
    )


# --- the public function -------------------------------------------------------------------------------------------


def test_the_reference_that_gave_the_score():
    references = [OTHER.text, HAVING.text]
    (output,) = explained(references=references).outputs
    report = arboreval.score([BY.text], [references], metrics=[metric()])
    assert [output.score] == report.segment_scores("system")["structure-alignment:leaves=word"]
    assert [pair.reference for pair in output.pairs] == [2]
    assert (output.precision, output.recall) == output.pairs[0].evidence.scores[:2]
    (output,) = explained(references=references, refs="mean").outputs
    assert [pair.reference for pair in output.pairs] == [1, 2]
    assert output.score == pytest.approx(np.mean([pair.evidence.f for pair in output.pairs]))


def test_failed_texts_and_missing_references():
    corpus = Corpus.from_lists([BY.text, "who?", BY.text, ""], [HAVING.text, HAVING.text, None, ["who?", OTHER.text]])
    outputs = arboreval.explain(corpus, metric=metric()).outputs
    assert [output.status for output in outputs] == ["ok", "failed", "failed", "failed"]
    assert [output.reason for output in outputs[1:]] == [
        "hypothesis: not analysed: it is not known", "the segment has no reference",
        "hypothesis: not analysed: it is not known",
    ]  # fmt: skip
    assert [(output.score, output.pairs) for output in outputs[1:]] == [(None, ())] * 3
    (output,) = explained(references=["who?", OTHER.text]).outputs
    assert (output.status, [pair.reference for pair in output.pairs]) == ("degraded", [2])


@pytest.mark.parametrize("spec", ["structure-alignment", "structure-alignment:tree=dep", "bertscore"])
def test_empty_texts(spec):
    for hypothesis, reference, score in (("", "", 1.0), ("A word.", "", 0.0), (" ", "A word.", 0.0)):
        (output,) = arboreval.explain(hypothesis, reference, metric=spec).outputs
        assert (output.status, output.score) == ("ok", score)
        (pair,) = output.pairs
        for side in (pair.evidence.hypothesis, pair.evidence.reference):
            assert {part.partner for part in side.parts} <= {None}
            assert sum(part.contribution for part in side.parts) == 0


def test_an_unparsed_text_is_one_flat_subtree():
    flat = analysis(["I", "saw"], np.eye(2))
    made = arboreval.explain(
        flat.text, flat.text, metric=make_metric("structure-alignment", using=AnalysisSource(HandMade(flat)))
    )
    (output,) = made.outputs
    assert (output.status, output.score) == ("degraded", pytest.approx(1))
    assert [(p.kind, p.words, p.text) for p in output.pairs[0].evidence.hypothesis.parts][-1] == (
        "span",
        (0, 1),
        "I saw",
    )


def test_segments_by_number_id_and_range():
    corpus = Corpus.from_lists([BY.text] * 30, [HAVING.text] * 30)

    def chosen(segments, of=corpus):
        return [output.seg for output in arboreval.explain(of, metric=metric(), segments=segments).outputs]

    assert chosen(None) == list(range(1, 21))
    assert chosen([30, "3-5", 4]) == [3, 4, 5, 30]
    object.__setattr__(corpus, "segment_ids", ["a", "3-5", "b", *range(4, 31)])
    assert chosen(["3-5"]) == ["3-5"]
    assert chosen(["b", "4-5"]) == ["b", 4, 5]
    with pytest.raises(UsageError, match=r"there is no segment '31'; there are 30, from 'a' to '30'\."):
        chosen(["31"])
    explanation = arboreval.explain(corpus, metric=metric())
    assert (explanation.segments, explanation.segments_in_file, explanation.complete) == (20, 30, False)


def test_what_cannot_be_explained():
    for wrong in ("bleu", Bleu()):
        with pytest.raises(UsageError, match=r"bleu has no evidence to show; those that have: .*structure-alignment"):
            arboreval.explain("a", "b", metric=wrong)
    with pytest.raises(UsageError, match="references must be a list"):
        arboreval.explain(["a"], "b")
    with pytest.raises(UsageError, match="references are missing"):
        arboreval.explain("a")
    with pytest.raises(InputError, match="'de'"):
        arboreval.explain("a", "b", lang="de")


def test_an_encoder_alone_gives_words_between_spaces():
    class Encoder:
        name, fingerprint, provides, cacheable = "e", "e-1", frozenset({"tokens", "vectors"}), False

        def analyze(self, texts):
            from arboreval.analysis.structures import Analysis, Tokens, Vectors

            for text in texts:
                # byte-level encoders count the space before a word to its first sub-word
                spans = [(-1, -1), (0, 3), (3, 8), (8, 12), (-1, -1)]
                start, end = ([span[i] for span in spans] for i in (0, 1))
                yield Analysis(text, Tokens.empty(), vectors=Vectors(
                    np.eye(5, dtype=np.float32), start, end, [True, False, False, False, True], [-1] * 5, 1, "e"
                ))  # fmt: skip

    made = BertScore(using=AnalysisSource(Encoder(), cache=False))
    (output,) = arboreval.explain("the telescope", "the telescope", metric=made).outputs
    side = output.pairs[0].evidence.hypothesis
    assert side.forms == ["the", "telescope"]
    assert [(p.text, p.words) for p in side.parts if p.kind == "piece"] == [
        ("the", (0,)), ("[tele]scope", (1,)), ("tele[scop]e", (1,)),
    ]  # fmt: skip
