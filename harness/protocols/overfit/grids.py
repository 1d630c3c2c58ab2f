"""The margins of a task's models on shifted images: computed in processes, each model once, and kept in the cache."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import part_file, read_part, write_part
from harness.protocols.overfit.settings import Edges, OverfitSettings
from harness.protocols.overfit.shifts import Positions, black_of, find_positions
from harness.protocols.subject import StudiedTask, write_parts
from harness.task.data import INPUTS
from harness.worker.runtimes import version_of

#: Raised with every change of the code that changes the numbers of a part.
VERSION = 1

#: The program that computes margins.
PROGRAM = "harness.protocols.overfit.margins"


@dataclass(frozen=True)
class Grids:
    """The margins of the models that could be run, and the reasons for the others."""

    parts: Mapping[str, Path]  #: model -> file of its margins, in the task's order
    failures: Mapping[str, UserError]  #: model -> reason why there are no margins
    positions: Positions  #: where the content of the images is


def compute_grids(subject: StudiedTask, settings: OverfitSettings, on_model: Callable[[], object]) -> Grids:
    """Compute the margins that the estimates need; `on_model` is called once for each model.

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
    versions = [version_of(name) or "" for name in (*runtime.distributions, "numpy")]
    work = data | shared | {"runtime": runtime.name, "versions": versions}
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


def strip_softmax(model: Path) -> None:
    """Remove a final softmax from the architecture of a model in canonical form.

    A softmax rounds to 0 and 1, so that its margins could not identify the strongest adversarial example.
    """
    file = model / "architecture.json"
    file.write_bytes(json.dumps(without_softmax(json.loads(file.read_bytes()))).encode())


def without_softmax(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the architecture (`harness.worker.architecture`) with a linear output instead of a softmax."""
    position = architecture.get("softmax")
    if position is None:
        return {**architecture}
    last = architecture["layers"][position]
    if last["class_name"] == "Softmax":
        last = last | {"class_name": "Activation", "config": {"activation": "linear"}}
    else:
        last = last | {"config": last["config"] | {"activation": "linear"}}
    layers = [*architecture["layers"][:position], last, *architecture["layers"][position + 1 :]]
    return {name: value for name, value in architecture.items() if name != "softmax"} | {"layers": layers}
