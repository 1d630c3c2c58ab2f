"""The files of this repository that the tests of packaging read."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = ("harness", "scoring", "baselines")
#: Top directories of the repository that go into the package harness.shipped, at least in part.
SHIPPED = ("submissions", "task_data", "docs", ".github/workflows")
