"""Vectors of any Hugging Face encoder, in place of those of an analyzer.

The encoder reads the raw text of a segment as its own tokenizer splits it; sub-words are assigned to the words of the
analyzer by their characters. Text longer than the encoder takes is read in overlapping windows, and each sub-word gets
its vector from the window that shows most of its surroundings on both sides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arboreval.analysis.analyzer import Analyzer, parse_options
from arboreval.analysis.structures import Analysis, FloatArray, IntArray, Tokens, Vectors
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
#: for encoders that state no limit
_LONGEST = 512
#: texts read ahead, so that windows of equal length can be encoded together
_LOOKAHEAD = 256


def make_encoder(spec: str) -> HuggingFaceEncoder:
    """The encoder that ``PATH[:layer=N][:batch=N]`` describes."""
    path, texts = spec.strip(), {}
    # from the right, because a path may hold colons
    while match := _OPTION.search(path):
        texts[match[1]] = match[2]
        path = path[: match.start()]
    if not path:
        raise UsageError(f"encoder {spec!r}: write PATH, or PATH:layer=N.")
    options = parse_options("the encoder", HuggingFaceEncoder, texts)
    return HuggingFaceEncoder(path, **{key: value for key, value in options.items() if key != "path"})


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
    """

    def __init__(self, path: str, layer: int = -1, batch: int = 1) -> None:
        if batch < 1:
            raise UsageError("the encoder: option batch must be at least 1.")
        self._name, self._tokenizer, self._model = _load(path)
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

    @cached_property
    def fingerprint(self) -> str:
        """The name, the layer, and a hash of weights and tokenizer: a folder's content may change."""
        digest = blake2b(digest_size=6)
        digest.update(self._tokenizer.backend_tokenizer.to_str().encode())
        for key, value in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
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
        while block := list(islice(rest, _LOOKAHEAD)):
            split = [self._split(analysis.text) for analysis in block]
            todo = [
                (i, window)
                for i, (ids, _) in enumerate(split)
                if block[i].status != "failed"
                for window in _windows(len(ids), self._room)
            ]
            values: dict[tuple[int, int], FloatArray] = {}
            todo.sort(key=lambda item: item[1].last - item[1].first)
            while todo:
                length = todo[0][1].last - todo[0][1].first
                same = [item for item in todo[: self._batch] if item[1].last - item[1].first == length]
                rows = self._forward([split[i][0][w.first : w.last] for i, w in same])
                values |= {(i, w.first): row for (i, w), row in zip(same, rows, strict=True)}
                del todo[: len(same)]
            for i, analysis in enumerate(block):
                ids, offsets = split[i]
                yield self._with_vectors(analysis, len(ids), offsets, values, i)

    def _split(self, text: str) -> tuple[list[int], IntArray]:
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return encoded["input_ids"], np.array(encoded["offset_mapping"], np.int32).reshape(-1, 2)

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
            reason = "the encoder gave a vector that is not finite"
            reason = f"{analysis.reason}; {reason}" if analysis.reason else reason
            return replace(analysis, vectors=None, status="degraded", reason=reason)
        offsets = _trimmed(analysis.text, offsets)
        special = np.ones(len(matrix), np.bool_)
        special[before : before + count] = False
        start, end, word = (np.full(len(matrix), -1, np.int32) for _ in range(3))
        start[~special], end[~special] = offsets[:, 0], offsets[:, 1]
        word[~special] = _words(offsets, analysis.tokens)
        vectors = Vectors(matrix, start, end, special, word, self.layer, self._name)
        return replace(analysis, vectors=vectors)


class EncodedAnalyzer:
    """An analyzer whose vectors come from an encoder."""

    def __init__(self, base: Analyzer, encoder: HuggingFaceEncoder) -> None:
        self._base = base
        self._encoder = encoder
        self.name = base.name
        self.fingerprint = f"{base.fingerprint}+{encoder.fingerprint}"
        self.provides = base.provides | {"vectors"}

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        for analysis in self._encoder.encode(self._base.analyze(texts)):
            yield replace(analysis, fingerprint=self.fingerprint)


def _load(path: str) -> tuple[str, Any, Any]:
    folder = Path(path).expanduser()
    local = folder.is_dir()
    if not local and (folder.exists() or not _HUB_NAME.fullmatch(path) or path.startswith(".")):
        raise UsageError(f"there is no folder {path} with an encoder.")
    name = folder.resolve().name if local else path
    where = {"pretrained_model_name_or_path": str(folder) if local else path, "local_files_only": local}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        model = transformers.AutoModel.from_pretrained(**where, dtype=torch.float32)
    except (OSError, ValueError) as error:
        offline = " (HF_HUB_OFFLINE is set)" if not local and os.environ.get("HF_HUB_OFFLINE") else ""
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise UsageError(f"the encoder {path!r} cannot be loaded{offline}: {reason}.") from error
    if not tokenizer.is_fast:
        raise UsageError(f"the tokenizer of {path!r} does not tell the characters of its sub-words.")
    return name, tokenizer, model


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


def _words(offsets: IntArray, tokens: Tokens) -> IntArray:
    """The word in which each sub-word starts, or that it reaches first; -1 for one outside all words."""
    if not len(tokens) or not len(offsets):
        return np.full(len(offsets), -1, np.int32)
    word = np.searchsorted(tokens.end, offsets[:, 0], "right")
    inside = (word < len(tokens)) & (offsets[:, 0] < offsets[:, 1])
    word = np.minimum(word, len(tokens) - 1)
    inside &= tokens.start[word] < offsets[:, 1]
    return np.where(inside, word, -1).astype(np.int32)
