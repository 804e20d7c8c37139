from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Demo:
    """The shipped example."""

    folder: Path

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text(encoding="utf-8").split("\n")[:-1]

    @property
    def references(self) -> list[tuple[str, str]]:
        return list(zip(self.lines("ref.a.txt"), self.lines("ref.b.txt"), strict=True))

    @property
    def systems(self) -> dict[str, list[str]]:
        return {name: self.lines(f"system-{name}.txt") for name in ("amber", "birch", "cedar")}

    def path(self, name: str) -> str:
        return str(self.folder / name)


@pytest.fixture(scope="session")
def demo() -> Demo:
    return Demo(ROOT / "examples" / "demo")


@pytest.fixture(autouse=True)
def private_cache(tmp_path_factory, monkeypatch):
    """No test reads or fills the user's cache of analyses."""
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path_factory.mktemp("cache")))
