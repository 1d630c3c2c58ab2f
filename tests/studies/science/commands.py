"""The commands that make the evidence, in order; a repeated command resumes its work."""

from pathlib import Path

from tests.studies.science.corpora import STAGES, stage_name
from tests.studies.science.settings import Setting

#: Families of measures that are compared; those left out take most of the time.
FAMILIES = (
    "norm",
    "margin",
    "size",
    "consistency",
    "perturbation response",
    "label variation",
    "neural activation",
    "control",
)


def commands(place: Path, setting: Setting) -> dict[str, list[str]]:
    """Return key -> arguments of each `pgdl` command of a setting, with paths inside `place`."""
    if not setting.data:
        return {}
    tasks = ["--tasks", str(place / "tasks")]
    results = ["--results", str(place / "results.db")]
    stages = [option for epochs in STAGES for option in ("--task", stage_name(epochs))]
    of_activation = ["--measures", "neural activation", *tasks, *results]
    held_out = {} if setting.shipped else {"held out": [*_held_out(setting), *tasks, *results, "--quiet"]}
    return held_out | {
        "stages": ["compare", *of_activation, *stages, "--quiet"],
        "wrong labels": ["compare", *of_activation, "--task", "wrong_labels", "--quiet"],
        "invariance": [
            "invariance", setting.invariance, *tasks, "--range", "rotation=-90..90",
            "--perturbations", "rotation", "--sensitivity", "--output", str(place / "invariance"),
        ],
        "errors": ["overfit", setting.errors, *tasks, "--epsilon", "1", "--quiet"],
        "torus, train": _torus(tasks, "train", place),
        "torus, test": _torus(tasks, "test", place),
        "testbed": [
            "testbed", setting.testbed, *tasks, "--data", _testbed_data(setting, place),
            "--measures", "norm,margin,size", *results, "--output", str(place / "testbed"),
        ],
    }  # fmt: skip


def _held_out(setting: Setting) -> list[str]:
    names = [option for name in setting.held_out for option in ("--task", name)]
    return ["compare", "--measures", ",".join(FAMILIES), *names]


def _torus(tasks: list[str], split: str, place: Path) -> list[str]:
    wrapped = ["--epsilon", "1..3", "--edges", "wrap", "--split", split]
    return ["overfit", "torus", *tasks, *wrapped, "--output", str(place / f"torus_{split}")]


def _testbed_data(setting: Setting, place: Path) -> str:
    file = Path(setting.testbed_data)
    return str(place / "recipes" / file) if file.suffix else setting.testbed_data
