"""Perturbation-response curves of the models of a task: Schiff et al. 2021, arXiv 2106.04765, section 4."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from baselines.perturbation_response.response_curve import accuracies_of, gi_score, mean_error, pal_score, pcd_curve
from harness.errors import UserError
from harness.processes.runtimes import require_runtime
from harness.protocols.files import Arrays, part_file, read_part
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.subject import StudiedTask, write_parts
from harness.submission import find_baseline
from harness.worker.runtimes import version_of

#: The program that computes responses.
PROGRAM = "harness.protocols.invariance.curves"

#: Version of the arrays that the program writes: increased with every change.
VERSION = 2

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """The accuracy of a model at each magnitude of a perturbation."""

    magnitudes: Vector  #: (n,), increasing
    hits: NDArray[np.int_]  #: (n,), numbers of correctly classified examples
    n_examples: int  #: number of classified examples at each magnitude
    #: error on a tenth of the training images, or more, each changed at random; None for mixtures
    subset_error: float | None = None

    @property
    def accuracies(self) -> Vector:
        """The share of correctly classified examples at each magnitude, (n,) in [0, 1]."""
        return self.hits / self.n_examples

    @property
    def cumulative(self) -> tuple[Vector, Vector]:
        """The cumulative (PCD) curve: magnitudes t, rescaled to [0, 1], and the integral of the accuracy up to t."""
        return pcd_curve(self.magnitudes, self.accuracies)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Name -> complexity measure of the curve, as the library defines it; larger predicts a larger gap."""
        accuracies = accuracies_of(self.hits, self.n_examples)
        scores = {
            "gi": gi_score(self.magnitudes, accuracies),
            "pal": -pal_score(self.magnitudes, accuracies),
            "mean_error": mean_error(accuracies),
        }
        return scores if self.subset_error is None else scores | {"subset_error": self.subset_error}


@dataclass(frozen=True)
class Responses:
    """The responses of a model to all perturbations: the arrays of a part of `harness.protocols.invariance.curves`."""

    arrays: Arrays

    def curve(self, chosen: ChosenMagnitudes, repetition: int = 0, rows: NDArray[np.intp] | None = None) -> Curve:
        """Return the curve of a perturbation in a repetition, from all examples or from the examples `rows`."""
        right = self.arrays[f"{chosen.name}.{repetition if chosen.is_mixture else 0}"]
        subset = self.arrays.get(f"{chosen.name}.subset")
        right = right if rows is None else right[rows]
        return Curve(chosen.magnitudes, right.sum(axis=0), len(right), None if subset is None else float(subset))

    def n_examples(self, chosen: ChosenMagnitudes) -> int:
        """Return the number of examples from which the curve was computed."""
        return len(self.arrays[f"{chosen.name}.0"])

    def seconds(self, chosen: ChosenMagnitudes) -> Vector:
        """Return the seconds that computing the curve took, for each number in the argument `timed` of `run_study`."""
        return self.arrays[f"{chosen.name}.seconds"]


@dataclass(frozen=True)
class Study:
    """The responses of a task's models, and the errors of models that could not be run."""

    responses: Mapping[str, Responses]  #: model id -> responses, in the order of the task
    failures: Mapping[str, str]  #: model id -> reason why there are no responses


def run_study(
    subject: StudiedTask,
    perturbations: Sequence[ChosenMagnitudes],
    n_examples: int,
    seed: int,
    repetitions: int,
    timed: Sequence[int],
    finished: Callable[[], None],
) -> Study:
    """Return the responses of all chosen models, and call `finished` after each. Cached responses are not recomputed.

    Curves have `n_examples` training examples, drawn by `seed`. Partners of mixtures are drawn `repetitions` times.
    `timed` lists the numbers of examples for which the time of a curve is measured. Raise `UserError` if TensorFlow is
    missing, or if the data do not suit a perturbation.
    """
    runtime = require_runtime("tensorflow", "curves are computed in TensorFlow")
    require_suitable(subject, perturbations)
    settings = {
        "perturbations": [chosen.question for chosen in perturbations], "n_examples": n_examples, "seed": seed,
        "repetitions": repetitions, "timed": list(timed),
    }  # fmt: skip
    measure = find_baseline("gi_rotation")
    assert measure is not None
    key = settings | {
        "version": VERSION, "library": measure.digest, "data": subject.task.data.digest,
        "libraries": {name: version_of(name) or "" for name in ("tensorflow", "keras", "numpy")},
    }  # fmt: skip
    files = {model.id: part_file("invariance", model=model.shown_digest, **key) for model in subject.models}
    missing = {name: file for name, file in files.items() if read_part(file) is None}
    for _ in range(len(files) - len(missing)):
        finished()
    errors: dict[str, UserError] = {}
    if missing:
        with tempfile.TemporaryDirectory(prefix="pgdl-invariance-") as directory:
            data = Path(directory, "data")
            subject.write_data("train", data)
            shared = settings | {"data": str(data)}
            errors = write_parts(PROGRAM, runtime, subject, missing, Path(directory), shared, finished)
    parts = {name: read_part(file) for name, file in files.items() if name not in errors}
    responses = {name: Responses(part) for name, part in parts.items() if part is not None}
    return Study(responses, {name: str(error) for name, error in errors.items()})


def require_suitable(subject: StudiedTask, perturbations: Iterable[ChosenMagnitudes]) -> None:
    """Raise `UserError` if a perturbation cannot be applied to the training data, such as a rotation to vectors."""
    data = subject.task.data
    _, counts = np.unique(data.labels, return_counts=True)
    channels = data.input_shape[-1] if len(data.input_shape) == 3 else 0
    for chosen in perturbations:
        remedy = "choose other perturbations with --perturbations"
        if not chosen.is_mixture and (not channels or (chosen.name == "color_jitter" and channels not in (1, 3, 4))):
            expected = "images (height, width, channels)" + " with 1, 3 or 4 channels" * (chosen.name == "color_jitter")
            raise UserError(chosen.name, file=data.source, expected=expected, found=data.input_shape, remedy=remedy)
        if chosen.name.startswith("intra") and counts.max() < 2:
            raise UserError(
                chosen.name, file=data.source, expected="two examples of a class", found="none", remedy=remedy
            )
        if chosen.name.startswith("inter") and len(counts) < 2:
            raise UserError(chosen.name, file=data.source, expected="two classes", found="one", remedy=remedy)
