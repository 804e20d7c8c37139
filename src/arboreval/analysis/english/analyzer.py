"""The bundled analyzer: one encoder pass over a text gives every structure.

Texts are read some way ahead, cut into words, sorted by length and put into batches; results come out in input order.
Every core has a worker that encodes and decodes a batch by itself, since cores that share one call of the encoder wait
for each other. What a text gets does not depend on its batch. A text longer than the encoder takes is read in windows
that end where a sentence was found to end. A single word longer than that (a row of letters without a space) is a
window of its own, read in stretches; its structures see their mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
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
#: how far the analyzer reads ahead, in texts and in characters
LOOK_AHEAD_TEXTS, LOOK_AHEAD_CHARACTERS = 512, 65_536
#: texts in one call of the encoder: more do not fit a core's cache
ENCODED_TOGETHER = 12
#: texts times squared length of a batch: bounds the memory of attention
MAX_CELLS = 1 << 19
#: more workers would only wait for the decoders, whose Python runs one at a time; further cores share the encoders
MAX_WORKERS = 8


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


Encoded = tuple[NDArray[np.float32], NDArray[np.float32], list[NDArray[np.float32]]]


class EnglishAnalyzer:
    """The default analyzer. Options change its speed, never its results.

    :param threads: how many texts are worked on at once; 0 uses all cores.
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
        cores = threads or available_cores()
        self.workers = min(cores, MAX_WORKERS)
        self.model = Model(Path(folder) if folder else None, threads=cores // self.workers, providers=providers[device])
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
        """Names everything that can change a result: weights, code, and what computes."""
        return f"{self.model.name}-{self.model.hash}.{CODE_VERSION}-{self.model.runtime}"

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
        with self._pool() as pool:
            before: list[Document] = []
            running: list[Future[dict[int, Analysis]]] = []
            for documents in self._look_ahead(texts):
                # these are begun before the ones before them are waited for: no worker is ever without work
                begun = self._begin(documents, pool)
                yield from self._finish(before, running, pool)
                before, running = documents, begun
            yield from self._finish(before, running, pool)

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
        with self._pool() as pool:
            yield from self._finish(documents, self._begin(documents, pool), pool)

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        """Threads for the workers. Whoever leaves early (on Ctrl-C, say) does not wait for batches not yet begun."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="arboreval-english")
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)

    def _look_ahead(self, texts: Iterable[str]) -> Iterator[list[Document]]:
        ahead: list[str] = []
        total = 0
        for text in texts:
            ahead.append(text)
            total += len(text)
            if len(ahead) >= LOOK_AHEAD_TEXTS or total >= LOOK_AHEAD_CHARACTERS:
                yield self._documents(ahead)
                ahead, total = [], 0
        if ahead:
            yield self._documents(ahead)

    def _documents(self, texts: Sequence[str]) -> list[Document]:
        spans = [split_words(text) for text in texts]
        # one call of the tokenizer for the new words of all texts
        self._pieces.words([text[i:j] for text, cuts in zip(texts, spans, strict=True) for i, j in cuts])
        return [Document(text, self._pieces, cuts) for text, cuts in zip(texts, spans, strict=True)]

    def _begin(self, documents: Sequence[Document], pool: ThreadPoolExecutor) -> list[Future[dict[int, Analysis]]]:
        """Sends the next window of every document that is not complete to the workers."""
        left = [document for document in documents if document.done < len(document.forms)]
        batches = self._batches([(document, *document.window(self.limit)) for document in left])
        return [pool.submit(self._work, batch) for batch in batches]

    def _finish(
        self,
        documents: Sequence[Document],
        running: Iterable[Future[dict[int, Analysis]]],
        pool: ThreadPoolExecutor,
    ) -> list[Analysis]:
        """The analyses of documents that have been begun, window after window until every one is complete."""
        made: dict[int, Analysis] = {}
        while running:
            for work in running:
                made.update(work.result())
            running = self._begin(documents, pool)
        return [made[id(document)] if document.forms else self._finished(document) for document in documents]

    def _work(self, batch: Sequence[tuple[Document, int, int]]) -> dict[int, Analysis]:
        """Encodes and decodes a batch; the analyses of the documents that it completes."""
        pieces = [batch[at : at + ENCODED_TOGETHER] for at in range(0, len(batch), ENCODED_TOGETHER)]
        words, roots, vectors = zip(*map(self._encode, pieces), strict=True)
        self._decode(batch, np.concatenate(words), np.concatenate(roots), [row for rows in vectors for row in rows])
        complete = [document for document, _, _ in batch if document.done == len(document.forms)]
        return {id(document): self._finished(document) for document in complete}

    def _batches(self, windows: list[tuple[Document, int, int]]) -> list[list[tuple[Document, int, int]]]:
        """Windows of similar length together, the longest first; where they are few, a batch for every worker."""
        windows.sort(key=lambda window: _size(*window))
        most = min(self.batch, -(-len(windows) // self.workers))
        batches: list[list[tuple[Document, int, int]]] = []
        for window in windows:
            size = _size(*window)
            together = len(batches[-1]) + 1 if batches else 0
            if not 0 < together <= most or together * (size + 2) ** 2 > MAX_CELLS or size > self.limit:
                batches.append([])
            batches[-1].append(window)
        return batches[::-1]

    def _encode(self, batch: Sequence[tuple[Document, int, int]]) -> Encoded:
        """Vectors of words, of texts, and (where asked for) of each text's sub-words."""
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
        words, roots, *vectors = self.model.run("encoder", self._outputs, feeds)
        return words, roots, list(vectors[0]) if vectors else []

    @property
    def _outputs(self) -> list[str]:
        return ["words", "roots", "vectors"] if "vectors" in self.layers else ["words", "roots"]

    def _encode_word(self, document: Document, word: int) -> Encoded:
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
            return words, found[0][1], []
        # the first and the last special token stand around it, as around other windows
        return words, found[0][1], [np.concatenate([found[0][2][0, :1], *vectors, found[-1][2][0, -1:]])]

    def _decode(
        self,
        batch: Sequence[tuple[Document, int, int]],
        words: NDArray[np.float32],
        roots: NDArray[np.float32],
        vectors: Sequence[NDArray[np.float32]],
    ) -> None:
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
                document.vectors.append(vectors[row][[*range(kept + 1), end]])
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


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(document: Document, low: int, high: int) -> int:
    """The number of pieces of some words."""
    return int(document.offset[high] - document.offset[low])
