"""Claims of Gain and Siegelmann (2020), ICML: cognitive neural activation."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.neural_activation.curve import input_entropies
from harness.protocols.files import read_part
from harness.protocols.overfit.run import compute_grids, estimates_of
from harness.protocols.overfit.settings import OverfitSettings
from harness.protocols.subject import read_subject
from harness.text import p_value_equation
from tests.studies.science.corpora import STAGES, stage_name
from tests.studies.science.evidence import Evidence, Vector, bootstrap, correlation, span
from tests.studies.science.finding import Finding, claim
from tests.studies.science.judgement import by_interval, by_p_value
from tests.studies.science.settings import DIGITS, FASHION

GAIN = "Gain and Siegelmann 2020"

#: Bins of the histogram of pixels, and the share of images at each end.
N_BINS, SHARE = 1000, 0.2

#: Permutations of checkpoints, and the level of their test.
PERMUTATIONS, LEVEL = 9999, 0.05

Array = NDArray[Any]


@claim(
    "Cognitive neural activation rises with test accuracy during training", f"{GAIN}, figure 7", "stages",
    {
        name: f"5 checkpoints of each of {n} networks show a mean rank correlation of {seen} within networks in 8 of "
        "10 cases"
        for name, n, seen in ((DIGITS.name, 6, 0.6), (FASHION.name, 24, 0.3))
    },
)  # fmt: skip
def _(evidence: Evidence) -> Finding:
    tasks = [stage_name(epochs) for epochs in STAGES]
    activation = np.array([-evidence.values(task, "cna") for task in tasks])  # the measure is minus the metric
    accuracy = np.array([list(evidence.reference(task).test_accuracy.values()) for task in tasks])

    def mean_correlation(activation: Array, accuracy: Array) -> float:
        return float(np.mean([correlation(*columns) for columns in zip(activation.T, accuracy.T, strict=True)]))

    found, random = mean_correlation(activation, accuracy), np.random.default_rng(0)
    dealt = [mean_correlation(random.permuted(activation, axis=0), accuracy) for _ in range(PERMUTATIONS)]
    p_value = (1 + sum(one >= found - 1e-9 for one in dealt)) / (1 + PERMUTATIONS)
    networks = [correlation(*columns) for columns in zip(activation.T, accuracy.T, strict=True)]
    ends = bootstrap(np.mean, np.array(networks))
    return Finding(
        f"mean rank correlation within {len(networks)} networks {found:.2f}, {p_value_equation(p_value)}",
        span(ends),
        *by_p_value(p_value, LEVEL, len(networks)),
        "perceptrons alone; the paper has four architectures and six datasets",
    )


@claim("The CNA-Margin is larger for larger gaps, if networks are trained on wrong labels",
       f"{GAIN}, section 4.3", "wrong labels",
       "24 networks show a rank correlation from 0.5 in 8 of 10 cases")  # fmt: skip
def _(evidence: Evidence) -> Finding:
    values, gaps = evidence.values("wrong_labels", "cna_margin"), evidence.gaps("wrong_labels")
    ends, found = bootstrap(correlation, values, gaps), correlation(values, gaps)
    return Finding(
        f"rank correlation {found:.2f} of {len(gaps)} perceptrons", span(ends), *by_interval(found, ends, len(gaps)),
        "augmented training images stand in for the held-out images of the paper",
    )  # fmt: skip


@claim("Networks err more often on images of high entropy", f"{GAIN}, figure 6", "errors", {
    DIGITS.name: "1,477 images show differences of errors from 0.02",
    FASHION.name: "10,000 images show differences of errors from 0.03",
})  # fmt: skip
def _(evidence: Evidence) -> Finding:
    errors, images = _errors_by_image(evidence)
    entropies = input_entropies(images, N_BINS, (0.0, 1.0))
    low, high = np.quantile(entropies, (SHARE, 1 - SHARE))

    def difference(errors: Vector, entropies: Vector) -> float:
        return float(errors[entropies >= high].mean() - errors[entropies <= low].mean())

    ends = bootstrap(difference, errors, entropies)
    top, bottom = errors[entropies >= high].mean(), errors[entropies <= low].mean()
    found = difference(errors, entropies)
    return Finding(
        f"test error {top:.3f} on the images with the most entropy (a fifth), {bottom:.3f} on the fifth with the least",
        f"difference {span(ends, 3)}",
        *by_interval(found, ends, len(errors), "images"),
        f"{len(errors):,} images, mean over the models of the corpus {evidence.setting.errors}",
    )


def _errors_by_image(evidence: Evidence) -> tuple[Vector, Array]:
    """Return the error rate of each test image over all models, shape (n,), from stored margins; and the images."""
    subject = read_subject(evidence.place / "tasks", evidence.setting.errors)
    settings = OverfitSettings(radii=(1,))
    parts = compute_grids(subject, settings, lambda: None).parts
    losses = []
    for model in subject.models:
        part = read_part(parts[model.id])
        assert part is not None
        losses.append(estimates_of(part, 1, settings.generator).losses)
    with tempfile.TemporaryDirectory() as directory:
        subject.write_data("test", Path(directory, "data"))
        images = np.load(Path(directory, "data", "inputs.npy"))
    return np.mean(losses, axis=0), images
