"""Runs a testbed: error rates and kappas of linear probes on every backbone, SSIM and share of unseen classes."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import xarray as xr

from harness.errors import UserError
from harness.protocols.files import Arrays, part_file, read_part
from harness.protocols.subject import StudiedTask, read_subject
from harness.protocols.testbed.images import require_large
from harness.protocols.testbed.material import Material
from harness.protocols.testbed.probing import (
    Backbone,
    ProbeReport,
    backbones_of,
    classes_of,
    library_versions,
    probe_backbones,
)
from harness.protocols.testbed.results import make_dataset
from harness.protocols.testbed.settings import ProbeSettings
from harness.task.hidden import Withhold
from harness.task.selection import ModelSelection

#: Raised whenever the numbers change for the same settings and versions of libraries.
VERSION = 2


def evaluate_task(
    tasks_dir: Path,
    name: str,
    data: str,
    settings: ProbeSettings | None = None,
    models: ModelSelection = None,
    withhold: Withhold = Withhold.AUTO,
    report: ProbeReport | None = None,
) -> xr.Dataset:
    """Evaluate the models of a task as backbones; finished backbones come from the cache.

    The labels of the task's training data are the seen classes, the other labels of `data` the unseen ones.

    Args:
        tasks_dir: directory of the tasks.
        name: of the task.
        data: images of seen and unseen classes: `digits` or another dataset of recipes, an .npz file with x_train,
            y_train, x_test and y_test, or a directory with train/CLASS and test/CLASS.
        settings: the axes of the cells; by default the paper's axes.
        models: the models to look at; all by default.
        withhold: the tasks that are refused, see `read_subject`.
        report: receives the progress.

    Returns:
        Arrays `error_rate` and `kappa` (model, ssim, unseen, class), NaN for classes that are not part of a cell, and
        the statistics (model, ssim, unseen). The attribute `failed` is JSON: model -> reason why it could not be
        probed.

    Raises:
        UserError: the task or the data cannot be used, or no model can be probed.
    """
    settings, report = settings or ProbeSettings(), report or ProbeReport()
    subject = read_subject(tasks_dir, name, models, withhold)
    shape = subject.models[0].input_shape
    _require_images(shape, subject)
    material = Material(data, shape, subject.task.data)
    with tempfile.TemporaryDirectory(prefix="pgdl-testbed-") as directory:
        found = backbones_of(subject, Path(directory))
        return _evaluate(found, material, settings, report, Path(directory), name)


def _require_images(shape: tuple[int, ...], subject: StudiedTask) -> None:
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
    material: Material,
    settings: ProbeSettings,
    report: ProbeReport,
    directory: Path,
    task: str,
) -> xr.Dataset:
    libraries = library_versions()
    key = material.key() | {
        "version": VERSION, "ssim": settings.ssim, "unseen": settings.unseen, "seed": settings.seed,
        "libraries": libraries,
    }  # fmt: skip
    files = {one.name: part_file("testbed", backbone=one.digest, **key) for one in backbones}
    parts = _finished(files)
    failed: dict[str, str] = {}
    if missing := [one for one in backbones if one.name not in parts]:
        prepared = material.prepare(settings)
        _say(report, prepared.notes)
        if parts:
            report.say(f"{len(parts)} of {len(backbones)} backbones are probed already")
        failed = probe_backbones(missing, files, prepared, settings, report, directory)
        parts = _finished(files)
    else:
        _say(report, [*_first(parts)["notes"].tolist(), "all backbones are probed already"])
    if not parts:
        name, reason = next(iter(failed.items()))
        plural = " models" if len(failed) > 2 else " model"
        others = f", nor can {len(failed) - 1} other{plural}" if len(failed) > 1 else ""
        raise UserError(f"{name} cannot be probed{others}", found=reason)
    usable = [replace(one, size=int(parts[one.name]["size"])) for one in backbones if one.name in parts]
    first = _first(parts)
    _say(report, [line for name, part in parts.items() for line in _unconverged(name, part)])
    attributes = {
        "task": task, "data": material.data, "seed": str(settings.seed), "failed": failed, "libraries": libraries,
        "n_train": int(first["n_train"]), "n_test": int(first["n_test"]),
    }  # fmt: skip
    counts = [parts[one.name]["counts"] for one in usable]
    return make_dataset(usable, counts, classes_of(first), settings, attributes)


def _finished(files: dict[str, Path]) -> dict[str, Arrays]:
    return {name: part for name, file in files.items() if (part := read_part(file)) is not None}


def _first(parts: dict[str, Arrays]) -> Arrays:
    return next(iter(parts.values()))


def _say(report: ProbeReport, lines: Sequence[str]) -> None:
    for line in lines:
        report.say(line)


def _unconverged(name: str, part: Arrays) -> list[str]:
    """Return a line on the probes that have not converged."""
    converged = zip(part["levels"], part["converged"], strict=True)
    levels = ", ".join(str(level) for level, good in converged if not good)
    return [f"{name}: the probe did not converge with {levels} unseen classes"] if levels else []
