"""Writes training and test images as arrays: `python -m harness.protocols.testbed.image_program RECIPE DIRECTORY`.

RECIPE is JSON, the section [data] of a recipe (`harness.corpus.recipe`). Runs in a process of its own, because images
are decoded and resized by TensorFlow. An error is one line on standard output, with exit code 2.
"""

import json
import sys
from pathlib import Path

import numpy as np

from harness.corpus.datasets import load_data
from harness.corpus.recipe import DataRecipe
from harness.errors import UserError


def main() -> None:
    """Write train_inputs.npy, train_labels.npy, test_inputs.npy and test_labels.npy, and print the notes."""
    settings, directory = json.loads(sys.argv[1]), Path(sys.argv[2])
    try:
        data = load_data(DataRecipe(**settings), Path())
    except UserError as error:
        print(error)
        sys.exit(2)
    for name in ("train_inputs", "train_labels", "test_inputs", "test_labels"):
        np.save(directory / f"{name}.npy", getattr(data, name))
    print(json.dumps(data.notes))


if __name__ == "__main__":
    main()
