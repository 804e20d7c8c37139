"""Text to words: the treebanks' conventions by value, and properties that hold for any text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboreval.analysis.english.words import paragraphs, split_words


def cut(text: str) -> str:
    return "|".join(text[i:j] for i, j in split_words(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't know.", "I|do|n't|know|."),
        ("You cannot go, can't you?", "You|can|not|go|,|ca|n't|you|?"),
        ("He's John's friend; they'd've known", "He|'s|John|'s|friend|;|they|'d|'ve|known"),
        ("We’re gonna win", "We|’re|gon|na|win"),
        ("dont wanna", "do|nt|wan|na"),
        ("the parents' long-term plan", "the|parents|'|long|-|term|plan"),
        ("a non-profit co-worker", "a|non-profit|co-worker"),
        ("mid-1980s e-mail", "mid-1980s|e-mail"),
        ("See http://www.example.org/a-b?c=1, or write to a.b@example.com.", "See|http://www.example.org/a-b?c=1|,|or|write|to|a.b@example.com|."),
        ("Nice :) ... really?!", "Nice|:)|...|really|?!"),
        ("ah!!.. No!. What?!?... Wow!.?", "ah|!!|..|No|!.|What|?!?|...|Wow|!.?"),
        ("It costs $5,000.50 or 20% more.", "It|costs|$|5,000.50|or|20|%|more|."),
        ("at 7:30PM on 11/28/2000", "at|7:30|PM|on|11/28/2000"),
        ("the 21st and/or the 1970s", "the|21st|and|/|or|the|1970s"),
        ("Mr. Smith of the U.S. Army, e.g. J. Doe, Inc., now", "Mr.|Smith|of|the|U.S.|Army|,|e.g.|J.|Doe|,|Inc.|,|now"),
        # the stop of an abbreviation at the end of a sentence is the sentence's
        ("He joined Doe Inc.", "He|joined|Doe|Inc|."),
        ("He joined Doe Inc. She left Roe Corp. Board of Poe Ltd.\n\nThe end",
         "He|joined|Doe|Inc|.|She|left|Roe|Corp.|Board|of|Poe|Ltd|.|The|end"),
        ("It was plan B.", "It|was|plan|B|."),
        ("Inc.", "Inc."),
        ("by Lee et al. The song, feat. The Roe", "by|Lee|et|al.|The|song|,|feat.|The|Roe"),
        ("I saw Al. He knows Mr.", "I|saw|Al|.|He|knows|Mr."),
        ("Call 713-853-3989 (now)", "Call|713-853-3989|(|now|)"),
        ("apples, etc. Then No. 5", "apples|,|etc|.|Then|No.|5"),
        ("No. He said \"no\".", "No|.|He|said|\"|no|\"|."),
        ("'Tis 30 °C. Mary, of the U.S. Assoc. Board", "'Tis|30|°|C|.|Mary|,|of|the|U.S.|Assoc.|Board"),
        ("----==== ===--- $$$ a//b", "----====|===---|$$$|a|//|b"),
        ("O'Reilly at five o'clock", "O'Reilly|at|five|o'clock"),
        ("AT&T's report.pdf", "AT&T|'s|report.pdf"),
        ("#python @user # 1", "#python|@user|#|1"),
        ("Jean–Paul—who left--laughed", "Jean|–|Paul|—|who|left|--|laughed"),
        ("", ""),
        (" \t\n ", ""),
    ],
)  # fmt: skip
def test_conventions_of_the_treebanks(text: str, words: str) -> None:
    assert cut(text) == words


def test_graphemes_stay_whole() -> None:
    assert cut("ok 👩‍👩‍👧 👍🏽!") == "ok|👩‍👩‍👧|👍🏽|!"
    assert cut("🇫🇷🇩🇪🇫 x🇫🇷\u200dy") == "🇫🇷|🇩🇪|🇫|x|🇫🇷\u200d|y"
    assert cut("שלום עולם") == "שלום|עולם"
    assert cut("नमस्ते दुनिया") == "नमस्ते|दुनिया"


def check(text: str) -> None:
    spans = split_words(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert not any(c.isspace() for c in text[start:end])
        position = end
    assert not text[position:].strip()


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=80))
def test_any_text_keeps_every_visible_character(text: str) -> None:
    check(text)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="aAbn'’tsI.m-/@:)(#$%0123,;!?*_=+~&<>| \n", max_size=60))
def test_punctuation_salad_keeps_every_visible_character(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "unit", ["a", "a-", "a.", "1,", "a@", "'", "-", "a'", "://", "x.com/", "#", "ア", "(", ")(", "[]", "🇫🇷", "🇫"]
)
def test_long_pieces_take_linear_time(unit: str) -> None:
    text = unit * 20000
    start = time.perf_counter()
    check(text)
    assert time.perf_counter() - start < 5


def test_paragraphs_end_at_blank_lines() -> None:
    text = "One\ntwo.\n\nThree\r\n \r\nfour\n"
    assert [text[i:j].strip() for i, j in paragraphs(text)] == ["One\ntwo.", "Three", "four"]
    assert paragraphs(" \n\n ") == []
