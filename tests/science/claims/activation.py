"""Claims of Gain and Siegelmann (2020), ICML: cognitive neural activation."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.neural_activation.curve import input_entropies
from harness.protocols.overfit.estimates import estimates_of
from harness.protocols.overfit.grids import compute_grids
from harness.protocols.overfit.settings import OverfitSettings
from harness.protocols.parts import read_part
from harness.protocols.subject import read_subject
from tests.science.evidence import Evidence, Vector, bootstrap, correlation, span
from tests.science.finding import Finding, claim, decide

GAIN = "Gain and Siegelmann 2020"

#: The corpus whose errors are looked at, bins of the histogram of pixels, and the share of images at each end.
ERRORS_OF, N_BINS, SHARE = "held_out_vgg", 1000, 0.2

Array = NDArray[Any]


@claim("Cognitive neural activation goes with test accuracy, over stages of training", f"{GAIN}, figure 7", "stages")
def _(evidence: Evidence) -> Finding:
    activation = -evidence.values("stages", "cna")  # the measure is minus the metric
    accuracy = np.array(list(evidence.reference("stages").test_accuracy.values()))
    low, high = bootstrap(correlation, activation, accuracy)
    found = correlation(activation, accuracy)
    return Finding(f"rank correlation {found:.2f} of {len(accuracy)} perceptrons", span((low, high)), decide(low, high),
                   "perceptrons on digits alone; the paper has four architectures and six datasets")  # fmt: skip


@claim("The CNA-Margin goes with the gap where labels are wrong", f"{GAIN}, section 4.3", "wrong labels")
def _(evidence: Evidence) -> Finding:
    values, gaps = evidence.values("wrong_labels", "cna_margin"), evidence.gaps("wrong_labels")
    low, high = bootstrap(correlation, values, gaps)
    found = correlation(values, gaps)
    return Finding(
        f"rank correlation {found:.2f} of {len(gaps)} perceptrons", span((low, high)), decide(low, high),
        "augmented training images stand in for the held-out images of the paper",
    )  # fmt: skip


@claim("Inputs of high entropy err more", f"{GAIN}, figure 6", "errors")
def _(evidence: Evidence) -> Finding:
    errors, images = _errors_by_image(evidence)
    entropies = input_entropies(images, N_BINS, (0.0, 1.0))
    low, high = np.quantile(entropies, (SHARE, 1 - SHARE))

    def difference(errors: Vector, entropies: Vector) -> float:
        return float(errors[entropies >= high].mean() - errors[entropies <= low].mean())

    ends = bootstrap(difference, errors, entropies)
    top, bottom = errors[entropies >= high].mean(), errors[entropies <= low].mean()
    return Finding(
        f"test error {top:.3f} of the fifth with the most entropy, {bottom:.3f} of that with the least",
        f"difference {span(ends, 3)}",
        decide(*ends),
        f"{len(errors):,} images, mean over the models of {ERRORS_OF}",
    )


def _errors_by_image(evidence: Evidence) -> tuple[Vector, Array]:
    """Error rate of each test image over all models (n,), from margins that are kept, and the images."""
    subject = read_subject(evidence.place / "tasks", ERRORS_OF)
    settings = OverfitSettings(radii=(1,))
    parts = compute_grids(subject, settings, lambda: None).parts
    losses = []
    for model in subject.models:
        part = read_part(parts[model.id])
        assert part is not None
        losses.append(estimates_of(part, 1, settings, model.shown_digest).losses)
    with tempfile.TemporaryDirectory() as directory:
        subject.write_data("test", Path(directory, "data"))
        images = np.load(Path(directory, "data", "inputs.npy"))
    return np.mean(losses, axis=0), images
