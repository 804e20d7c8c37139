"""Named entities and semantic roles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboreval.analysis.structures.base import (
    IntArray,
    Structure,
    check_spans,
    in_range,
    int_array,
    same_length,
    strings,
)
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError


@dataclass(frozen=True, eq=False)
class Entities(Structure):
    """Named entities: word spans that do not overlap, in text order."""

    start: IntArray
    end: IntArray
    label: tuple[str, ...]

    def __post_init__(self) -> None:
        self._set(
            start=int_array("Entities.start", self.start),
            end=int_array("Entities.end", self.end),
            label=strings("Entities.label", self.label),
        )
        if not same_length("Entities", start=self.start, end=self.end, label=self.label):
            return
        check_spans("entity", self.start, self.end)
        overlapping = np.flatnonzero(self.start[1:] < self.end[:-1])
        if overlapping.size:
            raise StructureError(f"entity {int(overlapping[0]) + 1} starts inside or before the one before it.")
        if not all(self.label):
            raise StructureError("an entity has no label.")

    def check(self, tokens: Tokens) -> None:
        check_spans("entity", self.start, self.end, len(tokens))

    def __len__(self) -> int:
        return len(self.label)

    def spans(self) -> list[tuple[int, int, str]]:
        return list(zip(self.start.tolist(), self.end.tolist(), self.label, strict=True))


@dataclass(frozen=True, eq=False)
class Roles(Structure):
    """Predicates with their arguments; the arguments of all predicates lie in one flat list."""

    #: word of each predicate, in text order
    predicate: IntArray
    #: sense of each predicate, "" where unknown
    sense: tuple[str, ...]
    #: number of the predicate (not its word) to which each argument belongs
    arg_predicate: IntArray
    arg_start: IntArray
    arg_end: IntArray
    arg_role: tuple[str, ...]

    def __post_init__(self) -> None:
        self._set(
            predicate=int_array("Roles.predicate", self.predicate),
            sense=strings("Roles.sense", self.sense),
            arg_predicate=int_array("Roles.arg_predicate", self.arg_predicate),
            arg_start=int_array("Roles.arg_start", self.arg_start),
            arg_end=int_array("Roles.arg_end", self.arg_end),
            arg_role=strings("Roles.arg_role", self.arg_role),
        )
        n = same_length("Roles", predicate=self.predicate, sense=self.sense)
        same_length(
            "Roles",
            arg_predicate=self.arg_predicate,
            arg_start=self.arg_start,
            arg_end=self.arg_end,
            arg_role=self.arg_role,
        )
        if n and (int(self.predicate[0]) < 0 or (self.predicate[1:] <= self.predicate[:-1]).any()):
            raise StructureError("predicates must be word numbers in text order, each once.")
        in_range("predicate number", self.arg_predicate, 0, n)
        check_spans("argument", self.arg_start, self.arg_end)
        if not all(self.arg_role):
            raise StructureError("an argument has no role.")

    def check(self, tokens: Tokens) -> None:
        in_range("predicate", self.predicate, 0, len(tokens))
        check_spans("argument", self.arg_start, self.arg_end, len(tokens))

    def __len__(self) -> int:
        return len(self.predicate)

    def arguments(self, predicate: int) -> list[tuple[int, int, str]]:
        """The arguments ``(start, end, role)`` of the predicate with this number, in text order."""
        mine = np.flatnonzero(self.arg_predicate == predicate).tolist()
        return sorted((int(self.arg_start[i]), int(self.arg_end[i]), self.arg_role[i]) for i in mine)
