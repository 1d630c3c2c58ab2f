"""Compares whole runs of `pgdl run` with the competition's ingestion program: same measure, same task, in turn.

    python -m tests.benchmarks.against_ingestion TASKS TASK [MEASURE ...]

TASKS has a directory TASK, or input_data/TASK. Prints wall and processor seconds of the ingestion program
(`ingestion.py`), of a first run, and of a second run, which finds the task checked and its data decoded.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pgdl
from harness.cores import THREADS
from tests.benchmarks.stopwatch import Seconds, of_children

HERE = Path(__file__).parent

#: Measure -> the file that the ingestion calls, and the submission that the run calls.
MEASURES = {
    "frobenius_norms": (HERE.parents[1] / "submissions/frobenius_norms/complexity.py",) * 2,
    "label_variation": (HERE / "ingested/label_variation.py",) * 2,
    "jacobian_norm": (HERE / "ingested/jacobian_norm.py", "jacobian_norm"),
}
INGESTION, FIRST, AGAIN = "ingestion", "first run", "another run"


def compare(tasks: Path, task: str, measure: str, repeats: int) -> dict[str, Seconds]:
    """Return the seconds of the ingestion, the first run and the second run, each the smallest of `repeats`.

    All values must agree.
    """
    found: dict[str, list[Seconds]] = {INGESTION: [], FIRST: [], AGAIN: []}
    file, submission = MEASURES[measure]
    directory = next(path for path in (tasks / "input_data" / task, tasks / task) if path.is_dir())
    called = ["run", submission, "--as", "measure"] if isinstance(submission, Path) else ["run", submission]
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as scratch:
            output, cache = Path(scratch, "values.json"), Path(scratch, "cache")
            found[INGESTION].append(_call(HERE / "ingestion.py", file, directory, output))
            expected = json.loads(output.read_text())
            for name in (FIRST, AGAIN):
                results = Path(scratch, f"{name}.db")
                options = ("--tasks", tasks, "--task", task, "--results", results)
                taken = _call("-m", "pgdl", *called, *options, PGDL_CACHE=str(cache))
                rows = pgdl.results(results)
                # Workers are no children of the command: their time is in the records.
                forked = sum(row["load_cpu_s"] + row["call_cpu_s"] for row in rows)
                found[name].append(Seconds(taken.wall, taken.processor + forked))
                for row in rows:
                    if abs(row["value"] - expected[row["model"]]) > 1e-3 * abs(expected[row["model"]]):
                        raise RuntimeError(f"{row['model']}: {row['value']}, {expected[row['model']]} of the ingestion")
    return {name: Seconds(*map(min, zip(*taken, strict=True))) for name, taken in found.items()}


def _call(*arguments: object, **variables: str) -> Seconds:
    """Run Python with an environment that sets no number of threads; return its seconds."""
    bounds = (*THREADS, "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in bounds}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"} | variables
    command = [sys.executable, *map(str, arguments)]
    return of_children(lambda: subprocess.run(command, env=environment, cwd=HERE.parents[1], check=True))


def show(title: str, found: dict[str, Seconds]) -> None:
    for name, taken in found.items():
        wall, processor = (one / other for one, other in zip(taken, found[INGESTION], strict=True))
        print(
            f"{title:28} {name:12} {taken.wall:7.1f} s, {taken.processor:7.1f} s of processor time: "
            f"{wall:.2f} and {processor:.2f} times the ingestion's"
        )


def main(tasks: str, task: str, *measures: str) -> None:
    for measure in measures or MEASURES:
        show(f"{measure}, {task}", compare(Path(tasks), task, measure, repeats=3))


if __name__ == "__main__":
    main(*sys.argv[1:])
