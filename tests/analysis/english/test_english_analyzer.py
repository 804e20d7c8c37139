"""The analyzer on a tiny random network: always valid, in order, and never dependent on the batch.

A random network is a hard test of validity: it predicts what no trained one would.
"""

import platform
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arboreval.analysis.english import analyzer as module
from arboreval.analysis.english.analyzer import EnglishAnalyzer
from arboreval.analysis.english.assemble import assemble
from arboreval.analysis.english.pieces import STRETCH, Pieces, case_code
from arboreval.analysis.english.session import ModelError
from arboreval.analysis.structures import Analysis
from arboreval.errors import UsageError

HARD = [
    "",
    " \n\n\t ",
    "x",
    "I don't know why the dog (a big one) isn't barking at 7:30PM, do you?",
    "One two. Three four!\n\nA new paragraph starts here: five, six.",
    "word " * 700,
    "a, " * 300 + "b.",
    "😀😀 👩‍👩‍👧 ok",
    "שלום עולם، مرحبا بالعالم",
    "\x00\x01\x1f\x7f \u200b\ufeff\u202e abc",
    "!!!???... ,,, ---- ))))",
    "中文没有空格的句子。这是第二句。",
    "\ud800 lonely surrogate",
    "http://example.org/" + "a-b_c." * 300,
    "q" * 3000,
    "[" * 300 + "🇫🇷" * 100,
]


@pytest.fixture(scope="module")
def english(tiny_int8: Path) -> EnglishAnalyzer:
    return EnglishAnalyzer(threads=1, folder=str(tiny_int8))


def check(analysis: Analysis, text: str) -> None:
    """Structures check themselves when they are made; here is what they cannot know."""
    assert analysis.status == "ok", analysis.reason
    assert analysis.text == text
    tokens = analysis.tokens
    covered = "".join(tokens.forms(text))
    assert covered == "".join(text.split())
    assert analysis.dependency is not None
    assert analysis.constituency is not None
    assert analysis.ucca is not None
    assert analysis.rst is not None
    assert analysis.entities is not None
    assert analysis.roles is not None
    assert analysis.vectors is not None
    assert len(analysis.dependency.roots()) == tokens.n_sentences
    heads, relations = analysis.dependency.head.tolist(), analysis.dependency.relation
    assert all((head < 0) == (relation == "root") for head, relation in zip(heads, relations, strict=True))
    roles = analysis.roles
    own = roles.predicate[roles.arg_predicate]
    assert not ((roles.arg_start <= own) & (own < roles.arg_end)).any()
    assert "V" not in roles.arg_role
    assert analysis.constituency.label.count("TOP") == tokens.n_sentences
    assert sorted(analysis.ucca.term_word.tolist()) == list(range(len(tokens)))
    assert analysis.rst.edu_start.tolist()[:1] == [0][: len(tokens)]
    vectors = analysis.vectors
    assert vectors.covered(len(tokens)).all()
    plain = ~vectors.special
    words = vectors.word[plain]
    assert (vectors.start[plain] >= tokens.start[words]).all()
    assert (vectors.end[plain] <= tokens.end[words]).all()


@pytest.mark.parametrize("threads", [2, 10])  # more than there are workers work in the sessions
def test_hard_texts_are_analysed_and_do_not_depend_on_their_batch(
    english: EnglishAnalyzer, tiny_int8: Path, threads: int
) -> None:
    other = EnglishAnalyzer(threads=threads, batch=3, folder=str(tiny_int8))
    assert other.workers + other.model.threads - 1 == threads
    together = list(english.analyze(HARD))
    for text, analysis in zip(HARD, together, strict=True):
        check(analysis, text)
    backwards = list(other.analyze(reversed(HARD)))[::-1]
    for text, a, b in zip(HARD, together, backwards, strict=True):
        assert a == b, text
        assert next(english.analyze([text])) == a, text


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_texts_are_analysed(english: EnglishAnalyzer, texts: list[str]) -> None:
    found = list(english.analyze(texts))
    assert len(found) == len(texts)
    for text, analysis in zip(texts, found, strict=True):
        check(analysis, text)


WORDS = st.sampled_from(
    ["the", "dog", "barks", ",", ".", "he", "'s", "n't", "don't", "(", ")", "Paris", "7", "and/or", "-", "?", "\n\n"]
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=120).map(" ".join))
def test_word_salad_is_analysed(english: EnglishAnalyzer, text: str) -> None:
    check(next(english.analyze([text])), text)


