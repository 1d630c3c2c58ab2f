"""Probes backbones in processes of their own, and keeps each finished one in the cache."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import UserError
from harness.protocols.parts import Arrays, write_part
from harness.protocols.testbed import backbones as bodies
from harness.protocols.testbed.backbones import Backbone
from harness.protocols.testbed.classes import Classes
from harness.protocols.testbed.images import Images
from harness.protocols.testbed.material import Prepared
from harness.protocols.testbed.noise import number_of_parts, write_noisy_images
from harness.protocols.testbed.settings import ProbeSettings

Steps = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


@contextmanager
def _silent(_name: str, _total: int) -> Generator[Callable[[], None]]:
    yield lambda: None


@dataclass(frozen=True)
class ProbeReport:
    """Where news go: `say` takes a line, `steps` a name and a number of steps; nowhere by default."""

    say: Callable[[str], None] = lambda _: None
    steps: Steps = _silent


def probe_backbones(
    missing: Sequence[Backbone],
    files: dict[str, Path],
    prepared: Prepared,
    settings: ProbeSettings,
    report: ProbeReport,
    directory: Path,
) -> dict[str, str]:
    """Probe backbones and write their parts; returns name -> reason of those that cannot be probed.

    They are tried on a few images before the long work.

    Args:
        missing: the backbones.
        files: name -> file of the part.
        prepared: the images.
        settings: levels of SSIM, seed of the noise.
        report: where news go.
        directory: an existing directory for images.
    """
    _write_images(prepared.images, directory)
    usable, failed = bodies.check(missing, directory)
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
        for position, answer in bodies.ask(usable, [question | {"counts": str(file)} for file in counts]):
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
    """Return what a part says about its images, so that they need not be read again."""
    classes, images = prepared.classes, prepared.images
    described = {
        "labels": classes.labels, "n_seen": classes.n_seen, "levels": classes.levels, "notes": prepared.notes,
        "n_train": len(images.train.labels), "n_test": len(images.test.labels),
    }  # fmt: skip
    return {name: np.asarray(value) for name, value in described.items()}


def _write_images(images: Images, directory: Path) -> None:
    for name, part in (("train", images.train), ("test", images.test)):
        np.save(directory / f"{name}_inputs.npy", part.inputs)
        np.save(directory / f"{name}_labels.npy", part.labels)


def _write_tests(images: Images, settings: ProbeSettings, report: ProbeReport, directory: Path) -> list[Path]:
    """Write the noisy test images, and return the files of the test images for each SSIM; the last are clean."""
    targets, clean = settings.ssim[:-1], directory / "test_inputs.npy"
    if not targets:
        return [clean]
    with report.steps("noisy images", number_of_parts(images.test.inputs)) as advance:
        return [*write_noisy_images(images.test.inputs, targets, settings.seed, directory, advance), clean]
