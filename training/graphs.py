"""The network as ONNX graphs, built by hand from a state dict.

A text's numbers must not depend on the texts it shares a batch with, to the last bit. Kernels of floating-point
products sum in another order at other shapes, so no such product is left where a sum could round:

* products with weights are row-wise int8: each row of activations is scaled by its largest magnitude and rounded to
  [-127, 127], the weights are rounded per output column, and integers are summed exactly;
* products of two activations (attention, arcs) are of integers held in float32. Their sums stay below 2**24, where
  float32 is exact, so every order of summation gives the same bits;
* attention's denominator is a sum of integers as well (probabilities in steps of 1/255 of the largest).

Weights use 7 bits ([-64, 64]): CPUs with AVX2 but without VNNI add two u8 x s8 products in 16 bits with saturation, and
255 * 64 * 2 = 32640 just fits. So the integer products are exact on every CPU, and VNNI changes only the speed. Layer
normalisation, exp and erf may differ in the last bit between releases of onnxruntime and between architectures, which
is why these stand in the analyzer's fingerprint.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

State = Mapping[str, NDArray]

SPANS = ("const", "ucca", "rst")
# levels on each side of zero; the products of attention must stay below 2**24: 64 * 511**2, 514 * 255 * 127
QUERY_LEVELS, VALUE_LEVELS, PROBABILITY_LEVELS = 511.0, 127.0, 255.0
# 384 * 200**2, likewise
ARC_LEVELS = 200.0
WEIGHT_LEVELS = 64.0
PAD, HEAD_DIM = 1, 64
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


# -- building graphs -----------------------------------------------------------------------------------------------


class Graph:
    """Nodes and weights of one graph. Activations are (rows, features)."""

    def __init__(self, precision: str) -> None:
        self.int8 = precision == "int8"
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, NDArray] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self._quantised: dict[str, tuple[str, str]] = {}
        self._constants: dict[tuple[str, bytes, tuple[int, ...]], str] = {}

    def input(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, value: str, name: str, kind: int, shape: Sequence[int | str]) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))

    def weight(self, value: NDArray) -> str:
        """A constant; the same values are stored once."""
        value = np.ascontiguousarray(value)
        key = (value.dtype.str, hashlib.sha256(value.tobytes()).digest(), value.shape)
        if key not in self._constants:
            self._constants[key] = f"w{len(self.weights)}"
            self.weights[self._constants[key]] = value
        return self._constants[key]

    def number(self, value: float) -> str:
        return self.weight(np.array(value, np.float32))

    def ints(self, *values: int) -> str:
        return self.weight(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self.ops(kind, 1, *inputs, domain=domain, **attributes)[0]

    def ops(self, kind: str, count: int, *inputs: str, domain: str = "", **attributes: object) -> list[str]:
        names = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names

    def magnitude(self, x: str, keep: bool) -> str:
        """The largest magnitude of each row (last axis). No pass over all elements writes anything."""
        axis, keepdims = self.ints(-1), int(keep)
        high = self.op("ReduceMax", x, axis, keepdims=keepdims)
        low = self.op("ReduceMin", x, axis, keepdims=keepdims)
        return self.op("Max", high, self.op("Neg", low), self.number(1e-12))

    def quantise(self, x: str) -> tuple[str, str]:
        """Rows as bytes around 128, and their scales as a column. Products with the same rows share it."""
        if x not in self._quantised:
            scale = self.op("Mul", self.magnitude(x, keep=False), self.number(1 / 127))
            zero = self.op("Expand", self.weight(np.array([128], np.uint8)), self.op("Shape", scale))
            rows = self.op("QuantizeLinear", x, scale, zero, axis=0)
            self._quantised[x] = rows, self.op("Unsqueeze", scale, self.ints(1))
        return self._quantised[x]

    def linear(self, x: str, weight: NDArray, bias: NDArray | None) -> str:
        """x @ weight.T + bias."""
        if self.int8:
            rows, scale = self.quantise(x)
            columns, column_scale = quantised_columns(weight)
            y = self.op(
                "MatMulIntegerToFloat", rows, self.weight(columns), self.number(1), self.weight(column_scale),
                self.weight(np.array(128, np.uint8)), domain="com.microsoft",
            )  # fmt: skip
            y = self.op("Mul", y, scale)
        else:
            y = self.op("MatMul", x, self.weight(weight.T))
        return y if bias is None else self.op("Add", y, self.weight(bias))

    def norm(self, x: str, state: State, name: str) -> str:
        gamma, beta = self.weight(state[f"{name}.weight"]), self.weight(state[f"{name}.bias"])
        return self.op("LayerNormalization", x, gamma, beta, axis=-1, epsilon=1e-5)

    def integers(self, x: str, levels: float) -> tuple[str, str]:
        """Rows as whole numbers in float32, and the size of one step."""
        magnitude = self.magnitude(x, keep=True)
        whole = self.op("Round", self.op("Mul", x, self.op("Div", self.number(levels), magnitude)))
        return whole, self.op("Mul", magnitude, self.number(1 / levels))

    def sum_products(self, x: str, y: str) -> str:
        """Sum over the last axis of x * y, each row on its own."""
        return self.op("ReduceSum", self.op("Mul", x, y), self.ints(-1), keepdims=0)


def quantised_columns(weight: NDArray) -> tuple[NDArray, NDArray]:
    """(in, out) int8 and (out,) float32 of an (out, in) weight.

    Each column's scale is the one of several that rounds with the least squared error: cutting off a few large weights
    is cheaper than coarser steps for all.
    """
    largest = np.maximum(np.abs(weight).max(axis=1), 1e-12)
    scale, least = largest, np.full(len(weight), np.inf)
    for share in np.linspace(0.7, 1.0, 13):
        tried = largest * (share / WEIGHT_LEVELS)
        error = ((_rounded(weight, tried) * tried[:, None] - weight) ** 2).sum(axis=1)
        scale, least = np.where(error < least, tried, scale), np.minimum(error, least)
    columns = _rounded(weight, scale).astype(np.int8).T
    return np.ascontiguousarray(columns), scale.astype(np.float32)


def _rounded(weight: NDArray, scale: NDArray) -> NDArray:
    return np.clip(np.rint(weight / scale[:, None]), -WEIGHT_LEVELS, WEIGHT_LEVELS)


def relative_table(bias: NDArray, reach: int) -> NDArray:
    """(heads, 2 * reach - 1): MPNet's bias for every distance key - query from -(reach - 1) on."""
    distance = -np.arange(-(reach - 1), reach)
    size = np.abs(distance)
    # float32, as the network computes it: some distances lie on the edge of a bucket
    ratio = np.log(np.maximum(size, 1).astype(np.float32) / np.float32(8)) / np.float32(math.log(16.0))
    large = np.minimum(8 + (ratio * np.float32(8)).astype(np.int64), 15)
    bucket = (distance < 0) * 16 + np.where(size < 8, size, large)
    return bias[bucket].T


