"""The data model: everything that is known about one text.

One :class:`Analysis` describes one segment, which may hold several sentences; the structures are then forests over the
segment's words. Word indices count from 0 over the segment, spans are half-open ``[start, end)`` word ranges, and
character offsets count code points of the raw text. Every structure is frozen, keeps its numbers in read-only arrays,
and refuses what is not well formed with one sentence (:class:`~arboreval.errors.StructureError`).
"""

from __future__ import annotations

from arboreval.analysis.structures.analysis import STRUCTURES, Analysis
from arboreval.analysis.structures.base import BoolArray, FloatArray, IntArray, Structure
from arboreval.analysis.structures.constituency import ConstituencyTree
from arboreval.analysis.structures.dependency import DependencyTree
from arboreval.analysis.structures.rst import Nested, RstTree
from arboreval.analysis.structures.spans import Entities, Roles
from arboreval.analysis.structures.tokens import Tokens
from arboreval.analysis.structures.ucca import UccaGraph
from arboreval.analysis.structures.vectors import Vectors
from arboreval.errors import StructureError

__all__ = [
    "STRUCTURES",
    "Analysis",
    "BoolArray",
    "ConstituencyTree",
    "DependencyTree",
    "Entities",
    "FloatArray",
    "IntArray",
    "Nested",
    "Roles",
    "RstTree",
    "Structure",
    "StructureError",
    "Tokens",
    "UccaGraph",
    "Vectors",
]
