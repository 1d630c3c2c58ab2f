"""Perturbation-response curves: a model's accuracy by magnitude of a perturbation (Schiff et al. 2021, section 4)."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from baselines.perturbation_response.response_curve import accuracies_of, gi_score, mean_error, pal_score, pcd_curve
from harness.errors import UserError
from harness.processes.models import Question
from harness.processes.runtimes import require_tensorflow
from harness.protocols.files import Arrays, read_part, read_parts
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.subject import StudiedTask, write_parts
from harness.submission import find_baseline
from harness.worker.runtimes import version_of

PROGRAM = "harness.protocols.invariance.curves"  #: the program that classifies perturbed examples
VERSION = 2  #: version of the cached arrays, to be raised if the program writes other arrays

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """The accuracy of a model at each magnitude of a perturbation."""

    magnitudes: Vector  #: shape (n,), increasing
    hits: NDArray[np.int_]  #: number of correctly classified examples at each magnitude, shape (n,)
    n_examples: int  #: number of classified examples at each magnitude
    subset_error: float | None = None  #: error on randomly changed training images; None for a mixture

    @property
    def accuracies(self) -> Vector:
        """Fraction of correctly classified examples at each magnitude, in [0, 1], shape (n,)."""
        return self.hits / self.n_examples

    @property
    def cumulative(self) -> tuple[Vector, Vector]:
        """The cumulative curve: magnitudes t, scaled to [0, 1], and the integral of the accuracy from 0 to t."""
        return pcd_curve(self.magnitudes, self.accuracies)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Name of a statistic -> value. A larger value predicts a larger gap."""
        accuracies = accuracies_of(self.hits, self.n_examples)
        scores = {"gi": gi_score(self.magnitudes, accuracies), "mean_error": mean_error(accuracies)}
        if self.subset_error is None:
            return scores | {"minus_pal": -pal_score(self.magnitudes, accuracies)}
        return scores | {"subset_error": self.subset_error}


@dataclass(frozen=True)
class Responses:
    """The results of a model on perturbed examples."""

    arrays: Arrays  #: as `harness.protocols.invariance.curves` writes them

    def curve(self, chosen: ChosenMagnitudes, repetition: int = 0, rows: NDArray[np.intp] | None = None) -> Curve:
        """Return the curve of a perturbation in a repetition, from the examples with indices `rows` (None: all)."""
        right = self.arrays[f"{chosen.name}.{repetition if chosen.is_mixture else 0}"]
        subset = self.arrays.get(f"{chosen.name}.subset")
        right = right if rows is None else right[rows]
        return Curve(chosen.magnitudes, right.sum(axis=0), len(right), None if subset is None else float(subset))

    def n_examples(self, chosen: ChosenMagnitudes) -> int:
        """Return the number of examples from which the curves of a perturbation were computed."""
        return len(self.arrays[f"{chosen.name}.0"])

    def seconds(self, chosen: ChosenMagnitudes) -> Vector:
        """Return the seconds to compute a curve, for each number of examples in `timed` (see `run_study`)."""
        return self.arrays[f"{chosen.name}.seconds"]


@dataclass(frozen=True)
class Study:
    """The results of a task's models on perturbed examples."""

    perturbations: Sequence[ChosenMagnitudes]
    responses: Mapping[str, Responses]  #: model id -> results, in the order of the task
    failures: Mapping[str, str]  #: model id -> why there are no results

    def curves(self, chosen: ChosenMagnitudes) -> dict[str, Curve]:
        """Return model id -> curve of a perturbation."""
        return {model: responses.curve(chosen) for model, responses in self.responses.items()}


def run_study(
    subject: StudiedTask, perturbations: Sequence[ChosenMagnitudes], settings: Question, finished: Callable[[], None]
) -> Study:
    """Run the models of `subject` on perturbed examples, or take their results from the cache.

    `settings` has these keys of a question to the program: the numbers `n_examples`, `seed` and `repetitions`, and
    `timed` (`harness.protocols.invariance.curves`). Only mixtures are repeated, each time with other random
    pairs. `finished` is called after each model. Raise `UserError` if TensorFlow is missing, or if the data do not suit
    a perturbation.
    """
    runtime = require_tensorflow("curves are computed in TensorFlow")
    require_suitable(subject, perturbations)
    settings = {"perturbations": [chosen.question for chosen in perturbations]} | settings
    measure = find_baseline("gi_rotation")
    assert measure is not None
    key = settings | {
        "version": VERSION, "library": measure.digest, "data": subject.task.data.digest,
        "libraries": {name: version_of(name) or "" for name in ("tensorflow", "keras", "numpy")},
    }  # fmt: skip
    files = subject.part_files("invariance", **key)
    missing = {name: file for name, file in files.items() if read_part(file) is None}
    for _ in range(len(files) - len(missing)):
        finished()
    errors: dict[str, UserError] = {}
    if missing:
        with tempfile.TemporaryDirectory(prefix="pgdl-invariance-") as directory:
            data = Path(directory, "data")
            subject.write_data("train", data)
            shared = settings | {"data": str(data)}
            errors = write_parts(PROGRAM, runtime, subject, missing, Path(directory), shared, lambda *_: finished())
    responses = {name: Responses(part) for name, part in read_parts(files).items()}
    return Study(perturbations, responses, {name: str(error) for name, error in errors.items()})


def require_suitable(subject: StudiedTask, perturbations: Iterable[ChosenMagnitudes]) -> None:
    """Raise `UserError` if a perturbation does not suit the training data: vectors, for example, cannot be rotated."""
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
