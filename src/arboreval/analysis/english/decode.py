"""From word vectors to structures: every head of the network with its decoder, for a batch of windows at once.

A window is a text, or a part of one longer than the encoder takes. Sentences are found first; arcs, constituents, UCCA
and roles are then decoded inside each sentence, discourse over all units of the text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.english import discourse
from arboreval.analysis.english.cky import best_spans, triangle
from arboreval.analysis.english.mst import best_heads
from arboreval.analysis.english.session import Model
from arboreval.analysis.english.units import Sentence
from arboreval.analysis.english.viterbi import FORBIDDEN, Bio

__all__ = ["Decoder", "Part", "Window"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Span = tuple[int, int, str]
Remote = tuple[tuple[int, int], tuple[int, int], str]

#: how many spans, and how many pairs of a word and its head, one call scores: so few that what they need (256 and
#: 6,400 numbers each) stays in a core's cache
MAX_SPANS, MAX_PAIRS = 1600, 64
#: pairs of a predicate and a word in one call: bounds the memory of long sentences full of verbs
MAX_ROLE_PAIRS = 1 << 14
#: by how much a sentence start and a remote edge must score more than none: negative, since too few were found (chosen
#: on development data)
SENTENCE_LEAD, REMOTE_LEAD = -0.5, -2.0
#: a predicate has each of these once; what else is said of the same participant has the label R- or C-
CORE_ROLES = frozenset({"ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5", "ARGA"})


@dataclass
class Window:
    """What the encoder found for the words of one window."""

    forms: Sequence[str]
    words: Floats
    root: Floats
    #: whether a paragraph starts at the word
    paragraph: NDArray[np.bool_]
    #: whether the text ends with this window; if not, it is cut back to its last sentence boundary
    last: bool
    #: (words, 3): whether a sentence or a discourse unit starts at the word, and whether it is a predicate, where that
    #: is given (1 or -1) and not to be predicted (NaN)
    given: Floats | None = None


@dataclass
class Part:
    """The decoded words of a window; sentences and all spans count from the window's first kept word."""

    words: Floats
    sentences: list[tuple[int, int]]
    units: list[int]
    upos: list[int]
    xpos: list[int]
    lemma: list[int]
    entities: list[Span] = field(default_factory=list)
    heads: Ints | None = None
    relations: list[int] = field(default_factory=list)
    #: nested spans of each sentence, counted from its first word
    const: list[list[Span]] = field(default_factory=list)
    ucca: list[list[Span]] = field(default_factory=list)
    remotes: list[list[Remote]] = field(default_factory=list)
    #: (predicate, its arguments)
    roles: list[tuple[int, list[Span]]] = field(default_factory=list)


class _Batch:
    """Words of several windows in a row, with the bounds of windows and sentences."""

    def __init__(self, windows: Sequence[Window], starts: Sequence[Ints], kept: Sequence[int]) -> None:
        self.forms = [form for w, n in zip(windows, kept, strict=True) for form in w.forms[:n]]
        self.words = np.concatenate([w.words[:n] for w, n in zip(windows, kept, strict=True)])
        self.roots = np.stack([w.root for w in windows])
        self.bounds = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        offsets = zip(starts, kept, self.bounds.tolist(), strict=False)
        self.start = np.concatenate([found[found < n] + offset for found, n, offset in offsets])
        self.end = np.append(self.start[1:], len(self.words))
        self.length = self.end - self.start
        self.window = np.searchsorted(self.bounds, self.start, side="right") - 1
        self.before, self.after = neighbours(self.bounds)

    def groups(self) -> Iterator[Ints]:
        """Sentences of similar length together, so that little of a padded array is padding."""
        order = np.argsort(self.length, kind="stable")
        low = 0
        while low < len(order):
            limit = self.length[order[low]] * 1.4 + 4
            high = int(np.searchsorted(self.length[order], limit, side="right"))
            yield order[low:high]
            low = high


