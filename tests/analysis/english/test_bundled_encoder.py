"""The bundled encoder's vectors on the words of other analyzers, without torch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import arboreval
from arboreval.analysis.encoders import BundledEncoder, EncodedAnalyzer, make_encoder
from arboreval.analysis.english.analyzer import EnglishAnalyzer
from arboreval.analysis.structures import Analysis, Tokens
from arboreval.errors import MissingExtraError, UsageError


class Spaces:
    """An analyzer without vectors whose words end at spaces only."""

    name = "spaces"
    fingerprint = "spaces-1"
    provides = frozenset({"tokens"})

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        for text in texts:
            if text.startswith("fail"):
                yield Analysis.failed(text, "it said so", self.fingerprint)
                continue
            ends = [i for i in range(1, len(text) + 1) if i == len(text) or text[i] == " "] if text else []
            starts = [0, *(i + 1 for i in ends[:-1])][: len(ends)]
            nothing = ("",) * len(ends)
            tokens = Tokens(np.array(starts, int), np.array(ends, int), np.zeros(len(ends), int), *[nothing] * 3)
            yield Analysis(text, tokens, fingerprint=self.fingerprint)


@pytest.fixture
def spec(tiny_int8: Path) -> str:
    return f"english:folder={tiny_int8}:threads=1"


def test_vectors_are_the_bundled_ones_on_the_words_of_the_other_analyzer(tiny_int8: Path, spec: str) -> None:
    # the bundled words are ab | 's | ( | a | ) | the | can | not
    text = "ab's (a) the cannot"
    (own,) = EnglishAnalyzer(folder=str(tiny_int8)).analyze([text])
    (found,) = arboreval.analyze([text], analyzer=Spaces(), encoder=spec, cache=False)
    assert own.vectors is not None
    assert found.vectors is not None
    assert found.words == ["ab's", "(a)", "the", "cannot"]
    assert np.array_equal(found.vectors.values, own.vectors.values)
    pieces = zip(found.vectors.start.tolist(), found.vectors.end.tolist(), strict=True)
    assert [text[i:j] for i, j in pieces if i >= 0] == [*"ab's", *"(a)", "the", *"cannot"]
    assert found.vectors.word.tolist() == [-1, 0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, -1]
    assert (found.vectors.layer, found.vectors.encoder) == (own.vectors.layer, own.vectors.encoder)
    assert found.vectors.covered(4).all()


def test_order_failures_and_empty_texts(spec: str) -> None:
    texts = ["the b", "", "fail here", "a b c", " ".join(["the"] * 300)]
    found = list(arboreval.analyze(texts, analyzer=Spaces(), encoder=spec, cache=False))
    assert [analysis.text for analysis in found] == texts
    assert [analysis.status for analysis in found] == ["ok", "ok", "failed", "ok", "ok"]
    assert found[2].vectors is None
    vectors = [analysis.vectors for analysis in found if analysis.vectors is not None]
    assert [int((~each.special).sum()) for each in vectors] == [2, 0, 3, 300]
    # each window of at most 62 pieces has two special tokens
    assert [int(each.special.sum()) for each in vectors[:3]] == [2, 0, 2]
    assert int(vectors[3].special.sum()) >= 10
    assert vectors[3].word[~vectors[3].special].tolist() == list(range(300))


def test_the_fingerprint_names_both(tiny_int8: Path, spec: str) -> None:
    own = EnglishAnalyzer(folder=str(tiny_int8))
    assert EncodedAnalyzer(Spaces(), make_encoder(spec)).fingerprint == f"spaces-1+{own.fingerprint}@2"
    (found,) = arboreval.analyze(["a"], analyzer=Spaces(), encoder=spec, cache=False)
    assert found.fingerprint == f"spaces-1+{own.fingerprint}@2"


def test_pieces_are_numbered_as_the_vectors(spec: str) -> None:
    encoder = make_encoder(spec)
    (found,) = encoder.encode(Spaces().analyze(["the ab"]))
    assert found.vectors is not None
    assert len(encoder.pieces("the ab")) == int((~found.vectors.special).sum()) == 3
    assert make_encoder(encoder) is encoder


def test_neither_torch_nor_transformers_is_needed(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "arboreval.analysis.external.huggingface", raising=False)
    assert isinstance(make_encoder(spec), BundledEncoder)
    with pytest.raises(MissingExtraError, match="needs torch"):
        make_encoder("some-owner/model")
    with pytest.raises(UsageError, match="unknown option of the encoder english 'layer'"):
        make_encoder("english:layer=3")
