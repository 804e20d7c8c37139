"""Everything known about one text, in one object."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arboreval.analysis.structures.base import Structure
from arboreval.analysis.structures.constituency import ConstituencyTree
from arboreval.analysis.structures.dependency import DependencyTree
from arboreval.analysis.structures.rst import RstTree
from arboreval.analysis.structures.spans import Entities, Roles
from arboreval.analysis.structures.tokens import Tokens
from arboreval.analysis.structures.ucca import UccaGraph
from arboreval.analysis.structures.vectors import Vectors
from arboreval.errors import StructureError

Status = Literal["ok", "degraded", "failed"]
Layer = DependencyTree | ConstituencyTree | UccaGraph | RstTree | Entities | Roles | Vectors

#: the optional structures of an analysis by field name
STRUCTURES: dict[str, type[Layer]] = {
    "dependency": DependencyTree,
    "constituency": ConstituencyTree,
    "ucca": UccaGraph,
    "rst": RstTree,
    "entities": Entities,
    "roles": Roles,
    "vectors": Vectors,
}


@dataclass(frozen=True, eq=False)
class Analysis(Structure):
    """The analysis of one text. A structure that was not asked for, or could not be made, is None.

    ``degraded`` and ``failed`` analyses say why in ``reason``; a failed one has no words and no structures.
    """

    text: str
    tokens: Tokens
    dependency: DependencyTree | None = None
    constituency: ConstituencyTree | None = None
    ucca: UccaGraph | None = None
    rst: RstTree | None = None
    entities: Entities | None = None
    roles: Roles | None = None
    vectors: Vectors | None = None
    status: Status = "ok"
    reason: str = ""
    #: what made the analysis; enters the signature of every score that rests on it
    fingerprint: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not isinstance(self.tokens, Tokens):
            raise StructureError("an analysis needs a text and its tokens.")
        if not isinstance(self.reason, str) or not isinstance(self.fingerprint, str):
            raise StructureError("the reason and the fingerprint of an analysis must be strings.")
        if not isinstance(self.status, str) or self.status not in ("ok", "degraded", "failed"):
            raise StructureError(f"unknown status {self.status!r:.80}; known: ok, degraded, failed.")
        self._set(
            text=str.__str__(self.text),
            status=str.__str__(self.status),
            reason=str.__str__(self.reason),
            fingerprint=str.__str__(self.fingerprint),
        )
        if (self.status == "ok") != (not self.reason):
            raise StructureError("an analysis that is degraded or failed must say why, and only such an analysis.")
        if len(self.tokens) and int(self.tokens.end[-1]) > len(self.text):
            raise StructureError(
                f"the last word ends at character {int(self.tokens.end[-1])}, the text has {len(self.text)}."
            )
        for name, kind in STRUCTURES.items():
            value: Layer | None = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, kind):
                raise StructureError(f"Analysis.{name} must be a {kind.__name__}, not a {type(value).__name__}.")
            if self.status == "failed":
                raise StructureError(f"a failed analysis has no structures, this one has {name}.")
            value.check(self.tokens)
        if self.status == "failed" and len(self.tokens):
            raise StructureError("a failed analysis has no words.")
        if self.vectors is not None and len(self.vectors) and int(self.vectors.end.max()) > len(self.text):
            raise StructureError("a sub-word ends beyond the text.")

    @classmethod
    def failed(cls, text: str, reason: str, fingerprint: str = "") -> Analysis:
        """The analysis of a text that could not be analysed."""
        return cls(text, Tokens.empty(), status="failed", reason=reason, fingerprint=fingerprint)

    @classmethod
    def empty(
        cls,
        text: str,
        layers: Container[str],
        fingerprint: str = "",
        *,
        scheme: str = "ud2",
        vectors: Vectors | None = None,
    ) -> Analysis:
        """The analysis of a text without words: empty structures of the layers named (``dep``, ``const`` and so on)."""
        ints, flags = np.zeros(0, np.int32), np.zeros(0, np.bool_)
        return cls(
            text,
            Tokens.empty(),
            dependency=DependencyTree(ints, (), scheme) if "dep" in layers else None,
            constituency=ConstituencyTree((), ints, ints, ints) if "const" in layers else None,
            ucca=UccaGraph(0, (), ints, ints, (), flags, ints, ints) if "ucca" in layers else None,
            rst=RstTree(ints, ints, ints, ints, (), ()) if "rst" in layers else None,
            entities=Entities(ints, ints, ()) if "ner" in layers else None,
            roles=Roles(ints, (), ints, ints, ints, ()) if "srl" in layers else None,
            vectors=vectors,
            fingerprint=fingerprint,
        )

    def __len__(self) -> int:
        """The number of words."""
        return len(self.tokens)

    @property
    def words(self) -> list[str]:
        return self.tokens.forms(self.text)

    def layers(self) -> tuple[str, ...]:
        """The names of the structures that are there."""
        return tuple(name for name in STRUCTURES if getattr(self, name) is not None)
