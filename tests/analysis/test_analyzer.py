"""Analyzers by name, and the public function that runs them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import samples
from samples import SampleAnalyzer

import arboreval
from arboreval.analysis.analyzer import ANALYZERS, BUILT_IN, Analyzer, make_analyzer, restrict
from arboreval.errors import InputError, UsageError
from arboreval.registry import registrations


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))


class Configurable(SampleAnalyzer):
    def __init__(self, size: int = 3, fast: bool = False, model: str = "m") -> None:
        super().__init__()
        self.options = (size, fast, model)


class Narrow(SampleAnalyzer):
    """Can leave out work."""

    def __init__(self, layers=None, log=None):
        super().__init__()
        self.layers = layers
        self.log = [] if log is None else log

    def for_layers(self, layers):
        return Narrow(layers, self.log)

    def analyze(self, texts):
        for analysis in super().analyze(texts):
            self.log.append((analysis.text, tuple(sorted(self.layers))))
            yield restrict(analysis, self.layers)


@pytest.fixture
def plugin(monkeypatch):
    class Point:
        name, value = "toy", f"{__name__}:Configurable"
        dist = None

    def points(group):
        return [Point] if group == "arboreval.analyzers" else []

    registrations.cache_clear()
    monkeypatch.setattr("arboreval.registry.entry_points", points)
    yield
    registrations.cache_clear()


def test_built_in_names():
    assert set(BUILT_IN) == {"english", "spacy", "files"}
    assert set(BUILT_IN) <= set(registrations(ANALYZERS))
    assert isinstance(SampleAnalyzer(), Analyzer)


def test_a_plug_in_is_found_and_gets_its_options(plugin):
    assert make_analyzer("toy").options == (3, False, "m")
    assert make_analyzer("toy:size=7:fast=yes:model=x").options == (7, True, "x")
    given = SampleAnalyzer()
    assert make_analyzer(given) is given


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("englsh", "unknown analyzer 'englsh'. Did you mean 'english'?"),
        ("toy:sise=3", "unknown option of toy 'sise'. Did you mean 'size'?"),
        ("toy:size=x", "toy: option size must be a whole number, not 'x'."),
        ("toy:fast=maybe", "toy: option fast must be true or false, not 'maybe'."),
        ("toy:size", "analyzer 'toy:size': 'size' is not an option of the form name=value."),
        ("toy:size=1:size=2", "option 'size' is given twice"),
    ],
)
def test_a_wrong_spec_is_one_clear_sentence(plugin, spec, message):
    with pytest.raises(UsageError) as caught:
        make_analyzer(spec)
    assert message in str(caught.value)


def test_order_is_kept_and_each_text_is_analysed_once():
    analyzer = SampleAnalyzer()
    texts = ["b c", "a", "b c", "d", "a", "b c"]
    analyses = list(arboreval.analyze(iter(texts), analyzer=analyzer, cache=False))
    assert [a.text for a in analyses] == texts
    assert analyzer.asked == ["b c", "a", "d"]
    assert analyses[0] is analyses[2]


def test_the_look_ahead_is_bounded():
    analyzer = SampleAnalyzer()
    read = []

    def texts():
        for i in range(10):
            read.append(i)
            yield f"t {i % 2}"

    stream = arboreval.analyze(texts(), analyzer=analyzer, cache=False, lookahead=4)
    assert read == []  # nothing happens before the first result is asked for
    next(stream)
    assert read == [0, 1, 2, 3]
    assert [a.text for a in stream] == [f"t {i % 2}" for i in range(1, 10)]
    assert analyzer.asked == ["t 0", "t 1"] * 3


def test_results_are_not_held():
    alive = []
    for analysis in arboreval.analyze((f"t {i}" for i in range(50)), analyzer=SampleAnalyzer(), cache=False):
        alive.append(weakref.ref(analysis.tokens))
    del analysis
    gc.collect()
    assert not any(ref() for ref in alive)


def test_layers():
    text = [samples.telescope().text]
    (analysis,) = arboreval.analyze(text, analyzer=SampleAnalyzer(vectors=True), layers="dep, ner", cache=False)
    assert analysis.layers() == ("dependency", "entities")
    (analysis,) = arboreval.analyze(text, analyzer=SampleAnalyzer(vectors=True), layers=["vectors"], cache=False)
    assert analysis.layers() == ("vectors",)
    (analysis,) = arboreval.analyze(text, analyzer=SampleAnalyzer(vectors=True), layers=[], cache=False)
    assert analysis.layers() == ()
    with pytest.raises(UsageError, match="Did you mean 'dep'"):
        arboreval.analyze(text, analyzer=SampleAnalyzer(), layers="depp")
    with pytest.raises(UsageError, match="the analyzer 'sample' makes no layer 'vectors'"):
        arboreval.analyze(text, analyzer=SampleAnalyzer(), layers="vectors")


def test_an_analyzer_may_leave_out_what_nobody_asked_for():
    narrow = Narrow()
    text = [samples.telescope().text]
    for _ in range(2):
        (analysis,) = arboreval.analyze(text, analyzer=narrow, layers="dep")
        assert analysis.layers() == ("dependency",)
    (analysis,) = arboreval.analyze(text, analyzer=narrow, layers="dep,ner")
    assert analysis.layers() == ("dependency", "entities")
    assert [layers for _, layers in narrow.log] == [("dep", "tokens"), ("dep", "ner", "tokens")]


def test_misuse():
    with pytest.raises(UsageError, match="not one text"):
        arboreval.analyze("a text", analyzer=SampleAnalyzer())
    with pytest.raises(UsageError, match="lookahead"):
        arboreval.analyze(["a"], analyzer=SampleAnalyzer(), lookahead=0)
    texts = ["a", "b", None, "c"]
    stream = arboreval.analyze(texts, analyzer=SampleAnalyzer(), lookahead=2)
    assert [next(stream).text, next(stream).text] == ["a", "b"]
    with pytest.raises(InputError, match=r"^texts\[2\] must be a text, not NoneType\.$"):
        next(stream)
    with pytest.raises(InputError, match=r"^texts\[0\] must be a text, not NaN\.$"):
        next(arboreval.analyze([float("nan")], analyzer=SampleAnalyzer()))


def test_texts_may_be_any_kind_of_string():
    """Those of a numpy array have a type of their own, which the cache could not store."""
    texts = ["a", "b c"]
    analyses = list(arboreval.analyze(np.array(texts), analyzer=SampleAnalyzer()))
    assert analyses == list(arboreval.analyze(texts, analyzer=SampleAnalyzer(), cache=False))
    assert [type(a.text) for a in analyses] == [str, str]


class Wrong(SampleAnalyzer):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def analyze(self, texts):
        return iter(self.change(list(super().analyze(texts))))


LOSES, SWAPS, ADDS = (lambda a: a[:1]), (lambda a: a[::-1]), (lambda a: [*a, a[0]])


@pytest.mark.parametrize(
    ("change", "kept"), [(LOSES, False), (SWAPS, False), (ADDS, False), (LOSES, True), (SWAPS, True)]
)
def test_an_analyzer_that_loses_or_swaps_texts_is_found_out(change, kept):
    with pytest.raises(RuntimeError, match=r"one analysis for each text|more analyses than texts"):
        list(arboreval.analyze(["a", "b"], analyzer=Wrong(change), cache=kept))
