"""Perturbation-response curves of the models of a task: Schiff et al. 2021, arXiv 2106.04765, section 4."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.perturbation_response.response_curve import accuracies_of, gi_score, mean_error, pal_score, pcd_curve
from harness.errors import UserError
from harness.processes.runtimes import require_runtime
from harness.protocols.files import Arrays, part_file, read_part
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.subject import StudiedTask, write_parts
from harness.submission import find_baseline
from harness.task.model import Model
from harness.worker.runtimes import RUNTIMES, version_of

#: The program that computes responses.
PROGRAM = "harness.protocols.invariance.curves"

#: Raised with every change of the arrays that `curves` writes.
VERSION = 2

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """The response of one model to one perturbation."""

    magnitudes: Vector  #: (n,), increasing
    hits: NDArray[np.int_]  #: (n,), numbers of right answers
    n_examples: int  #: number of answers at each magnitude
    #: error on a tenth of the training images, or more, each changed at random; None for mixtures
    subset_error: float | None = None

    @property
    def accuracies(self) -> Vector:
        """Accuracies (n,), in [0, 1]."""
        return self.hits / self.n_examples

    @property
    def cumulative(self) -> tuple[Vector, Vector]:
        """The cumulative (PCD) curve: places t in [0, 1], and the integral of the accuracy up to them."""
        return pcd_curve(self.magnitudes, self.accuracies)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Complexity measures by name, larger for a larger predicted gap, as the library defines them."""
        accuracies = accuracies_of(self.hits, self.n_examples)
        scores = {
            "gi": gi_score(self.magnitudes, accuracies),
            "pal": -pal_score(self.magnitudes, accuracies),
            "mean_error": mean_error(accuracies),
        }
        return scores if self.subset_error is None else scores | {"subset_error": self.subset_error}


@dataclass(frozen=True)
class Responses:
    """Responses of one model; arrays as `harness.protocols.invariance.curves` describes them."""

    arrays: Arrays

    def curve(self, chosen: ChosenMagnitudes, repetition: int = 0, rows: NDArray[np.intp] | None = None) -> Curve:
        """Return the curve of a repetition, or the curve of some of its examples."""
        right = self.arrays[f"{chosen.name}.{repetition if chosen.is_mixture else 0}"]
        subset = self.arrays.get(f"{chosen.name}.subset")
        right = right if rows is None else right[rows]
        return Curve(chosen.magnitudes, right.sum(axis=0), len(right), None if subset is None else float(subset))

    def n_examples(self, chosen: ChosenMagnitudes) -> int:
        """Number of examples of a curve."""
        return len(self.arrays[f"{chosen.name}.0"])

    def seconds(self, chosen: ChosenMagnitudes) -> Vector:
        """Time of a curve for each timed number of examples."""
        return self.arrays[f"{chosen.name}.seconds"]


@dataclass(frozen=True)
class Study:
    """The responses of the models of a task."""

    responses: Mapping[str, Responses]  #: model id -> responses, in the order of the task
    failures: Mapping[str, str]  #: model id -> reason why there are no responses


def run_study(
    subject: StudiedTask,
    perturbations: Sequence[ChosenMagnitudes],
    n_examples: int,
    seed: int,
    repetitions: int,
    timed: Sequence[int],
    finished: Callable[[], None] = lambda: None,
) -> Study:
    """Compute the responses of all chosen models that are not cached; `finished` is called for each model.

    Partners of mixtures are drawn `repetitions` times. The time of a curve is measured for each of the numbers of
    examples in `timed`.

    Raises:
        UserError: TensorFlow is missing, or the data do not suit a perturbation.
    """
    require_runtime("tensorflow", "curves are computed in TensorFlow")
    require_suitable(subject, perturbations)
    asked = {
        "perturbations": [chosen.question for chosen in perturbations], "n_examples": n_examples, "seed": seed,
        "repetitions": repetitions, "timed": list(timed),
    }  # fmt: skip
    files = {model.id: _file(model, subject, asked) for model in subject.models}
    missing = {name: file for name, file in files.items() if read_part(file) is None}
    for _ in range(len(files) - len(missing)):
        finished()
    failures = _compute(subject, asked, missing, finished)
    parts = {model.id: read_part(files[model.id]) for model in subject.models if model.id not in failures}
    return Study({model: Responses(part) for model, part in parts.items() if part is not None}, failures)


def require_suitable(subject: StudiedTask, perturbations: Iterable[ChosenMagnitudes]) -> None:
    """Raise `UserError` if a perturbation needs other training data."""
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


def _file(model: Model, subject: StudiedTask, asked: Mapping[str, Any]) -> Path:
    measure = find_baseline("gi_rotation")
    assert measure is not None
    packages = ("tensorflow", "keras", "numpy")
    return part_file(
        "invariance",
        version=VERSION,
        library=measure.digest,
        libraries={name: version_of(name) or "" for name in packages},
        model=model.shown_digest,
        data=subject.task.data.digest,
        **asked,
    )


def _compute(
    subject: StudiedTask, asked: Mapping[str, Any], files: Mapping[str, Path], finished: Callable[[], None]
) -> dict[str, str]:
    """Compute the files of some models in processes; returns the reasons for missing files."""
    with tempfile.TemporaryDirectory(prefix="pgdl-invariance-") as directory:
        data = Path(directory, "data")
        if files:
            subject.write_data("train", data)
        shared = {**asked, "data": str(data)}
        failures = write_parts(PROGRAM, RUNTIMES["tensorflow"], subject, files, Path(directory), shared, finished)
    return {model: str(error) for model, error in failures.items()}
