"""Advice on common errors in the use of a `tf.data.Dataset`."""

import linecache
import re
from typing import Any

#: The end of each advice: three ways to read the examples.
WAYS = (
    " (dataset yields single examples: `for inputs, labels in dataset.batch(512)` goes through batches, "
    "`inputs, labels = next(iter(dataset.batch(512)))` is the first, `inputs, labels = dataset.arrays` has all)"
)

#: How Python's messages about unsupported operations name the type of a dataset.
_TYPE = re.compile(r"'\w*Dataset'")


def dataset_advice(error: BaseException) -> str:
    """Return advice if an error is about an operation that datasets lack, such as a slice; otherwise ""."""
    if isinstance(error, TypeError | AttributeError) and _TYPE.search(str(error)):
        return WAYS
    return WAYS if isinstance(error, ValueError) and _unpacks_dataset(error) else ""


def _unpacks_dataset(error: ValueError) -> bool:
    """Return whether a line such as `x, y = dataset` raised the error."""
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
    """Raise `ValueError` if a model is called on a dataset, or on one example (shape `example`) without batch axis.

    Keras would take the first axis of the example for the batch axis. The model would usually fail, but sometimes
    return a wrong value.
    """
    if hasattr(given, "element_spec"):
        problem, remedy = "a data set", "`for inputs, labels in dataset.batch(512)`, and `model(inputs)`"
    elif tuple(getattr(given, "shape", ())) == example:
        problem, remedy = f"a single example of shape {example}", "`dataset.batch(512)`, or `x[None]`"
    else:
        return
    raise ValueError(f"the model takes batches of examples, and was given {problem}: write {remedy}")
