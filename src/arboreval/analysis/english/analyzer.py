"""The bundled analyzer: one encoder pass over a text gives every structure.

Texts are read some way ahead, cut into words, sorted by length and encoded in batches; results come out in input
order. While one batch is decoded the next is encoded. What a text gets does not depend on its batch. A text longer
than the encoder takes is read in windows that end where a sentence was found to end. A single word longer than that (a
row of letters without a space) is a window of its own, read in stretches; its structures see their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english.assemble import assemble, empty
from arboreval.analysis.english.decode import Decoder, Part, Window
from arboreval.analysis.english.pieces import CLOSE, FIRST_WORD, OPEN, PAD, SPACE_FOLLOWS, Pieces
from arboreval.analysis.english.session import Model
from arboreval.analysis.english.words import paragraphs, split_words
from arboreval.analysis.structures import Analysis
from arboreval.errors import ArborevalError

__all__ = ["CODE_VERSION", "EnglishAnalyzer"]

#: grows when the rules or decoders change what comes out of the same weights
CODE_VERSION = 2
PROVIDES = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner", "vectors"})
#: how far the analyzer reads ahead, in texts and in pieces
LOOK_AHEAD_TEXTS, LOOK_AHEAD_PIECES = 512, 16_384
#: texts times squared length of a batch: bounds the memory of attention
MAX_CELLS = 1 << 19


class Document:
    """A text on its way through the analyzer."""

    def __init__(
        self,
        text: str,
        pieces: Pieces,
        spans: Sequence[tuple[int, int]] | None = None,
        given: NDArray[np.float32] | None = None,
    ) -> None:
        self.text, self.given = text, given
        spans = split_words(text) if spans is None else spans
        self.start = np.array([i for i, _ in spans], np.int32)
        self.end = np.array([j for _, j in spans], np.int32)
        self.forms = [text[i:j] for i, j in spans]
        self.words = pieces.words(self.forms)
        self.ids = np.array([piece for word in self.words for piece in word.ids], np.int64)
        #: number of pieces before each word, and before the end
        self.offset = np.zeros(len(spans) + 1, np.int64)
        np.cumsum([len(word.ids) for word in self.words], out=self.offset[1:])
        spaced = [j >= len(text) or text[j].isspace() for _, j in spans]
        self.case = np.array([word.case for word in self.words], np.int64) | (
            np.array(spaced, np.int64) * SPACE_FOLLOWS
        )
        self.paragraph = np.zeros(len(spans), np.bool_)
        breaks = paragraphs(text)
        if len(breaks) > 1:
            self.paragraph[np.searchsorted(self.start, [i for i, _ in breaks])] = True
        #: what has been decoded: a part for each window, with its first word and (where asked for) its vectors
        self.parts: list[Part] = []
        self.first: list[int] = []
        self.vectors: list[NDArray[np.float32]] = []
        self.units: NDArray[np.int64] = np.zeros(0, np.int64)
        self.discourse: list[tuple[int, int, str]] = []

    @property
    def done(self) -> int:
        """How many words have been decoded."""
        return sum(len(part.upos) for part in self.parts)

    def window(self, limit: int) -> tuple[int, int]:
        """The next words, as many as the encoder takes; one in any case."""
        low = self.done
        high = int(np.searchsorted(self.offset, self.offset[low] + limit, side="right")) - 1
        return low, max(high, low + 1)


class EnglishAnalyzer:
    """The default analyzer. Options change its speed, never its results.

    :param threads: threads of the encoder; 0 uses all cores.
    :param batch: most texts in a batch.
    :param folder: other weights than the bundled ones, made by ``training/export.py``.
    :param device: ``cpu``, or ``cuda`` where onnxruntime-gpu is installed.
    """

    name = "english"
    provides = PROVIDES

    def __init__(self, threads: int = 0, batch: int = 32, folder: str = "", device: str = "cpu") -> None:
        providers = {"cpu": (), "cuda": ("CUDAExecutionProvider", "CPUExecutionProvider")}
        if device not in providers:
            raise ArborevalError(f"unknown device {device!r}; known: cpu, cuda.")
        self.model = Model(Path(folder) if folder else None, threads=threads, providers=providers[device])
        self.batch = max(batch, 1)
        self.layers = PROVIDES
        self._pieces = Pieces(self.model.folder / "tokenizer.json")
        self._decoder = Decoder(self.model, self.layers)

    @property
    def limit(self) -> int:
        """The most pieces of a window; the encoder takes two special tokens with them."""
        return self.model.max_pieces - 2

    @property
    def fingerprint(self) -> str:
        return f"{self.model.fingerprint}.{CODE_VERSION}"

    def for_layers(self, layers: Iterable[str]) -> EnglishAnalyzer:
        """An analyzer with the same weights that computes only these layers."""
        other = object.__new__(EnglishAnalyzer)
        other.__dict__.update(self.__dict__)
        other.layers = frozenset(layers) & PROVIDES
        other._decoder = Decoder(self.model, other.layers)
        return other

    def pieces(self, text: str) -> list[int]:
        """The numbers of the text's sub-words, in the order of its vectors, special tokens left out."""
        return [int(piece) for piece in Document(text, self._pieces).ids]

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        """One analysis for each text, in input order; memory does not grow with their number."""
        with ThreadPoolExecutor(1, thread_name_prefix="arboreval-encoder") as pool:
            for documents in self._look_ahead(texts):
                yield from self._process(documents, pool)

    def analyze_words(
        self,
        sentences: Sequence[Sequence[tuple[str, bool]]],
        *,
        edu_starts: Sequence[Sequence[int]] | None = None,
        predicates: Sequence[Sequence[int]] | None = None,
    ) -> Iterator[Analysis]:
        """Analyses sentences that are already cut into words, each given with whether a space follows it.

        Where the first words of discourse units or the predicates of every sentence are given, they are not predicted.
        """
        documents = []
        for k, words in enumerate(sentences):
            text, spans = "", []
            for form, space in words:
                spans.append((len(text), len(text) + len(form)))
                text += form + " " * space
            given = np.full((len(spans), 3), np.nan, np.float32)
            for column, known in ((0, [0]), (1, edu_starts and edu_starts[k]), (2, predicates and predicates[k])):
                if known is not None:
                    given[:, column] = -1
                    given[np.array(known, np.int64), column] = 1
            documents.append(Document(text, self._pieces, spans, given))
        with ThreadPoolExecutor(1, thread_name_prefix="arboreval-encoder") as pool:
            yield from self._process(documents, pool)

    def _look_ahead(self, texts: Iterable[str]) -> Iterator[list[Document]]:
        documents: list[Document] = []
        total = 0
        for text in texts:
            documents.append(Document(text, self._pieces))
            total += len(documents[-1].ids)
            if len(documents) >= LOOK_AHEAD_TEXTS or total >= LOOK_AHEAD_PIECES:
                yield documents
                documents, total = [], 0
        if documents:
            yield documents

    def _process(self, documents: Sequence[Document], pool: ThreadPoolExecutor) -> list[Analysis]:
        """Encodes and decodes window after window until every document is complete.

        While a batch is encoded the one before is decoded and made into analyses; the shortest texts come last, when
        nothing is left to encode meanwhile.
        """
        made: dict[int, Analysis] = {}
        left = [document for document in documents if document.forms]
        while left:
            batches = self._batches([(document, *document.window(self.limit)) for document in left])
            running: Future[list[NDArray[np.float32]]] = pool.submit(self._encode, batches[0])
            for number, batch in enumerate(batches):
                encoded = running.result()
                if number + 1 < len(batches):
                    running = pool.submit(self._encode, batches[number + 1])
                self._decode(batch, encoded)
                for document, _, _ in batch:
                    if document.done == len(document.forms):
                        made[id(document)] = self._finished(document)
            left = [document for document in left if document.done < len(document.forms)]
        return [made[id(document)] if document.forms else self._finished(document) for document in documents]

    def _batches(self, windows: list[tuple[Document, int, int]]) -> list[list[tuple[Document, int, int]]]:
        """Windows of similar length together, the longest first."""
        windows.sort(key=lambda window: _size(*window))
        batches: list[list[tuple[Document, int, int]]] = [[]]
        for window in windows:
            size = _size(*window)
            cells = (len(batches[-1]) + 1) * (size + 2) ** 2
            if batches[-1] and (len(batches[-1]) >= self.batch or cells > MAX_CELLS or size > self.limit):
                batches.append([])
            batches[-1].append(window)
        return batches[::-1]

    def _encode(self, batch: Sequence[tuple[Document, int, int]]) -> list[NDArray[np.float32]]:
        if _size(*batch[0]) > self.limit:
            (long,) = batch
            return self._encode_word(*long[:2])
        width = max(_size(*window) for window in batch) + 2
        ids = np.full((len(batch), width), PAD, np.int64)
        ids[:, 0] = OPEN
        first, last, case = [], [], []
        for row, (document, low, high) in enumerate(batch):
            offset = document.offset[low : high + 1] - document.offset[low]
            size = int(offset[-1])
            ids[row, 1 : 1 + size] = document.ids[document.offset[low] : document.offset[high]]
            ids[row, 1 + size] = CLOSE
            first.append(offset[:-1] + (row * width + 1))
            last.append(offset[1:] + row * width)
            codes = document.case[low:high].copy()
            codes[0] |= FIRST_WORD
            case.append(codes)
        feeds = {"ids": ids, "first": np.concatenate(first), "last": np.concatenate(last), "case": np.concatenate(case)}
        return self.model.run("encoder", self._outputs, feeds)

    @property
    def _outputs(self) -> list[str]:
        return ["words", "roots", "vectors"] if "vectors" in self.layers else ["words", "roots"]

    def _encode_word(self, document: Document, word: int) -> list[NDArray[np.float32]]:
        """A word longer than the encoder takes: the mean of its stretches, the first one's root, all vectors."""
        pieces = document.ids[document.offset[word] : document.offset[word + 1]]
        found = []
        for low in range(0, len(pieces), self.limit):
            ids = np.concatenate([[OPEN], pieces[low : low + self.limit], [CLOSE]]).astype(np.int64)[None]
            last = np.array([ids.shape[1] - 2])
            case = document.case[word : word + 1] | FIRST_WORD
            feeds = {"ids": ids, "first": np.ones(1, np.int64), "last": last, "case": case}
            found.append(self.model.run("encoder", self._outputs, feeds))
        words = np.mean([stretch[0] for stretch in found], axis=0)
        vectors = [stretch[2][0, 1:-1] for stretch in found if len(stretch) > 2]
        if not vectors:
            return [words, found[0][1]]
        # the first and the last special token stand around it, as around other windows
        return [words, found[0][1], np.concatenate([found[0][2][0, :1], *vectors, found[-1][2][0, -1:]])[None]]

    def _decode(self, batch: Sequence[tuple[Document, int, int]], encoded: Sequence[NDArray[np.float32]]) -> None:
        words, roots = encoded[:2]
        windows, at = [], 0
        for row, (document, low, high) in enumerate(batch):
            last = high == len(document.forms)
            given = None if document.given is None else document.given[low:high]
            forms, paragraph = document.forms[low:high], document.paragraph[low:high]
            windows.append(Window(forms, words[at : at + high - low], roots[row], paragraph, last, given))
            at += high - low
        for row, ((document, low, high), part) in enumerate(zip(batch, self._decoder.decode(windows), strict=True)):
            document.parts.append(part)
            document.first.append(low)
            if "vectors" in self.layers:
                # a window that was cut back keeps the vectors of the words it keeps, and both special tokens
                kept = int(document.offset[low + len(part.upos)] - document.offset[low])
                end = _size(document, low, high) + 1
                document.vectors.append(encoded[2][row][[*range(kept + 1), end]])
        if "rst" in self.layers:
            self._discourse([document for document, _, _ in batch if document.done == len(document.forms)])
        for document, _, _ in batch:
            # word vectors of a text that is not complete yet are needed for its discourse
            if "rst" not in self.layers or document.done == len(document.forms):
                for part in document.parts:
                    part.words = part.words[:0]

    def _discourse(self, documents: Sequence[Document]) -> None:
        texts = []
        for document in documents:
            parts = zip(document.parts, document.first, strict=True)
            document.units = np.concatenate([np.array(part.units, np.int64) + first for part, first in parts])
            bounds = np.array([*document.first, len(document.forms)], np.int64)
            words = [part.words for part in document.parts]
            texts.append((words[0] if len(words) == 1 else np.concatenate(words), bounds, document.units))
        for document, spans in zip(documents, self._decoder.discourse(texts), strict=True):
            document.discourse = spans

    def _finished(self, document: Document) -> Analysis:
        if not document.forms:
            return empty(document.text, self.model, self.layers, self.fingerprint)
        try:
            return assemble(document, self.model, self.layers, self.fingerprint)
        except (ArborevalError, ValueError) as error:
            return Analysis.failed(document.text, f"a structure is not well formed: {error}", self.fingerprint)


def _size(document: Document, low: int, high: int) -> int:
    """The number of pieces of some words."""
    return int(document.offset[high] - document.offset[low])
