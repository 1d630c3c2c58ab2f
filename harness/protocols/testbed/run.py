"""Runs a testbed: error rates and kappas of linear probes on every backbone, SSIM and share of unseen classes."""

import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from harness.errors import UserError
from harness.protocols.parts import part_file, read_part, write_part
from harness.protocols.subject import Subject, read_subject
from harness.protocols.testbed import backbones as bodies
from harness.protocols.testbed.backbones import Backbone
from harness.protocols.testbed.classes import Classes, divide_classes, of_classes
from harness.protocols.testbed.images import Images, Part, read_images, require_large, without_training_images
from harness.protocols.testbed.noise import number_of_parts, write_noisy_images
from harness.protocols.testbed.results import make_dataset
from harness.protocols.testbed.settings import Settings

#: Raised whenever the numbers change for the same settings and versions of libraries.
VERSION = 1

Steps = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


@contextmanager
def _silent(_name: str, _total: int) -> Generator[Callable[[], None]]:
    yield lambda: None


@dataclass(frozen=True)
class Report:
    """Where news go: `say` takes a line, `steps` a name and a number of steps; nowhere by default."""

    say: Callable[[str], None] = lambda _: None
    steps: Steps = _silent


def evaluate_task(
    tasks_dir: Path,
    name: str,
    data: str,
    settings: Settings | None = None,
    model_names: Sequence[str] = (),
    report: Report | None = None,
) -> xr.Dataset:
    """Evaluate the models of a task as backbones; finished ones come from the cache.

    The labels of the task's training data are the seen classes, the other labels of `data` the unseen ones.

    Args:
        tasks_dir: directory of the tasks.
        name: name of the task.
        data: images of seen and unseen classes: `digits` or another dataset of recipes, an .npz file with x_train,
            y_train, x_test and y_test, or a directory with train/CLASS and test/CLASS.
        settings: the axes of the cells; by default those of the paper.
        model_names: the models to look at; all by default.
        report: where news go.

    Returns:
        Arrays `error_rate` and `kappa` (model, ssim, unseen, class), NaN for classes that are not part of a cell, and
        the statistics (model, ssim, unseen). The attribute `failed` is JSON: model -> why it could not be probed.

    Raises:
        UserError: the task or the data cannot be used, or no model can be probed.
    """
    settings, report = settings or Settings(), report or Report()
    subject = read_subject(tasks_dir, name, model_names)
    shape = subject.models[0].input_shape
    _require_images(shape, subject)
    known = subject.task.data
    images = without_training_images(read_images(data, shape), known.inputs)
    seen = set(np.unique(known.labels).tolist())
    with tempfile.TemporaryDirectory(prefix="pgdl-testbed-") as directory:
        found = bodies.of_task(subject, Path(directory))
        return _evaluate(found, images, seen, data, settings, report, Path(directory), {"task": name})


