"""The part of the standard errors of final scores that comes from finite test sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import crossed_scores
from scoring.paired import PairedTask
from scoring.retrained import FULL_SCORE
from scoring.streams import stream
from scoring.vectors import Vector

GAP_DRAWS = 400  #: number of draws of the gaps; a standard deviation from 400 draws has an error of 4 %


@dataclass(frozen=True)
class HeldOut:
    """The test set on which the gaps of a task were measured."""

    accuracy: Sequence[float]  #: test accuracy of each model, 0 to 1, in the order of the grid's models
    n_images: int  #: number of test images


def gap_spread(tasks: Mapping[str, PairedTask], held_out: Mapping[str, HeldOut]) -> Vector:
    """Return the part of the final scores' standard errors that comes from measuring gaps on finitely many test images.

    Each model's number of correct test predictions is drawn from a binomial distribution, independently of the other
    models. Since models share errors on the same images, the result is an upper estimate. Training accuracy is exact.

    Returns:
        Standard error in points, 0 to 100, shape (n_submissions,).

    Raises:
        ValueError: a task has no test set or no test image, or a model has no test accuracy from 0 to 1.
    """
    random = stream("held-out images", 0)
    variances = [_drawn_gaps(name, task, held_out, random).var(axis=0, ddof=1) for name, task in tasks.items()]
    return np.sqrt(np.sum(variances, axis=0)) * FULL_SCORE / len(tasks)


def _drawn_gaps(
    name: str, task: PairedTask, held_out: Mapping[str, HeldOut], random: np.random.Generator
) -> NDArray[np.float64]:
    if name not in held_out:
        raise ValueError(f"task {name!r}: expected a test set, found none")
    n_images, accuracy = held_out[name].n_images, _accuracy(name, held_out[name].accuracy, task.gap.size)
    if n_images < 1:
        raise ValueError(f"task {name!r}: expected at least one test image, found {n_images}")
    drawn = random.binomial(n_images, accuracy, size=(GAP_DRAWS, accuracy.size)) / n_images
    gaps = task.gap + (accuracy - drawn)
    return crossed_scores(task.measures, gaps, task.conditioning).T


def _accuracy(name: str, accuracy: ArrayLike, n_models: int) -> Vector:
    found = np.asarray(accuracy, dtype=np.float64)
    if found.shape != (n_models,) or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"task {name!r}: expected a test accuracy from 0 to 1 for each of {n_models} models")
    return found
