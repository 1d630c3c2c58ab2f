"""Prints how the time of scores, boards and sites grows with networks and submissions; docs/testing.md quotes it.

    nice python -m tests.studies.many_networks

Prints a row for each number of networks: seconds of each command with an empty cache, and the largest memory of the
commands, in MiB.
"""

import tempfile
from pathlib import Path

from tests.benchmarks.test_boards import cost, write_records, write_tasks

#: Number of networks -> sizes of the grid.
GRIDS = {
    300: (5, 5, 4, 3),
    1_000: (5, 5, 5, 4, 2),
    3_000: (6, 5, 5, 5, 4),
    10_000: (10, 10, 5, 5, 4),
    30_000: (10, 10, 10, 6, 5),
}
N_SUBMISSIONS = 20
COMMANDS = {"score": ["score", "submission_0007"], "board": ["board"], "site": ["board", "--html", "site"]}


def measured(directory: Path, commands: list[str]) -> str:
    """Run the commands; return the cells of a row."""
    cells, most = [], 0.0
    for name in commands:
        options = [str(directory / "site") if part == "site" else part for part in COMMANDS[name]]
        options += ["--tasks", str(directory / "tasks"), "--results", str(directory / "results.db")]
        seconds, _, mib = cost(options, {"PGDL_CACHE": str(directory / f"cache of {name}")})
        cells.append(f"{seconds:.1f}")
        most = max(most, mib)
    return " | ".join([*cells, f"{most:.0f}"])


def main() -> None:
    for n_networks, sizes in GRIDS.items():
        with tempfile.TemporaryDirectory() as name:
            tasks = write_tasks(Path(name, "tasks"), sizes=sizes)
            write_records(str(Path(name, "results.db")), tasks, N_SUBMISSIONS, sizes=sizes)
            print(f"| {n_networks:,} networks | {measured(Path(name), ['score', 'board', 'site'])} |")
    for n_submissions in (1, 10, 100, 1_000):
        with tempfile.TemporaryDirectory() as name:
            write_records(str(Path(name, "results.db")), write_tasks(Path(name, "tasks")), n_submissions)
            print(f"| {n_submissions:,} submissions | {measured(Path(name), ['board'])} |")


if __name__ == "__main__":
    main()
