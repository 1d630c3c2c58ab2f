"""A harness in a control group that has less memory than the machine, as in a container."""

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import machine_memory
from harness.configuration import MIB

#: Memory of the group: enough for imports, and for a call that gets half of it.
SIZE = 1000 * MIB

#: Makes a call in the group, and prints what the harness takes for its memory with the result. The limit of the call
#: is larger than the group, and the harness does not look how full that is: the kernel ends the call.
PROGRAM = """
import json
from harness.machine_memory import usable_memory
from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.sandbox import KINDS, Clock, Limits, Staging, default_memory_bytes, prepare_call, trial_job, memory
from harness.sandbox.selftest import TRAPS

memory.RESERVE = 0
hog = TRAPS[-1]
with Staging() as staging, KINDS["none"]() as kind:
    job = trial_job(staging, hog, runtime=installed_runtime(QUICKEST).name)
    kind.prepare([job])
    call = prepare_call(kind.start, job, Limits(memory_bytes=1200 << 20), 0, stopping=lambda: False)
    result = call.run(0, Clock(200.0, "the time limit"))
print(json.dumps([usable_memory().total, default_memory_bytes(0), result.outcome, result.message]))
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with little memory, below a group of this process; skips where none can be made."""
    for outer in machine_memory._groups():
        path = outer.path / f"pgdl-test-{secrets.token_hex(4)}"
        try:
            path.mkdir()
        except OSError:
            continue
        try:
            (path / outer.version.limit).write_text(str(SIZE))
            for swap in (path / "memory.memsw.limit_in_bytes", path / "memory.swap.max"):
                if swap.exists():
                    swap.write_text(str(SIZE if "memsw" in swap.name else 0))
            if enter(path, "/bin/true").returncode == 0:
                yield path
                return
        except OSError:
            pass
        finally:
            path.rmdir()
    pytest.skip("no control group with a memory limit can be made")


def enter(group: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in the group."""
    entrance = ["/bin/sh", "-c", 'echo 0 > "$0" && exec "$@"', str(group / "cgroup.procs")]
    return subprocess.run([*entrance, *command], capture_output=True, text=True, timeout=240)


def test_the_group_sets_the_default_limit_and_its_kill_is_out_of_memory(group: Path) -> None:
    done = enter(group, sys.executable, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    total, default, outcome, message = json.loads(done.stdout)
    assert (total, default) == (SIZE, 512 * MIB)
    assert outcome == "MEMORY", message
    assert message.startswith("out of memory (limit 1200 MiB, used ")
    assert message.endswith("the kernel ended the worker when the control group's 1000 MiB were used up")
