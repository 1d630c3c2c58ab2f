"""Writes a dataset of Keras as arrays: `python -m harness.corpus.keras_arrays NAME FILE.npz`.

Runs in a process of its own, because Keras imports a framework; the harness reads the arrays without it.
"""

import sys
from typing import Any

import numpy as np

from harness.corpus.sources import read_keras
from harness.errors import UserError


def main() -> None:
    """Write x_train, y_train, x_test and y_test; an error is one line on standard output."""
    name, target = sys.argv[1:]
    try:
        source = read_keras(name)
    except UserError as error:
        print(error)
        sys.exit(2)
    assert source.test is not None
    arrays: dict[str, Any] = {}
    for part, split in (("train", source.train), ("test", source.test)):
        arrays |= {f"x_{part}": split.images, f"y_{part}": split.labels}
    np.savez(target, **arrays)


if __name__ == "__main__":
    main()
