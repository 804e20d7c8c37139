"""Lemmas as edit scripts: the tagger picks a script, the script turns the word form into its lemma.

A script is either ``=LEMMA`` (the lemma as a whole, for irregular words such as ``is``) or ``MODE-K+ADD``: bring
the form into the letter case MODE, strip K characters from its end, append ADD. Modes are ``l`` (lower case), ``k``
(keep), ``t`` (first letter upper, rest lower) and ``u`` (upper case). Every lower-case lemma uses mode ``l`` whatever
the case of the form, so that ``forces``, ``Forces`` and ``FORCES`` share one script.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["IDENTITY", "apply", "derive"]

IDENTITY = "l-0+"

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
