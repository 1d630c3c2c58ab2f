"""The limits that a worker puts on itself, and its end with the harness."""

import json
import os
import resource
import select
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LIMITED = """
import json, resource, sys
from harness.worker.limits import apply_limits

resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
apply_limits(processes=64, open_files=1024, file_bytes=4096, memory_bytes=2**30)
names = ("NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK")
limits = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}
try:
    with open(sys.argv[1], "wb") as file:
        file.write(b"x" * 5000)
except OSError as error:
    limits["too large a file"] = error.strerror
print(json.dumps(limits))
"""

ORPHAN = """
import os, sys
from harness.worker.limits import die_with_parent

ready, write = os.pipe()
if os.fork() == 0:
    die_with_parent()
    os.write(write, b"x")
    sys.stdin.read()  # of a pipe that nobody closes before this test has seen it die
os.read(ready, 1)
print("ready", flush=True)
sys.stdin.read()
"""


def test_limits_are_hard_and_never_above_what_was_allowed_before(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, tmp_path / "file"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    _, most_processes = resource.getrlimit(resource.RLIMIT_NPROC)
    processes = 64 if most_processes == resource.RLIM_INFINITY else min(64, most_processes)
    assert json.loads(done.stdout) == {
        "NPROC": [processes, processes],
        "NOFILE": [100, 100],
        "FSIZE": [4096, 4096],
        "CORE": [0, 0],
        "MEMLOCK": [0, 0],
        "too large a file": "File too large",
    }


def test_a_worker_dies_with_the_harness() -> None:
    alive, held_by_the_worker = os.pipe()  # its end is closed when the last process that holds it is gone
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        pass_fds=(held_by_the_worker,),
    ) as harness:  # fmt: skip
        os.close(held_by_the_worker)
        assert harness.stdout is not None
        assert harness.stdout.readline() == b"ready\n"
        assert select.select([alive], [], [], 0)[0] == []
        harness.kill()
        harness.wait()
        assert select.select([alive], [], [], 240)[0] == [alive], "the worker is still there"
    os.close(alive)
