"""Structures as JSON and as msgpack.

A record is a map with the format version, the kind of structure and its fields. JSON holds arrays as lists (short, and
readable), msgpack as their type, shape and little-endian bytes (exact, and quick to load). Both are read back to equal
structures, or refused with :class:`~arboreval.errors.StructureError`: decoding runs the same checks as building.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.structures import STRUCTURES, Analysis, Structure, Tokens
from arboreval.errors import StructureError

FORMAT = 1

_KINDS: dict[str, type[Structure]] = {
    "analysis": Analysis,
    "tokens": Tokens,
    **STRUCTURES,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
#: the type each kind of array must have; values of any other are refused, not converted
_DTYPES = {"i4": np.dtype("<i4"), "f4": np.dtype("<f4"), "b1": np.dtype("?")}
_CODES = {"i": "i4", "f": "f4", "b": "b1"}

S = TypeVar("S", bound=Structure)


def to_json(structure: Structure) -> bytes:
    """The structure as one line of JSON."""
    return _encoded(msgspec.json.encode, _record(structure, _as_list))


def from_json(data: bytes | str, kind: type[S]) -> S:
    """The structure of the given kind in a JSON record."""
    return _read(msgspec.json.decode, data, kind, _from_list)


def to_msgpack(structure: Structure) -> bytes:
    """The structure as msgpack."""
    return _encoded(msgspec.msgpack.encode, _record(structure, _as_bytes))


def from_msgpack(data: bytes, kind: type[S]) -> S:
    """The structure of the given kind in a msgpack record."""
    return _read(msgspec.msgpack.decode, data, kind, _from_bytes)


def to_builtins(structure: Structure) -> dict[str, Any]:
    """What :func:`to_json` writes, as Python dictionaries and lists."""
    return _record(structure, _as_list)


def from_builtins(record: object, kind: type[S]) -> S:
    """The inverse of :func:`to_builtins`."""
    return _structure(record, kind, _from_list)


def _encoded(encode: Callable[[Any], bytes], record: dict[str, Any]) -> bytes:
    try:
        return encode(record)
    except UnicodeEncodeError:
        raise StructureError(f"the {record['kind']} holds half a surrogate pair, which cannot be stored.") from None


def _record(structure: Structure, array: Any) -> dict[str, Any]:
    return {"format": FORMAT, "kind": _NAMES[type(structure)], **_fields(structure, array)}


def _fields(structure: Structure, array: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(structure):  # type: ignore[arg-type]
        value = getattr(structure, field.name)
        if isinstance(value, np.ndarray):
            value = array(value)
        elif isinstance(value, Structure):
            value = _fields(value, array)
        elif isinstance(value, frozenset):
            value = sorted(value)
        elif isinstance(value, tuple):
            value = list(value)
        values[field.name] = value
    return values


def _as_list(array: NDArray[Any]) -> Any:
    # a matrix without rows would lose its width as a list of rows
    return {"shape": list(array.shape), "values": array.ravel().tolist()} if array.ndim > 1 else array.tolist()


def _as_bytes(array: NDArray[Any]) -> Any:
    code = _CODES[array.dtype.kind]
    return [code, list(array.shape), array.astype(_DTYPES[code], copy=False).tobytes()]


def _read(decode: Any, data: bytes | str, kind: type[S], array: Any) -> S:
    try:
        record = decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise StructureError(f"the stored {_NAMES[kind]} cannot be read: {error}.") from None
    return _structure(record, kind, array)


def _structure(record: object, kind: type[S], array: Any) -> S:
    name = _NAMES[kind]
    if not isinstance(record, dict):
        raise StructureError(f"the stored {name} is not a record with fields.")
    version = record.get("format")
    if type(version) is not int or version != FORMAT:
        given = f"{version!r:.80}"
        raise StructureError(f"the stored {name} has the format {given}; this version of arboreval reads {FORMAT}.")
    if record.get("kind") != name:
        raise StructureError(f"the stored record is of the kind {record.get('kind')!r:.80}, not {name!r}.")
    body = {key: value for key, value in record.items() if key not in ("format", "kind")}
    return _build(body, kind, array)


def _build(body: object, kind: type[S], array: Any) -> S:
    name = _NAMES[kind]
    expected = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if not isinstance(body, dict) or sorted(body, key=str) != sorted(expected):
        raise StructureError(f"the stored {name} does not have the fields {', '.join(expected)}.")
    values = dict(body)
    if kind is Analysis:
        values["tokens"] = _build(values["tokens"], Tokens, array)
        for layer, layer_kind in STRUCTURES.items():
            if values[layer] is not None:
                values[layer] = _build(values[layer], layer_kind, array)
    else:
        # the annotations are strings here; their names say which fields are arrays
        for field in fields(kind):  # type: ignore[arg-type]
            if str(field.type).endswith("Array"):
                values[field.name] = array(f"{name}.{field.name}", values[field.name], _ARRAYS[str(field.type)])
                continue
            listed = str(field.type).startswith(("tuple", "frozenset"))
            if not isinstance(values[field.name], list if listed else str | int):
                raise StructureError(f"{name}.{field.name} of a stored record has the wrong type.")
    try:
        return kind(**values)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, StructureError):
            raise
        raise StructureError(f"the stored {name} is damaged: {error}.") from error


_ARRAYS = {"IntArray": "i4", "FloatArray": "f4", "BoolArray": "b1"}


def _from_list(name: str, value: object, code: str) -> NDArray[Any]:
    shape: Any = None
    if isinstance(value, dict) and sorted(value) == ["shape", "values"]:
        shape, value = _shape(name, value["shape"]), value["values"]
    wanted = {"i4": (int,), "f4": (int, float), "b1": (bool,)}[code]
    if not isinstance(value, list) or not all(type(item) in wanted for item in value):
        raise StructureError(f"{name} of a stored record is not a list of the right type.")
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused with the structure
            array = np.array(value, _DTYPES[code])
        return array if shape is None else array.reshape(shape)
    except (ValueError, TypeError, OverflowError):
        raise StructureError(f"{name} of a stored record has numbers or a shape that cannot be.") from None


def _shape(name: str, shape: object) -> list[int]:
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise StructureError(f"{name} of a stored record has a shape that cannot be.")
    return shape


def _from_bytes(name: str, value: object, code: str) -> NDArray[Any]:
    match value:
        case [str() as stored, shape, bytes() as data] if stored == code:
            sizes = _shape(name, shape)
            try:
                array = np.frombuffer(data, _DTYPES[code]).reshape(sizes)
            except ValueError:
                raise StructureError(
                    f"{name} of a stored record has {len(data)} bytes for the shape {sizes}."
                ) from None
            if code == "b1" and (np.frombuffer(data, np.uint8) > 1).any():
                raise StructureError(f"{name} of a stored record holds something other than truth values.")
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        case _:
            raise StructureError(f"{name} of a stored record is not an array of the right type.")