def test_a_blank_line_ends_a_sentence(english: EnglishAnalyzer) -> None:
    analysis = next(english.analyze(["the dog\n\nthe cat\n \nthe cow"]))
    starts = {i for i, _ in analysis.tokens.sentence_spans()}
    assert {0, 2, 4} <= starts


def test_only_the_layers_asked_for_are_made(english: EnglishAnalyzer) -> None:
    some = english.for_layers({"tokens", "dep", "ner"})
    assert some.fingerprint == english.fingerprint
    (found,) = some.analyze(["The dog barks at John."])
    assert found.layers() == ("dependency", "entities")
    (whole,) = english.analyze(["The dog barks at John."])
    assert found.dependency == whole.dependency
    assert found.tokens == whole.tokens


def test_texts_are_read_as_they_are_needed(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_AHEAD_TEXTS", 5)
    read = []

    def texts():
        for i in range(23):
            read.append(i)
            yield f"text number {i}"

    results = english.analyze(texts())
    assert next(results).text == "text number 0"
    # the second five are worked on while the first are taken
    assert len(read) == 10
    assert [analysis.text for analysis in results] == [f"text number {i}" for i in range(1, 23)]


def test_long_texts_are_read_in_windows_without_loss(english: EnglishAnalyzer) -> None:
    text = " ".join(f"the{i % 7} dog." for i in range(400))
    (analysis,) = english.analyze([text])
    check(analysis, text)
    # 62 pieces fit a window, each with two special tokens
    assert analysis.vectors is not None
    assert int(analysis.vectors.special.sum()) >= 2 * len(analysis.tokens) // 62
    assert (~analysis.vectors.special).sum() >= len(analysis.tokens)


def test_discourse_over_very_many_units_is_a_tree(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboreval.analysis.english.discourse.MAX_UNITS", 4)
    text = "\n\n".join(f"the dog {i}" for i in range(40))
    (analysis,) = english.analyze([text])
    assert analysis.rst is not None
    assert len(analysis.rst.edu_start) >= 40
    assert len(analysis.rst.parent) == 2 * len(analysis.rst.edu_start) - 1


def test_options(tiny_int8: Path) -> None:
    for option, message in (
        ({"device": "abacus"}, "unknown device"),
        ({"threads": -1}, "threads"),
        ({"batch": 0}, "batch"),
    ):
        with pytest.raises(UsageError, match=message):
            EnglishAnalyzer(folder=str(tiny_int8), **option)


def test_the_fingerprint_names_weights_code_and_what_computes(tiny_int8: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = r"tiny-[0-9a-f]{12}\.[0-9]+-ort1\.\d+-"
    assert re.fullmatch(mark + platform.machine().lower(), EnglishAnalyzer(folder=str(tiny_int8)).fingerprint)
    monkeypatch.setattr("platform.machine", lambda: "AMD64")
    monkeypatch.setattr("onnxruntime.__version__", "1.23.4")
    assert EnglishAnalyzer(folder=str(tiny_int8)).fingerprint.endswith("-ort1.23-x86_64")
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CUDAExecutionProvider"])
    assert EnglishAnalyzer(folder=str(tiny_int8), device="cuda").fingerprint.endswith("-ort1.23-x86_64-cuda")


@pytest.mark.parametrize(
    ("word", "code"),
    [("Dog", 0b000001), ("USA", 0b000111), ("dog", 0b001000), ("iPod", 0b000100), ("7th", 0b011000), ("...", 0b100000)],
)
def test_case_code(word: str, code: int) -> None:
    assert case_code(word) == code


def test_pieces_cover_their_word(tiny_int8: Path) -> None:
    pieces = Pieces(tiny_int8 / "tokenizer.json")
    (the, long, none) = pieces.words(["theing", "ab" * 20, "\u200b"])
    assert (the.starts, the.ends) == ((0, 3), (3, 6))
    assert (long.starts, long.ends) == (tuple(range(40)), tuple(range(1, 41)))
    assert (none.starts, none.ends) == ((0,), (1,))


def test_words_are_read_to_their_end(tiny_int8: Path) -> None:
    """The tokenizer calls more than 100 letters in a row unknown; they are read in stretches."""
    pieces = Pieces(tiny_int8 / "tokenizer.json")
    letters = "abcdefghij" * 20
    (long, mixed) = pieces.words([letters, "the-" + letters + "-\u4e2d"])
    alone = [pieces.words([letter])[0].ids[0] for letter in letters]
    inside = [i for i in range(len(letters)) if i % STRETCH]
    assert [long.ids[i] for i in range(0, 200, STRETCH)] == alone[::STRETCH]
    assert (long.starts, long.ends) == (tuple(range(200)), tuple(range(1, 201)))
    # letters inside a stretch are word-internal pieces, so none of them is the first one's
    assert all(long.ids[i] != alone[i] for i in inside)
    (unknown,) = pieces.words(["\u4e2d"])
    assert mixed.ids == (*pieces.words(["the"])[0].ids, *pieces.words(["-"])[0].ids, *long.ids,
                         *pieces.words(["-"])[0].ids, *unknown.ids)  # fmt: skip
    assert mixed.ends[-1] == 206


def test_a_word_longer_than_the_encoder_takes_is_a_window_of_its_own(english: EnglishAnalyzer) -> None:
    """62 pieces fit a window. The word's vectors are those of its stretches, each read by itself."""
    text = "the dog. " + "ab" * 80 + " barks"
    (analysis,) = english.analyze([text])
    check(analysis, text)
    word = analysis.tokens.forms(text).index("ab" * 80)
    vectors = analysis.vectors
    assert vectors is not None
    own = np.flatnonzero(vectors.word == word)
    assert vectors.start[own].tolist() == list(range(9, 169))
    found = []
    # stretches of STRETCH characters begin with a piece of their own kind, so whole windows are compared
    document = module.Document(text, english._pieces)
    for low in range(0, 160, 62):
        ids = [0, *document.words[word].ids[low : low + 62], 2]
        feeds = {"first": np.array([1]), "last": np.array([len(ids) - 2]), "case": np.zeros(1, np.int64)}
        (values,) = english.model.run("encoder", ["vectors"], {"ids": np.array([ids]), **feeds})
        found.append(values[0, 1:-1])
    assert np.array_equal(vectors.values[own], np.concatenate(found))
    assert not english.model.unit_signs


def test_empty_text_has_empty_structures_of_the_layers_asked_for(english: EnglishAnalyzer) -> None:
    (whole,) = english.analyze(["  "])
    assert whole.layers() == ("dependency", "constituency", "ucca", "rst", "entities", "roles", "vectors")
    assert whole.vectors is not None
    assert whole.vectors.values.shape == (0, english.model.dim)
    (some,) = english.for_layers({"tokens", "dep", "rst"}).analyze([""])
    assert some.layers() == ("dependency", "rst")
    assert len(some.tokens) == 0


def test_given_words_may_be_none_but_not_empty(english: EnglishAnalyzer) -> None:
    word, none = english.analyze_words([[("the", False)], []], edu_starts=[[0], []], predicates=[[0], []])
    assert [len(found) for found in (word, none)] == [1, 0]
    assert word.roles is not None
    assert word.roles.predicate.tolist() == [0]
    with pytest.raises(UsageError, match="a word of sentence 2 is empty"):
        list(english.analyze_words([[("the", False)], [("", True)]]))


def test_the_first_texts_are_few(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_TEXTS", 3)
    monkeypatch.setattr(module, "LOOK_AHEAD_TEXTS", 5)
    assert [len(some) for some in english._look_ahead(["a"] * 12)] == [3, 5, 4]


def test_the_memory_of_words_is_bounded(tiny_int8: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboreval.analysis.english.pieces._MEMORY", 10)
    pieces = Pieces(tiny_int8 / "tokenizer.json")
    for i in range(30):
        assert len(pieces.words([f"a{i}", "the"])) == 2
    assert len(pieces._known) <= 10
    # nor do many at once get past it
    assert len(pieces.words([f"b{i}" for i in range(30)])) == 30
    assert len(pieces._known) <= 10
    address = "https://example.org/" + "x" * 60
    assert [len(word.ids) for word in pieces.words([address, "the"])] == [len(pieces.words([address])[0].ids), 1]
    assert address not in pieces._known
    assert np.array_equal(pieces.words(["the"])[0].ids, pieces.words(["the"])[0].ids)


def test_a_text_that_cannot_be_analysed_does_not_end_the_run(
    english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong: after the encoder, in the second window of a long text, or before anything is found."""
    decode = english._decoder.decode

    def broken(windows):
        if any("bad" in window.forms for window in windows):
            raise ValueError("something\nodd")
        return decode(windows)

    expect_two_failures(english, monkeypatch, english._decoder, "decode", broken, "ValueError: something odd")


def test_nor_if_its_discourse_cannot_be_found(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its windows have been decoded then, and those of its batch; they are decoded again."""
    discourse = english._decoder.discourse

    def broken(texts):
        texts = list(texts)
        # the long text and the only one of four words
        if any(len(words) in (4, 601) for words, *_ in texts):
            raise KeyError("odd")
        return discourse(texts)

    expect_two_failures(english, monkeypatch, english._decoder, "discourse", broken, "KeyError: 'odd'")


def test_nor_if_its_structures_cannot_be_built(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(document, *rest):
        if "bad" in document.forms:
            raise IndexError("odd")
        return assemble(document, *rest)

    expect_two_failures(english, monkeypatch, module, "assemble", broken, "IndexError: odd")


def expect_two_failures(english, monkeypatch, where, name, broken, reason):
    texts = ["one two three four five.", "the bad one.", "", "four five.", "good " * 600 + "bad"]
    wanted = list(english.analyze(texts))
    monkeypatch.setattr(where, name, broken)
    found = list(english.analyze(texts))
    assert [analysis.status for analysis in found] == ["ok", "failed", "ok", "ok", "failed"]
    assert found[1].reason == found[4].reason == reason
    assert [found[i] for i in (0, 2, 3)] == [wanted[i] for i in (0, 2, 3)]


def test_a_broken_model_ends_the_run(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_session(*args, **options):
        raise RuntimeError("no\nmemory")

    other = EnglishAnalyzer(folder=str(english.model.folder))
    monkeypatch.setattr("onnxruntime.InferenceSession", no_session)
    with pytest.raises(ModelError, match=r"onnxruntime cannot load .*encoder.onnx: no memory"):
        list(other.analyze(["a text"]))


def test_who_leaves_early_does_not_wait(english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few batches are given to the workers before their turn, and when the stream is closed none of these is begun."""
    begun, may_go_on = [], Event()
    work = EnglishAnalyzer.work

    def slow(self, batch):
        begun.append(batch)
        assert len(begun) <= 40 or may_go_on.wait(60)
        return work(self, batch)

    monkeypatch.setattr(EnglishAnalyzer, "work", slow)
    monkeypatch.setattr(module, "LOOK_AHEAD_TEXTS", 40)
    analyzer = EnglishAnalyzer(folder=str(english.model.folder), threads=1, batch=1)
    with analyzer._running() as run:
        first, second = (analyzer._documents([f"text {i}" for i in range(40)]) for _ in range(2))
        run.begin(first)
        assert len(run._running) == module.BATCHES_AHEAD
        run.begin(second)
        assert len(run._running) == module.BATCHES_AHEAD
        assert len(list(run.finish(first))) == 40
        assert len(run._running) == module.BATCHES_AHEAD
        workers = list(run._pool._threads)
    # the one that was at work ends, the ones that it had before it do not begin
    may_go_on.set()
    for worker in workers:
        worker.join(60)
    assert len(begun) <= 41


def test_an_abandoned_stream_may_be_collected_in_its_own_worker(english: EnglishAnalyzer) -> None:
    stream = english.analyze(f"text {i}" for i in range(100))
    next(stream)
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        # as if this were the thread that the generator's pool runs on
        patch.setattr("threading.Thread.join", lambda *_: pytest.fail("a worker waits for itself"))
        pool.submit(stream.close).result()


def test_long_sentences_full_of_verbs_are_scored_in_parts(
    english: EnglishAnalyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [("run", True), ("and", True), ("go", True), ("home", True)] * 3
    given = [list(range(0, 12, 2))]
    (whole,) = english.analyze_words([words], predicates=given)
    calls = []
    run = english.model.run
    monkeypatch.setattr(
        english.model, "run", lambda name, *rest: (name == "roles" and calls.append(name)) or run(name, *rest)
    )
    monkeypatch.setattr("arboreval.analysis.english.decode.MAX_ROLE_PAIRS", 30)
    (parts,) = english.analyze_words([words], predicates=given)
    assert whole.roles is not None
    assert whole.roles.predicate.tolist() == given[0]
    assert parts.roles == whole.roles
    # six predicates in a sentence of twelve words, two at a time
    assert len(calls) == 3
