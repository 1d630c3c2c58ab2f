"""The program that writes a dataset of Keras as arrays, so that other processes need not import a framework.

A question (a request to the program) is `{"name": NAME, "file": FILE.npz}`, and the answer is empty.
"""

from typing import Any

import numpy as np

from harness.corpus.sources import read_keras
from harness.processes.models import Answer, Question, plain


def answer(question: Question) -> Answer:
    """Write x_train, y_train, x_test and y_test of a dataset to the `.npz` file in the question."""
    source = read_keras(question["name"])
    assert source.test is not None
    arrays: dict[str, Any] = {}
    for part, split in (("train", source.train), ("test", source.test)):
        arrays |= {f"x_{part}": split.images, f"y_{part}": split.labels}
    np.savez(question["file"], **arrays)
    return {}


prepare = plain(answer)
