"""A process gathers its memory in huge pages, without a change of its content."""

import re
import subprocess
import sys

import pytest

#: Prints the size of its huge pages in KiB before and after, and whether its memory has changed.
PROGRAM = """
import re
from pathlib import Path
from harness.worker.huge_pages import gather

def huge():
    return int(re.search(r"AnonHugePages: +([0-9]+)", Path("/proc/self/smaps_rollup").read_text())[1])

memory = [bytes([i % 251]) * 1000 for i in range(50_000)]
before = huge()
gather()
print(before, huge(), all(part == bytes([i % 251]) * 1000 for i, part in enumerate(memory)))
"""


def test_memory_is_gathered_in_huge_pages() -> None:
    if sys.platform != "linux":
        pytest.skip("huge pages are gathered on Linux")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, after, same = re.findall(r"\w+", done.stdout)
    assert same == "True"
    if after == "0":
        pytest.skip("this kernel gathers no huge pages (Linux 6.1 does)")
    assert int(after) >= int(before) + 8 * 1024
