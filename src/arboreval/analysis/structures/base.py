"""What all structures share: read-only arrays, comparison by value, and the checks that more than one of them needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arboreval.errors import StructureError

IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float32]

_INT32 = np.iinfo(np.int32)


class Structure:
    """Base of the frozen structures. Two are equal when all their fields are; arrays compare element by element."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]

    # arrays have no hash, and nobody looks structures up by value
    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, object]) -> None:
        # a copy's arrays can be written to, whatever the original's
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self._set(**state)

    def _set(self, **values: object) -> None:
        """Store normalised fields; a frozen dataclass leaves no plainer way."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)


def _array(name: str, values: ArrayLike, what: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths
        raise StructureError(f"{name} must be {what}.") from None


def _frozen(array: NDArray[Any], given: object) -> NDArray[Any]:
    # an array of the caller's that can still be written to is copied: freezing it in place would surprise the caller,
    # and leaving it writable would let the structure change after it was checked
    if (array.flags.writeable and (array is given or array.base is not None)) or _is_view_of_writable(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _is_view_of_writable(array: NDArray[Any]) -> bool:
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return False


def int_array(name: str, values: ArrayLike) -> IntArray:
    """``values`` as a read-only one-dimensional int32 array."""
    array = _array(name, values, "a list of whole numbers")
    if array.ndim != 1:
        raise StructureError(f"{name} must be a list of whole numbers, not an array of {array.ndim} dimensions.")
    if array.dtype != np.int32:
        if array.size and array.dtype.kind not in "iu":
            raise StructureError(f"{name} must hold whole numbers, not {array.dtype}.")
        if array.size and (int(array.min()) < _INT32.min or int(array.max()) > _INT32.max):
            raise StructureError(f"{name} holds a number that does not fit 32 bits.")
        array = array.astype(np.int32)
    return _frozen(array, values)


def bool_array(name: str, values: ArrayLike) -> BoolArray:
    """``values`` as a read-only one-dimensional array of truth values."""
    array = _array(name, values, "a list of truth values")
    if array.ndim != 1:
        raise StructureError(f"{name} must be a list of truth values, not an array of {array.ndim} dimensions.")
    if array.dtype != np.bool_:
        if array.size and (array.dtype.kind not in "iu" or int(array.min()) < 0 or int(array.max()) > 1):
            raise StructureError(f"{name} must hold truth values.")
        array = array.astype(np.bool_)
    return _frozen(array, values)


def float_matrix(name: str, values: ArrayLike) -> FloatArray:
    """``values`` as a read-only float32 matrix without infinities and NaNs."""
    array = _array(name, values, "a matrix of numbers")
    if array.ndim != 2 or (array.size and array.dtype.kind not in "fiu"):
        raise StructureError(f"{name} must be a matrix of numbers.")
    if array.dtype != np.float32:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
            array = array.astype(np.float32)
    if not np.isfinite(array).all():
        raise StructureError(f"{name} holds a number that is not finite.")
    return _frozen(array, values)


def strings(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """``values`` as a tuple of plain strings: other kinds, such as numpy's, could not be stored."""
    try:
        result = tuple(values)
        # most are plain already, which the set tells at once
        if not set(map(type, result)) <= {str}:
            result = tuple(map(str.__str__, result))
    except TypeError:
        raise StructureError(f"{name} must be a list of strings.") from None
    if isinstance(values, str):
        raise StructureError(f"{name} must be a list of strings, not a string.")
    return result


def same_length(what: str, **columns: Any) -> int:
    """The common length of the columns, or an error that names two that differ."""
    (first, column), *rest = columns.items()
    for name, other in rest:
        if len(other) != len(column):
            raise StructureError(f"{what} has {len(column)} values of {first} but {len(other)} of {name}.")
    return len(column)


def in_range(what: str, array: IntArray, low: int, high: int) -> None:
    """Refuse values outside ``[low, high)``."""
    if array.size and (int(array.min()) < low or int(array.max()) >= high):
        i = int(np.flatnonzero((array < low) | (array >= high))[0])
        raise StructureError(f"{what} {int(array[i])} (at position {i}) is outside the range {low} to {high - 1}.")


def check_spans(what: str, start: IntArray, end: IntArray, size: int | None = None) -> None:
    """Refuse empty spans, and spans that leave ``[0, size)`` where the size is known."""
    if start.size:
        if int(start.min()) < 0 or (start >= end).any():
            i = int(np.flatnonzero((start < 0) | (start >= end))[0])
            raise StructureError(f"{what} {i} has the span {int(start[i])} to {int(end[i])}, which is not a span.")
        if size is not None and int(end.max()) > size:
            i = int(end.argmax())
            raise StructureError(f"{what} {i} ends at {int(end[i])}, beyond the last of {size} words.")
