"""The bundled analyzer: one encoder pass over a text gives every structure.

Texts are read some way ahead, cut into words, sorted by length and put into batches; results come out in input order.
Every core has a worker that encodes and decodes a batch by itself, since cores that share one call of the encoder wait
for each other. What a text gets does not depend on its batch. A text longer than the encoder takes is read in windows
that end where a sentence was found to end. A single word longer than that (a row of letters without a space) is a
window of its own, read in stretches; its structures see their mean.

If a batch cannot be analysed, its texts are tried one by one, and the analysis of one that fails says why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english.assemble import assemble, empty
from arboreval.analysis.english.decode import Decoder, Part, Window
from arboreval.analysis.english.pieces import CLOSE, FIRST_WORD, OPEN, PAD, SPACE_FOLLOWS, Pieces
from arboreval.analysis.english.session import Model, ModelError
from arboreval.analysis.english.words import paragraphs, split_words
from arboreval.analysis.structures import Analysis
from arboreval.cores import available_cores
from arboreval.errors import ArborevalError, UsageError

__all__ = ["CODE_VERSION", "EnglishAnalyzer"]

#: grows when the rules or decoders change what comes out of the same weights
CODE_VERSION = 5
PROVIDES = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner", "vectors"})
#: how far the analyzer reads ahead, in texts and in characters
LOOK_AHEAD_TEXTS, LOOK_AHEAD_CHARACTERS = 1024, 131_072
#: so few at first that the workers begin at once
FIRST_TEXTS = 64
#: texts in one call of the encoder: more do not fit a core's cache
ENCODED_TOGETHER = 12
#: texts times squared length of a batch: bounds the memory of attention
MAX_CELLS = 1 << 19
#: more workers would only wait for the decoders, whose Python runs one at a time; further cores share the encoders
MAX_WORKERS = 8
#: batches that each worker has before it; the rest wait, so that whoever leaves early does not wait for them
BATCHES_AHEAD = 3


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

    @property
    def complete(self) -> bool:
        return self.done == len(self.forms)

    def forget(self, low: int) -> None:
        """Back to where the window that starts at this word was not decoded."""
        keep = sum(first < low for first in self.first)
        del self.parts[keep:], self.first[keep:], self.vectors[keep:]

    def window(self, limit: int) -> tuple[int, int]:
        """The next words, as many as the encoder takes; one in any case."""
        low = self.done
        high = int(np.searchsorted(self.offset, self.offset[low] + limit, side="right")) - 1
        return low, max(high, low + 1)


Encoded = tuple[NDArray[np.float32], NDArray[np.float32], list[NDArray[np.float32]]]
#: a document and the words of its next window
Stretch = tuple[Document, int, int]


class EnglishAnalyzer:
    """The default analyzer.

    :param threads: how many texts are worked on at once; 0 uses all cores. Changes no result.
    :param batch: most texts in a batch. Changes no result.
    :param folder: other weights than the bundled ones, made by ``training/export.py``.
    :param device: ``cpu``, or ``cuda`` where onnxruntime-gpu is installed.
    """

    name = "english"
    provides = PROVIDES

    def __init__(self, threads: int = 0, batch: int = 32, folder: str = "", device: str = "cpu") -> None:
        providers = {"cpu": (), "cuda": ("CUDAExecutionProvider", "CPUExecutionProvider")}
        if device not in providers:
            raise UsageError(f"unknown device {device!r}; known: cpu, cuda.")
        if threads < 0 or batch < 1:
            raise UsageError("threads must be at least 0 (all cores), and batch at least 1.")
        cores = threads or available_cores()
        # a GPU works on one batch at a time, and has no caches to keep it small for
        self.workers = min(cores, MAX_WORKERS) if device == "cpu" else 1
        self.together = ENCODED_TOGETHER if device == "cpu" else batch
        # a session has one pool for all who call it, and each works along
        shared = cores - self.workers + 1
        self.model = Model(Path(folder) if folder else None, threads=shared, providers=providers[device])
        self.batch = batch
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
        with self._running() as run:
            before: list[Document] = []
            for documents in self._look_ahead(texts):
                # these are begun before the ones before them are waited for, so that no worker waits in between
                run.begin(documents)
                yield from run.finish(before)
                before = documents
            yield from run.finish(before)

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
                if not form:
                    raise UsageError(f"a word of sentence {k + 1} is empty.")
                spans.append((len(text), len(text) + len(form)))
                text += form + " " * space
            given = np.full((len(spans), 3), np.nan, np.float32)
            for column, known in ((0, [0]), (1, edu_starts and edu_starts[k]), (2, predicates and predicates[k])):
                if known is not None and spans:
                    given[:, column] = -1
                    given[np.array(known, np.int64), column] = 1
            documents.append(Document(text, self._pieces, spans, given))
        with self._running() as run:
            run.begin(documents)
            yield from run.finish(documents)

    @contextmanager
    def _running(self) -> Iterator[_Run]:
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="arboreval-english")
        try:
            yield _Run(self, pool)
        finally:
            # not waited for: who leaves early (on Ctrl-C, say) leaves at once, even if it is a worker in which an
            # abandoned stream is collected
            pool.shutdown(wait=False, cancel_futures=True)

    def _look_ahead(self, texts: Iterable[str]) -> Iterator[list[Document]]:
        ahead: list[str] = []
        total, most = 0, min(FIRST_TEXTS, LOOK_AHEAD_TEXTS)
        for text in texts:
            ahead.append(text)
            total += len(text)
            if len(ahead) >= most or total >= LOOK_AHEAD_CHARACTERS:
                yield self._documents(ahead)
                ahead, total, most = [], 0, LOOK_AHEAD_TEXTS
        if ahead:
            yield self._documents(ahead)

    def _documents(self, texts: Sequence[str]) -> list[Document]:
        spans = [split_words(text) for text in texts]
        # one call of the tokenizer for the new words of all texts
        self._pieces.words([text[i:j] for text, cuts in zip(texts, spans, strict=True) for i, j in cuts])
        return [Document(text, self._pieces, cuts) for text, cuts in zip(texts, spans, strict=True)]

    def next_windows(self, documents: Iterable[Document]) -> list[list[Stretch]]:
        """Batches of the next window of every document that is not complete."""
        return self._batches(
            [(document, *document.window(self.limit)) for document in documents if not document.complete]
        )

    def work(self, batch: Sequence[Stretch]) -> dict[int, Analysis]:
        """Encodes and decodes a batch; the analyses of the documents that it completes."""
        try:
            pieces = [batch[at : at + self.together] for at in range(0, len(batch), self.together)]
            words, roots, vectors = zip(*map(self._encode, pieces), strict=True)
            self._decode(batch, np.concatenate(words), np.concatenate(roots), [row for rows in vectors for row in rows])
        except (ModelError, ImportError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a text, it must not end a run
            for document, low, _ in batch:
                document.forget(low)
            if len(batch) > 1:
                return {key: analysis for one in batch for key, analysis in self.work([one]).items()}
            document = batch[0][0]
            return {id(document): Analysis.failed(document.text, _reason(error), self.fingerprint)}
        return {id(document): self._finished(document) for document, _, _ in batch if document.complete}

    def _batches(self, windows: list[Stretch]) -> list[list[Stretch]]:
        """Windows of similar length together, the longest first; where they are few, a batch for every worker."""
        windows.sort(key=lambda window: _size(*window))
        most = min(self.batch, -(-len(windows) // self.workers))
        batches: list[list[Stretch]] = []
        for window in windows:
            size = _size(*window)
            together = len(batches[-1]) + 1 if batches else 0
            if not 0 < together <= most or together * (size + 2) ** 2 > MAX_CELLS or size > self.limit:
                batches.append([])
            batches[-1].append(window)
        return batches[::-1]

    def _encode(self, batch: Sequence[Stretch]) -> Encoded:
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
        batch: Sequence[Stretch],
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
            self._discourse([document for document, _, _ in batch if document.complete])
        for document, _, _ in batch:
            # word vectors of a text that is not complete yet are needed for its discourse
            if "rst" not in self.layers or document.complete:
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

    def empty(self, document: Document) -> Analysis:
        """The analysis of a text without words."""
        return empty(document.text, self.model, self.layers, self.fingerprint)

    def _finished(self, document: Document) -> Analysis:
        try:
            return assemble(document, self.model, self.layers, self.fingerprint)
        except (ArborevalError, ValueError) as error:
            reason = f"a structure is not well formed: {error}"
        except Exception as error:  # noqa: BLE001 - as in work()
            reason = _reason(error)
        return Analysis.failed(document.text, reason, self.fingerprint)


class _Run:
    """Documents on their way through the workers, in the order in which they were begun."""

    def __init__(self, analyzer: EnglishAnalyzer, pool: ThreadPoolExecutor) -> None:
        self._analyzer, self._pool = analyzer, pool
        self._waiting: deque[list[Stretch]] = deque()
        self._running: deque[tuple[list[Stretch], Future[dict[int, Analysis]]]] = deque()
        self._made: dict[int, Analysis] = {}

    def begin(self, documents: Iterable[Document]) -> None:
        self._waiting.extend(self._analyzer.next_windows(documents))
        self._fill()

    def finish(self, documents: Iterable[Document]) -> Iterator[Analysis]:
        """The analyses of documents that have been begun; every one is made before the first is given."""
        documents = list(documents)
        while any(document.forms and id(document) not in self._made for document in documents):
            batch, work = self._running.popleft()
            self._made.update(work.result())
            # what is left of long texts goes before all others
            rest = [document for document, _, _ in batch if id(document) not in self._made]
            self._waiting.extendleft(reversed(self._analyzer.next_windows(rest)))
            self._fill()
        for document in documents:
            yield self._made.pop(id(document)) if document.forms else self._analyzer.empty(document)

    def _fill(self) -> None:
        while self._waiting and len(self._running) < BATCHES_AHEAD * self._analyzer.workers:
            batch = self._waiting.popleft()
            self._running.append((batch, self._pool.submit(self._analyzer.work, batch)))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _size(document: Document, low: int, high: int) -> int:
    """The number of pieces of some words."""
    return int(document.offset[high] - document.offset[low])
