"""A throw-away competition with a public and a hidden phase, as an organiser describes it."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from throwaway import GAPS, make_task

from harness.board.predictions import predictions_of
from harness.codabench.results import RECORDS, PhaseResult, write_result
from harness.codabench.settings import PhaseSettings
from harness.outcome import Outcome
from harness.records import Records
from tests.records.evaluation_rows import evaluation, request

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


#: Values in the order of the throw-away gaps, and others.
RIGHT, WRONG = list(GAPS), [0.3, 0.1, 0.4, 0.1, 0.5, 0.9, 0.2, 0.6]


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


def inner(bundle: Path, part: str) -> zipfile.ZipFile:
    """Open an archive in a bundle."""
    with zipfile.ZipFile(bundle) as archive:
        return zipfile.ZipFile(io.BytesIO(archive.read(part)))


def pack(directory: Path, name: str, body: str, **others: str | bytes) -> Path:
    """Write a zip archive of a submission whose function `complexity` has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    file = directory / f"{name}.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("complexity.py", f"def complexity(model, dataset):\n{lines}\n")
        for other, text in ({"metadata": f"name: {name}\n"} | others).items():
            archive.writestr(other.replace("__", "."), text)
    return file


def write_output(
    output: Path, settings: PhaseSettings, values: Sequence[float | None], result: PhaseResult, **columns: object
) -> None:
    """Write the output of the ingestion program with a record for each value (None: timeout), changed by `columns`."""
    ((task, digests),) = settings.tasks.items()
    shared = {
        "task": task, "data_digest": digests.data, "sandbox": "landlock", "time_limit_s": settings.time_limit_s,
        "memory_limit_bytes": settings.memory_bytes,
    }  # fmt: skip
    rows = []
    for (model, digest), value in zip(digests.models.items(), values, strict=False):
        of_call = {"model": model, "model_digest": digest, "value": value}
        outcome = Outcome.TIMEOUT if value is None else Outcome.OK
        rows.append(evaluation(**shared | of_call | {"outcome": outcome} | columns))
    with Records(str(output / "made.db")) as records:
        records.add(*rows)
        records.ask([request(rows[0], source="/app/ingested_program")])
        predictions = predictions_of(list(records.newest_of()))
    write_result(output, result, {RECORDS: output / "made.db", **predictions})
    (output / "made.db").unlink()
