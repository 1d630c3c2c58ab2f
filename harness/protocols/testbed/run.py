"""Runs a testbed: error rate and kappa of linear probes, by network, noise and fraction of unseen classes."""

import tempfile
from pathlib import Path

import xarray as xr

from harness.errors import UserError
from harness.protocols.files import read_parts
from harness.protocols.subject import StudiedTask
from harness.protocols.testbed.images import data_key
from harness.protocols.testbed.material import divide_images
from harness.protocols.testbed.noise import WINDOW
from harness.protocols.testbed.probing import classes_of, library_versions, probe_backbones
from harness.protocols.testbed.results import make_dataset
from harness.protocols.testbed.settings import ProbeSettings
from harness.reporter import Reporter

VERSION = 2  #: version of the cached numbers, to be raised if the code computes other numbers


def evaluate_task(subject: StudiedTask, data: str, settings: ProbeSettings, reporter: Reporter) -> xr.Dataset:
    """Evaluate the chosen models of a task as backbones. Results of finished models come from the cache.

    `data` names the images: `digits` or another dataset of recipes, an .npz file with x_train, y_train, x_test and
    y_test, or a directory with train/CLASS and test/CLASS. Classes of the task's training data are seen, others unseen.

    Return the arrays `error_rate` and `kappa` (model, ssim, unseen, class), NaN for classes without images at this
    `ssim` and `unseen`, and statistics over classes (model, ssim, unseen). The attribute `failed` is JSON: model id ->
    why the model could not be used. Raise `UserError` if the data or all models are unusable.
    """
    known, shape, libraries = subject.task.data, _require_images(subject), library_versions()
    key = {
        "data": data_key(data), "input_shape": shape, "known": known.digest, "version": VERSION, "ssim": settings.ssim,
        "unseen": settings.unseen, "seed": settings.seed, "libraries": libraries,
    }  # fmt: skip
    files = subject.part_files("testbed", **key)
    parts, failed = read_parts(files), dict[str, str]()
    if missing := {model: file for model, file in files.items() if model not in parts}:
        images, classes = divide_images(data, shape, known, settings.unseen)
        for line in images.notes:
            reporter.note(line)
        if parts:
            reporter.note(f"{len(parts)} of {len(files)} backbones are probed already")
        with tempfile.TemporaryDirectory(prefix="pgdl-testbed-") as directory:
            failed = probe_backbones(subject, missing, images, classes, settings, reporter, Path(directory))
        parts = read_parts(files)
    else:
        for line in (*next(iter(parts.values()))["notes"].tolist(), "all backbones are probed already"):
            reporter.note(line)
    if not parts:
        first, reason = next(iter(failed.items()))
        plural = " models" if len(failed) > 2 else " model"
        others = f", nor can {len(failed) - 1} other{plural}" if len(failed) > 1 else ""
        raise UserError(f"{first} cannot be probed{others}", found=reason)
    for model, part in parts.items():
        if levels := ", ".join(map(str, part["levels"][~part["converged"]])):
            reporter.note(f"{model}: the probe did not converge with {levels} unseen classes")
    part = next(iter(parts.values()))
    attributes = {
        "task": subject.task.name, "data": data, "seed": str(settings.seed), "failed": failed, "libraries": libraries,
        "n_train": int(part["n_train"]), "n_test": int(part["n_test"]),
    }  # fmt: skip
    probed = [model for model in subject.models if model.id in parts]
    counts = [parts[model.id]["counts"] for model in probed]
    return make_dataset(probed, counts, classes_of(part), settings, attributes)


def _require_images(subject: StudiedTask) -> tuple[int, ...]:
    """Return the models' input shape; raise `UserError` unless inputs are images in [0, 1], large enough for SSIM."""
    shape, where = subject.models[0].input_shape, subject.files.directory
    if len(shape) != 3 or shape[2] not in (1, 3, 4):
        expected = "images: (height, width, channels), 1, 3 or 4 channels"
        raise UserError("input of the models", file=where, expected=expected, found=shape)
    if min(shape[:2]) < WINDOW:
        expected = f"at least {WINDOW} pixels high and wide, the window of SSIM"
        remedy = "train backbones on larger images, e.g. with data.resize in the recipe"
        raise UserError("images", file=where, expected=expected, found=f"{shape[0]} x {shape[1]}", remedy=remedy)
    low, high = float(subject.task.data.inputs.min()), float(subject.task.data.inputs.max())
    if low < 0 or high > 1:
        expected = "numbers in [0, 1], to which the testbed brings its images"
        raise UserError("training images", file=where, expected=expected, found=f"{low:g} to {high:g}")
    return shape
