"""Probes backbones in processes of their own, and keeps each finished one in the cache."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.processes import ask_all
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import Arrays, write_part
from harness.protocols.subject import StudiedTask
from harness.protocols.testbed.images import Images
from harness.protocols.testbed.material import Classes, Prepared
from harness.protocols.testbed.noise import number_of_parts, write_noisy_images
from harness.protocols.testbed.settings import ProbeSettings
from harness.worker.runtimes import version_of

Steps = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

PROGRAM = "harness.protocols.testbed.backbone_program"


@dataclass(frozen=True)
class ProbeReport:
    """Receivers of progress: `say` takes a line, `steps` a name and a number of steps; both ignore it by default."""

    say: Callable[[str], None] = lambda _: None
    steps: Steps = lambda _name, _total: nullcontext(lambda: None)


@dataclass(frozen=True)
class Backbone:
    """A backbone."""

    name: str  #: name of the model
    digest: str  #: identifies it
    question: dict[str, Any] = field(hash=False)  #: the question of the program about it
    size: int = 0  #: number of weights; 0 if not yet known


def backbones_of(subject: StudiedTask, directory: Path) -> list[Backbone]:
    """Write the models of a task to a directory, and return them as backbones."""
    return [
        Backbone(model.id, model.digest, {"model": str(subject.write_model(model, directory))}, model.n_parameters)
        for model in subject.models
    ]


def probe_backbones(
    missing: Sequence[Backbone],
    files: dict[str, Path],
    prepared: Prepared,
    settings: ProbeSettings,
    report: ProbeReport,
    directory: Path,
) -> dict[str, str]:
    """Probe backbones and write their parts to `files`, by name; returns the reason of each that cannot be probed.

    Backbones are tried on a few images before the long work. Images are written to the existing directory.
    """
    for name, part in (("train", prepared.images.train), ("test", prepared.images.test)):
        np.save(directory / f"{name}_inputs.npy", part.inputs)
        np.save(directory / f"{name}_labels.npy", part.labels)
    usable, failed = _check(missing, directory)
    for name, reason in failed.items():
        report.say(f"{name} is left out: {reason}")
    if not usable:
        return failed
    tests = _write_tests(prepared.images, settings, report, directory)
    classes = prepared.classes
    question = {
        "images": str(directory),
        "tests": [str(file) for file in tests],
        "n_classes": [classes.n_seen + level for level in classes.levels],
    }
    counts = [directory / f"counts_{position}.npz" for position in range(len(usable))]
    with report.steps("backbones", len(usable)) as advance:
        for position, answer in _ask(usable, [question | {"counts": str(file)} for file in counts]):
            one = usable[position]
            if isinstance(answer, UserError):
                failed[one.name] = str(answer)
                report.say(f"{one.name} is left out: {answer}")
            else:
                with np.load(counts[position]) as arrays:
                    write_part(files[one.name], size=one.size, **arrays, **_described(prepared))
            advance()
    return failed


def classes_of(part: Arrays) -> Classes:
    """Return the classes of a finished part."""
    return Classes(tuple(part["labels"].tolist()), int(part["n_seen"]), tuple(part["levels"].tolist()))


def _described(prepared: Prepared) -> Arrays:
    """Return the description of the images in a part, so that the images need not be read again."""
    classes, images = prepared.classes, prepared.images
    described = {
        "labels": classes.labels, "n_seen": classes.n_seen, "levels": classes.levels, "notes": prepared.notes,
        "n_train": len(images.train.labels), "n_test": len(images.test.labels),
    }  # fmt: skip
    return {name: np.asarray(value) for name, value in described.items()}


def _write_tests(images: Images, settings: ProbeSettings, report: ProbeReport, directory: Path) -> list[Path]:
    """Write the noisy test images of each SSIM; returns the files for each SSIM, and last those of the clean images."""
    targets, clean = settings.ssim[:-1], directory / "test_inputs.npy"
    if not targets:
        return [clean]
    with report.steps("noisy images", number_of_parts(images.test.inputs)) as advance:
        return [*write_noisy_images(images.test.inputs, targets, settings.seed, directory, advance), clean]


def _check(backbones: Sequence[Backbone], images: Path) -> tuple[list[Backbone], dict[str, str]]:
    """Return the backbones that can be probed, with their sizes, and the reasons for the others."""
    usable, reasons = {}, {}
    for position, answer in _ask(backbones, [{"check": True, "images": str(images)}] * len(backbones)):
        one = backbones[position]
        if isinstance(answer, UserError):
            reasons[one.name] = str(answer).removeprefix("cannot be run: found ")
        else:
            usable[position] = replace(one, size=int(answer["size"]))
    return [usable[position] for position in sorted(usable)], reasons


def _ask(
    backbones: Sequence[Backbone], details: Sequence[dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any] | UserError]]:
    """Yield the position of each backbone and the program's answer on it; closing the iterator kills the processes."""
    questions = [nullcontext(one.question | detail) for one, detail in zip(backbones, details, strict=True)]
    with closing(ask_all(PROGRAM, installed_runtime(PREFERRED), questions)) as answers:
        yield from answers


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that decide the numbers."""
    runtime = installed_runtime(PREFERRED)
    names = (*runtime.distributions, "numpy", "scipy", "scikit-learn", "scikit-image")
    return {name: version_of(name) or "" for name in names}
