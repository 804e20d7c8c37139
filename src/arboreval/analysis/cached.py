"""An analyzer with a memory: another analyzer in front of which the cache stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from arboreval.analysis.analyzer import Analyzer
from arboreval.analysis.store import Store, entry_key
from arboreval.analysis.structures import Analysis

#: texts looked up, and written, together
_BLOCK = 512


class CachedAnalyzer:
    """Another analyzer whose results are kept in a store.

    :param layers: the layers that the inner analyzer makes; part of the key.
    :param vectors: keep vectors too. Without it, vectors that are made are handed on but not kept, and as a text
        whose vectors are needed must be encoded anyway, the store is then only written.
    """

    def __init__(self, inner: Analyzer, store: Store, layers: frozenset[str], *, vectors: bool = False) -> None:
        self._inner = inner
        self._store = store
        self._kept = layers if vectors else layers - {"vectors"}
        self._lookup = self._kept == layers
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.provides = inner.provides

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        block: list[str] = []
        for text in texts:
            block.append(text)
            if len(block) == _BLOCK:
                yield from self._block(block)
                block = []
        if block:
            yield from self._block(block)

    def _block(self, texts: list[str]) -> Iterator[Analysis]:
        keys = [entry_key(text, self.fingerprint, self._kept) for text in texts]
        found = self._store.get(keys) if self._lookup else {}
        missing = [text for key, text in zip(keys, texts, strict=True) if key not in found]
        made = iter(self._inner.analyze(missing))
        new: list[tuple[bytes, Analysis]] = []
        try:
            for key, text in zip(keys, texts, strict=True):
                analysis = found.pop(key, None)
                if analysis is None:
                    analysis = next(made, None)
                    if analysis is None or analysis.text != text:
                        raise RuntimeError(f"the analyzer {self.name!r} did not give one analysis for each text.")
                    # a failure may pass, that of an encoder too
                    lacking = "vectors" in self._kept and analysis.vectors is None
                    if analysis.status != "failed" and not lacking:
                        keep = analysis if "vectors" in self._kept else replace(analysis, vectors=None)
                        new.append((key, keep))
                yield analysis
        finally:
            self._store.put(new)
