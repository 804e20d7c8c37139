"""JSON and msgpack give back exactly what went in, and refuse everything else."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec
import numpy as np
import pytest
from analysis_strategies import analyses
from hypothesis import given, settings
from hypothesis import strategies as st

from arboreval.analysis import codec
from arboreval.analysis.structures import STRUCTURES, Analysis, DependencyTree, StructureError, Tokens, Vectors


def example():
    tokens = Tokens([0, 2], [1, 4], [0, 0], ("PRON", "VERB"), ("PRP", "VBP"), ("I", "go"))
    values = np.array([[0.1, -2.5], [3e-30, 1]], np.float32)
    vectors = Vectors(values, [-1, 0], [-1, 1], [1, 0], [-1, 0], 7, "tiny")
    return Analysis("I go", tokens, dependency=DependencyTree([1, -1], ("nsubj", "root")), vectors=vectors)


def test_json_is_readable():
    record = json.loads(codec.to_json(example()))
    assert record["format"] == 1
    assert record["kind"] == "analysis"
    assert record["text"] == "I go"
    assert record["tokens"]["start"] == [0, 2]
    assert record["dependency"] == {"head": [1, -1], "relation": ["nsubj", "root"], "scheme": "ud2"}
    assert record["constituency"] is None
    assert record == codec.to_builtins(example())
    assert codec.from_builtins(record, Analysis) == example()


def test_exact():
    for write, read in ((codec.to_json, codec.from_json), (codec.to_msgpack, codec.from_msgpack)):
        again = read(write(example()), Analysis)
        assert again == example()
        assert again.vectors.values.dtype == np.float32
        assert again.vectors.values.tobytes() == example().vectors.values.tobytes()
        assert not again.tokens.start.flags.writeable
    assert codec.from_json(codec.to_json(example()).decode(), Analysis) == example()
    failed = Analysis.failed("x", "reason")
    assert codec.from_msgpack(codec.to_msgpack(failed), Analysis) == failed


def test_vectors_without_rows_keep_their_width():
    empty = Vectors(np.zeros((0, 5), np.float32), [], [], [], [], 7, "tiny")
    for write, read in ((codec.to_json, codec.from_json), (codec.to_msgpack, codec.from_msgpack)):
        assert read(write(empty), Vectors).size == 5


@settings(max_examples=100, deadline=None)
@given(analyses())
def test_round_trips(analysis):
    assert codec.from_json(codec.to_json(analysis), Analysis) == analysis
    assert codec.from_msgpack(codec.to_msgpack(analysis), Analysis) == analysis
    for name, kind in {"tokens": Tokens, **STRUCTURES}.items():
        part = getattr(analysis, name)
        if part is not None:
            assert codec.from_json(codec.to_json(part), kind) == part
            assert codec.from_msgpack(codec.to_msgpack(part), kind) == part


def changed(**changes):
    return codec.to_builtins(example()) | changes


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (changed(format=2), "has the format 2; this version of arboreval reads 1"),
        (changed(format=None), "has the format None"),
        (changed(format="9" * 999), "has the format '9{79}; this"),
        (changed(kind="9" * 999), "of the kind '9{79}, not"),
        (changed(status="9" * 999), "unknown status '9{79}; known"),
        (changed(format=True), "has the format True"),
        (changed(kind="tokens"), "of the kind 'tokens', not 'analysis'"),
        ([1], "not a record"),
        (changed(extra=1), "does not have the fields"),
        ({"format": 1, "kind": "analysis", "text": "x"}, "does not have the fields"),
        (changed(tokens=None), "does not have the fields"),
        (changed(text=5), "needs a text"),
        (changed(status="odd"), "unknown status"),
        (changed(text="I"), "the text has 1"),
        (changed(dependency={"head": [1, 0], "relation": ["a", "b"], "scheme": "ud2"}), "cycle"),
        (
            changed(dependency={"head": [1, "x"], "relation": ["a", "b"], "scheme": "ud2"}),
            "not a list of the right type",
        ),
        (changed(dependency={"head": [1.0, 0], "relation": ["a", "b"], "scheme": "ud2"}), "not a list of the right"),
        (changed(dependency={"head": [2**70, 0], "relation": ["a", "b"], "scheme": "ud2"}), "cannot be"),
        (changed(dependency={"head": [1, -1], "relation": "ab", "scheme": "ud2"}), "wrong type"),
        (changed(dependency={"head": [1, -1], "relation": [1, 2], "scheme": "ud2"}), "list of strings"),
        (changed(dependency={"head": [1, -1], "relation": ["a", "b"], "scheme": ["ud2"]}), "wrong type"),
        (changed(dependency={"head": [-1, -1], "relation": ["a", "b"], "scheme": "ud2"}), "2 dependency roots"),
    ],
)
def test_refused(record, message):
    with pytest.raises(StructureError, match=message):
        codec.from_builtins(record, Analysis)
    with pytest.raises(StructureError):
        codec.from_json(json.dumps(record), Analysis)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[]", b"nul", b"\xc1"])
def test_garbage(data):
    with pytest.raises(StructureError):
        codec.from_json(data, Analysis)
    with pytest.raises(StructureError):
        codec.from_msgpack(data, Analysis)


@pytest.mark.parametrize(
    "array",
    [
        ["i4", [2], b"\0" * 7],
        ["i4", [3], b"\0" * 8],
        ["i4", [-1], b"\0" * 8],
        ["f4", [2], b"\0" * 8],
        ["i8", [1], b"\0" * 8],
        [1, -1],
        None,
    ],
)
def test_damaged_arrays(array):
    record = msgspec.msgpack.decode(codec.to_msgpack(example().dependency)) | {"head": array}
    with pytest.raises(StructureError, match="of a stored record"):
        codec.from_msgpack(msgspec.msgpack.encode(record), DependencyTree)


def test_damaged_truth_values():
    record = msgspec.msgpack.decode(codec.to_msgpack(example().vectors)) | {"special": ["b1", [2], b"\2\0"]}
    with pytest.raises(StructureError, match="truth values"):
        codec.from_msgpack(msgspec.msgpack.encode(record), Vectors)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_bytes_never_raise_anything_else(data):
    """A changed byte gives a structure that is still well formed (a letter of a word) or the stated error."""
    packed = bytearray(codec.to_msgpack(example()))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(packed)))
    for damaged in (bytes(packed), bytes(packed[:cut])):
        with suppress(StructureError):
            assert isinstance(codec.from_msgpack(damaged, Analysis), Analysis)


def test_strings_of_numpy_arrays_can_be_stored():
    tokens = Tokens([0], [1], [0], np.array(["X"]), [""], [""])
    analysis = Analysis(np.str_("a"), tokens, dependency=DependencyTree([-1], np.array(["root"])))
    assert codec.from_json(codec.to_json(analysis), Analysis) == analysis
    assert codec.from_msgpack(codec.to_msgpack(analysis), Analysis) == analysis


@pytest.mark.parametrize("shape", [-1, [-1, 2], 2, [True, 2], [2, 1.0], None])
def test_shapes_that_cannot_be(shape):
    record = codec.to_builtins(example().vectors)
    record["values"] = record["values"] | {"shape": shape}
    with pytest.raises(StructureError, match=r"^vectors.values of a stored record has a shape that cannot be.$"):
        codec.from_builtins(record, Vectors)


def test_numbers_too_large_for_a_vector():
    record = codec.to_builtins(example().vectors)
    record["values"]["values"][0] = 1e200
    with pytest.raises(StructureError, match="not finite"):
        codec.from_builtins(record, Vectors)


def test_a_string_that_is_no_text():
    with pytest.raises(StructureError, match=r"^the stored analysis cannot be read: "):
        codec.from_json('{"text":"\ud800"}', Analysis)


def test_half_a_surrogate_pair_cannot_be_stored():
    analysis = Analysis("\ud800", Tokens([0], [1], [0], ("",), ("",), ("",)))
    for write in (codec.to_json, codec.to_msgpack):
        with pytest.raises(StructureError, match="surrogate"):
            write(analysis)
