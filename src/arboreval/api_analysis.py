"""The public function that analyses texts. Metrics and the command line call it with the same defaults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from arboreval.analysis.analyzer import (
    DEFAULT_ANALYZER,
    LAYERS,
    Analyzer,
    make_analyzer,
    narrowed,
    parse_layers,
    restrict,
)
from arboreval.analysis.structures import Analysis
from arboreval.corpus.model import checked_text
from arboreval.errors import UsageError

if TYPE_CHECKING:
    from arboreval.analysis.encoders import Encoder

#: texts that are read ahead: enough for batches of similar length, and for repeated texts to be found
LOOKAHEAD = 1_024


def analyze(
    texts: Iterable[str],
    *,
    analyzer: str | Analyzer = DEFAULT_ANALYZER,
    layers: str | Iterable[str] | None = None,
    encoder: str | Encoder | None = None,
    cache: bool = True,
    cache_vectors: bool = False,
    lookahead: int = LOOKAHEAD,
) -> Iterator[Analysis]:
    """Analyses texts, one after the other.

    Results come in the order of the texts, as a stream: memory does not grow with their number. A text that occurs
    again within the look-ahead is analysed once; with the cache, once and for all.

    :param texts: any iterable of texts, each a segment of one or more sentences.
    :param analyzer: a name with options such as ``english`` or ``spacy:model=en_core_web_sm``, or an object.
    :param layers: some of ``tokens, dep, const, ucca, rst, srl, ner, vectors`` (a list, or a text with commas). By
        default everything that the analyzer makes except vectors. An ``encoder`` adds vectors in any case.
    :param encoder: whose vectors replace those of the analyzer: ``english``, the bundled model's encoder, or a
        Hugging Face encoder: a local folder or the name of a model on the hub, and optionally a layer, as in
        ``bert-base-cased:layer=9``.
    :param cache: keep analyses on disk, and take them from there.
    :param cache_vectors: keep vectors as well, which are some hundred times as large as everything else.
    """
    if isinstance(texts, str):
        raise UsageError("texts must be a list (or another iterable) of texts, not one text.")
    if lookahead < 1:
        raise UsageError("lookahead must be at least 1.")
    base = make_analyzer(analyzer)
    if encoder is None:
        wanted = parse_layers(layers, base.provides, base.name)
    else:
        wanted = parse_layers(layers, base.provides | {"vectors"}, base.name) | {"vectors"}
    return _stream(iter(texts), _Pipeline(base, wanted, encoder, cache, cache_vectors), wanted, lookahead)


class _Pipeline:
    """The analyzer asked for, with the encoder and the cache around it."""

    def __init__(
        self, base: Analyzer, wanted: frozenset[str], encoder: str | Encoder | None, cache: bool, cache_vectors: bool
    ) -> None:
        made_by_base = wanted if encoder is None else wanted - {"vectors"}
        analyzer, made = narrowed(base, made_by_base)
        made -= frozenset({"vectors"}) - made_by_base
        self.store = None
        if cache and getattr(base, "cacheable", True):
            from arboreval.analysis.cached import CachedAnalyzer
            from arboreval.analysis.store import Store

            self.store = Store()
            analyzer = CachedAnalyzer(analyzer, self.store, made, vectors=cache_vectors)
        if encoder is not None:
            from arboreval.analysis.encoders import EncodedAnalyzer, make_encoder

            analyzer = EncodedAnalyzer(analyzer, make_encoder(encoder))
            if self.store is not None and cache_vectors:
                analyzer = CachedAnalyzer(analyzer, self.store, made | {"vectors"}, vectors=True)
        self.analyzer: Analyzer = analyzer

    def close(self) -> None:
        if self.store is not None:
            self.store.close()


def _stream(texts: Iterator[str], pipeline: _Pipeline, wanted: frozenset[str], lookahead: int) -> Iterator[Analysis]:
    all_wanted = wanted == frozenset(LAYERS)
    checked = (checked_text("texts", i, text) for i, text in enumerate(texts))
    try:
        while chunk := list(islice(checked, lookahead)):
            left = Counter(chunk)
            done: dict[str, Analysis] = {}
            made = pipeline.analyzer.analyze(list(left))
            for text in chunk:
                if text not in done:
                    analysis = next(made, None)
                    if analysis is None or analysis.text != text:
                        raise RuntimeError(
                            f"the analyzer {pipeline.analyzer.name!r} did not give one analysis for each text."
                        )
                    done[text] = analysis if all_wanted else restrict(analysis, wanted)
                left[text] -= 1
                # what no later text of the chunk needs is not held any longer
                yield done[text] if left[text] else done.pop(text)
            # lets the pipeline finish what it does after its last result, such as writing
            if next(made, None) is not None:
                raise RuntimeError(f"the analyzer {pipeline.analyzer.name!r} gave more analyses than texts.")
    finally:
        pipeline.close()
