"""The exported graphs: equal bits whatever the batch, close to the network's own formulas, files that are checked."""

import json
import math
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import tiny
from export import read_state
from graphs import WEIGHT_LEVELS, quantised_columns, relative_table

from arboreval.analysis.english.session import Model, ModelError
from arboreval.errors import MissingExtraError

ERF = np.vectorize(math.erf)


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + ERF(x / math.sqrt(2)))


def feeds(rows: list[np.ndarray], extra: int = 0) -> dict[str, np.ndarray]:
    width = max(map(len, rows)) + extra
    ids = np.full((len(rows), width), 1, np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    first = np.concatenate([np.arange(1, len(row) - 1) + i * width for i, row in enumerate(rows)])
    case = np.concatenate([row[1:-1] * 7 % 256 for row in rows])
    return {"ids": ids, "first": first, "last": first, "case": case}


def texts(lengths: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    top = len(tiny.tokenizer()["model"]["vocab"])
    return [np.array([0, *rng.integers(3, top, n), 2]) for n in lengths]


def test_encoder_gives_equal_bits_whatever_the_batch(tiny_int8: Path) -> None:
    rows = texts([1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 40, 55, 62] * 3)
    models = [Model(tiny_int8, threads=threads) for threads in (1, 2)]
    names = ["vectors", "words", "roots"]
    alone = [models[0].run("encoder", names, feeds([row])) for row in rows]
    order = np.random.default_rng(1).permutation(len(rows))
    for model in models:
        for size in (1, 7, 32):
            for extra in (0, 1):
                for low in range(0, len(order), size):
                    batch = order[low : low + size]
                    spare = min(extra, 64 - max(len(rows[i]) for i in batch))
                    vectors, words, roots = model.run("encoder", names, feeds([rows[i] for i in batch], spare))
                    at = 0
                    for k, i in enumerate(batch):
                        n = len(rows[i])
                        assert np.array_equal(vectors[k, :n], alone[i][0][0])
                        assert np.array_equal(words[at : at + n - 2], alone[i][1])
                        assert np.array_equal(roots[k], alone[i][2][0])
                        at += n - 2


@pytest.mark.parametrize("name", ["tags", "dependency", "relation", "const", "ucca", "rst", "roles", "remote"])
def test_heads_give_equal_bits_whatever_the_batch(tiny_int8: Path, name: str) -> None:
    rng = np.random.default_rng(2)
    one, two = Model(tiny_int8, threads=1), Model(tiny_int8, threads=2)
    session = one.session(name)
    outputs = [output.name for output in session.get_outputs()]
    words = rng.standard_normal((60, 128)).astype(np.float32)
    made: dict[str, np.ndarray] = {}
    for given in session.get_inputs():
        if given.name in ("words", "roots"):
            made[given.name] = words
        elif given.type == "tensor(float)":
            made[given.name] = rng.standard_normal((60, given.shape[1])).astype(np.float32)
        else:
            made[given.name] = np.arange(60)
    whole = two.run(name, outputs, made)
    for low, high in ((0, 1), (3, 10), (20, 52), (59, 60)):
        part = {key: value[low:high] for key, value in made.items()}
        part = {key: value - low if value.dtype == np.int64 else value for key, value in part.items()}
        for output, a, b in zip(outputs, one.run(name, outputs, part), whole, strict=True):
            if output == "alone" and name == "remote":
                assert np.array_equal(a, b)
            elif a.shape[0] == 2 * (high - low):  # roots, then words
                assert np.array_equal(a, np.concatenate([b[low:high], b[60 + low : 60 + high]]))
            else:
                assert np.array_equal(a, b[low:high])


def plain_encoder(state: dict[str, np.ndarray], ids: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """MPNet in float64, from the formulas."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        return x * state[f"{name}.weight"] + state[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ state[f"{name}.weight"].T.astype(float) + state[f"{name}.bias"]

    n = len(ids)
    x = norm(
        state["encoder.words.weight"][ids].astype(float) + state["encoder.positions.weight"][2 : 2 + n], "encoder.norm"
    )
    heads = x.shape[1] // 64
    bias = np.zeros((heads, n, n))
    for i in range(n):
        for j in range(n):
            distance = abs(i - j)
            bucket = distance if distance < 8 else min(15, 8 + int(math.log(distance / 8) / math.log(16) * 8))
            bias[:, i, j] = state["encoder.relative.weight"][bucket + 16 * (j > i)]
    kept = x
    layer = 0
    while f"encoder.layers.{layer}.q.weight" in state:
        name = f"encoder.layers.{layer}"
        q, k, v = (linear(x, f"{name}.{part}").reshape(n, heads, 64).transpose(1, 0, 2) for part in "qkv")
        scores = np.exp(q @ k.transpose(0, 2, 1) / 8 + bias)
        y = (scores / scores.sum(-1, keepdims=True)) @ v
        x = norm(x + linear(y.transpose(1, 0, 2).reshape(n, -1), f"{name}.o"), f"{name}.norm1")
        x = norm(x + linear(gelu(linear(x, f"{name}.up")), f"{name}.down"), f"{name}.norm2")
        layer += 1
        if layer == keep:
            kept = x
    return x, kept


def test_encoder_computes_mpnet(tiny_int8: Path, tiny_fp32: Path) -> None:
    (row,) = texts([40])
    last, kept = plain_encoder(tiny.state(), row, 2)
    vectors, roots = Model(tiny_fp32).run("encoder", ["vectors", "roots"], feeds([row]))
    assert np.abs(vectors[0] - kept).max() < 1e-4
    assert np.abs(roots[0] - last[0]).max() < 1e-4
    (rough,) = Model(tiny_int8).run("encoder", ["vectors"], feeds([row]))
    cosine = (rough[0] * kept).sum(1) / np.linalg.norm(rough[0], axis=1) / np.linalg.norm(kept, axis=1)
    assert cosine.min() > 0.98


@pytest.mark.parametrize(("precision", "most"), [("fp32", 1e-3), ("int8", 0.6)])
def test_span_scores_follow_their_formula(request: pytest.FixtureRequest, precision: str, most: float) -> None:
    model = Model(request.getfixturevalue(f"tiny_{precision}"))
    state = tiny.state()
    x = np.random.default_rng(5).standard_normal((6, 128)).astype(np.float32)
    padded = np.concatenate([np.zeros((1, 128)), x, np.zeros((1, 128))])
    before, after = np.array([-1, 0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 5, -1])
    first, last = np.array([0, 0, 2, 5]), np.array([0, 5, 3, 5])
    fed = {"words": x, "before": before, "after": after, "first": first, "last": last}
    label, lead = model.run("const", ["label", "lead"], fed)
    for i, j, found, margin in zip(first, last, label, lead, strict=True):
        left = np.concatenate([padded[i], padded[i + 1]]) @ state["const.left.weight"].T + state["const.left.bias"]
        right = np.concatenate([padded[j + 1], padded[j + 2]]) @ state["const.right.weight"].T
        z = gelu(left + right + state["const.right.bias"])
        scores = z @ state["const.out.weight"].T + state["const.out.bias"]
        assert abs(margin - (scores[1:].max() - scores[0])) < most
        if precision == "fp32":
            assert found == scores[1:].argmax()


def test_arcs_relations_and_remotes_follow_their_formulas(tiny_fp32: Path) -> None:
    model, state = Model(tiny_fp32), tiny.state()
    rng = np.random.default_rng(6)
    x, root = rng.standard_normal((5, 128)).astype(np.float32), rng.standard_normal((1, 128)).astype(np.float32)

    def linear(value: np.ndarray, name: str) -> np.ndarray:
        return value @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    names = ["arc_dep", "arc_dep_step", "arc_head", "arc_head_step", "alone", "dep", "head"]
    dep, dep_step, head, head_step, alone, dep_label, head_label = model.run(
        "dependency", names, {"words": x, "roots": root}
    )
    both = np.concatenate([root, x])
    d, h = gelu(linear(x, "arc_dep")), gelu(linear(both, "arc_head"))
    expected = d @ (h @ state["arc_u"].T).T + h @ state["arc_b"]
    assert np.abs((dep * dep_step) @ (head * head_step).T + alone.T - expected).max() < 0.2
    d, h = gelu(linear(x, "lab_dep")), gelu(linear(both, "lab_head"))
    assert np.abs(dep_label - d).max() < 1e-4
    (relation,) = model.run("relation", ["relation"], {"dep": dep_label, "head": head_label[:5]})
    pair = np.einsum("nd,rde,ne->nr", d, state["lab_u"], h[:5])
    scores = pair + d @ state["lab_a"].T + h[:5] @ state["lab_b"].T + state["lab_c"]
    assert relation.tolist() == scores.argmax(1).tolist()
    ends = {"parent_first": [0], "parent_last": [1], "child_first": [2, 3], "child_last": [4, 3]}
    fed = {"words": x, **{name: np.array(value) for name, value in ends.items()}}
    names = ["parent", "parent_step", "child", "child_step", "alone"]
    parent, parent_step, child, child_step, alone = model.run("remote", names, fed)
    p = gelu(linear(x[[0]], "rem_pf") + linear(x[[1]], "rem_pl"))
    c = gelu(linear(x[[2, 3]], "rem_cf") + linear(x[[4, 3]], "rem_cl"))
    expected = np.einsum("pd,kde,ce->pkc", p, state["rem_u"], c) + state["rem_v"][None, :, None]
    found = np.matmul(parent * parent_step, (child * child_step).T) + alone[:, None]
    assert np.abs(found - expected).max() < 0.2


def test_weights_have_seven_bits_and_little_error() -> None:
    weight = np.random.default_rng(0).standard_normal((20, 300)).astype(np.float32)
    columns, scale = quantised_columns(weight)
    assert columns.shape == (300, 20)
    assert np.abs(columns).max() <= WEIGHT_LEVELS == 64
    # two products of a byte and a weight fit 16 bits, so that no CPU can saturate
    assert 255 * WEIGHT_LEVELS * 2 <= 2**15 - 1
    assert np.abs((columns * scale).T - weight).mean() < 0.02


def test_relative_table_counts_from_query_to_key() -> None:
    table = relative_table(np.arange(64).reshape(32, 2), 5)
    assert table[0].tolist() == [8, 6, 4, 2, 0, 34, 36, 38, 40]


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "model")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {"encoder.onnx", "weights-1.bin", "config.json", "tokenizer.json"} <= set(manifest)
    data = bytearray((folder / "weights-1.bin").read_bytes())
    data[100] ^= 1
    (folder / "weights-1.bin").write_bytes(data)
    with pytest.raises(ModelError, match=r"weights-1\.bin is damaged"):
        Model(folder)
    (folder / "weights-1.bin").unlink()
    with pytest.raises(ModelError, match="missing"):
        Model(folder)
    with pytest.raises(ModelError, match="no model"):
        Model(tmp_path)


def test_reinstalling_is_advice_for_the_installed_model_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError) as given:
        Model(tmp_path)
    assert str(given.value) == f"no model in {tmp_path}: manifest.json is missing."
    assert given.value.exit_code == 4
    monkeypatch.setattr("arboreval.analysis.english.session.default_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match=r"manifest\.json is missing; reinstall the package\.$"):
        Model()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"config.json": 7}', "{}", '{"config.json": "00"}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, tiny_int8: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ModelError, match=r"manifest\.json is damaged"):
        Model(tmp_path)


def test_labels_that_decoding_needs_are_there(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["labels"]["srl"].remove("B-V")
    data = json.dumps(config).encode()
    (folder / "config.json").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"config.json": sha256(data).hexdigest()}))
    with pytest.raises(ModelError, match=r"has no label 'B-V' among those of srl\.$"):
        Model(folder)


def test_a_device_that_is_not_there_is_refused(tiny_int8: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime would go on with the CPU."""
    cuda = ("CUDAExecutionProvider", "CPUExecutionProvider")
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(MissingExtraError, match=r"no CUDAExecutionProvider; for CUDA install onnxruntime-gpu"):
        Model(tiny_int8, providers=cuda)
    # the provider is there, but no GPU or no driver
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: list(cuda))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ModelError, match="cannot be used here"):
            Model(tiny_int8, providers=cuda).session("tags")


def test_weights_are_split_into_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_int8: Path) -> None:
    monkeypatch.setattr("export.MAX_FILE", 200_000)
    folder = tiny.write(tmp_path)
    parts = sorted(folder.glob("weights-*.bin"))
    assert len(parts) > 2
    assert max(path.stat().st_size for path in parts) <= 200_000
    (row,) = texts([9])
    found, whole = (Model(f).run("encoder", ["vectors"], feeds([row]))[0] for f in (folder, tiny_int8))
    assert np.array_equal(found, whole)


def test_weights_are_read_back_from_both_formats(tmp_path: Path) -> None:
    state = {"arc_b": np.arange(4, dtype=np.float32), "encoder.layer.0.attention.attn.q.bias": np.ones(3, np.float16)}
    np.savez(tmp_path / "w.npz", **state)
    header = {
        "arc_b": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
        "encoder.layer.0.attention.attn.q.bias": {"dtype": "F16", "shape": [3], "data_offsets": [16, 22]},
    }
    text = json.dumps(header).encode()
    data = b"".join(value.tobytes() for value in state.values())
    (tmp_path / "w.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    for name in ("w.npz", "w.safetensors"):
        found = read_state(tmp_path / name)
        assert found["arc_b"].tolist() == [0, 1, 2, 3]
        assert found["encoder.layers.0.q.bias"].tolist() == [1, 1, 1]
