"""The commands that make the evidence, in order. Each resumes what it had finished before."""

from pathlib import Path

from tests.science.corpora import HELD_OUT, STAGES, stage_name

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


def commands(place: Path) -> dict[str, list[str]]:
    """Return every command by its key, as arguments of `pgdl`, with paths inside `place`."""
    tasks = ["--tasks", str(place / "tasks")]
    results = ["--results", str(place / "results.db")]
    held_out = [option for name in HELD_OUT for option in ("--task", name)]
    stages = [option for epochs in STAGES for option in ("--task", stage_name(epochs))]
    of_activation = ["--measures", "neural activation", *tasks, *results]
    return {
        "held out": ["compare", "--measures", ",".join(FAMILIES), *tasks, *held_out, *results, "--quiet"],
        "stages": ["compare", *of_activation, *stages, "--quiet"],
        "wrong labels": ["compare", *of_activation, "--task", "wrong_labels", "--quiet"],
        "invariance": [
            "invariance", "invariance_digits_rotation", *tasks, "--range", "rotation=-90..90",
            "--perturbations", "rotation", "--sensitivity", "--output", str(place / "invariance"),
        ],
        "errors": ["overfit", "held_out_vgg", *tasks, "--epsilon", "1", "--quiet"],
        "torus, train": _torus(tasks, "train", place),
        "torus, test": _torus(tasks, "test", place),
        "testbed": [
            "testbed", "digits_half", *tasks, "--data", "digits", "--measures", "norm,margin,size", *results,
            "--output", str(place / "testbed"),
        ],
    }  # fmt: skip


def _torus(tasks: list[str], split: str, place: Path) -> list[str]:
    wrapped = ["--epsilon", "1..3", "--edges", "wrap", "--split", split]
    return ["overfit", "torus", *tasks, *wrapped, "--output", str(place / f"torus_{split}")]
