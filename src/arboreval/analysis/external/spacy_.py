"""spaCy pipelines as analyzers: words, tags, lemmas, dependencies and entities, whatever the pipeline has.

Words are spaCy's tokens that are not white space. Sentences are those of the pipeline (with a parser, the parser's).
Dependencies have the scheme ``clear``: the labels and the structure of spaCy's English models (ClearNLP style).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np

from arboreval.analysis.structures import Analysis, DependencyTree, Entities, Tokens
from arboreval.analysis.surrogates import replace_surrogates
from arboreval.errors import MissingExtraError, UsageError

try:
    import spacy
except ImportError as error:
    raise MissingExtraError(f"spaCy cannot be imported ({error}): pip install 'arboreval[spacy]'.") from error

DEFAULT_MODEL = "en_core_web_sm"
_BATCH = 64
#: grows when the way from a pipeline's results to structures changes
CODE_VERSION = 1
#: what the components of a pipeline say they assign, and the layer that comes of it
_ASSIGNED = {"token.dep": "dep", "doc.ents": "ner"}


class SpacyAnalyzer:
    """:param model: the name of an installed pipeline, a folder that holds one, or a loaded pipeline."""

    name = "spacy"

    def __init__(self, model: str | Any = DEFAULT_MODEL) -> None:
        self._nlp = _load(model) if isinstance(model, str) else model

    @cached_property
    def provides(self) -> frozenset[str]:
        assigned = {what for pipe in self._nlp.pipe_names for what in self._nlp.get_pipe_meta(pipe).assigns}
        return frozenset({"tokens", *(layer for what, layer in _ASSIGNED.items() if what in assigned)})

    @cached_property
    def fingerprint(self) -> str:
        # the version of a pipeline does not tell two pipelines of one name apart, its weights and settings do; of the
        # vocabulary only what does not grow while the pipeline works
        digest = blake2b(self._nlp.to_bytes(exclude=["vocab"]), digest_size=6)
        digest.update(self._nlp.vocab.vectors.to_bytes(exclude=["strings"]))
        digest.update(self._nlp.vocab.lookups.to_bytes())
        # components can be switched off without leaving the pipeline
        digest.update(" ".join(self._nlp.pipe_names).encode())
        meta = self._nlp.meta
        pipeline = f"{meta['lang']}_{meta['name']}-{meta['version']}"
        return f"spacy-{spacy.__version__}/{pipeline}/{digest.hexdigest()}.{CODE_VERSION}"

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        rest = iter(texts)
        while batch := list(islice(rest, _BATCH)):
            try:
                docs = list(self._nlp.pipe(map(replace_surrogates, batch)))
            except Exception:  # noqa: BLE001  # any component may raise anything; find out for which text
                for text in batch:
                    yield self._alone(text)
            else:
                for text, doc in zip(batch, docs, strict=True):
                    yield self._analysis(text, doc)

    def _alone(self, text: str) -> Analysis:
        try:
            return self._analysis(text, self._nlp(replace_surrogates(text)))
        except Exception as error:  # noqa: BLE001  # the text is reported as failed
            reason = " ".join(str(error).split())[:200]
            return Analysis.failed(text, f"spaCy: {type(error).__name__}: {reason}", self.fingerprint)

    def _analysis(self, text: str, doc: Any) -> Analysis:
        words = [token for token in doc if not token.is_space]
        number = {token.i: i for i, token in enumerate(words)}
        sentence = _sentences(doc, words)
        tokens = Tokens(
            np.array([token.idx for token in words], np.int32),
            np.array([token.idx + len(token) for token in words], np.int32),
            sentence,
            tuple(token.pos_ for token in words),
            tuple(token.tag_ for token in words),
            tuple(token.lemma_ for token in words),
        )
        dependency, entities, reason = None, None, ""
        if "dep" in self.provides:
            dependency, repaired = _dependencies(words, number, sentence)
            if repaired:
                reason = f"{repaired} of the sentences did not have one root; further roots were attached to the first."
        if "ner" in self.provides:
            entities = _entities(doc, number)
        return Analysis(
            text,
            tokens,
            dependency=dependency,
            entities=entities,
            status="degraded" if reason else "ok",
            reason=reason,
            fingerprint=self.fingerprint,
        )


def _load(model: str) -> Any:
    try:
        return spacy.load(model)
    except OSError as error:
        known = ", ".join(sorted(spacy.util.get_installed_models())) or "none"
        raise UsageError(
            f"there is no spaCy pipeline {model!r}: neither an installed package nor a folder. Installed: {known}. "
            "spaCy's own are installed by `python -m spacy download NAME`."
        ) from error
    except (ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"the spaCy pipeline {model!r} cannot be loaded: {reason}") from error


def _sentences(doc: Any, words: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The sentence of each word. Sentences of white space alone do not count."""
    starts = [bool(token.is_sent_start) for token in doc]
    if starts:
        starts[0] = True
    before = np.cumsum(starts, dtype=np.int32) if starts else np.zeros(0, np.int32)
    of_word = before[[token.i for token in words]] if words else np.zeros(0, np.int32)
    return np.unique(of_word, return_inverse=True)[1].astype(np.int32)


def _dependencies(words: list[Any], number: dict[int, int], sentence: Any) -> tuple[DependencyTree, int]:
    """The tree over the words, and the number of sentences that had not exactly one root."""
    heads: list[int] = []
    for token in words:
        above = token
        # white space is no word: what hangs from it hangs from the next word above
        while above.head.i != above.i and above.head.i not in number:
            above = above.head
        heads.append(-1 if above.head.i == above.i or above.head.i not in number else number[above.head.i])
    relations = [token.dep_ for token in words]
    roots: dict[int, int] = {}
    repaired: set[int] = set()
    for i, head in enumerate(heads):
        if head < 0 or sentence[head] != sentence[i]:
            root = roots.setdefault(int(sentence[i]), i)
            heads[i] = -1
            if root != i:
                heads[i], relations[i] = root, "dep"
                repaired.add(int(sentence[i]))
    return DependencyTree(np.array(heads, np.int32), tuple(relations), "clear"), len(repaired)


def _entities(doc: Any, number: dict[int, int]) -> Entities:
    spans = []
    for entity in doc.ents:
        inside = [number[i] for i in range(entity.start, entity.end) if i in number]
        if inside:
            spans.append((inside[0], inside[-1] + 1, entity.label_ or "MISC"))
    start, end, label = zip(*spans, strict=True) if spans else ((), (), ())
    return Entities(np.array(start, np.int32), np.array(end, np.int32), label)
