"""What the short labels of UCCA stand for."""

from __future__ import annotations

UCCA_CATEGORIES = {
    "A": "participant",
    "C": "centre",
    "D": "adverbial",
    "E": "elaborator",
    "F": "function",
    "G": "ground",
    "H": "parallel scene",
    "L": "linker",
    "N": "connector",
    "P": "process",
    "Q": "quantifier",
    "R": "relator",
    "S": "state",
    "T": "time",
    "U": "punctuation",
}