def neighbours(bounds: Ints) -> tuple[Ints, Ints]:
    """The words before and after each word of the same window; -1 where there is none."""
    every = np.arange(bounds[-1])
    before, after = every - 1, every + 1
    before[bounds[:-1]] = -1
    after[bounds[1:] - 1] = -1
    return before, after


class Decoder:
    """Decodes the layers asked for; words, sentences and tags always."""

    def __init__(self, model: Model, layers: frozenset[str]) -> None:
        self.model, self.layers = model, layers
        labels = model.labels
        self._entities, self._roles = Bio(labels["ner"]), Bio(labels["srl"])
        self._root, self._other = labels["deprel"].index("root"), labels["deprel"].index("dep")
        self._verb = self._roles.tags.index("B-V")
        self._span_labels = {name: labels[name] for name in ("const", "ucca", "rst")}

    def decode(self, windows: Sequence[Window]) -> list[Part]:
        """The parts of a batch of windows, each with at least one word."""
        rows = np.concatenate([window.words for window in windows])
        names = ("upos", "xpos", "lemma", "ner", "marks")
        tags = dict(zip(names, self.model.run("tags", names, {"words": rows}), strict=True))
        given = np.concatenate([np.full((len(w.words), 3), np.nan) if w.given is None else w.given for w in windows])
        tags["marks"] = np.where(np.isnan(given), tags["marks"], given)
        sizes = [len(window.words) for window in windows]
        lows = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        starts, kept = [], []
        for window, low, size in zip(windows, lows, sizes, strict=False):
            marked = (tags["marks"][low : low + size, 0] > SENTENCE_LEAD) | window.paragraph
            marked[0] = True
            found = np.flatnonzero(marked)
            starts.append(found)
            kept.append(size if window.last else _cut(found, size))
        chosen = np.concatenate([np.arange(low, low + n) for low, n in zip(lows, kept, strict=False)])
        tags = {name: values[chosen] for name, values in tags.items()}
        batch = _Batch(windows, starts, kept)
        parts = self._parts(batch, tags)
        # discourse units rest on the dependency tree
        if not self.layers.isdisjoint(("dep", "rst")):
            self._dependencies(batch, parts)
        if "rst" in self.layers:
            self._units(batch, parts, tags["marks"][:, 1], given[chosen, 1])
        spans: list[str] = [name for name in ("const", "ucca") if name in self.layers]
        if spans:
            self._spans(batch, parts, spans)
        if "ucca" in self.layers:
            self._remotes(batch, parts)
        if "srl" in self.layers:
            self._arguments(batch, parts, tags["marks"][:, 2] > 0)
        return parts

    def _units(self, batch: _Batch, parts: list[Part], scores: Floats, given: Floats) -> None:
        """Where discourse units start: where that is given, else by the network, else by signs in words and tree."""
        known = ~np.isnan(given)
        if self.model.units is not None:
            scores = np.where(known, given, _unit_scores(batch, *self.model.units))
        starts = scores > 0
        if self.model.unit_signs is not None:
            known[batch.start] = True
            doubt = np.flatnonzero(~known & (np.abs(scores) < self.model.unit_signs.doubt))
            sentence = np.searchsorted(batch.start, doubt, side="right") - 1
            for k in np.unique(sentence).tolist():
                words = doubt[sentence == k]
                found = self._sentence(batch, parts, k)
                where = (words - batch.start[k]).tolist()
                starts[words] = self.model.unit_signs.starts(found, where, scores[words].tolist())
        starts[batch.start] = True
        for part, low, high in zip(parts, batch.bounds[:-1].tolist(), batch.bounds[1:].tolist(), strict=True):
            part.units = np.flatnonzero(starts[low:high]).tolist()

    def _sentence(self, batch: _Batch, parts: list[Part], k: int) -> Sentence:
        """Words, tags and tree of one sentence."""
        low, high, window = int(batch.start[k]), int(batch.end[k]), int(batch.window[k])
        part, offset = parts[window], int(batch.bounds[window])
        inside = slice(low - offset, high - offset)
        upos, xpos, relations = (self.model.labels[name] for name in ("upos", "xpos", "deprel"))
        heads = np.zeros(0, np.int64) if part.heads is None else part.heads[inside]
        return Sentence(
            batch.forms[low:high],
            [upos[tag] for tag in part.upos[inside]],
            [xpos[tag] for tag in part.xpos[inside]],
            np.where(heads < 0, -1, heads - inside.start).tolist(),
            [relations[name] for name in part.relations[inside]],
        )

    def _parts(self, batch: _Batch, tags: dict[str, NDArray[Any]]) -> list[Part]:
        columns = [tags[name].tolist() for name in ("upos", "xpos", "lemma")]
        parts = []
        for low, high in zip(batch.bounds[:-1].tolist(), batch.bounds[1:].tolist(), strict=True):
            parts.append(Part(batch.words[low:high], [], [], *(column[low:high] for column in columns)))
        lows = batch.bounds[batch.window]
        for window, start, end in zip(
            batch.window.tolist(), (batch.start - lows).tolist(), (batch.end - lows).tolist(), strict=True
        ):
            parts[window].sentences.append((start, end))
        if "ner" in self.layers:
            self._names(batch, parts, tags["ner"])
        return parts

    def _names(self, batch: _Batch, parts: list[Part], scores: Floats) -> None:
        """Entities lie inside sentences. Where the best tags of all words are legal, nothing else is to be done."""
        order: list[tuple[int, list[Span]]] = []
        for group in batch.groups():
            index, lengths = _padded(batch.start[group], batch.length[group])
            path = self._entities.decode(scores[index], lengths)
            for sentence in np.flatnonzero((path != self._entities.outside).any(axis=1)).tolist():
                order.append((int(group[sentence]), self._entities.spans(path[sentence].tolist())))
        for sentence, spans in sorted(order):
            window = int(batch.window[sentence])
            offset = int(batch.start[sentence] - batch.bounds[window])
            parts[window].entities += [(offset + i, offset + j, label) for i, j, label in spans]

    def _dependencies(self, batch: _Batch, parts: list[Part]) -> None:
        names = ("arc_dep", "arc_dep_step", "arc_head", "arc_head_step", "alone", "dep", "head")
        feeds = {"words": batch.words, "roots": batch.roots}
        found = dict(zip(names, self.model.run("dependency", names, feeds), strict=True))
        dep_label, head_label = found.pop("dep"), found.pop("head")
        texts = len(batch.roots)
        node = np.zeros(len(batch.words), np.int64)
        heads = np.zeros(len(batch.words), np.int64)
        for group in batch.groups():
            index, lengths = _padded(batch.start[group], batch.length[group])
            above = np.concatenate([batch.window[group][:, None], index + texts], axis=1)
            (arcs,) = self.model.run("arcs", ["arcs"], {**found, "dependents": index, "heads": above})
            best = best_heads(arcs, lengths)
            real = np.arange(index.shape[1]) < lengths[:, None]
            words = index[real]
            node[words] = np.take_along_axis(above, best, axis=1)[real]
            heads[words] = np.where(best > 0, best - 1 + batch.start[group][:, None], -1)[real]
        relation = self._relations(dep_label, head_label[node])
        # the relation is chosen without a look at what else there is; only what hangs from nothing is a root
        relation[relation == self._root] = self._other
        relation[heads < 0] = self._root
        for part, low, high in zip(parts, batch.bounds[:-1].tolist(), batch.bounds[1:].tolist(), strict=True):
            part.heads = np.where(heads[low:high] < 0, -1, heads[low:high] - low)
            part.relations = relation[low:high].tolist()

    def _relations(self, dep: Floats, head: Floats) -> Ints:
        """The best relation of each word to its head."""
        found = []
        for at in range(0, len(dep), MAX_PAIRS):
            piece = slice(at, at + MAX_PAIRS)
            found += self.model.run("relation", ["relation"], {"dep": dep[piece], "head": head[piece]})
        return np.concatenate(found)

    def _score(self, name: str, words: Floats, before: Ints, after: Ints) -> discourse.ScoreSpans:
        """Scores spans, given by first and last word, in bounded pieces. Each needs its words and their neighbours."""

        def score(first: Ints, last: Ints) -> tuple[Ints, Floats]:
            found = []
            for at in range(0, len(first), MAX_SPANS):
                piece = slice(at, at + MAX_SPANS)
                low, high = max(int(first[piece].min()) - 1, 0), int(last[piece].max()) + 2
                feeds: dict[str, NDArray[Any]] = {
                    "words": words[low:high],
                    "before": _within(before[low:high] - low, high - low),
                    "after": _within(after[low:high] - low, high - low),
                    "first": first[piece] - low,
                    "last": last[piece] - low,
                }
                found.append(self.model.run(name, ["label", "lead"], feeds))
            return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

        return score

    def _spans(self, batch: _Batch, parts: list[Part], names: list[str]) -> None:
        triangles = [triangle(n) for n in batch.length.tolist()]
        counts = np.array([len(start) for start, _ in triangles])
        offsets = np.cumsum(counts) - counts
        start, more = (np.concatenate([t[side] for t in triangles]) for side in (0, 1))
        first = start + np.repeat(batch.start, counts)
        results = [self._score(name, batch.words, batch.before, batch.after)(first, first + more) for name in names]
        trees: dict[str, list[list[Span]]] = {name: [[] for _ in triangles] for name in names}
        for group in batch.groups():
            spans = np.concatenate([np.arange(offsets[k], offsets[k] + counts[k]) for k in group])
            row = np.repeat(np.arange(len(group)), counts[group])
            size = int(batch.length[group[-1]])
            at = row, start[spans], more[spans]
            scores = np.zeros((len(names), len(group), size, size), np.float32)
            labels = np.zeros(scores.shape, np.int64)
            for k, (label, lead) in enumerate(results):
                scores[k][at] = np.maximum(lead[spans], 0)
                labels[k][at] = label[spans]
            flat = scores.reshape(-1, size, size)
            chosen = best_spans(flat, np.tile(batch.length[group], len(names))).reshape(scores.shape)
            for k, name in enumerate(names):
                known = self._span_labels[name]
                found = np.nonzero(chosen[k] & (scores[k] > 0))
                columns = (*(axis.tolist() for axis in found), labels[k][found].tolist())
                for sentence, i, extra, label in zip(*columns, strict=True):
                    trees[name][group[sentence]].append((i, i + extra + 1, known[label]))
        for name in names:
            for window, tree in zip(batch.window.tolist(), trees[name], strict=True):
                getattr(parts[window], name).append(tree)

    def _remotes(self, batch: _Batch, parts: list[Part]) -> None:
        """An edge from a scene to a unit elsewhere in the sentence, where the network says so."""
        offsets = iter(batch.start.tolist())
        parents: list[tuple[int, int]] = []
        children: list[tuple[int, int]] = []
        places: list[tuple[list[Remote], int, int, int]] = []
        for part in parts:
            for tree in part.ucca:
                offset = next(offsets)
                found: list[Remote] = []
                part.remotes.append(found)
                scenes = _scenes(tree)
                if scenes:
                    parents += [(i + offset, j + offset) for i, j in scenes]
                    children += [(i + offset, j + offset) for i, j, _ in tree]
                    places.append((found, offset, len(parents), len(children)))
        if not places:
            return
        above, below = np.array(parents, np.int64), np.array(children, np.int64)
        ends = {
            "parent_first": above[:, 0], "parent_last": above[:, 1] - 1,
            "child_first": below[:, 0], "child_last": below[:, 1] - 1,
        }  # fmt: skip
        names = ("parent", "parent_step", "child", "child_step", "alone")
        feeds: dict[str, NDArray[Any]] = {name: np.ascontiguousarray(value) for name, value in ends.items()}
        feeds["words"] = batch.words
        parent, parent_step, child, child_step, alone = self.model.run("remote", names, feeds)
        p = c = 0
        for found, offset, q, d in places:
            # products of whole numbers, exact in any order: (parents, categories, children)
            scores = np.matmul(parent[p:q], child[c:d].T) * parent_step[p:q] * child_step[c:d].T + alone[:, None]
            best = scores[:, 1:].argmax(axis=1)
            lead = scores[:, 1:].max(axis=1) - scores[:, 0]
            lead[(below[c:d, 0] < above[p:q, 1, None]) & (below[c:d, 1] > above[p:q, 0, None])] = -np.inf
            for i, j in best_apart(lead, children[c:d]):
                scene, unit = parents[p + i], children[c + j]
                category = self.model.labels["ucca_remote"][best[i, j]]
                found.append(((scene[0] - offset, scene[1] - offset), (unit[0] - offset, unit[1] - offset), category))
            p, c = q, d

    def _arguments(self, batch: _Batch, parts: list[Part], predicate: NDArray[np.bool_]) -> None:
        at = np.flatnonzero(predicate)
        if not len(at):
            return
        sentence = np.searchsorted(batch.start, at, side="right") - 1
        lows = batch.bounds[batch.window[sentence]]
        lengths = batch.length[sentence]
        done = 0
        while done < len(at):
            # as many predicates as fit, at least one
            pairs = np.cumsum(lengths[done:])
            some = slice(done, done + max(int(np.searchsorted(pairs, MAX_ROLE_PAIRS, side="right")), 1))
            found = self._role_spans(batch, at[some], batch.start[sentence[some]], lengths[some])
            starts = (batch.start[sentence[some]] - lows[some]).tolist()
            for word, start, window, arguments in zip(
                (at[some] - lows[some]).tolist(), starts, batch.window[sentence[some]].tolist(), found, strict=True
            ):
                spans = [(start + i, start + j, role) for i, j, role in arguments if role != "V"]
                parts[window].roles.append((word, spans))
            done = some.stop

    def _role_spans(self, batch: _Batch, predicate: Ints, start: Ints, length: Ints) -> list[list[Span]]:
        """Each predicate's arguments in its sentence, and the predicate itself as V."""
        index, lengths = _padded(start, length)
        real = np.arange(index.shape[1]) < lengths[:, None]
        low, high = int(start.min()), int((start + length).max())
        feeds = {
            "words": batch.words[low:high],
            "predicate": np.repeat(predicate - low, lengths),
            "word": index[real] - low,
        }
        (tags,) = self.model.run("roles", ["tags"], feeds)
        scores = np.zeros((*index.shape, tags.shape[1]), np.float32)
        scores[real] = tags
        # no argument holds its own predicate
        own = np.arange(len(predicate)), predicate - start
        verb = scores[own][:, self._verb]
        scores[own] = FORBIDDEN
        scores[(*own, self._verb)] = verb
        paths = self._roles.decode(scores, lengths)
        found = [self._roles.spans(path.tolist()) for path in paths]
        return [once(spans, partial(self._roles.lead, scores[k], paths[k])) for k, spans in enumerate(found)]

    def discourse(self, texts: Sequence[tuple[Floats, Ints, Ints]]) -> list[list[Span]]:
        """The binary discourse tree of each text, as spans over its units.

        A text is its word vectors, the bounds of its windows and the first words of its units.
        """
        found: list[list[Span]] = [[] for _ in texts]
        many = [k for k, (_, _, units) in enumerate(texts) if len(units) > 1]
        if not many:
            return found
        rows = np.concatenate([texts[k][0] for k in many])
        bounds, first, last, offset = [np.zeros(1, np.int64)], [], [], 0
        for k in many:
            words, windows, units = texts[k]
            bounds.append(windows[1:] + offset)
            first.append(units + offset)
            last.append(np.append(units[1:], len(words)) - 1 + offset)
            offset += len(words)
        score = self._score("rst", rows, *neighbours(np.concatenate(bounds)))
        for k, tree in zip(many, discourse.trees(score, self._span_labels["rst"], first, last), strict=True):
            found[k] = tree
        return found


