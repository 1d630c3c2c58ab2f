"""Tests whether the models of a task were fitted to the task's test set; keeps the models' margins in the cache."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import Arrays, part_file, read_part, write_part
from harness.protocols.overfit.report import OverfitResult
from harness.protocols.overfit.rows import groups_of, make_row
from harness.protocols.overfit.settings import Edges, Generator, OverfitSettings, possible_radii
from harness.protocols.overfit.shifts import Positions, black_of, find_positions
from harness.protocols.subject import StudiedTask, write_parts
from harness.task.data import INPUTS
from harness.worker.runtimes import version_of
from scoring import RiskEstimates, nearest_translation, strongest_translation

VERSION = 2  #: version of the cached numbers, to be raised if the code computes other numbers
PROGRAM = "harness.protocols.overfit.margins"  #: the program that computes margins


def detect_overfitting(
    subject: StudiedTask, settings: OverfitSettings, on_model: Callable[[], object] = lambda: None
) -> OverfitResult:
    """Test each model, the models of each architecture together, and all models together.

    Margins of finished models are kept in the cache. `on_model` is called after each model. Raise `UserError` if the
    task has no data of `settings.split`, its inputs are no images, a radius is too large, or no framework is installed.
    """
    settings = replace(settings, radii=possible_radii(settings.radii, subject.models[0].input_shape))
    grids = compute_grids(subject, settings, on_model)
    estimates: dict[tuple[str, int], RiskEstimates] = {}
    for model, file in grids.parts.items():
        part = read_part(file)
        if part is None:
            raise UserError("cannot be read", file=file, remedy="run the same command again")
        for radius in settings.radii:
            estimates[model, radius] = estimates_of(part, radius, settings.generator)
    groups = groups_of({m.id: m.architecture.digest for m in subject.models if m.id in grids.parts})
    rows = tuple(
        make_row(group, radius, [estimates[model, radius] for model in group.models])
        for group in groups
        for radius in settings.radii
    )
    notes = tuple(grids.positions.notes(settings.radii))
    return OverfitResult(subject.task.name, settings, rows, grids.failures, notes)


@dataclass(frozen=True)
class Grids:
    """The margins of a task's models on shifted images, and how much the position of the images' content varies."""

    parts: Mapping[str, Path]  #: model id -> file of the margins, in the task's order
    failures: Mapping[str, UserError]  #: model id -> why the model could not be run
    positions: Positions  #: how the content of the images varies in position


def compute_grids(subject: StudiedTask, settings: OverfitSettings, on_model: Callable[[], object]) -> Grids:
    """Compute the margins of all chosen models, or take them from the cache. Call `on_model` after each model.

    Raise `UserError` if the task has no data of `settings.split`, or if no framework is installed.
    """
    runtime = installed_runtime(PREFERRED)
    data: dict[str, object] = {
        "version": VERSION,
        "data": subject.data_digest(settings.split),
        "black": subject.task.data.digest if settings.edges is Edges.BLACK else None,
    }
    shared: dict[str, object] = {"radii": settings.radii}
    versions = [version_of(name) or "" for name in (*runtime.distributions, "numpy")]
    key = data | shared | {"runtime": runtime.name, "versions": versions}
    files = subject.part_files("overfit", **key)
    missing = {name: file for name, file in files.items() if read_part(file) is None}
    for _ in range(len(subject.models) - len(missing)):
        on_model()
    positions_file = part_file("overfit", positions=True, **data)
    found = read_part(positions_file)
    failures: dict[str, UserError] = {}
    if missing or found is None:
        with tempfile.TemporaryDirectory(prefix="pgdl-overfit-") as directory:
            black = black_of(subject.task.data.inputs) if settings.edges is Edges.BLACK else None
            images = Path(directory, "data")
            subject.write_data(settings.split, images)
            if found is None:
                found = vars(find_positions(np.load(images / INPUTS, mmap_mode="r"), black))
                write_part(positions_file, **found)
            shared |= {"data": str(images), "black": None if black is None else black.tolist()}
            failures = write_parts(PROGRAM, runtime, subject, missing, Path(directory), shared, lambda *_: on_model())
    parts = {name: file for name, file in files.items() if name not in failures}
    return Grids(parts, failures, Positions(**{name: float(value) for name, value in found.items()}))


def estimates_of(part: Arrays, radius: int, generator: Generator) -> RiskEstimates:
    """Return a model's losses on original and shifted images, from its margins (`overfit.margins`)."""
    make = strongest_translation if generator is Generator.STRONGEST else nearest_translation
    return make(radius).estimates(_cut(part, radius))


def _cut(part: Arrays, radius: int) -> NDArray[np.float32]:
    """Return the margins for shifts by at most 3 * `radius` pixels; minus infinity for margins that `far` lacks."""
    near, far = part["near"], part["far"]
    largest, side = far.shape[1] // 6, 6 * radius + 1
    grid = np.full((len(near), side, side), -np.inf, np.float32)
    inner = slice(3 * (largest - radius), 3 * (largest - radius) + side)
    cut = far[:, inner, inner]
    grid[part["far_images"]] = np.where(np.isnan(cut), -np.inf, cut)
    return grid
