import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboreval.analysis.english.lemma import IDENTITY, apply, derive


@pytest.mark.parametrize(
    ("form", "lemma", "script"),
    [
        ("forces", "force", "l-1+"),
        ("Forces", "force", "l-1+"),
        ("FORCES", "force", "l-1+"),
        ("The", "the", IDENTITY),
        ("1,000", "1,000", IDENTITY),
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
