"""Where metrics get their analyses from: an analyzer, perhaps with another encoder's vectors, described by text so that
it can travel to worker processes. Analyzers and encoders are made once in a process, when first needed, and again where
files that they were made of have changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from arboreval.analysis.analyzer import DEFAULT_ANALYZER, Analyzer, make_analyzer
from arboreval.analysis.structures import Analysis, Tokens
from arboreval.api_analysis import analyze
from arboreval.cores import available_cores
from arboreval.errors import UsageError

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

    from arboreval.analysis.encoders import Encoder

T = TypeVar("T")

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
    :param encoder: as for :func:`arboreval.analyze`: whose vectors replace the analyzer's. An analyzer that makes none
        is given those of the bundled encoder.
    :param cache: whether analyses are kept on disk, where that saves work.
    :param files: the files that the texts come from, for analyzers that read what lies beside them.
    """

    analyzer: str | Analyzer = DEFAULT_ANALYZER
    encoder: str | None = None
    cache: bool = True
    files: tuple[str, ...] = ()

    def analyze(self, texts: Iterable[str], layers: frozenset[str]) -> Iterator[Analysis]:
        """One analysis for each text, in their order."""
        analyzer, encoder = self._parts(layers)
        # vectors are not kept, and a text that must be encoded anyway is not worth looking up
        useful = "vectors" not in layers or encoder is not None
        return analyze(texts, analyzer=analyzer, layers=layers, encoder=encoder, cache=self.cache and useful)

    def pieces(self, texts: Iterable[str]) -> Iterator[Sequence[int]]:
        """The sub-words of each text as the encoder numbers them: one number for each vector of no special token."""
        analyzer, encoder = self._parts(VECTORS)
        maker: Any = encoder or analyzer
        if not hasattr(maker, "pieces"):
            raise UsageError(f"the analyzer {maker.name!r} does not tell its sub-words, which idf weights need.")
        return map(maker.pieces, texts)

    def fingerprint(self, layers: frozenset[str]) -> str:
        """Everything that can change the analyses."""
        analyzer, encoder = self._parts(layers)
        if encoder is None:
            return analyzer.fingerprint
        return encoder.fingerprint if analyzer is UNPARSED else f"{analyzer.fingerprint}+{encoder.fingerprint}"

    @property
    def maker(self) -> Analyzer:
        """Who analyses, without what gives vectors."""
        if not isinstance(self.analyzer, str):
            return self.analyzer
        return _fresh(_analyzer, self.analyzer, self.files, _sharing)

    def _parts(self, layers: frozenset[str]) -> tuple[Analyzer, Encoder | None]:
        """Who analyses, and whose vectors replace the analyzer's: those of the bundled encoder where it makes none."""
        encoder = self.encoder
        if encoder is not None and layers == VECTORS:
            return UNPARSED, _fresh(_encoder, encoder, _sharing)
        analyzer = self.maker
        if encoder is None and "vectors" not in analyzer.provides:
            encoder = DEFAULT_ANALYZER
        if encoder is None or "vectors" not in layers:
            return analyzer, None
        return UNPARSED if layers == VECTORS else analyzer, _fresh(_encoder, encoder, _sharing)


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


def _fresh(make: _lru_cache_wrapper[T], *args: Hashable) -> T:
    """What has been made before, if the files that it was made of are the same."""
    made = make(*args)
    if getattr(made, "outdated", False):
        make.cache_clear()
        made = make(*args)
    return made


@lru_cache(maxsize=4)
def _analyzer(spec: str, files: tuple[str, ...], sharing: int) -> Analyzer:
    return make_analyzer(_on_part(spec, sharing), files=files)


@lru_cache(maxsize=2)
def _encoder(spec: str, sharing: int) -> Encoder:
    from arboreval.analysis.encoders import make_encoder

    return make_encoder(_on_part(spec, sharing))


def _on_part(spec: str, sharing: int) -> str:
    """The bundled model with a worker's share of the cores, if nothing else was said."""
    if sharing > 1 and spec.strip().partition(":")[0] == DEFAULT_ANALYZER and ":threads=" not in spec:
        return f"{spec}:threads={max(1, available_cores() // sharing)}"
    return spec
