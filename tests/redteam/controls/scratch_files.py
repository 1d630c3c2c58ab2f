"""Scratch files by their paths and by the tempfile module."""

import os
import tempfile
from pathlib import Path

import numpy as np

EXPECT = ("OK",)
VALUE = 10.0


def complexity(model, dataset):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, np.arange(5))
        copy = Path(os.environ["TMPDIR"], "copy.npy")
        copy.write_bytes(Path(file.name).read_bytes())
    return float(np.load(copy).sum())