def _cut(starts: Ints, size: int) -> int:
    """Where a window that the text goes beyond is cut: at its last sentence start.

    One near the window's beginning is not waited for: the sentence is longer than the encoder takes, or nearly.
    """
    return int(starts[-1]) if starts[-1] > size // 4 else size


def _within(index: Ints, size: int) -> Ints:
    """Numbers that lie outside a slice become -1."""
    return np.where((index >= 0) & (index < size), index, -1)


def _padded(start: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Word numbers (sentence, position); positions beyond a sentence repeat its last word."""
    size = int(length.max()) if len(length) else 0
    return start[:, None] + np.minimum(np.arange(size), length[:, None] - 1), length


def best_apart(lead: NDArray[np.float32], units: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of each scene (row) the units with enough lead, best first; of units inside one another only the best."""
    for scene in np.flatnonzero(lead.max(axis=1) > REMOTE_LEAD).tolist():
        taken: list[tuple[int, int]] = []
        for unit in np.argsort(-lead[scene], kind="stable").tolist():
            if lead[scene, unit] <= REMOTE_LEAD:
                break
            first, end = units[unit]
            if all(end <= i or j <= first for i, j in taken):
                taken.append(units[unit])
                yield scene, unit


def _unit_scores(batch: _Batch, weights: Floats, bias: float) -> Floats:
    """From a word and its neighbours in the sentence; row by row, so that nothing depends on the batch."""
    here, before, after = weights
    scores: Floats = (batch.words * here).sum(axis=1) + np.float32(bias)
    left, right = neighbours(np.append(batch.start, len(batch.words)))
    for index, weight in ((left, before), (right, after)):
        scores += np.where(index >= 0, (batch.words * weight).sum(axis=1)[index], np.float32(0))
    return scores


def once(spans: list[Span], lead: Callable[[], Floats]) -> list[Span]:
    """Of the spans with the same core role the one whose words have most lead, in the mean, over being no argument."""
    core = [role for _, _, role in spans if role in CORE_ROLES]
    if len(set(core)) == len(core):
        return spans
    leads = lead()
    best: dict[str, tuple[float, int]] = {}
    for k, (i, j, role) in enumerate(spans):
        best[role] = max(best.get(role, (-np.inf, -1)), (float(leads[i:j].mean()), -k))
    return [span for k, span in enumerate(spans) if span[2] not in CORE_ROLES or best[span[2]][1] == -k]


def _scenes(tree: Sequence[Span]) -> list[tuple[int, int]]:
    """Spans that have a process or a state among their children. The spans are nested and in order of their starts."""
    scenes = []
    stack: list[tuple[int, int, list[bool]]] = []
    for i, j, label in sorted(tree, key=lambda span: (span[0], -span[1])):
        while stack and stack[-1][1] <= i:
            stack.pop()
        main, within = _main(label)
        if main and stack and not stack[-1][2][0]:
            stack[-1][2][0] = True
            scenes.append(stack[-1][:2])
        if within:
            scenes.append((i, j))
        stack.append((i, j, [within]))
    return scenes


@cache
def _main(label: str) -> tuple[bool, bool]:
    """Whether the outermost of the units that a span stands for is a process or state, and whether one below it is."""
    first, *rest = [any(part[:1] in ("P", "S") for part in unit.split("|")) for unit in label.split("+")]
    return first, any(rest)
