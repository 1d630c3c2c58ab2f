"""One repetition of the experiment: new data, a new classifier, and everything that its test needs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from harness.protocols.overfit.synthetic.training import train
from harness.protocols.parts import part_file, read_part, write_part
from scoring import GaussianMargin, LinearView
from scoring.streams import stream

#: Points that are trained on, and the factor of the square of the first weight in the dependent setting.
N_TRAIN, PENALTY = 500, 1e4

#: Changed with everything that changes the numbers.
VERSION = 2


class Setting(StrEnum):
    """Whether the classifier knows points of the test set; each with its number of test points."""

    INDEPENDENT = "independent"
    DEPENDENT = "dependent"

    @property
    def n_test(self) -> int:
        """Number of test points; in the dependent setting the first half of them is trained on."""
        return 10_000 if self is Setting.INDEPENDENT else 1000


@dataclass(frozen=True)
class Repetition:
    """A trained classifier and its test set.

    Attributes:
        view: the test set as the classifier sees it.
        risk: error rate on 10,000 points that are independent of the classifier.
        loss: of the training, with the penalty.
        train_accuracy: in [0, 1].
    """

    view: LinearView
    risk: float
    loss: float
    train_accuracy: float


def repeat(setting: Setting, number: int, seed: int) -> Repetition:
    """Return a repetition, from the cache if it is there."""
    file = part_file(
        "overfit_synthetic", version=VERSION, setting=setting, number=number, seed=seed, numpy=np.__version__
    )
    part = read_part(file)
    if part is None:
        part = _compute(setting, stream("overfit synthetic", seed, setting, number))
        write_part(file, **part)
    numbers = {name: np.asarray(array, np.float64) for name, array in part.items()}
    slope, offset = float(numbers["slope"]), float(numbers["offset"])
    view = LinearView(numbers["labels"], numbers["first"], numbers["along"], slope, offset)
    return Repetition(view, float(part["risk"]), float(part["loss"]), float(part["train_accuracy"]))


def _compute(setting: Setting, random: np.random.Generator) -> dict[str, Any]:
    example = GaussianMargin()
    points, labels = example.sample(setting.n_test, random)
    independent = setting is Setting.INDEPENDENT
    train_points, train_labels = (
        example.sample(N_TRAIN, random) if independent else (points[:N_TRAIN], labels[:N_TRAIN])
    )
    classifier = train(train_points, train_labels, 0.0 if independent else PENALTY, random)
    model = classifier.weights, classifier.bias
    view = LinearView.of(points, labels, *model)
    fresh = view if independent else LinearView.of(*example.sample(10_000, random), *model)
    return {
        "labels": view.labels.astype(np.int8),
        "first": view.first.astype(np.float32),  # exact: the points are float32
        "along": view.along.astype(np.float32),
        "slope": view.slope,
        "offset": view.offset,
        "risk": fresh.losses.mean(),
        "loss": classifier.loss,
        "train_accuracy": classifier.train_accuracy,
    }
