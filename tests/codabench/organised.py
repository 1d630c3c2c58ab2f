"""A throw-away competition with a public and a hidden phase, as an organiser describes it."""

import zipfile
from pathlib import Path

from PIL import Image
from throwaway import GAPS, make_task

#: The organiser's description.
TOML = """\
title = "Which networks generalize?"
description = "Predict generalization gaps."
image = "logo.png"
terms = "terms.md"
docker_image = "example.org/pgdl-codabench:0.1.0"
tasks = "task_data"
pages = [{ title = "Overview", file = "overview.md" }]

[[phases]]
name = "Feedback"
start = 2027-01-10
end = 2027-02-28T12:00:00
tasks = ["tiny"]
time_limit = 5
execution_time_limit = 600

[[phases]]
name = "Final"
start = 2027-03-01T14:00:00+02:00
tasks = ["secret"]
hidden = true
check_task = "tiny"
time_limit = 5
execution_time_limit = 600
"""

#: A number that depends on the weights alone.
GOOD = "return float(sum((abs(array)).sum() for array in model.get_weights()))"


def organise(directory: Path, toml: str = TOML) -> Path:
    """Write the tasks, the pages and the description; return the description's path."""
    if not (directory / "task_data").exists():
        make_task(directory / "task_data", layout="full")
        make_task(directory / "task_data", name="secret", layout="full", hidden=True, gaps=GAPS[::-1], seed=1)
        Image.new("RGB", (8, 8)).save(directory / "logo.png")
        (directory / "terms.md").write_text("Be fair.\n")
        (directory / "overview.md").write_text("# Overview\n")
    (directory / "competition.toml").write_text(toml)
    return directory / "competition.toml"


def pack(directory: Path, name: str, body: str, **others: str | bytes) -> Path:
    """Write a zip archive of a submission whose function `complexity` has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    file = directory / f"{name}.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("complexity.py", f"def complexity(model, dataset):\n{lines}\n")
        for other, text in ({"metadata": f"name: {name}\n"} | others).items():
            archive.writestr(other.replace("__", "."), text)
    return file
