"""Training examples as arrays, drawn with a seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.core.streams import stream

#: Number of examples that are read from a dataset at once.
READ = 4096

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sample:
    """Examples of the training set."""

    inputs: Array  #: (n, ...), float32
    labels: Array  #: (n,), int32
    population: int  #: m, the size of the whole training set

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, positions: Array) -> "Sample":
        """Return the examples at these positions."""
        return Sample(self.inputs[positions], self.labels[positions], self.population)


def read_examples(dataset: Any) -> Sample:
    """Return the whole training set in its order; `dataset` is an unbatched `tf.data.Dataset` of (input, label).

    If the dataset has memory-mapped `arrays`, as in the harness, the inputs are not copied. Raises `ValueError` if the
    dataset is empty, or if `checked` refuses an example.
    """
    arrays = getattr(dataset, "arrays", None)
    parts = [
        checked(inputs, labels, READ * number)
        for number, (inputs, labels) in enumerate(_batches(dataset) if arrays is None else _slices(*arrays))
    ]
    if not parts:
        raise ValueError("dataset: expected examples, found none")
    labels = np.concatenate([some for _, some in parts])
    inputs = np.concatenate([some for some, _ in parts]) if arrays is None else arrays[0]
    return Sample(inputs.astype(np.float32, copy=False), labels, len(labels))


def checked(inputs: Array, labels: Array, start: int) -> tuple[Array, Array]:
    """Return inputs (n, ...) as float32 and labels (n,) as int32; `start` is the first example's number, for messages.

    Raises `ValueError` if a label is not an integer, an example has several labels, or an input is not finite.
    """
    if labels.size != len(labels):
        raise ValueError(
            f"dataset: expected single examples, each with the number of its class, found labels {labels.shape[1:]}"
        )
    labels = labels.reshape(-1)
    with np.errstate(invalid="ignore"):
        whole = labels.astype(np.int32)
    if len(wrong := np.flatnonzero(whole != labels)):
        found = f"found {labels[wrong[0]]}"
        raise ValueError(f"dataset: example {start + wrong[0]}: expected a whole number as its label, {found}")
    inputs = inputs.astype(np.float32, copy=False)
    if not np.isfinite(inputs).all():
        first, *place = map(int, np.argwhere(~np.isfinite(inputs))[0])
        found = f"found {inputs[first, *place]} at {tuple(place)}"
        raise ValueError(f"dataset: example {start + first}: expected finite numbers, {found}")
    return inputs, whole


def _batches(dataset: Any) -> Iterator[tuple[Array, Array]]:
    for inputs, labels in dataset.batch(READ):
        yield inputs.numpy(), labels.numpy()


def _slices(inputs: Array, labels: Array) -> Iterator[tuple[Array, Array]]:
    for start in range(0, len(labels), READ):
        yield inputs[start : start + READ], labels[start : start + READ]


def draw(examples: Sample, number: int, seed: int, *, by_class: bool = False) -> Sample:
    """Return `number` examples drawn without replacement. If there are fewer, return all of them, shuffled.

    `by_class` draws from each class in proportion to its size, but at least two examples if the class has so many.
    """
    order = stream("sample", seed).permutation(len(examples))
    if number >= len(examples):
        return examples.take(order)
    return examples.take(_by_class(examples.labels, order, number) if by_class else order[:number])


def _by_class(labels: Array, order: Array, number: int) -> Array:
    share = number / len(labels)
    chosen = [
        members[: max(round(share * len(members)), 2)]
        for members in (order[labels[order] == label] for label in np.unique(labels))
    ]
    return order[np.isin(order, np.concatenate(chosen))]
