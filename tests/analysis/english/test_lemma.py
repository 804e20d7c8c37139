import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboreval.analysis.english.lemma import Lexicon, apply, derive


@pytest.mark.parametrize(
    ("form", "lemma", "script"),
    [
        ("forces", "force", "l-1+"),
        ("Forces", "force", "l-1+"),
        ("FORCES", "force", "l-1+"),
        ("The", "the", "l-0+"),
        ("1,000", "1,000", "l-0+"),
        ("American", "American", "k-0+"),
        ("YORK", "York", "t-0+"),
        ("usa", "USA", "u-0+"),
        ("cities", "city", "l-3+y"),
        ("women", "woman", "l-2+an"),
        ("is", "be", "=be"),
        ("me", "I", "=I"),
        ("n't", "not", "l-2+ot"),
    ],
)
def test_the_script_of_a_word(form: str, lemma: str, script: str) -> None:
    assert derive(form, lemma) == script
    assert apply(form, script) == lemma


def test_one_script_serves_every_word_of_its_class() -> None:
    script = derive("cities", "city")
    assert [apply(form, script) for form in ("Parties", "stories", "FLIES")] == ["party", "story", "fly"]


def test_a_script_that_asks_for_too_many_letters_gives_the_form() -> None:
    assert apply("As", "l-3+y") == "as"
    assert apply("", "l-0+") == ""


def test_an_empty_replacement_gives_the_form() -> None:
    assert apply("word", "=") == "word"


@pytest.mark.parametrize("script", ["", "l-1", "x-1+", "l--1+"])
def test_what_is_no_script_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match="not a lemma script"):
        apply("word", script)


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_the_derived_script_gives_the_lemma(form: str, lemma: str) -> None:
    assert apply(form, derive(form, lemma)) == lemma


SEEN = {
    "VERB": {"vote": "vote", "digs": "dig", "close": "close", "Closed": "close", "added": "add", "visits": "visit",
             "hop": "hop", "hopes": "hope", "mean": "mean", "meaning": "mean", "sungs": "sung"},
    "NOUN": {"library": "library", "People": "people", "movies": "movie", "policeman": "policeman"},
    "PROPN": {"york": "York"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "upos", "xpos", "script", "lemma"),
    [
        # what was seen, in any letter case
        ("Closed", "VERB", "VBD", "l-2+", "close"),
        ("ADDED", "VERB", "VBD", "l-3+", "add"),
        # but where the script knows a name, the form as it is
        ("PEOPLE", "NOUN", "NNS", "k-0+", "PEOPLE"),
        ("York", "PROPN", "NNP", "k-0+", "York"),
        # inflections of what was seen
        ("closing", "VERB", "VBG", "l-3+", "close"),
        ("voting", "VERB", "VBG", "l-3+", "vote"),
        ("digging", "VERB", "VBG", "l-3+", "dig"),
        ("visited", "VERB", "VBD", "l-1+", "visit"),
        ("hoping", "VERB", "VBG", "l-4+", "hope"),
        ("hopping", "VERB", "VBG", "l-3+", "hop"),
        ("adding", "VERB", "VBG", "l-4+", "add"),
        ("libraries", "NOUN", "NNS", "l-1+", "library"),
        ("policemen", "NOUN", "NNS", "l-1+", "policeman"),
        # irregular ones
        ("sung", "VERB", "VBN", "l-2+", "sing"),
        ("overtook", "VERB", "VBD", "l-0+", "overtake"),
        ("understood", "VERB", "VBD", "l-2+", "understand"),
        ("Undid", "VERB", "VBD", "l-2+", "undo"),
        ("wolves", "NOUN", "NNS", "l-1+", "wolf"),
        ("sung", "VERB", "VB", "l-0+", "sung"),
        # regular ones of what nobody has seen
        ("ditches", "NOUN", "NNS", "l-1+", "ditch"),
        ("allergies", "NOUN", "NNS", "l-1+", "allergy"),
        ("footnotes", "NOUN", "NNS", "l-0+", "footnotes"),
        ("tweets", "VERB", "VBZ", "l-0+", "tweet"),
        ("tweeting", "VERB", "VBG", "l-3+", "tweet"),
        # no inflections at all
        ("bring", "VERB", "VBG", "l-0+", "bring"),
        ("shed", "VERB", "VBD", "l-0+", "shed"),
        ("stigmata", "NOUN", "NNS", "l-2+", "stigma"),
        # no other parts of speech, and nothing where the script's lemma is known
        ("closed", "ADJ", "JJ", "l-1+", "close"),
        ("means", "VERB", "VBZ", "l-1+", "mean"),
        ("libraries", "NOUN", "NN", "l-1+", "librarie"),
    ],
)
def test_the_lexicon_and_regular_inflections(form: str, upos: str, xpos: str, script: str, lemma: str) -> None:
    assert Lexicon(SEEN).lemma(form, upos, xpos, script) == lemma
