"""Lemmas as edit scripts: the tagger picks a script, the script turns the word form into its lemma.

A script is either ``=LEMMA`` (the lemma as a whole, for irregular words such as ``is``) or ``MODE-K+ADD``: bring
the form into the letter case MODE, strip K characters from its end, append ADD. Modes are ``l`` (lower case), ``k``
(keep), ``t`` (first letter upper, rest lower) and ``u`` (upper case). Every lower-case lemma uses mode ``l`` whatever
the case of the form, so that ``forces``, ``Forces`` and ``FORCES`` share one script.

A lexicon of the forms seen in training goes before the script. Where the script makes a lemma of a noun or verb that
nobody has seen, so do the irregular inflections and the regular ones of lemmas that are known: ``sung`` is a form of
``sing`` and ``voting`` of ``vote``, whatever the script makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from arboreval.analysis.english.irregular import NOUNS, VERBS

__all__ = ["Lexicon", "apply", "derive"]

_SCRIPT = re.compile(r"([lktu])-(\d+)\+(.*)", re.DOTALL)


def _title(text: str) -> str:
    return text[:1].upper() + text[1:].lower()


_CASES: dict[str, Callable[[str], str]] = {"l": str.lower, "k": str, "t": _title, "u": str.upper}


def _common_prefix(left: str, right: str) -> int:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length


def derive(form: str, lemma: str) -> str:
    """Return the script that turns ``form`` into ``lemma``."""
    modes = "l" if lemma == lemma.lower() else "ktu"
    best, prefix = modes[0], -1
    for mode in modes:
        shared = _common_prefix(_CASES[mode](form), lemma)
        if shared > prefix:
            best, prefix = mode, shared
    if prefix <= 0:
        return f"={lemma}"
    return f"{best}-{len(_CASES[best](form)) - prefix}+{lemma[prefix:]}"


def apply(form: str, script: str) -> str:
    """Return the lemma of ``form`` under ``script``.

    A predicted script can ask for more letters than the form has; the lower-cased form is then the lemma, which is
    right far more often than a truncated one.
    """
    if script.startswith("="):
        return script[1:] or form
    match = _SCRIPT.fullmatch(script)
    if match is None:
        raise ValueError(f"not a lemma script: {script!r}")
    mode, strip, add = match.group(1), int(match.group(2)), match.group(3)
    cased = _CASES[mode](form)
    if strip >= len(cased) and len(cased) > 0:
        return form.lower()
    return cased[: len(cased) - strip] + add


class Lexicon:
    """The lemmas of words, from ``{part of speech: {form: lemma}}`` of the forms seen in training."""

    def __init__(self, forms: Mapping[str, Mapping[str, str]]) -> None:
        self._forms = forms
        self._lemmas = {upos: frozenset(lemmas.values()) for upos, lemmas in forms.items()}
        #: ``lemma(form, upos, xpos, script)``
        self.lemma = lru_cache(maxsize=65536)(self._lemma)

    def _lemma(self, form: str, upos: str, xpos: str, script: str) -> str:
        forms = self._forms.get(upos, {})
        if form in forms:
            return forms[form]
        guess, lower = apply(form, script), form.lower()
        if upos == "PROPN" or guess != guess.lower():
            return guess
        if lower in forms:
            return forms[lower]
        if upos not in ("NOUN", "VERB"):
            return guess
        if irregular := _irregular(lower, xpos):
            return irregular
        known = self._lemmas.get(upos, frozenset())
        if guess in known or (upos == "NOUN" and guess == lower):
            return guess
        bases = list(_bases(lower, xpos))
        if found := next((base for base in bases if base in known), None):
            return found
        return bases[0] if bases and (guess not in bases or _SURE.search(lower)) else guess


def _irregular(form: str, xpos: str) -> str | None:
    if xpos == "NNS":
        return NOUNS.get(form)
    if xpos not in ("VBD", "VBN"):
        return None
    if form in VERBS:
        return VERBS[form]
    prefix = _PREFIX.match(form)
    rest = form[prefix.end() :] if prefix else ""
    return form[: -len(rest)] + VERBS[rest] if rest in VERBS else None


#: a stem that had an e: an ending that words do not have without one, or one short syllable, which would be doubled
_SILENT_E = re.compile("[vucz]$|.(?:at|iz|is|ag|dg|ang|rg)$|^[^aeiouy]*[aeiouy][^aeiouywx]$")
_VOWEL = re.compile("[aeiouy]")
_PREFIX = re.compile("fore|inter|mis|out|over|re|under|un|up|with")
#: where the first base is right even if nobody has seen it
_SURE = re.compile("..(?:ies|ied|men|tches|shes|sses)$")


def _bases(form: str, xpos: str) -> Iterator[str]:
    """What a regular noun or verb in this form could come from, the likelier first."""
    if xpos in ("NNS", "VBZ"):
        if form.endswith("ies"):
            yield form[:-3] + "y"
        if form.endswith("men"):
            yield form[:-2] + "an"
        if form.endswith(("ches", "shes", "xes", "sses", "zzes", "oes")):
            yield form[:-2]
        if form.endswith("s"):
            yield form[:-1]
    elif xpos in ("VBD", "VBN", "VBG"):
        if form.endswith("ied"):
            yield form[:-3] + "y"
        for ending in ("ed", "ing"):
            stem = form.removesuffix(ending)
            if stem == form or not _VOWEL.search(stem):  # "bring", "shed"
                continue
            if stem[-1:] == stem[-2:-1]:
                # mostly the first ("planned"), but "added", "called", "passed"
                yield from (stem, stem[:-1]) if stem[-1] in "dflsz" else (stem[:-1], stem)
            # "deserved", "hoping" but "visited"
            elif _SILENT_E.search(stem):
                yield stem + "e"
                yield stem
            else:
                yield stem
                yield stem + "e"
