"""The normalization of bounds by the size of the training set."""

import math

from baselines.core.subject import Subject


def normalized(value: float, subject: Subject, is_log: bool, *, normalization: str = "none") -> float:
    """Return `value` as it is ("none"), or as Dziugaite et al. 2020 rank it ("dziugaite").

    With m training examples the latter is sqrt(value / m), and of a logarithm (value - ln m) / 2. It ranks
    networks that are trained on the same number of examples alike.

    Raises:
        ValueError: another normalization.
    """
    if normalization == "none":
        return value
    if normalization != "dziugaite":
        raise ValueError(f"normalization: expected none or dziugaite, found {normalization}")
    examples = len(subject.examples)
    return (value - math.log(examples)) / 2 if is_log else math.sqrt(value / examples)