# -- the encoder ---------------------------------------------------------------------------------------------------


def encoder_graph(state: State, precision: str, keep: int) -> Graph:
    """ids (texts, pieces), flat positions of each word's first and last piece, case codes -> vectors, words, roots."""
    g = Graph(precision)
    ids = g.input("ids", I64, ["texts", "pieces"])
    first, last, case = (g.input(name, I64, ["words"]) for name in ("first", "last", "case"))
    words, positions = state["encoder.words.weight"], state["encoder.positions.weight"]
    dim = words.shape[1]
    layers = 1 + max(layer_of(name) for name in state if name.startswith("encoder.layers."))
    shape = g.op("Shape", ids)
    length = g.op("Gather", shape, g.weight(np.array(1)))
    flat = g.op("Reshape", ids, g.ints(-1))
    x = _embed(g, flat, words)
    place = g.op("Gather", g.weight(positions[PAD + 1 :]), _range(g, length))
    x = g.op("Add", g.op("Reshape", x, g.op("Concat", shape, g.ints(dim), axis=0)), place)
    x = g.norm(g.op("Reshape", x, g.ints(-1, dim)), state, "encoder.norm")
    bias = _attention_bias(g, ids, length, relative_table(state["encoder.relative.weight"], len(positions) - 2))
    valid = g.op("Cast", g.op("Not", g.op("Equal", ids, g.weight(np.array(PAD)))), to=F32)
    kept = x
    for i in range(layers):
        x = _layer(g, state, f"encoder.layers.{i}", x, shape, bias, valid)
        if i + 1 == keep:
            kept = x
    g.output(
        g.op("Reshape", kept, g.op("Concat", shape, g.ints(dim), axis=0)), "vectors", F32, ["texts", "pieces", dim]
    )
    ends = g.op("Add", g.op("Gather", x, first), g.op("Gather", x, last))
    ends = g.op("Mul", ends, g.number(0.5))
    g.output(g.op("Add", ends, g.op("Gather", g.weight(case_table(state)), case)), "words", F32, ["words", dim])
    texts = g.op("Gather", shape, g.weight(np.array(0)))
    g.output(g.op("Gather", x, g.op("Mul", _range(g, texts), length)), "roots", F32, ["texts", dim])
    return g


