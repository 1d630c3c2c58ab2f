"""The program that writes training and test images as arrays, decoded and resized by TensorFlow.

A question is `{"recipe": ..., "directory": DIRECTORY}`, where "recipe" has the section [data] of a recipe
(`harness.corpus.recipe`). The answer is `{"notes": [...]}`.
"""

from pathlib import Path

import numpy as np

from harness.corpus.datasets import load_data
from harness.corpus.recipe import DataRecipe
from harness.processes.models import Answer, Question, plain


def answer(question: Question) -> Answer:
    """Write train_inputs.npy, train_labels.npy, test_inputs.npy and test_labels.npy to the question's directory."""
    data = load_data(DataRecipe(**question["recipe"]), Path())
    for name in ("train_inputs", "train_labels", "test_inputs", "test_labels"):
        np.save(Path(question["directory"], f"{name}.npy"), getattr(data, name))
    return {"notes": list(data.notes)}


prepare = plain(answer)
