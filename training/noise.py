"""Noise like that of machine translation, for sentences given as words with spacing.

The analyzer must stay sane on output that drops, repeats, misplaces or wrongly inflects words. A student that learns
from its teacher on such sentences sees them before it meets real ones. Everything is drawn from the generator that is
passed in, so a seed fixes the result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

__all__ = ["KINDS", "noisy", "wrong_form"]

Text = tuple[list[str], list[int]]

ARTICLES = frozenset({"a", "an", "the"})
# closed classes that systems confuse
CONFUSIONS = (
    ("is", "are", "was", "were", "be", "been"),
    ("has", "have", "had", "having"),
    ("do", "does", "did", "done"),
    ("a", "an", "the"),
    ("in", "on", "at", "to", "of", "for", "from", "by", "with"),
    ("he", "him", "his"),
    ("she", "her", "hers"),
    ("they", "them", "their"),
    ("i", "me", "my"),
    ("we", "us", "our"),
    ("this", "these", "that", "those"),
    ("who", "which", "that", "whom"),
    ("will", "would", "shall"),
    ("can", "could", "may", "might"),
    ("much", "many"),
    ("and", "but", "or"),
)
_GROUPS: dict[str, list[str]] = {}
for _group in CONFUSIONS:
    for _word in _group:
        _GROUPS.setdefault(_word, []).extend(other for other in _group if other != _word)
_VOWELS = frozenset("aeiou")


def _like(model: str, word: str) -> str:
    """Give ``word`` the letter case of ``model``."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def _stem(word: str) -> str:
    """Strip an inflection from a lower-case word, by simple rules: a wrong stem is noise as well."""
    for ending, short in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        stem = word[: len(word) - len(ending)] + short
        if word.endswith(ending) and len(stem) >= 3 and not word.endswith("ss"):
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled and ending in ("ing", "ed") else stem
    return word


def wrong_form(word: str, rng: random.Random) -> str:
    """Return another form of the word, or the word itself where there is none to be had."""
    lower = word.lower()
    if lower in _GROUPS:
        return _like(word, rng.choice(_GROUPS[lower]))
    if not lower.isalpha() or len(lower) < 4 or not word.isascii():
        return word
    stem = _stem(lower)
    base = stem[:-1] if stem.endswith("e") else stem
    soft = stem[:-1] + "ie" if stem.endswith("y") and stem[-2] not in _VOWELS else stem
    forms = [stem, soft + "s", base + "ing", (soft if soft.endswith("e") else soft + "e") + "d"]
    return _like(word, rng.choice([form for form in forms if form != lower]))


def _movable(words: Sequence[str], space: Sequence[int], index: int) -> bool:
    """Say whether a word can go alone: it is not glued to a neighbour other than the punctuation after it."""
    if not words[index].isalpha() or (index > 0 and not space[index - 1]):
        return False
    return bool(space[index]) or index + 1 == len(words) or not any(char.isalnum() for char in words[index + 1])


def _delete(text: Text, index: int) -> None:
    words, space = text
    gap = space.pop(index)
    del words[index]
    if index > 0:
        space[index - 1] = max(space[index - 1], gap)


def _some(count: int, share: float, rng: random.Random) -> int:
    """Draw how many of ``count`` words to change: at least one, ``share`` of them on average."""
    return max(1, sum(rng.random() < share for _ in range(count)))


def drop_words(text: Text, rng: random.Random) -> None:
    for _ in range(_some(len(text[0]), 0.08, rng)):
        usable = [index for index in range(len(text[0])) if _movable(*text, index)]
        if len(usable) < 2:
            return
        _delete(text, rng.choice(usable))


def drop_articles(text: Text, rng: random.Random) -> None:
    for index in range(len(text[0]) - 1, -1, -1):
        if text[0][index].lower() in ARTICLES and len(text[0]) > 2 and rng.random() < 0.7:
            _delete(text, index)


def swap_words(text: Text, rng: random.Random) -> None:
    words, space = text
    for _ in range(_some(len(words), 0.06, rng)):
        usable = [i for i in range(len(words)) if _movable(words, space, i)]
        if len(usable) < 2:
            return
        place = rng.randrange(len(usable) - 1)
        left, right = usable[place], usable[min(place + rng.choice((1, 1, 1, 2, 3)), len(usable) - 1)]
        words[left], words[right] = words[right], words[left]


def move_phrase(text: Text, rng: random.Random) -> None:
    """Move two to five words elsewhere, as wrong word order does."""
    words, space = text
    size = rng.randint(2, 5)
    starts = [i for i in range(len(words) - size) if space[i + size - 1] and (i == 0 or space[i - 1])]
    if not starts:
        return
    start = rng.choice(starts)
    phrase, gaps = words[start : start + size], space[start : start + size]
    del words[start : start + size], space[start : start + size]
    targets = [i for i in range(len(words)) if i != start and (i == 0 or space[i - 1])]
    target = rng.choice(targets) if targets else start
    words[target:target], space[target:target] = phrase, gaps


def repeat_words(text: Text, rng: random.Random) -> None:
    words, space = text
    size = rng.choice((1, 1, 2, 3))
    starts = [i for i in range(len(words) - size) if _movable(words, space, i) and space[i + size - 1]]
    if starts:
        start = rng.choice(starts)
        phrase, gaps = words[start : start + size], space[start : start + size]
        for _ in range(rng.choice((1, 1, 1, 2))):
            words[start:start], space[start:start] = phrase, gaps


def inflect_words(text: Text, rng: random.Random) -> None:
    words, space = text
    usable = [index for index in range(len(words)) if _movable(words, space, index)]
    for index in rng.sample(usable, min(len(usable), _some(len(words), 0.12, rng))):
        words[index] = wrong_form(words[index], rng)


def truncate(text: Text, rng: random.Random) -> None:
    words, space = text
    keep = max(2, int(len(words) * rng.uniform(0.4, 0.95)))
    if keep < len(words):
        del words[keep:], space[keep:]


def drop_punctuation(text: Text, rng: random.Random) -> None:
    for index in range(len(text[0]) - 1, -1, -1):
        if not any(char.isalnum() for char in text[0][index]) and len(text[0]) > 2 and rng.random() < 0.7:
            _delete(text, index)


def lose_case(text: Text, rng: random.Random) -> None:
    words, _ = text
    change: Callable[[str], str] = rng.choice((str.lower, str.lower, str.lower, str.upper))
    words[:] = [change(word) for word in words]


KINDS: dict[str, tuple[Callable[[Text, random.Random], None], float]] = {
    "drop_words": (drop_words, 3.0),
    "drop_articles": (drop_articles, 2.0),
    "swap_words": (swap_words, 2.0),
    "move_phrase": (move_phrase, 2.0),
    "repeat_words": (repeat_words, 1.5),
    "inflect_words": (inflect_words, 3.0),
    "truncate": (truncate, 1.5),
    "drop_punctuation": (drop_punctuation, 1.0),
    "lose_case": (lose_case, 0.7),
}


def noisy(words: Sequence[str], space: Sequence[int], rng: random.Random) -> Text:
    """Return the sentence with one to three kinds of noise; a sentence of one word stays as it is."""
    text = (list(words), list(space))
    names, weights = list(KINDS), [weight for _, weight in KINDS.values()]
    chosen = set(rng.choices(names, weights, k=rng.choice((1, 1, 2, 3))))
    # in the order of the table, so that the result does not hang on the order of a set
    for name in names:
        if name in chosen and len(text[0]) > 1:
            KINDS[name][0](text, rng)
    if text[1]:
        text[1][-1] = 1
    return text
