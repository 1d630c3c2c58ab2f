"""The margins of a task's models on shifted images: computed in processes, each model once, and kept in the cache."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.overfit.assumption import Positions, find_positions
from harness.protocols.overfit.logits import strip_softmax
from harness.protocols.overfit.settings import Edges, OverfitSettings
from harness.protocols.overfit.shifts import black_of
from harness.protocols.parts import part_file, read_part, write_part
from harness.protocols.staged import write_parts
from harness.protocols.subject import StudiedTask
from harness.task.data import INPUTS
from harness.worker.runtimes import Runtime, version_of

#: Changed with everything that changes the numbers of a part.
VERSION = 1

#: The program that computes margins.
PROGRAM = "harness.protocols.overfit.margins"


@dataclass(frozen=True)
class Grids:
    """The margins, as far as they could be computed.

    Attributes:
        parts: model -> file of its margins, in the task's order.
        failures: model -> why there are none.
        positions: where the content of the images is.
    """

    parts: Mapping[str, Path]
    failures: Mapping[str, UserError]
    positions: Positions


def compute_grids(subject: StudiedTask, settings: OverfitSettings, on_model: Callable[[], object]) -> Grids:
    """Compute the margins that the estimates need.

    Args:
        subject: task and models.
        settings: with radii.
        on_model: called once for each model.

    Raises:
        UserError: no data, or no framework.
    """
    runtime = installed_runtime(PREFERRED)
    data: dict[str, object] = {
        "version": VERSION,
        "data": subject.data_digest(settings.split),
        "black": subject.task.data.digest if settings.edges is Edges.BLACK else None,
    }
    shared: dict[str, object] = {"radii": settings.radii}
    work = data | shared | {"runtime": runtime.name, "versions": _versions(runtime)}
    files = {model.id: part_file("overfit", model=model.shown_digest, **work) for model in subject.models}
    missing = {name: file for name, file in files.items() if read_part(file) is None}
    for _ in range(len(subject.models) - len(missing)):
        on_model()
    where = part_file("overfit", positions=True, **data)
    found = read_part(where)
    failures: dict[str, UserError] = {}
    if missing or found is None:
        with tempfile.TemporaryDirectory(prefix="pgdl-overfit-") as place:
            black = black_of(subject.task.data.inputs) if settings.edges is Edges.BLACK else None
            subject.write_data(settings.split, Path(place, "data"))
            if found is None:
                found = vars(find_positions(np.load(Path(place, "data", INPUTS), mmap_mode="r"), black))
                write_part(where, **found)
            shared |= {"data": str(Path(place, "data")), "black": None if black is None else black.tolist()}
            failures = write_parts(PROGRAM, runtime, subject, missing, Path(place), shared, on_model, strip_softmax)
    parts = {name: file for name, file in files.items() if name not in failures}
    return Grids(parts, failures, Positions(**{name: float(value) for name, value in found.items()}))


def _versions(runtime: Runtime) -> list[str]:
    return [version_of(name) or "" for name in (*runtime.distributions, "numpy")]
