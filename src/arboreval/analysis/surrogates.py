"""Half of a surrogate pair is no character: tokenizers, XML and UTF-8 have no place for it, yet JSON can make one."""

import re

__all__ = ["SURROGATE", "replace_surrogates"]

SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD in their places, one character for one, so that offsets stay right."""
    return SURROGATE.sub("\ufffd", text)
