"""The signature of a score: everything that can change the number, in a fixed order, as one line of text."""

from __future__ import annotations

from collections.abc import Mapping

SignatureValue = str | int | float | bool | None


def format_signature(metric: str, fields: Mapping[str, SignatureValue]) -> str:
    """``bleu|nrefs:1|case:mixed|…|version:arboreval-0.1.0``; fields that are None are left out."""
    parts = [metric]
    for key, value in fields.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = "yes" if value else "no"
        parts.append(f"{key}:{value}")
    return "|".join(parts)


def parse_signature(signature: str) -> tuple[str, dict[str, str]]:
    """The inverse of :func:`format_signature`, with the values as text."""
    metric, *parts = signature.split("|")
    return metric, dict(part.split(":", 1) for part in parts)