def case_table(state: State) -> NDArray:
    """Rows for all 256 combinations of the eight case features (bit k is feature k): a look-up sums nothing."""
    if "case.weight" not in state:
        return np.zeros((256, state["encoder.words.weight"].shape[1]), np.float32)
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    return (bits @ state["case.weight"].T.astype(np.float64)).astype(np.float32)


def _range(g: Graph, end: str) -> str:
    return g.op("Range", g.weight(np.array(0)), end, g.weight(np.array(1)))


def _embed(g: Graph, flat: str, words: NDArray) -> str:
    if not g.int8:
        return g.op("Gather", g.weight(words), flat)
    scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / 127
    table = g.weight(np.rint(words / scale).astype(np.int8))
    rows = g.op("Cast", g.op("Gather", table, flat), to=F32)
    return g.op("Mul", rows, g.op("Gather", g.weight(scale.astype(np.float32)), flat))


def _attention_bias(g: Graph, ids: str, length: str, table: NDArray) -> str:
    """(texts, heads, pieces, pieces): the bias of each distance; -10000 on padding, whose weight becomes exactly 0."""
    position = _range(g, length)
    distance = g.op("Sub", g.op("Unsqueeze", position, g.ints(0)), g.op("Unsqueeze", position, g.ints(1)))
    index = g.op("Add", distance, g.weight(np.array(table.shape[1] // 2)))
    bias = g.op("Gather", g.weight(table), index, axis=1)
    padding = g.op("Cast", g.op("Equal", ids, g.weight(np.array(PAD))), to=F32)
    return g.op("Add", g.op("Unsqueeze", g.op("Mul", padding, g.number(-1e4)), g.ints(1, 2)), bias)


def _layer(g: Graph, state: State, name: str, x: str, shape: str, bias: str, valid: str) -> str:
    dim = state[f"{name}.q.weight"].shape[0]
    weight, offset = (np.concatenate([state[f"{name}.{p}.{k}"] for p in "qkv"]) for k in ("weight", "bias"))
    split = g.op("Concat", shape, g.ints(3 * dim // HEAD_DIM, HEAD_DIM), axis=0)
    projected = g.op("Reshape", g.linear(x, weight, offset), split)
    attend = _attend_integers if g.int8 else _attend
    context = g.op("Transpose", attend(g, projected, dim // HEAD_DIM, bias, valid), perm=[0, 2, 1, 3])
    context = g.op("Reshape", context, g.ints(-1, dim))
    y = g.linear(context, state[f"{name}.o.weight"], state[f"{name}.o.bias"])
    x = g.norm(g.op("Add", y, x), state, f"{name}.norm1")
    y = g.op("Gelu", g.linear(x, state[f"{name}.up.weight"], state[f"{name}.up.bias"]))
    y = g.linear(y, state[f"{name}.down.weight"], state[f"{name}.down.bias"])
    return g.norm(g.op("Add", y, x), state, f"{name}.norm2")


def _attend(g: Graph, projected: str, heads: int, bias: str, valid: str) -> str:
    query, key, value = g.ops("Split", 3, projected, g.ints(heads, heads, heads), axis=2)
    scores = g.op("MatMul", g.op("Transpose", query, perm=[0, 2, 1, 3]), g.op("Transpose", key, perm=[0, 2, 3, 1]))
    scores = g.op("Add", g.op("Mul", scores, g.number(HEAD_DIM**-0.5)), bias)
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), g.op("Transpose", value, perm=[0, 2, 1, 3]))


def _attend_integers(g: Graph, projected: str, heads: int, bias: str, valid: str) -> str:
    """Attention over whole numbers. Rows of query and key have a scale each; a text's values share one per head."""
    magnitude = g.magnitude(projected, keep=True)
    of_query, of_key, of_value = g.ops("Split", 3, magnitude, g.ints(heads, heads, heads), axis=2)
    # padding must not widen the scale of the text's values
    counted = g.op("Mul", of_value, g.op("Unsqueeze", valid, g.ints(2, 3)))
    of_value = g.op("ReduceMax", counted, g.ints(1), keepdims=1)
    query, key, value = g.ops("Split", 3, projected, g.ints(heads, heads, heads), axis=2)
    levels = g.number(QUERY_LEVELS)
    query = g.op("Round", g.op("Mul", query, g.op("Div", levels, of_query)))
    key = g.op("Round", g.op("Mul", key, g.op("Div", levels, of_key)))
    value = g.op("Round", g.op("Mul", value, g.op("Div", g.number(VALUE_LEVELS), of_value)))
    scores = g.op("MatMul", g.op("Transpose", query, perm=[0, 2, 1, 3]), g.op("Transpose", key, perm=[0, 2, 3, 1]))
    step = g.op("Mul", g.op("Transpose", of_query, perm=[0, 2, 1, 3]), g.number(HEAD_DIM**-0.5 / QUERY_LEVELS**2))
    scores = g.op("Mul", g.op("Mul", scores, step), g.op("Transpose", of_key, perm=[0, 2, 3, 1]))
    scores = g.op("Add", scores, bias)
    # exp(s - max + log 255) is at most 255
    top = g.op("Sub", g.op("ReduceMax", scores, g.ints(-1), keepdims=1), g.number(math.log(PROBABILITY_LEVELS)))
    probability = g.op("Round", g.op("Exp", g.op("Sub", scores, top)))
    total = g.op("ReduceSum", probability, g.ints(-1), keepdims=1)
    context = g.op("MatMul", probability, g.op("Transpose", value, perm=[0, 2, 1, 3]))
    step = g.op("Mul", g.op("Transpose", of_value, perm=[0, 2, 1, 3]), g.number(1 / VALUE_LEVELS))
    return g.op("Mul", context, g.op("Div", step, total))


# -- one graph per structure ---------------------------------------------------------------------------------------


def tags_graph(state: State, precision: str, sizes: Sequence[int]) -> Graph:
    """Word vectors -> the best UPOS, XPOS and lemma script, entity scores, and the leads of sent, edu and pred."""
    g = Graph(precision)
    x = _words_input(g, state)
    scores = g.linear(x, state["tags.weight"], state["tags.bias"])
    upos, xpos, ner, lemma, binary = g.ops("Split", 5, scores, g.ints(*sizes, 6), axis=1)
    for name, value in (("upos", upos), ("xpos", xpos), ("lemma", lemma)):
        g.output(g.op("ArgMax", value, axis=1, keepdims=0), name, I64, ["words"])
    g.output(ner, "ner", F32, ["words", sizes[2]])
    no, yes = (g.op("Gather", binary, g.ints(i, i + 2, i + 4), axis=1) for i in (0, 1))
    g.output(g.op("Sub", yes, no), "marks", F32, ["words", 3])
    return g


def dependency_graph(state: State, precision: str) -> Graph:
    """Words and roots -> vectors whose products are arc scores, and vectors from which relations are chosen.

    Heads are the roots followed by the words. The score of an arc is `dep . head * dep_step * head_step + alone`; dep
    and head are whole numbers, so their product is exact in any order; arc_graph computes it sentence by sentence.
    """
    g = Graph(precision)
    x = _words_input(g, state)
    roots = g.input("roots", F32, ["texts", state["arc_dep.weight"].shape[1]])
    both = g.op("Concat", roots, x, axis=0)
    dep = g.op("Gelu", _named(g, x, state, "arc_dep"))
    head = g.op("Gelu", _named(g, both, state, "arc_head"))
    # the last column is the bias b . h of each head
    size = len(state["arc_u"])
    turned = g.linear(head, np.concatenate([state["arc_u"], state["arc_b"][None]]), None)
    head, alone = g.ops("Split", 2, turned, g.ints(size, 1), axis=1)
    for name, value, rows in (("arc_dep", dep, "words"), ("arc_head", head, "nodes")):
        whole, step = g.integers(value, ARC_LEVELS)
        g.output(whole, name, F32, [rows, size])
        g.output(step, f"{name}_step", F32, [rows, 1])
    g.output(alone, "alone", F32, ["nodes", 1])
    width = len(state["lab_dep.weight"])
    g.output(g.op("Gelu", _named(g, x, state, "lab_dep")), "dep", F32, ["words", width])
    g.output(g.op("Gelu", _named(g, both, state, "lab_head")), "head", F32, ["nodes", width])
    return g


def arc_graph(state: State, precision: str) -> Graph:
    """What dependency_graph gives, and a layout of sentences of similar length -> arc scores (sentences, n, 1 + n)."""
    g = Graph(precision)
    size = len(state["arc_u"])
    shapes = {"arc_dep": ["words", size], "arc_dep_step": ["words", 1], "arc_head": ["nodes", size],
              "arc_head_step": ["nodes", 1], "alone": ["nodes", 1]}  # fmt: skip
    values = {name: g.input(name, F32, shape) for name, shape in shapes.items()}
    dependents = g.input("dependents", I64, ["sentences", "n"])
    heads = g.input("heads", I64, ["sentences", "m"])
    dep, dep_step = (g.op("Gather", values[name], dependents) for name in ("arc_dep", "arc_dep_step"))
    head, head_step, alone = (
        g.op("Transpose", g.op("Gather", values[name], heads), perm=[0, 2, 1])
        for name in ("arc_head", "arc_head_step", "alone")
    )
    scores = g.op("Mul", g.op("Mul", g.op("MatMul", dep, head), dep_step), head_step)
    g.output(g.op("Add", scores, alone), "arcs", F32, ["sentences", "n", "m"])
    return g


def relation_graph(state: State, precision: str) -> Graph:
    """Vectors of dependents and of their heads, pair by pair -> the best relation."""
    g = Graph(precision)
    width = state["lab_u"].shape[1]
    dep, head = (g.input(name, F32, ["pairs", width]) for name in ("dep", "head"))
    turned = _turned(g, head, state["lab_u"])
    alone = g.linear(dep, state["lab_a"], state["lab_c"])
    alone = g.op("Add", alone, g.linear(head, state["lab_b"], None))
    scores = g.op("Add", g.sum_products(turned, g.op("Unsqueeze", dep, g.ints(1))), alone)
    g.output(g.op("ArgMax", scores, axis=1, keepdims=0), "relation", I64, ["pairs"])
    return g


def span_graph(state: State, precision: str, name: str) -> Graph:
    """Words, the words before and after each (-1: none), spans by first and last word -> best label and its lead.

    The lead is the label's score less that of `no constituent`.
    """
    g = Graph(precision)
    x = _words_input(g, state)
    before, after = (g.input(side, I64, ["words"]) for side in ("before", "after"))
    first, last = (g.input(end, I64, ["spans"]) for end in ("first", "last"))
    left, right = state[f"{name}.left.weight"], state[f"{name}.right.weight"]
    dim = left.shape[1] // 2
    ends = []
    for weight, neighbour, own, other in ((left, before, 1, 0), (right, after, 0, 1)):
        halves = weight[:, :dim], weight[:, dim:]
        bias = state[f"{name}.{'left' if neighbour == before else 'right'}.bias"]
        outside = g.weight(np.zeros((1, len(weight)), np.float32))
        # index -1 is the row of zeros: outside the text
        padded = g.op("Concat", g.linear(x, halves[other], None), outside, axis=0)
        ends.append(g.op("Add", g.linear(x, halves[own], bias), g.op("Gather", padded, neighbour)))
    z = g.op("Gelu", g.op("Add", g.op("Gather", ends[0], first), g.op("Gather", ends[1], last)))
    scores = _named(g, z, state, f"{name}.out")
    labels = len(state[f"{name}.out.bias"]) - 1
    null, rest = g.ops("Split", 2, scores, g.ints(1, labels), axis=1)
    g.output(g.op("ArgMax", rest, axis=1, keepdims=0), "label", I64, ["spans"])
    best = g.op("ReduceMax", rest, g.ints(1), keepdims=0)
    g.output(g.op("Sub", best, g.op("Squeeze", null, g.ints(1))), "lead", F32, ["spans"])
    return g


def role_graph(state: State, precision: str) -> Graph:
    """Words and pairs (predicate, word) -> scores of the role tags."""
    g = Graph(precision)
    x = _words_input(g, state)
    predicate, word = (g.input(name, I64, ["pairs"]) for name in ("predicate", "word"))
    z = g.op(
        "Add", g.op("Gather", _named(g, x, state, "srl_pred"), predicate),
        g.op("Gather", _named(g, x, state, "srl_arg"), word),
    )  # fmt: skip
    g.output(_named(g, g.op("Gelu", z), state, "srl_out"), "tags", F32, ["pairs", len(state["srl_out.bias"])])
    return g


def remote_graph(state: State, precision: str) -> Graph:
    """Words and the first and last words of possible parents and children -> vectors whose products are edge scores.

    The score of category k (0 is `no edge`) is `parent[k] . child * parent_step[k] * child_step + alone[k]`; parent and
    child are whole numbers, as those of arcs are.
    """
    g = Graph(precision)
    x = _words_input(g, state)
    nodes = []
    for side, name in _SIDES.items():
        first, last = (g.input(f"{name}_{end}", I64, [name]) for end in ("first", "last"))
        ends = [g.op("Gather", _named(g, x, state, f"rem_{side}{end}"), at) for end, at in (("f", first), ("l", last))]
        nodes.append(g.op("Gelu", g.op("Add", *ends)))
    count, width, _ = state["rem_u"].shape
    turned = _turned(g, nodes[0], state["rem_u"].transpose(0, 2, 1))
    for name, value, shape in (("parent", turned, ["parent", count]), ("child", nodes[1], ["child"])):
        whole, step = g.integers(value, ARC_LEVELS)
        g.output(whole, name, F32, [*shape, width])
        g.output(step, f"{name}_step", F32, [*shape, 1])
    g.output(g.weight(state["rem_v"]), "alone", F32, [count])
    return g


_SIDES = {"p": "parent", "c": "child"}


def _words_input(g: Graph, state: State) -> str:
    return g.input("words", F32, ["words", state["encoder.words.weight"].shape[1]])


def _named(g: Graph, x: str, state: State, name: str) -> str:
    return g.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def _turned(g: Graph, x: str, matrices: NDArray) -> str:
    """(rows, k, d): U_k x for every k."""
    count, width, inner = matrices.shape
    return g.op("Reshape", g.linear(x, matrices.reshape(count * width, inner), None), g.ints(-1, count, width))


def graphs(state: State, labels: Mapping[str, Sequence[str]], precision: str, keep: int) -> dict[str, Graph]:
    """All graphs by name; without trained heads only the encoder."""
    made = {"encoder": encoder_graph(state, precision, keep)}
    if "tags.weight" in state:
        made["tags"] = tags_graph(state, precision, [len(labels[name]) for name in ("upos", "xpos", "ner", "lemma")])
        made["dependency"] = dependency_graph(state, precision)
        made["arcs"] = arc_graph(state, precision)
        made["relation"] = relation_graph(state, precision)
        for name in SPANS:
            made[name] = span_graph(state, precision, name)
        made["roles"] = role_graph(state, precision)
        made["remote"] = remote_graph(state, precision)
    return made


def layer_of(name: str) -> int:
    """The number in the name of a layer's weight."""
    return int(name.split(".")[2])
