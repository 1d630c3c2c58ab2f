"""Computes the margins of a task's models on shifted test images, in processes, and keeps them in the cache."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import part_file, read_part, write_part
from harness.protocols.overfit.settings import Edges, OverfitSettings
from harness.protocols.overfit.shifts import Positions, black_of, find_positions
from harness.protocols.subject import StudiedTask, write_parts
from harness.task.data import INPUTS
from harness.worker.runtimes import version_of

VERSION = 1  #: version of the cached numbers, to be raised if the code computes other numbers
PROGRAM = "harness.protocols.overfit.margins"  #: the program that computes margins


@dataclass(frozen=True)
class Grids:
    """The margins of a task's models on shifted images, and how the content of the images varies in position."""

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
            failures = write_parts(PROGRAM, runtime, subject, missing, Path(directory), shared, on_model)
    parts = {name: file for name, file in files.items() if name not in failures}
    return Grids(parts, failures, Positions(**{name: float(value) for name, value in found.items()}))
