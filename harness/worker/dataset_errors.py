"""Advice on common errors with a data set of TensorFlow."""

import linecache
import re
from typing import Any

#: The three ways to read the examples, as the end of a line.
WAYS = (
    " (dataset yields single examples: `for inputs, labels in dataset.batch(512)` goes through batches, "
    "`inputs, labels = next(iter(dataset.batch(512)))` is the first, `inputs, labels = dataset.arrays` has all)"
)

#: The type of a data set, as Python names it where an operation does not take one.
_TYPE = re.compile(r"'\w*Dataset'")


def dataset_advice(error: BaseException) -> str:
    """Return what to write in place of what a data set cannot do, such as a slice or an unpacking, to end a line."""
    if isinstance(error, TypeError | AttributeError) and _TYPE.search(str(error)):
        return WAYS
    return WAYS if isinstance(error, ValueError) and _unpacks_dataset(error) else ""


def _unpacks_dataset(error: ValueError) -> bool:
    """Whether the error comes from a line such as `x, y = dataset`."""
    from tensorflow.data import Dataset

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or "values to unpack" not in str(error):
        return False
    frame = trace.tb_frame
    line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).partition("#")[0]
    given = line.rpartition("=")[2].strip()
    return isinstance(frame.f_locals.get(given), Dataset)


def refuse_single_example(given: Any, example: tuple[int, ...]) -> None:
    """Raise `ValueError` if a model for batches of examples of this shape gets a single example, or a data set.

    Keras takes the first axis of a single example for the batch axis: mostly an error, sometimes a wrong value.
    """
    if hasattr(given, "element_spec"):
        problem, remedy = "a data set", "`for inputs, labels in dataset.batch(512)`, and `model(inputs)`"
    elif tuple(getattr(given, "shape", ())) == example:
        problem, remedy = f"a single example of shape {example}", "`dataset.batch(512)`, or `x[None]`"
    else:
        return
    raise ValueError(f"the model takes batches of examples, and was given {problem}: write {remedy}")
