"""Which processes a call has: by its process namespace, which none of them can leave."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.sandbox.processes import Namespace, Tree

#: Starts a daemon whose parent is gone.
PROGRAM = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdin.read()
    os._exit(0)
os.wait()
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def sandboxed(program: str) -> Iterator[int]:
    """Id of the first process of a namespace in which Python runs `program`."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    source, info = os.pipe()
    command = ["bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--info-fd", str(info)]
    with subprocess.Popen(
        [*command, sys.executable, "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=(info,),
    ) as process:  # fmt: skip
        os.close(info)
        assert process.stdout is not None
        with os.fdopen(source) as answer:
            described = answer.read()
        if not process.stdout.readline():
            pytest.skip(f"bubblewrap does not work here: {process.communicate()[1]}")
        yield json.loads(described)["child-pid"]
        process.communicate()


def test_a_namespace_has_everything_that_runs_in_it() -> None:
    with sandboxed(PROGRAM) as first:
        namespace = Namespace(first)
        assert namespace.root() is not None
        entries = namespace.entries()
        assert {Path(entry).name for entry in entries} == {"1", "2", "4"}, "bubblewrap's own, the program, the daemon"
        assert set(namespace.numbers()) == set(entries)
        assert first in namespace.numbers().values()
        outside = sorted(f"/proc/{number}" for number in namespace.numbers().values())
        assert sorted(Path(entry, "exe").readlink() for entry in entries) == sorted(
            Path(entry, "exe").readlink() for entry in outside
        )
    namespace.close()
    assert (namespace.entries(), namespace.root()) == ([], None)


def test_a_sandbox_that_still_sees_the_machine_is_not_made_yet() -> None:
    namespace = Namespace(os.getpid())
    assert (namespace.entries(), namespace.root()) == ([], None)


def test_a_tree_has_children_and_their_children() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        below = int(shell.stdout.readline())
        entries = Tree(shell.pid).entries()
        assert sorted(entries) == sorted(f"/proc/{pid}" for pid in (shell.pid, below))
        assert Tree(shell.pid).numbers() == {entry: int(entry[6:]) for entry in entries}
        os.kill(below, 9)
    assert Tree(shell.pid).entries() == []
