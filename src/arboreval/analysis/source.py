"""Where metrics get their analyses from: an analyzer, perhaps with another encoder's vectors, described by text so that
it can travel to worker processes. Analyzers and encoders are made once in a process, when first needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from arboreval.analysis.analyzer import DEFAULT_ANALYZER, Analyzer, make_analyzer
from arboreval.analysis.structures import Analysis, Tokens
from arboreval.api_analysis import analyze
from arboreval.errors import UsageError
from arboreval.registry import split_spec

VECTORS = frozenset({"vectors"})
#: processes that share this machine's cores; each analyses on its part of them
_sharing = 1


def share_cores(processes: int) -> None:
    """Tells a worker process how many there are, before it analyses anything."""
    global _sharing
    _sharing = processes


@dataclass(frozen=True)
class AnalysisSource:
    """How texts are analysed.

    :param analyzer: as for :func:`arboreval.analyze`.
    :param encoder: as for :func:`arboreval.analyze`: whose vectors replace the analyzer's.
    :param cache: whether analyses are kept on disk, where that saves work.
    :param files: the files that the texts come from, for analyzers that read what lies beside them.
    """

    analyzer: str | Analyzer = DEFAULT_ANALYZER
    encoder: str | None = None
    cache: bool = True
    files: tuple[str, ...] = ()

    def analyze(self, texts: Iterable[str], layers: frozenset[str]) -> Iterator[Analysis]:
        """One analysis for each text, in their order."""
        encoder = None if self.encoder is None else _encoder(self.encoder)
        analyzer = self._analyzer(layers)
        # vectors are not kept, and a text that must be encoded anyway is not worth looking up
        useful = "vectors" not in layers or encoder is not None
        return analyze(texts, analyzer=analyzer, layers=layers, encoder=encoder, cache=self.cache and useful)

    def pieces(self, texts: Iterable[str]) -> Iterator[Sequence[int]]:
        """The sub-words of each text as the encoder numbers them: one number for each vector of no special token."""
        maker: Any = self._analyzer(VECTORS) if self.encoder is None else _encoder(self.encoder)
        if not hasattr(maker, "pieces"):
            raise UsageError(f"the analyzer {maker.name!r} does not tell its sub-words, which idf weights need.")
        return map(maker.pieces, texts)

    def fingerprint(self, layers: frozenset[str]) -> str:
        """Everything that can change the analyses."""
        encoder = None if self.encoder is None or "vectors" not in layers else _encoder(self.encoder)
        analyzer = self._analyzer(layers)
        if encoder is None:
            return analyzer.fingerprint
        if isinstance(analyzer, Unparsed):
            return str(encoder.fingerprint)
        return f"{analyzer.fingerprint}+{encoder.fingerprint}"

    def _analyzer(self, layers: frozenset[str]) -> Analyzer:
        if self.encoder is not None and layers == VECTORS:
            return UNPARSED
        return _analyzer(self.analyzer, self.files, _sharing) if isinstance(self.analyzer, str) else self.analyzer


class Unparsed:
    """Gives texts as they are, for metrics that read nothing but the vectors of an encoder."""

    name = "none"
    fingerprint = "none"
    provides = frozenset({"tokens"})
    cacheable = False

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        for text in texts:
            yield Analysis(text, Tokens.empty())


UNPARSED = Unparsed()


@lru_cache(maxsize=4)
def _analyzer(spec: str, files: tuple[str, ...], sharing: int) -> Analyzer:
    name, options = split_spec(spec)
    if sharing > 1 and name == DEFAULT_ANALYZER and "threads" not in options:
        spec = f"{spec}:threads={max(1, (os.cpu_count() or 1) // sharing)}"
    return make_analyzer(spec, files=files)


@lru_cache(maxsize=2)
def _encoder(spec: str) -> Any:
    from arboreval.analysis.external.huggingface import make_encoder

    return make_encoder(spec)
