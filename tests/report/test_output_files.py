"""Output files are whole or not there; what is no regular file is written to as it stands."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arboreval.errors import UsageError
from arboreval.report.files import opened_atomically, write_atomically


def broken_off(path):
    with contextlib.suppress(RuntimeError), opened_atomically(path) as file:
        file.write("half")
        raise RuntimeError


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "out"
    broken_off(path)
    assert list(tmp_path.iterdir()) == []
    write_atomically(path, "first\n")
    broken_off(path)
    assert path.read_text() == "first\n"
    write_atomically(path, "second\n")
    assert path.read_text() == "second\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "target").write_text("old")
    (tmp_path / "between").symlink_to(folder / "target")
    link = tmp_path / "link"
    link.symlink_to("between")
    broken_off(link)
    assert (folder / "target").read_text() == "old"
    write_atomically(link, "new")
    assert (link.is_symlink(), (tmp_path / "between").is_symlink()) == (True, True)
    assert (folder / "target").read_text() == "new"
    (folder / "target").unlink()
    write_atomically(link, "made")
    assert (link.is_symlink(), (folder / "target").read_text()) == (True, "made")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["between", "elsewhere", "link", "target"]


@pytest.mark.parametrize("name", ["fifo", "link"])
def test_a_pipe_stays_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_text()), daemon=True)
    reader.start()
    write_atomically(tmp_path / name, "a\nb ü\n")
    reader.join(10)
    assert read == ["a\nb ü\n"]
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fifo", "link"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_keeps_what_else_goes_there(tmp_path, name):
    """The name leads to the file that the shell opened, which must be neither replaced nor begun again."""
    path = tmp_path / "out"
    write = (
        f"from pathlib import Path; from arboreval.report.files import *; write_atomically(Path({name!r}), 'two\\n')"
    )
    with path.open("w") as file:
        file.write("one\n")
        file.flush()
        subprocess.run([sys.executable, "-c", write], stdout=file, check=True)
        file.seek(0, os.SEEK_END)
        file.write("three\n")
    assert path.read_text() == "one\ntwo\nthree\n"


def test_a_reader_who_has_gone_is_no_wrong_usage(tmp_path):
    ends = os.pipe()
    os.close(ends[0])
    try:
        with pytest.raises(BrokenPipeError):
            write_atomically(Path(f"/dev/fd/{ends[1]}"), "text")
    finally:
        os.close(ends[1])


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "to folder").symlink_to("folder")
    (tmp_path / "lost").symlink_to("nowhere/file")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.iterdir())
    for name, reason in [
        ("folder", "Is a directory"),
        ("to folder", "Is a directory"),
        ("lost", "No such file or directory"),
        ("loop", "Too many levels of symbolic links"),
        ("nowhere/file", "No such file or directory"),
    ]:
        with pytest.raises(UsageError) as caught:
            write_atomically(tmp_path / name, "text")
        assert str(caught.value) == f"cannot write {tmp_path / name}: {reason}."
    assert sorted(tmp_path.iterdir()) == before
    assert list((tmp_path / "folder").iterdir()) == []
