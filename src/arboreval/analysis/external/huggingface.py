"""Vectors of any Hugging Face encoder, in place of those of an analyzer.

The encoder reads the raw text of a segment as its own tokenizer splits it; sub-words are assigned to the words of the
analyzer by their characters. Text longer than the encoder takes is read in overlapping windows, and each sub-word gets
its vector from the window that shows most of its surroundings on both sides.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arboreval.analysis.analyzer import parse_options
from arboreval.analysis.encoders import LOOKAHEAD, without_vectors, words_of
from arboreval.analysis.external.changes import state
from arboreval.analysis.structures import Analysis, FloatArray, IntArray, Vectors
from arboreval.analysis.surrogates import replace_surrogates
from arboreval.errors import MissingExtraError, UsageError

try:
    import torch
    import transformers
except ImportError as error:
    raise MissingExtraError(
        f"an encoder of one's own needs torch and transformers ({error}): pip install 'arboreval[torch]'."
    ) from error

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_OPTION = re.compile(r":(\w+)=([^:]*)$")
#: of the files of an encoder; logs of a training that goes on may lie beside them
_SUFFIXES = {".json", ".safetensors", ".bin", ".txt", ".model"}
#: for encoders that state no limit
_LONGEST = 512


def from_spec(spec: str) -> HuggingFaceEncoder:
    """The encoder that ``PATH[:layer=N][:batch=N][:space=true]`` describes."""
    path, texts = spec.strip(), {}
    # from the right, because a path may hold colons
    while match := _OPTION.search(path):
        texts[match[1]] = match[2]
        path = path[: match.start()]
    if not path:
        raise UsageError(f"encoder {spec!r}: write PATH, or PATH:layer=N.")
    encoder = partial(HuggingFaceEncoder, path)
    return encoder(**parse_options("the encoder", encoder, texts))


@dataclass(frozen=True)
class _Window:
    """A part of a text: its sub-words ``[first, last)``, of which ``[keep, until)`` get their vectors here."""

    first: int
    last: int
    keep: int
    until: int


class HuggingFaceEncoder:
    """
    :param path: a local folder, or the name of a model on the hub. Only a name that is no folder can lead to a
        download, and none does if ``HF_HUB_OFFLINE`` is set.
    :param layer: whose output to keep: 0 is the embeddings, -1 the last layer.
    :param batch: windows of equal length encoded together. More than one is quicker, but a vector can then differ in
        its last digits with the texts around it.
    :param space: split the first word as if a space stood before it, where the tokenizer (RoBERTa's, GPT's) makes a
        difference. bert-score asks for it, and older versions of transformers did it.
    """

    def __init__(self, path: str, layer: int = -1, batch: int = 1, space: bool = False) -> None:
        if batch < 1:
            raise UsageError("the encoder: option batch must be at least 1.")
        self._folder = Path(path).expanduser()
        self._state = self._look()
        self._name, self._tokenizer, self._model = _load(path, space)
        layers = int(self._model.config.num_hidden_layers)
        if not -layers - 1 <= layer <= layers:
            raise UsageError(f"the encoder {self._name!r} has the layers 0 to {layers}, not {layer}.")
        self.layer = layer if layer >= 0 else layers + 1 + layer
        self._batch = batch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model.eval().to(self._device)
        self._prefix, self._suffix = self._special_tokens()
        self._room = self._longest() - len(self._prefix) - len(self._suffix)
        if self._room < 1:
            raise UsageError(f"the encoder {self._name!r} takes too few sub-words to encode a text.")

    def _look(self) -> object:
        files = [file for file in sorted(self._folder.glob("*")) if file.suffix in _SUFFIXES]
        return files, state(files)

    @property
    def outdated(self) -> bool:
        """Whether the files of the folder have changed, so that another encoder must be made."""
        return self._look() != self._state

    @cached_property
    def fingerprint(self) -> str:
        """The name, the layer, and a hash of everything else that can change a vector: weights, tokenizer and settings
        (a folder's content may change), and the libraries' versions."""
        # where it was loaded from, and by what, is no property of the model
        elsewhere = ("_name_or_path", "transformers_version")
        settings = {
            "config": {key: value for key, value in self._model.config.to_dict().items() if key not in elsewhere},
            "special": (self._prefix, self._suffix), "room": self._room, "batch": self._batch, "device": self._device,
            "versions": (torch.__version__, transformers.__version__),
        }  # fmt: skip
        digest = blake2b(json.dumps(settings, sort_keys=True, default=str).encode(), digest_size=6)
        digest.update(self._tokenizer.backend_tokenizer.to_str().encode())
        for key, value in sorted(self._model.state_dict().items()):
            # no layer rests on the pooler, and where a checkpoint has none, each loading makes another at random
            if key.startswith("pooler."):
                continue
            digest.update(f"{key} {value.dtype} {tuple(value.shape)}".encode())
            digest.update(value.detach().cpu().contiguous().view(torch.uint8).numpy().data if value.numel() else b"")
        return f"{self._name}@{self.layer}/{digest.hexdigest()}"

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and after a text."""
        bare = self._tokenizer("a", add_special_tokens=False)["input_ids"]
        full = self._tokenizer("a")["input_ids"]
        for i in range(len(full) - len(bare) + 1):
            if full[i : i + len(bare)] == bare:
                return full[:i], full[i + len(bare) :]
        raise UsageError(f"the tokenizer of {self._name!r} changes a text when it adds its special tokens.")

    def _longest(self) -> int:
        longest = min(int(self._tokenizer.model_max_length), 2**30)
        positions = getattr(self._model.config, "max_position_embeddings", None)
        if positions and positions > 0:
            # RoBERTa and MPNet count positions from behind that of the padding
            embedding = getattr(getattr(self._model, "embeddings", None), "position_embeddings", None)
            padding = getattr(embedding, "padding_idx", None)
            longest = min(longest, positions - (0 if padding is None else padding + 1))
        return longest if longest < 2**30 else _LONGEST

    def encode(self, analyses: Iterable[Analysis]) -> Iterator[Analysis]:
        """The analyses with vectors of this encoder. Failed ones stay as they are."""
        rest = iter(analyses)
        while block := list(islice(rest, LOOKAHEAD)):
            split = [self._split(analysis.text) for analysis in block]
            todo = [
                (i, window)
                for i, (ids, _) in enumerate(split)
                if block[i].status != "failed"
                for window in _windows(len(ids), self._room)
            ]
            values: dict[tuple[int, int], FloatArray] = {}
            broken: dict[int, str] = {}
            todo.sort(key=lambda item: item[1].last - item[1].first)
            while todo:
                length = todo[0][1].last - todo[0][1].first
                same = [item for item in todo[: self._batch] if item[1].last - item[1].first == length]
                del todo[: len(same)]
                try:
                    rows = self._forward([split[i][0][w.first : w.last] for i, w in same])
                    values |= {(i, w.first): row for (i, w), row in zip(same, rows, strict=True)}
                except (RuntimeError, IndexError, ValueError) as error:
                    # a piece that the model has no embedding for, or too little memory: not the end of the run
                    reason = " ".join(str(error).split())
                    broken |= {i: f"the encoder failed ({type(error).__name__}: {reason})" for i, _ in same}
            for i, analysis in enumerate(block):
                ids, offsets = split[i]
                if i in broken:
                    yield without_vectors(analysis, broken[i])
                else:
                    yield self._with_vectors(analysis, len(ids), offsets, values, i)

    def pieces(self, text: str) -> list[int]:
        """The numbers of the text's sub-words, in the order of its vectors, special tokens left out."""
        return self._split(text)[0]

    def _split(self, text: str) -> tuple[list[int], IntArray]:
        """Sub-words and their characters. White space around the text is no part of it, though to some tokenizers a
        sub-word."""
        bare = replace_surrogates(text.strip())
        encoded = self._tokenizer(bare, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = np.array(encoded["offset_mapping"], np.int32).reshape(-1, 2)
        return encoded["input_ids"], offsets + (len(text) - len(text.lstrip()))

    def _forward(self, batch: list[list[int]]) -> list[FloatArray]:
        ids = torch.tensor([[*self._prefix, *part, *self._suffix] for part in batch], device=self._device)
        if ids.shape[1] == 0:
            return [np.zeros((0, int(self._model.config.hidden_size)), np.float32) for _ in batch]
        with torch.inference_mode():
            output = self._model(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        return list(output.hidden_states[self.layer].float().cpu().numpy())

    def _with_vectors(
        self, analysis: Analysis, count: int, offsets: IntArray, values: dict[tuple[int, int], FloatArray], number: int
    ) -> Analysis:
        if analysis.status == "failed":
            return analysis
        before = len(self._prefix)
        windows = _windows(count, self._room)
        first, last = values[number, windows[0].first], values[number, windows[-1].first]
        parts = [first[:before]]
        for window in windows:
            skip = before - window.first
            parts.append(values[number, window.first][window.keep + skip : window.until + skip])
        parts.append(last[len(last) - len(self._suffix) :])
        matrix = np.concatenate(parts)
        if not np.isfinite(matrix).all():
            return without_vectors(analysis, "the encoder gave a vector that is not finite")
        offsets = _trimmed(analysis.text, offsets)
        special = np.ones(len(matrix), np.bool_)
        special[before : before + count] = False
        start, end, word = (np.full(len(matrix), -1, np.int32) for _ in range(3))
        start[~special], end[~special] = offsets[:, 0], offsets[:, 1]
        word[~special] = words_of(offsets, analysis.tokens)
        vectors = Vectors(matrix, start, end, special, word, self.layer, self._name)
        return replace(analysis, vectors=vectors)


def _load(path: str, space: bool) -> tuple[str, Any, Any]:
    folder = Path(path).expanduser()
    local = folder.is_dir()
    if not local and (folder.exists() or not _HUB_NAME.fullmatch(path) or path.startswith(".")):
        raise UsageError(f"there is no folder {path} with an encoder.")
    name = folder.resolve().name if local else path
    where = {"pretrained_model_name_or_path": str(folder) if local else path, "local_files_only": local}
    try:
        prefix = {"add_prefix_space": True} if space else {}
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(**where, **prefix)
            model, found = transformers.AutoModel.from_pretrained(
                **where, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
            )
    except Exception as error:  # damaged files make the libraries raise anything
        offline = " (HF_HUB_OFFLINE is set)" if not local and os.environ.get("HF_HUB_OFFLINE") else ""
        reason = str(error).strip().split("\n")[0].rstrip(".: ")
        raise UsageError(
            f"the encoder {path!r} cannot be loaded{offline}: {type(error).__name__}: {reason}."
        ) from error
    if not tokenizer.is_fast:
        raise UsageError(f"the tokenizer of {path!r} does not tell the characters of its sub-words.")
    # without its files, one is made of special tokens, and perhaps of a space
    if len(set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)) < 2:
        raise UsageError(f"the encoder {path!r} has no tokenizer.")
    unused: tuple[str, ...] = ("pooler.",)  # no layer rests on it
    if hasattr(model, "encoder") and hasattr(model, "decoder"):  # T5, BART: the decoder reads another text
        model, unused = model.encoder, ("pooler.", "decoder.")
    # such weights are random, and others each time
    absent = {*found["missing_keys"], *(key for key, *_ in found["mismatched_keys"])}
    if needed := sorted(key for key in absent if not key.startswith(unused)):
        raise UsageError(
            f"the encoder {path!r} lacks {len(needed)} of its weights, or has them in another size than its "
            f"configuration says, such as {needed[0]}."
        )
    return name, tokenizer, model


@contextmanager
def _quiet() -> Iterator[None]:
    """Without progress bars and without reports of the weights; what matters in those is an error here."""
    logs = transformers.utils.logging
    verbosity, bars = logs.get_verbosity(), logs.is_progress_bar_enabled()
    logs.set_verbosity_error()
    logs.disable_progress_bar()
    try:
        yield
    finally:
        logs.set_verbosity(verbosity)
        if bars:
            logs.enable_progress_bar()


def _windows(count: int, room: int) -> list[_Window]:
    """Windows of ``room`` sub-words that overlap by half; all sub-words are kept in exactly one of them."""
    if count <= room:
        return [_Window(0, count, 0, count)]
    step = max(1, room // 2)
    firsts = [*range(0, count - room, step), count - room]
    # between two windows the border is in the middle of what they share
    borders = [0, *((a + room + b) // 2 for a, b in pairwise(firsts)), count]
    return [_Window(a, a + room, *borders[i : i + 2]) for i, a in enumerate(firsts)]


def _trimmed(text: str, offsets: IntArray) -> IntArray:
    """Offsets without the white space that some tokenizers count as part of a sub-word."""
    result = offsets.copy()
    for i, (start, end) in enumerate(offsets.tolist()):
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        result[i] = start, end
    return result
