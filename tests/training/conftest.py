"""The training programs are no package: their folder is put on the path, as when they are run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
