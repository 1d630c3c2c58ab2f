"""A board of a large database costs little more than one of a small database that shows the same."""

import os
import subprocess
import sys
import time

from large_records import write_records, write_tasks


def cost(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Processor seconds of a command, and the peak of its memory in MiB."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def test_a_million_records_of_which_one_in_a_hundred_is_shown(tmp_path, capsys):
    tasks = write_tasks(tmp_path / "tasks")
    environment = {"PGDL_CACHE": str(tmp_path / "cache")}
    for n_copies in (0, 100):
        start = time.perf_counter()
        n_rows = write_records(tmp_path / f"{n_copies}.db", tasks, 104, n_copies)
        with capsys.disabled():
            print(f"\n{n_rows:,} rows written in {time.perf_counter() - start:.0f} s", end="")
    for command in (["board"], ["score", "submission_0007"]):
        options = ["--tasks", str(tmp_path / "tasks"), "--results"]
        cost([*command, *options, str(tmp_path / "0.db")], environment)  # fills the cache of chance
        small, large = (cost([*command, *options, str(tmp_path / f"{n}.db")], environment) for n in (0, 100))
        with capsys.disabled():
            print(f"\n{command[0]}: {small[0]:.1f} s, {small[1]:.0f} MiB; {large[0]:.1f} s, {large[1]:.0f} MiB")
        assert large[0] < 3 * small[0]
        assert large[1] < 1.5 * small[1]
