"""Every measure has tests of its own, beside what holds for all of them."""

import re
import subprocess
import sys
from pathlib import Path

import baselines

HERE = Path(__file__).parent
GENERAL = ("test_every_measure.py", Path(__file__).name)
FAMILIES = [file for file in HERE.glob("test_*.py") if file.name not in GENERAL]

#: Spectral norms of convolutions are tested in test_spectral_norms.py; what is made of them, in its plain form.
VARIANTS = re.compile(r"_(fft|op)$")


def test_tests_name_every_measure():
    """In their text, or in the names that they get from their parameters."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q", *map(str, FAMILIES)]
    collected = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parents[1], check=True).stdout
    words = set(re.findall(r"\w+", collected + "".join(file.read_text() for file in FAMILIES)))
    assert [name for name in baselines.MEASURES if VARIANTS.sub("", name) not in words] == []
