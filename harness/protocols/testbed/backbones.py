"""The backbones of a testbed: models of a task."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.processes import ask_all
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.subject import StudiedTask
from harness.worker.runtimes import version_of

PROGRAM = "harness.protocols.testbed.backbone_program"


@dataclass(frozen=True)
class Backbone:
    """One backbone."""

    name: str  #: name of the model
    digest: str  #: identifies it
    question: dict[str, Any] = field(hash=False)  #: how the program finds it
    size: int = 0  #: number of weights; 0 until it is known


def of_task(subject: StudiedTask, directory: Path) -> list[Backbone]:
    """Write the models of a task to a directory, and return them as backbones."""
    return [
        Backbone(model.id, model.digest, {"model": str(subject.write_model(model, directory))}, model.n_parameters)
        for model in subject.models
    ]


def check(backbones: Sequence[Backbone], images: Path) -> tuple[list[Backbone], dict[str, str]]:
    """Return the backbones that can be probed, with their sizes, and why each of the others cannot."""
    usable, reasons = {}, {}
    for position, answer in ask(backbones, [{"check": True, "images": str(images)}] * len(backbones)):
        one = backbones[position]
        if isinstance(answer, UserError):
            reasons[one.name] = _reason(answer)
        else:
            usable[position] = replace(one, size=int(answer["size"]))
    return [usable[position] for position in sorted(usable)], reasons


def ask(
    backbones: Sequence[Backbone], details: Sequence[dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any] | UserError]]:
    """Yield the position of each backbone and the program's answer on it; closing the iterator kills the processes."""
    questions = [nullcontext(one.question | detail) for one, detail in zip(backbones, details, strict=True)]
    with closing(ask_all(PROGRAM, installed_runtime(PREFERRED), questions)) as answers:
        yield from answers


def versions() -> dict[str, str]:
    """Return the versions of the libraries that decide the numbers."""
    runtime = installed_runtime(PREFERRED)
    names = (*runtime.distributions, "numpy", "scipy", "scikit-learn", "scikit-image")
    return {name: version_of(name) or "" for name in names}


def _reason(error: UserError) -> str:
    return str(error).removeprefix("cannot be run: found ")
