"""One repetition of the experiment: new data, a new classifier, and all that its test needs."""

from dataclasses import dataclass
from enum import StrEnum

from scoring.streams import stream
from tests.studies.science.synthetic.gaussian_margin import GaussianMargin, LinearView
from tests.studies.science.synthetic.training import train

#: Points that are trained on, and the factor of the square of the first weight in the dependent setting.
N_TRAIN, PENALTY = 500, 1e4


class Setting(StrEnum):
    """Whether the classifier was trained on points of the test set."""

    INDEPENDENT = "independent"
    DEPENDENT = "dependent"

    @property
    def n_test(self) -> int:
        """Number of test points; in the dependent setting, the first half of them is also the training set."""
        return 10_000 if self is Setting.INDEPENDENT else 1000


@dataclass(frozen=True)
class Repetition:
    """A trained classifier and its test set.

    Attributes:
        view: the test set as the classifier sees it.
        loss: training loss with the penalty.
        train_accuracy: in [0, 1].
    """

    view: LinearView
    loss: float
    train_accuracy: float


def repeat(setting: Setting, number: int, seed: int) -> Repetition:
    """Train a classifier on new data; seed and number determine all random draws."""
    random = stream("overfit synthetic", seed, setting, number)
    example = GaussianMargin()
    points, labels = example.sample(setting.n_test, random)
    independent = setting is Setting.INDEPENDENT
    train_points, train_labels = (
        example.sample(N_TRAIN, random) if independent else (points[:N_TRAIN], labels[:N_TRAIN])
    )
    classifier = train(train_points, train_labels, 0.0 if independent else PENALTY, random)
    view = LinearView.of(points, labels, classifier.weights, classifier.bias)
    return Repetition(view, classifier.loss, classifier.train_accuracy)
