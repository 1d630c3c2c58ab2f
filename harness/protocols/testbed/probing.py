"""Evaluates networks as backbones, in processes of their own, and keeps each network's results in the cache."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.processes.models import Question
from harness.processes.runtimes import PREFERRED, installed_runtime
from harness.protocols.files import Arrays
from harness.protocols.subject import StudiedTask, write_parts
from harness.protocols.testbed.images import Images
from harness.protocols.testbed.material import Classes
from harness.protocols.testbed.noise import number_of_parts, write_noisy_images
from harness.protocols.testbed.settings import ProbeSettings
from harness.reporter import Reporter
from harness.worker.runtimes import version_of

PROGRAM = "harness.protocols.testbed.backbone_program"


def probe_backbones(
    subject: StudiedTask,
    files: Mapping[str, Path],
    images: Images,
    classes: Classes,
    settings: ProbeSettings,
    reporter: Reporter,
    directory: Path,
) -> dict[str, str]:
    """Evaluate models as backbones, and write their results. Return model id -> error, for models that cannot be used.

    `files` maps model ids to the files to write. First, all models are tried on a few images. Temporary files are
    written below the existing `directory`.
    """
    for name, part in (("train", images.train), ("test", images.test)):
        np.save(directory / f"{name}_inputs.npy", part.inputs)
        np.save(directory / f"{name}_labels.npy", part.labels)
    failed: dict[str, str] = {}

    def ask(files: Mapping[str, Path], question: Question, advance: Callable[[], None]) -> None:
        def seen(name: str, error: UserError | None) -> None:
            if error is not None:
                failed[name] = str(error).removeprefix("cannot be run: found ")
                reporter.note(f"{name} is left out: {failed[name]}")
            advance()

        shared = question | {"images": str(directory)}
        write_parts(PROGRAM, installed_runtime(PREFERRED), subject, files, directory, shared, seen)

    ask(files, {"check": True}, lambda: None)
    usable = {name: file for name, file in files.items() if name not in failed}
    if not usable:
        return failed
    question = {
        "tests": [str(file) for file in _write_tests(images, settings, reporter, directory)],
        "n_classes": [classes.n_seen + level for level in classes.levels],
        "described": {  # so that a later run need not read the images
            "labels": classes.labels, "n_seen": classes.n_seen, "levels": classes.levels, "notes": images.notes,
            "n_train": len(images.train.labels), "n_test": len(images.test.labels),
        },
    }  # fmt: skip
    with reporter.steps("backbones", len(usable)) as advance:
        ask(usable, question, advance)
    return failed


def classes_of(part: Arrays) -> Classes:
    """Return the classes of a testbed from the stored results of a model."""
    return Classes(tuple(part["labels"].tolist()), int(part["n_seen"]), tuple(part["levels"].tolist()))


def _write_tests(images: Images, settings: ProbeSettings, reporter: Reporter, directory: Path) -> list[Path]:
    """Write the noisy test images for each SSIM. Return the files; the last has the clean images."""
    targets, clean = settings.ssim[:-1], directory / "test_inputs.npy"
    if not targets:
        return [clean]
    with reporter.steps("noisy images", number_of_parts(images.test.inputs)) as advance:
        return [*write_noisy_images(images.test.inputs, targets, settings.seed, directory, advance), clean]


def library_versions() -> dict[str, str]:
    """Return name -> version of the libraries that affect the results."""
    runtime = installed_runtime(PREFERRED)
    names = (*runtime.distributions, "numpy", "scipy", "scikit-learn", "scikit-image")
    return {name: version_of(name) or "" for name in names}
