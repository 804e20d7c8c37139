from __future__ import annotations

import gzip
import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arboreval.corpus import read_corpus
from arboreval.corpus.readers import system_names
from arboreval.errors import InputError, MissingExtraError, UsageError

ROWS = [
    {"system": "x", "seg": 1, "doc": "d", "src": "q", "hyp": "a", "refs": ["r", "s"]},
    {"system": "x", "seg": 2, "doc": "d", "src": "w", "hyp": "b", "refs": ["t"]},
    {"system": "y", "seg": 2, "doc": "d", "src": "w", "hyp": "B", "refs": ["t"]},
    {"system": "y", "seg": 1, "doc": "d", "src": "q", "hyp": "A", "refs": ["r", "s"]},
]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes files into an empty folder, which is the working folder, and returns their names."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write


def jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def refused(*args, error=InputError, **kwargs) -> str:
    with pytest.raises(error) as caught:
        read_corpus(*args, **kwargs)
    return str(caught.value)


def test_text(write):
    corpus = read_corpus([write("a.txt", "x\n\nz\n"), write("b.txt", "1\n2\n3")], [write("r.txt", "p\r\nq\r\nr\r\n")])
    assert corpus.systems == {"a": ["x", "", "z"], "b": ["1", "2", "3"]}
    assert corpus.references == [("p",), ("q",), ("r",)]
    assert list(corpus.segment_ids) == [1, 2, 3]


def test_lines_end_at_line_feeds_only(write):
    odd = "a\u2028b\u0085c\x0bd\x0ce\x1cf\n"
    assert read_corpus([write("h.txt", odd)], [write("r.txt", "r\n")]).systems == {"h": [odd[:-1]]}


def test_byte_order_mark_is_not_text(write):
    assert read_corpus([write("h.txt", b"\xef\xbb\xbfa\n")], [write("r.txt", "a\n")]).systems == {"h": ["a"]}


def test_several_references_may_be_ragged(write):
    corpus = read_corpus(
        [write("h.txt", "a\nb\nc\n")],
        [write("r1.txt", "p\n\n\n"), write("r2.txt", "q\nr\n\n"), write("r3.txt", "s\n\n\n")],
    )
    assert corpus.references == [("p", "q", "s"), ("r",), ("",)]
    assert corpus.reference_count == "var"


def test_gzip_of_each(write):
    files = [
        write("h.txt.gz", gzip.compress(b"a\n")),
        write("t.tsv.gz", gzip.compress(b"system\thyp\nt\tb\n")),
        write("j.jsonl.gz", gzip.compress(jsonl([{"mt": "c"}]).encode())),
        write("named-wrongly.txt", gzip.compress(b"d\n")),
    ]
    corpus = read_corpus(files, [write("r.txt.gz", gzip.compress(b"r\n"))])
    assert corpus.systems == {"h": ["a"], "t": ["b"], "j": ["c"], "named-wrongly": ["d"]}


def test_jsonl_with_several_systems_is_paired_by_segment(write):
    corpus = read_corpus([write("all.jsonl", jsonl(ROWS))])
    assert corpus.systems == {"x": ["a", "b"], "y": ["A", "B"]}
    assert corpus.references == [("r", "s"), ("t",)]
    assert corpus.sources == ["q", "w"]
    assert corpus.segment_ids == [1, 2]
    assert corpus.documents == ["d", "d"]


def test_tsv(write):
    corpus = read_corpus([write("t.tsv", "mt\tref\tref2\tsrc\na b\tr\t\tq\nc\ts\tt\tw\n")])
    assert corpus.systems == {"t": ["a b", "c"]}
    assert corpus.references == [("r",), ("s", "t")]
    assert corpus.sources == ["q", "w"]


def test_parquet(write, tmp_path):
    for name in ("p.parquet", "z.parquet.gz"):
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(ROWS), buffer)
        data = buffer.getvalue()
        corpus = read_corpus([write(name, gzip.compress(data) if name.endswith("gz") else data)])
        assert corpus.systems == {"x": ["a", "b"], "y": ["A", "B"]}
        assert corpus.references == [("r", "s"), ("t",)]


