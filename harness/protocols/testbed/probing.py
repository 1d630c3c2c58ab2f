"""Evaluates networks as backbones in processes, and keeps the results of each in the cache."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.processes import ask_all
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import Arrays, write_part
from harness.protocols.subject import StudiedTask
from harness.protocols.testbed.images import Images
from harness.protocols.testbed.material import Classes
from harness.protocols.testbed.noise import number_of_parts, write_noisy_images
from harness.protocols.testbed.settings import ProbeSettings
from harness.worker.runtimes import version_of

Steps = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

PROGRAM = "harness.protocols.testbed.backbone_program"


@dataclass(frozen=True)
class ProbeReport:
    """Functions that are called to report progress; by default, nothing is reported."""

    say: Callable[[str], None] = lambda _: None  #: is called with a message for the user
    #: is called with a name and a number of steps; returns a context with the function to call after each step
    steps: Steps = lambda _name, _total: nullcontext(lambda: None)


def probe_backbones(
    subject: StudiedTask,
    files: Mapping[str, Path],
    images: Images,
    classes: Classes,
    settings: ProbeSettings,
    report: ProbeReport,
    directory: Path,
) -> dict[str, str]:
    """Evaluate models as backbones, and write their results. Return model id -> error, for models that cannot be used.

    `files` maps model ids to the files to write. First, all models are tried on a few images. Temporary files are
    written below the existing `directory`.
    """
    for name, part in (("train", images.train), ("test", images.test)):
        np.save(directory / f"{name}_inputs.npy", part.inputs)
        np.save(directory / f"{name}_labels.npy", part.labels)
    backbones = {model.id: subject.write_model(model, directory) for model in subject.models if model.id in files}
    failed = _check(backbones, directory)
    for name, reason in failed.items():
        report.say(f"{name} is left out: {reason}")
    usable = {name: backbone for name, backbone in backbones.items() if name not in failed}
    if not usable:
        return failed
    question = {
        "images": str(directory),
        "tests": [str(file) for file in _write_tests(images, settings, report, directory)],
        "n_classes": [classes.n_seen + level for level in classes.levels],
    }
    described = {  # also stored in parts, so that a later run need not read the images
        "labels": classes.labels, "n_seen": classes.n_seen, "levels": classes.levels, "notes": images.notes,
        "n_train": len(images.train.labels), "n_test": len(images.test.labels),
    }  # fmt: skip
    counts = {name: directory / f"counts_{name}.npz" for name in usable}
    with report.steps("backbones", len(usable)) as advance:
        for name, answer in _ask(usable, [question | {"counts": str(file)} for file in counts.values()]):
            if isinstance(answer, UserError):
                failed[name] = str(answer)
                report.say(f"{name} is left out: {answer}")
            else:
                with np.load(counts[name]) as arrays:
                    write_part(files[name], **arrays, **described)
            advance()
    return failed


def classes_of(part: Arrays) -> Classes:
    """Return the classes of a testbed from the stored results of a model."""
    return Classes(tuple(part["labels"].tolist()), int(part["n_seen"]), tuple(part["levels"].tolist()))


def _write_tests(images: Images, settings: ProbeSettings, report: ProbeReport, directory: Path) -> list[Path]:
    """Write the noisy test images for each SSIM. Return the files; the last has the clean images."""
    targets, clean = settings.ssim[:-1], directory / "test_inputs.npy"
    if not targets:
        return [clean]
    with report.steps("noisy images", number_of_parts(images.test.inputs)) as advance:
        return [*write_noisy_images(images.test.inputs, targets, settings.seed, directory, advance), clean]


def _check(backbones: Mapping[str, Path], images: Path) -> dict[str, str]:
    answers = dict(_ask(backbones, [{"check": True, "images": str(images)}] * len(backbones)))
    errors = {name: str(answer) for name, answer in answers.items() if isinstance(answer, UserError)}
    return {name: error.removeprefix("cannot be run: found ") for name, error in errors.items()}


def _ask(
    backbones: Mapping[str, Path], details: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any] | UserError]]:
    """Yield model id and answer of the program for each model; closing the iterator kills the processes."""
    names, pairs = list(backbones), zip(backbones.values(), details, strict=True)
    questions = [nullcontext({"model": str(directory)} | detail) for directory, detail in pairs]
    with closing(ask_all(PROGRAM, installed_runtime(PREFERRED), questions)) as answers:
        for position, answer in answers:
            yield names[position], answer


def library_versions() -> dict[str, str]:
    """Return name -> version of the libraries that affect the numbers."""
    runtime = installed_runtime(PREFERRED)
    names = (*runtime.distributions, "numpy", "scipy", "scikit-learn", "scikit-image")
    return {name: version_of(name) or "" for name in names}
