"""Directories as mt-metrics-eval reads and writes them.

::

    DIR/sources/LP.txt                      a source a line
    DIR/references/LP.NAME.txt              a reference a line, one file for each reference
    DIR/documents/LP.docs                   lines DOMAIN<TAB>DOCUMENT
    DIR/system-outputs/LP/SYSTEM.txt        an output a line
    DIR/human-scores/LP.NAME.LEVEL.score    lines SYSTEM<TAB>SCORE, None where there is none
    DIR/metric-scores/LP/NAME-REF.LEVEL.score

The files have a line for every segment. An empty line is a text that is missing: for outputs, if there is no score of
people or of a metric for it (and any file has scores of segments), because systems may say nothing at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from arboreval.errors import InputError, UsageError
from arboreval.meta.evalset import EvalSet, FloatArray, Outputs
from arboreval.meta.readers import open_bytes
from arboreval.meta.scores import Scored
from arboreval.meta.tables import mtme_lines, read_scores, read_table, segment_scores

_WHITE_SPACE = re.compile(r"\s+")


def language_pairs(directory: Path) -> list[str]:
    pairs = sorted(p.name for p in (directory / "system-outputs").glob("*") if p.is_dir())
    if not pairs:
        raise InputError(f"{directory} is no mt-metrics-eval directory: there is no system-outputs/LANGUAGE-PAIR.")
    return pairs


def read_mtme(directory: Path, lp: str) -> EvalSet:
    """A language pair with everything the directory has for it."""
    outputs = {
        p.name.removesuffix(".txt"): _lines(p) for p in sorted((directory / "system-outputs" / lp).glob("*.txt"))
    }
    references = {
        p.name.removeprefix(f"{lp}.").removesuffix(".txt"): _lines(p)
        for p in sorted((directory / "references").glob(f"{lp}.*.txt"))
    }
    source_file, document_file = directory / "sources" / f"{lp}.txt", directory / "documents" / f"{lp}.docs"
    sources = _lines(source_file) if source_file.exists() else None
    documents = [_last_word(line) for line in _lines(document_file)] if document_file.exists() else None
    if not outputs:
        raise InputError(f"{directory / 'system-outputs' / lp} holds no outputs.")
    first = next(iter(outputs))
    n = len(outputs[first])
    named = {f"system-outputs/{lp}/{k}.txt": v for k, v in outputs.items()}
    named |= {f"references/{lp}.{k}.txt": v for k, v in references.items()}
    if sources is not None:
        named[f"sources/{lp}.txt"] = sources
    if documents is not None:
        named[f"documents/{lp}.docs"] = documents
    for name, lines in named.items():
        if len(lines) != n:
            raise InputError(f"{directory / name} has {len(lines)} lines, but system-outputs/{lp}/{first}.txt has {n}.")
    systems = tuple(outputs)
    # a reference that was judged like a system is not compared with itself
    row_references = [tuple(r[i] for k, r in references.items() if k != s and r[i]) for s in systems for i in range(n)]
    data = EvalSet(
        dataset=directory.resolve().name,
        lp=lp,
        shape="scored",
        origin=str(directory),
        systems=systems,
        segment_ids=tuple(range(1, n + 1)),
        outputs=Outputs(
            tuple(text for lines in outputs.values() for text in lines),
            tuple(row_references),
            tuple([text or None for text in sources or [""] * n] * len(systems)),
            tuple([text or None for text in documents or [""] * n] * len(systems)),
            np.repeat(np.arange(len(systems)), n),
            np.tile(np.arange(n), len(systems)),
        ),
        full_size=n,
    )
    data = _with_human(data, directory, lp)
    foreign: dict[str, dict[str, Path]] = {}
    for path in sorted((directory / "metric-scores" / lp).glob("*.score")):
        stem, level, _ = path.name.rsplit(".", 2)
        if level in ("seg", "sys"):
            foreign.setdefault(stem, {})[level] = path
    for levels in foreign.values():
        parts = [read_scores(path, data)[0] for path in levels.values()]
        rows = next((part.rows for part in parts if part.rows is not None), None)
        merged = replace(parts[0], rows=rows, systems={k: v for part in parts for k, v in part.systems.items()})
        if merged.name not in data.foreign:
            data = data.with_foreign([merged])
    return _without_missing(data)


def _last_word(line: str) -> str:
    return line.split()[-1] if line.strip() else ""


def _without_missing(data: EvalSet) -> EvalSet:
    """Leaves out the rows of outputs that are missing."""
    scores = [*data.human.values(), *(f.rows for f in data.foreign.values() if f.rows is not None)]
    scored = np.any([np.isfinite(values) for values in scores], axis=0) if scores else np.zeros(len(data.outputs), bool)
    there = np.array([bool(text) for text in data.outputs.hypotheses]) | scored
    if there.all() or not scored.any():
        return data
    part = data.subset(there)
    return replace(part, full_size=len(part.segment_ids))


def _with_human(data: EvalSet, directory: Path, lp: str) -> EvalSet:
    human: dict[str, FloatArray] = {}
    published: dict[str, dict[str, float]] = {}
    for path in sorted((directory / "human-scores").glob(f"{lp}.*.score")):
        name, level = path.name.removeprefix(f"{lp}.").removesuffix(".score").rsplit(".", 1)
        if level == "seg":
            rows = read_human(path, data)
            if np.isfinite(rows).any():
                human[_key(name)] = rows
        elif level == "sys":
            scores = _system_scores(path, data)
            if scores:
                published[_key(name)] = scores
    return replace(data, human=human, system_scores=published)


def _system_scores(path: Path, data: EvalSet) -> dict[str, float]:
    table = read_table(path, header=False)
    scores: dict[str, float] = {}
    for system, line, value in mtme_lines(table):
        if math.isnan(value):
            continue
        if system not in data.systems:
            raise table.error(line, f"unknown system {system!r}; there is no such file of outputs.")
        if system in scores:
            raise table.error(line, f"the system {system!r} comes twice.")
        scores[system] = value
    return scores


def _key(name: str) -> str:
    """The name that an EvalSet has for a kind of human scores: ``wmt-z`` is ``z``, ``fluency-z`` is ``z:fluency``."""
    name = name.removeprefix("wmt-")
    if name in ("z", "raw"):
        return name
    return f"z:{name.removesuffix('-z')}" if name.endswith("-z") else f"raw:{name}"


def _name(key: str) -> str:
    kind, _, criterion = key.partition(":")
    return kind if not criterion else criterion if kind == "raw" else f"{criterion}-z"


def read_human(path: Path, data: EvalSet) -> FloatArray:
    """A segment-level file of human scores; the format is that of metric scores."""
    return segment_scores(read_table(path, header=False), data)


def _lines(path: Path) -> list[str]:
    try:
        return open_bytes(path).decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error}.") from error


# --- writing -----------------------------------------------------------------------------------------------------


def write_mtme_evalset(data: EvalSet, directory: Path, scores: Iterable[Scored] = ()) -> list[Path]:
    """Writes texts, human scores and metric scores. An output that is missing is an empty line without scores.

    References are those of the first row of each segment; ``refA``, ``refB``, ... name them by position.
    """
    from arboreval.report.files import write_atomically

    if not data.systems:
        raise UsageError(f"{data.origin} does not name its systems; mt-metrics-eval needs names.")
    n, lp = len(data.segment_ids), data.lp
    index = data.row_index()
    first_row = {int(segment): row for row, segment in reversed(list(enumerate(data.outputs.segment)))}
    count = max(len(refs) for refs in data.outputs.references)
    out = data.outputs
    files: dict[str, list[str]] = {
        f"sources/{lp}.txt": [out.sources[first_row[i]] or "" for i in range(n)],
    }
    if any(document is not None for document in out.documents):
        files[f"documents/{lp}.docs"] = [f"all\t{out.documents[first_row[i]] or 'doc'}" for i in range(n)]
    for k in range(count):
        refs = [out.references[first_row[i]] for i in range(n)]
        files[f"references/{lp}.ref{chr(ord('A') + k)}.txt"] = [r[k] if k < len(r) else "" for r in refs]
    rows = [[index.get((system, segment)) for segment in data.segment_ids] for system in data.systems]
    names = [_WHITE_SPACE.sub("_", system) for system in data.systems]
    for name, mine in zip(names, rows, strict=True):
        files[f"system-outputs/{lp}/{name}.txt"] = ["" if r is None else out.hypotheses[r] for r in mine]

    def lines(values: FloatArray) -> list[str]:
        return [
            f"{name}\t{_number(None if r is None else float(values[r]))}"
            for name, mine in zip(names, rows, strict=True)
            for r in mine
        ]

    for key, values in data.human.items():
        files[f"human-scores/{lp}.{_name(key)}.seg.score"] = lines(values)
    for key, published in data.system_scores.items():
        pairs = zip(names, data.systems, strict=True)
        files[f"human-scores/{lp}.{_name(key)}.sys.score"] = [f"{a}\t{_number(published.get(b))}" for a, b in pairs]
    reference = "refA" if count == 1 else "all"
    for scored in scores:
        stem = f"metric-scores/{lp}/{scored.name.replace(':', '_')}-{reference}"
        pairs_of = zip(names, scored.systems.tolist(), strict=True)
        files[f"{stem}.sys.score"] = [f"{name}\t{_number(value)}" for name, value in pairs_of]
        if scored.rows is not None:
            files[f"{stem}.seg.score"] = lines(scored.rows)
    written = []
    for name, content in files.items():
        path = directory / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to {path.parent}: {error.strerror}.") from error
        write_atomically(path, "".join(_WHITE_SPACE_LINE.sub(" ", line) + "\n" for line in content))
        written.append(path)
    return written


#: would end the line
_WHITE_SPACE_LINE = re.compile(r"[\n\r]+")


def _number(value: float | None) -> str:
    return "None" if value is None or math.isnan(value) else repr(value)
