"""How the time of scores, boards and sites grows with networks and submissions: the tables of docs/testing.md."""

from pathlib import Path

import pytest
from large_records import write_records, write_tasks
from test_boards import cost

from harness.cores import available_cores

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
    """Cells of a row: seconds of each command with nothing in the cache, and the most memory of any."""
    cells, most = [], 0.0
    for name in commands:
        options = [
            str(directory / "site") if part == "site" else part for part in COMMANDS[name]
        ] + ["--tasks", str(directory / "tasks"), "--results", str(directory / "results.db")]  # fmt: skip
        seconds, _, mib = cost(options, {"PGDL_CACHE": str(directory / f"cache of {name}")})
        cells.append(f"{seconds:.1f}")
        most = max(most, mib)
    return " | ".join([*cells, f"{most:.0f}"])


@pytest.mark.parametrize("n_networks", GRIDS)
def test_networks(n_networks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = GRIDS[n_networks]
    tasks = write_tasks(tmp_path / "tasks", sizes=sizes)
    write_records(str(tmp_path / "results.db"), tasks, N_SUBMISSIONS, sizes=sizes)
    row = measured(tmp_path, ["score", "board", "site"])
    with capsys.disabled():
        print(f"\n| {n_networks:,} networks, {N_SUBMISSIONS} submissions | {row} | ({available_cores()} cores)", end="")


@pytest.mark.parametrize("n_submissions", [1, 10, 100, 1_000])
def test_submissions(n_submissions: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(str(tmp_path / "results.db"), write_tasks(tmp_path / "tasks"), n_submissions)
    row = measured(tmp_path, ["board"])
    with capsys.disabled():
        print(f"\n| 96 networks, {n_submissions:,} submissions | {row} | ({available_cores()} cores)", end="")