def test_parquet_needs_its_extra(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused([write("p.parquet", b"PAR1")], error=MissingExtraError)
    assert message == "p.parquet is a Parquet file, which needs another package: pip install 'arboreval[parquet]'."


@pytest.mark.parametrize(
    ("content", "systems"),
    [
        (b"a\nb\n", {"stdin": ["a", "b"]}),
        (gzip.compress(b"a\nb\n"), {"stdin": ["a", "b"]}),
        (b'{"hyp": "a"}\n{"hyp": "b"}\n', {"stdin": ["a", "b"]}),
        (b"{not json\nb\n", {"stdin": ["{not json", "b"]}),
        (b"seg\thyp\n1\ta\n2\tb\n", {"stdin": ["a", "b"]}),
    ],
)
def test_standard_input(write, monkeypatch, content, systems):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_corpus(["-"], [write("r.txt", "r\ns\n")]).systems == systems


def test_standard_input_only_once():
    assert refused(["-"], ["-"], error=UsageError) == "standard input (-) can be read only once."


def test_references_and_source_from_tables(write):
    table = write("all.jsonl", jsonl(ROWS))
    corpus = read_corpus([write("h.txt", "1\n2\n")], [table], source=table)
    assert corpus.references == [("r", "s"), ("t",)]
    assert corpus.sources == ["q", "w"]


def test_reference_files_replace_inline_references(write):
    corpus = read_corpus([write("all.jsonl", jsonl(ROWS))], [write("r.txt", "one\ntwo\n")])
    assert corpus.references == [("one",), ("two",)]


def test_names_of_systems():
    assert system_names(["out/a.txt", "b.jsonl.gz", "c.v1.2", "-"]) == ["a", "b", "c.v1.2", "stdin"]
    assert system_names(["x/hyp.txt", "y/hyp.txt", "z.txt"]) == ["x/hyp.txt", "y/hyp.txt", "z"]


def test_language_pair_of_the_data(write):
    reference = write("r.txt", "r\n")
    assert read_corpus([write("wmt.zh-en.sysA.txt", "a\n")], [reference]).language_pair == "zh-en"
    assert read_corpus([write("en-de.txt", "a\n")], [reference]).lang == "de"
    assert read_corpus([write("my-sys.old-it.txt", "a\n")], [reference]).lang == "en"
    assert read_corpus([write("h.jsonl", '{"hyp": "a", "lp": "en-ru"}\n')], [reference]).lang == "ru"
    assert read_corpus(["en-de.txt"], [reference], lang="fr").lang == "fr"


def test_unequal_line_counts(write):
    hyp, ref = write("h.txt", "a\nb\nc\n"), write("r.txt", "r\ns\n")
    assert refused([hyp], [ref]) == ("h.txt has 3 segments but r.txt has 2: line 3 of h.txt has no partner in r.txt.")
    assert refused([ref, hyp], [ref]) == (
        "r.txt has 2 segments but h.txt has 3: line 3 of h.txt has no partner in r.txt."
    )
    assert "r.txt has 2" in refused([hyp], [hyp], source=ref)
    assert "h.txt has 3 segments but r.txt has 2" in refused([hyp], [hyp, ref])


def test_files_that_cannot_be_read(write, tmp_path):
    ref = write("r.txt", "r\n")
    assert refused(["none.txt"], [ref]) == "none.txt: there is no such file."
    assert refused([str(tmp_path)], [ref]) == f"{tmp_path} is a folder, not a file."
    assert refused([write("e.txt", "")], [ref]) == "e.txt is empty."
    assert refused([write("e.jsonl", "\n")], [ref]) == "e.jsonl has no rows."
    assert refused([write("e.tsv", "hyp\n")], [ref]) == "e.tsv has no rows."
    assert refused([write("t.txt.gz", gzip.compress(b"a\n" * 99)[:-9])], [ref]).startswith(
        "t.txt.gz is not a whole gzip file"
    )
    assert refused([write("x.parquet", b"nonsense")], [ref]).startswith("x.parquet is not a Parquet file")
    assert refused([ref], error=UsageError) == "no reference: give one with -r, or a ref column in r.txt."


def test_invalid_utf8_names_line_and_byte(write):
    ref = write("r.txt", "r\ns\n")
    assert refused([write("h.txt", b"good\nna\xefve\n")], [ref]) == ("h.txt, line 2, byte 3: 0xef is not valid UTF-8.")
    assert refused([write("b.txt", b"\xef\xbb\xbfgood\xff\nb\n")], [ref]) == (
        "b.txt, line 1, byte 8: 0xff is not valid UTF-8."
    )
    assert refused([write("u.txt", "a\nb\n".encode("utf-16"))], [ref]).startswith("u.txt, line 1, byte 1: 0xff")


def test_tables_that_do_not_fit(write):
    ref = write("r.txt", "r\ns\n")
    assert refused([write("t.tsv", "output\tref\na\tb\n")]) == (
        "t.tsv has no column hyp or mt for the hypotheses; its columns are output, ref."
    )
    assert refused([ref], [write("h.tsv", "hyp\na\nb\n")]) == (
        "h.tsv has no column ref or refs for the references; its columns are hyp."
    )
    assert refused([ref], [ref], source="h.tsv") == "h.tsv has no column src for the source; its columns are hyp."
    assert refused([write("w.tsv", "hyp\tref\na\n")]) == "w.tsv, line 2: 1 fields, but the header has 2."
    assert refused([write("d.tsv", "hyp\thyp\na\tb\n")]) == "d.tsv, line 1: the column 'hyp' occurs twice."
    assert refused([write("n.jsonl", '{"hyp": "a", "ref": "r"}\n{"hyp": NaN, "ref": "r"}\n')]) == (
        "n.jsonl, line 2: 'hyp' must be a text, not NaN."
    )
    assert refused([write("m.jsonl", '{"hyp": null, "ref": "r"}\n')]) == (
        "m.jsonl, line 1: 'hyp' must be a text, not null."
    )
    assert refused([write("k.jsonl", '{"hyp": "a", "refs": ["r", 3]}\n')]) == (
        "k.jsonl, line 1: 'refs' must be a text, not a number."
    )
    assert refused([write("j.jsonl", '{"hyp": "a"\n')]).startswith("j.jsonl, line 1: not valid JSON")
    assert refused([write("l.jsonl", "[1]\n")]) == "l.jsonl, line 1: expected a JSON object, got a list."
    assert refused([write("s.jsonl", '{"hyp": "a", "ref": "r", "seg": null}\n')]) == (
        "s.jsonl, line 1: 'seg' must be a number or a name, not null."
    )


def test_systems_that_do_not_fit(write):
    double = [ROWS[0], {**ROWS[1], "seg": 1}]
    assert refused([write("d.jsonl", jsonl(double))]) == (
        "d.jsonl, line 2: segment 1 occurs twice in system 'x'; it was on line 1."
    )
    assert refused([write("m.jsonl", jsonl(ROWS[:3]))]) == (
        "m.jsonl (system y) has no segment 1 of document 'd' (m.jsonl (system x), line 1); "
        "m.jsonl (system x) has 2 segments, m.jsonl (system y) has 1."
    )
    more = [ROWS[0], *ROWS[2:]]
    assert refused([write("e.jsonl", jsonl(more))]) == (
        "e.jsonl (system y), line 2: segment 2 of document 'd' is not in e.jsonl (system x); "
        "e.jsonl (system x) has 1 segments, e.jsonl (system y) has 2."
    )
    other = [*ROWS[:3], {**ROWS[3], "refs": ["something else"]}]
    assert refused([write("o.jsonl", jsonl(other))]) == (
        "o.jsonl (system y): the references of segment 1 differ from those in o.jsonl (system x), line 1."
    )
    assert refused([write("x.txt", "a\nb\n"), write("a.jsonl", jsonl(ROWS))], [write("r.txt", "r\ns\n")]) == (
        "the system 'x' is in x.txt and in a.jsonl (system x)."
    )