def evaluate_applications(
    names: Sequence[str],
    data: str,
    settings: Settings | None = None,
    weights: str | None = "imagenet",
    report: Report | None = None,
) -> xr.Dataset:
    """Evaluate networks of keras.applications as backbones; the first half of the classes are the seen ones.

    Args:
        names: such as `EfficientNetB0`.
        data: as for `evaluate_task`.
        settings: as for `evaluate_task`.
        weights: `imagenet`, from Keras' cache or the network, or None for random weights.
        report: where news go.

    Returns:
        As `evaluate_task`.

    Raises:
        UserError: the data cannot be used, or no network can be probed.
    """
    settings, report = settings or Settings(), report or Report()
    images = read_images(data)
    labels = sorted(np.unique(images.train.labels).tolist())
    seen = set(labels[: (len(labels) + 1) // 2])
    with tempfile.TemporaryDirectory(prefix="pgdl-testbed-") as directory:
        found = bodies.of_applications(names, weights)
        of = {"applications": list(names), "weights": str(weights)}
        return _evaluate(found, images, seen, data, settings, report, Path(directory), of)


def _require_images(shape: tuple[int, ...], subject: Subject) -> None:
    """Raise `UserError` unless the models take images with values in [0, 1] that are large enough."""
    where = subject.files.directory
    if len(shape) != 3 or shape[2] not in (1, 3, 4):
        expected = "images: (height, width, channels), 1, 3 or 4 channels"
        raise UserError("input of the models", file=where, expected=expected, found=shape)
    require_large(shape, where)
    low, high = float(subject.task.data.inputs.min()), float(subject.task.data.inputs.max())
    if low < 0 or high > 1:
        expected = "numbers in [0, 1], to which the testbed brings its images"
        raise UserError("training images", file=where, expected=expected, found=f"{low:g} to {high:g}")


def _evaluate(
    backbones: Sequence[Backbone],
    images: Images,
    seen: set[int],
    data: str,
    settings: Settings,
    report: Report,
    directory: Path,
    of: dict[str, Any],
) -> xr.Dataset:
    classes = divide_classes(images, seen, settings.unseen, data)
    _note(images, classes, report)
    images = Images(of_classes(images.train, classes), of_classes(images.test, classes))
    versions = bodies.versions()
    key = {
        "version": VERSION, "images": images.digest, "n_seen": classes.n_seen, "levels": classes.levels,
        "ssim": settings.ssim, "seed": settings.seed, "libraries": versions,
    }  # fmt: skip
    files = {one.name: part_file("testbed", backbone=one.digest, **key) for one in backbones}
    parts = {name: part for name, file in files.items() if (part := read_part(file)) is not None}
    missing = [one for one in backbones if one.name not in parts]
    failed: dict[str, str] = {}
    if parts:
        report.say(f"{len(parts)} of {len(backbones)} backbones are probed already")
    if missing:
        failed = _probe_missing(missing, images, classes, settings, report, directory, files)
        parts = {name: part for name, file in files.items() if (part := read_part(file)) is not None}
    if not parts:
        name, reason = next(iter(failed.items()))
        others = f" (nor {len(failed) - 1} others)" if len(failed) > 1 else ""
        raise UserError(f"backbone {name} cannot be probed{others}", found=reason)
    usable = [
        Backbone(one.name, one.digest, {}, int(parts[one.name]["size"])) for one in backbones if one.name in parts
    ]
    _note_probes(usable, parts, classes, report)
    attributes = {
        **of, "data": data, "seed": settings.seed, "failed": failed, "libraries": versions,
        "n_train": len(images.train.labels), "n_test": len(images.test.labels),
    }  # fmt: skip
    return make_dataset(usable, [parts[one.name]["counts"] for one in usable], classes, settings, attributes)


def _probe_missing(
    missing: Sequence[Backbone],
    images: Images,
    classes: Classes,
    settings: Settings,
    report: Report,
    directory: Path,
    files: dict[str, Path],
) -> dict[str, str]:
    """Probe backbones and write their parts; returns why others could not be probed."""
    tests = _write(images, directory)
    usable, failed = bodies.check(missing, directory)
    for name, reason in failed.items():
        report.say(f"{name} is left out: {reason}")
    if not usable:
        return failed
    targets = [level for level in settings.ssim if level < 1]
    with report.steps("noisy images", number_of_parts(images.test.inputs) if targets else 0) as advance:
        noisy = write_noisy_images(images.test.inputs, targets, settings.seed, directory, advance) if targets else []
    question = {
        "images": str(directory),
        "tests": [str(file) for file in (*noisy, tests)],
        "n_classes": [classes.n_seen + level for level in classes.levels],
    }
    details = [question | {"counts": str(directory / f"counts_{position}.npz")} for position in range(len(usable))]
    with report.steps("backbones", len(usable)) as advance:
        for position, answer in bodies.ask(usable, details):
            one = usable[position]
            if isinstance(answer, UserError):
                failed[one.name] = str(answer)
                report.say(f"{one.name} is left out: {answer}")
            else:
                with np.load(str(details[position]["counts"])) as arrays:
                    write_part(files[one.name], size=one.size, **arrays)
            advance()
    return failed


def _write(images: Images, directory: Path) -> Path:
    """Write the images for the processes that run models, and return the file of the clean test images."""
    for name, part in (("train", images.train), ("test", images.test)):
        np.save(directory / f"{name}_inputs.npy", part.inputs)
        np.save(directory / f"{name}_labels.npy", part.labels)
    return directory / "test_inputs.npy"


def _note(images: Images, classes: Classes, report: Report) -> None:
    for line in images.notes:
        report.say(line)
    n_unseen = len(classes.labels) - classes.n_seen
    if not n_unseen:
        report.say("no unseen classes in the data, or none asked for: only 0 % is evaluated")
    fewest = min(_per_class(images.test, classes))
    report.say(
        f"{classes.n_seen} seen classes, {n_unseen} unseen ones; {len(images.train.labels)} training images, "
        f"{len(images.test.labels)} test images, at least {fewest} of each class"
    )


def _per_class(part: Part, classes: Classes) -> NDArray[np.int64]:
    positions = classes.positions(part.labels)
    return np.bincount(positions[positions >= 0])


def _note_probes(
    usable: Sequence[Backbone], parts: dict[str, dict[str, NDArray[Any]]], classes: Classes, report: Report
) -> None:
    """Name the probes that have not converged."""
    for one in usable:
        levels = [
            str(level) for level, good in zip(classes.levels, parts[one.name]["converged"], strict=True) if not good
        ]
        if levels:
            report.say(f"{one.name}: the probe did not converge with {', '.join(levels)} unseen classes")
