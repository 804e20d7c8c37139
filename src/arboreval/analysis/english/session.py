"""The shipped network: its files, checked before use, and one onnxruntime session for each graph.

`encoder` reads the pieces of a batch of texts. The others (`tags`, `dependency`, `arcs`, `relation`, `const`, `ucca`,
`rst`, `roles`, `remote`) score structures from word vectors and are loaded when first needed. All big products are of
integers, so what a text gets does not depend on its batch, on padding or on the number of threads. Weights have 7 bits,
so that the 16-bit sums of CPUs with AVX2 but without VNNI cannot overflow: the integer products are equal on all CPUs
(tests/analysis/english/test_other_processors.py has one emulated).
"""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english.lemma import Lexicon
from arboreval.analysis.english.units import UnitSigns
from arboreval.errors import ArborevalError, ExitCode, MissingExtraError

__all__ = ["Model", "ModelError", "default_folder"]

GRAPHS = ("encoder", "tags", "dependency", "arcs", "relation", "const", "ucca", "rst", "roles", "remote")
#: what a manifest must name
NEEDED = frozenset(
    {"config.json", "lemmas.json", "tokenizer.json", "weights-1.bin", *(f"{graph}.onnx" for graph in GRAPHS)}
)
#: what decoding gives or forbids whatever the network says
NEEDED_LABELS = (("deprel", "root"), ("deprel", "dep"), ("srl", "O"), ("srl", "B-V"), ("ner", "O"))


class ModelError(ArborevalError):
    """The model's files are missing or are not what they should be."""

    exit_code = ExitCode.BAD_INPUT


def default_folder() -> Path:
    """Where the weights lie in the installed package."""
    return Path(str(files("arboreval") / "models" / "en"))


class Model:
    """Files of one model. Sessions share its settings and are made on demand, once, by whichever thread comes first."""

    def __init__(self, folder: Path | None = None, *, threads: int = 0, providers: Sequence[str] = ()) -> None:
        self.folder = folder if folder is not None else default_folder()
        self._remedy = "; reinstall the package" if folder is None else ""
        self.threads = threads
        self.providers = tuple(providers) or ("CPUExecutionProvider",)
        if providers:
            self._check_device()
        manifest = self._check()
        config = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        self.name: str = config["name"]
        self.layer: int = config["layer"]
        self.max_pieces: int = config["pieces"]
        self.dim: int = config["dim"]
        self.labels: dict[str, list[str]] = config["labels"]
        for kind, label in NEEDED_LABELS:
            if label not in self.labels[kind]:
                raise ModelError(f"the model in {self.folder} has no label {label!r} among those of {kind}.")
        #: where discourse units start: weights of a word, the one before and the one after, and the bias; None if the
        #: tagger decides alone
        self.units: tuple[NDArray[np.float32], float] | None = None
        #: what is weighed with their score where it leaves doubt
        self.unit_signs: UnitSigns | None = None
        if "units" in config:
            weight = np.array(config["units"]["weight"], np.float32).reshape(3, self.dim)
            self.units = weight, config["units"]["bias"]
            if "signs" in config["units"]:
                self.unit_signs = UnitSigns(**config["units"]["signs"])
        self.lexicon = Lexicon(json.loads((self.folder / "lemmas.json").read_text(encoding="utf-8")))
        #: changes with every file
        self.hash = hashlib.sha256(manifest).hexdigest()[:12]
        self._sessions: dict[str, Any] = {}
        self._lock = Lock()

    def _check(self) -> bytes:
        """The manifest's bytes, after every file the model needs has been found to be the one it names."""
        path = self.folder / "manifest.json"
        try:
            manifest = path.read_bytes()
        except FileNotFoundError:
            raise ModelError(f"no model in {self.folder}: manifest.json is missing{self._remedy}.") from None
        except OSError as error:
            raise ModelError(f"the model file {path} cannot be read: {error.strerror or error}.") from error
        try:
            sums = json.loads(manifest)
            if not all(isinstance(value, str) for value in sums.values()):
                raise ValueError
        except (ValueError, AttributeError):
            raise ModelError(f"the model file {path} is damaged{self._remedy}.") from None
        if missing := sorted(NEEDED - sums.keys()):
            raise ModelError(f"the model file {path} is damaged: it does not name {missing[0]}{self._remedy}.")
        for name, expected in sums.items():
            file = self.folder / name
            try:
                with file.open("rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
            except FileNotFoundError:
                raise ModelError(f"the model file {file} is missing{self._remedy}.") from None
            except OSError as error:
                raise ModelError(f"the model file {file} cannot be read: {error.strerror or error}.") from error
            if found != expected:
                raise ModelError(f"the model file {file} is damaged (its SHA-256 is not the manifest's){self._remedy}.")
        return manifest

    def _check_device(self) -> None:
        """onnxruntime itself would only warn, and go on with another device than was asked for."""
        import onnxruntime

        if self.providers[0] not in onnxruntime.get_available_providers():
            raise MissingExtraError(
                f"the installed onnxruntime has no {self.providers[0]}; for CUDA install onnxruntime-gpu in its place, "
                "or leave out the device."
            )

    @cached_property
    def runtime(self) -> str:
        """What computes: the release of onnxruntime, the architecture, the device if it is no CPU.

        Within one of these all bits are equal. From one to another layer normalisation sums in another order, which
        tips roundings, and scores differ in the fourth digit.
        """
        import onnxruntime

        release = ".".join(onnxruntime.__version__.split(".")[:2])
        machine = platform.machine().lower()
        machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
        device = self.providers[0].removesuffix("ExecutionProvider").lower()
        return "-".join([f"ort{release}", machine] + [device] * (device != "cpu"))

    def run(self, graph: str, outputs: Sequence[str], feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The named outputs of a graph."""
        found: list[NDArray[Any]] = self.session(graph).run(list(outputs), dict(feeds))
        return found

    def session(self, graph: str) -> Any:
        with self._lock:
            if graph not in self._sessions:
                self._sessions[graph] = self._make(graph)
            return self._sessions[graph]

    def _make(self, graph: str) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        # it would remember a plan for every new shape of batch
        options.enable_mem_pattern = False
        # idle threads must not take time from the decoders, nor from other sessions and processes
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # one pass instead of two, but slower than both
        path = str(self.folder / f"{graph}.onnx")
        try:
            session = onnxruntime.InferenceSession(
                path, options, providers=list(self.providers), disabled_optimizers=["BiasGeluFusion"]
            )
        except Exception as error:
            raise ModelError(f"onnxruntime cannot load {path}: {' '.join(str(error).split())}") from error
        if self.providers[0] not in session.get_providers():
            raise ModelError(f"{self.providers[0]} is installed but cannot be used here; leave out the device.")
        return session
