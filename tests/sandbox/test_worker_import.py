"""The moment at which a worker imports the code that it calls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: A worker without a framework, whose channel is standard input and output.
WORKER = """
from pathlib import Path
from unittest.mock import Mock
from harness.worker.channel import Channel, move_streams
from harness.worker.main import serve

runtime = Mock(versions={}, device=lambda: "cpu", place=lambda submission, module: submission)
serve(Channel(*move_streams()), runtime, Path("submission").absolute(), Path.cwd(), Path.cwd())
"""

LIMITS = {"processes": 64, "open_files": 256, "file_bytes": 1 << 20, "memory_bytes": 4 << 30}


@pytest.mark.parametrize(("module", "is_imported"), [("baseline_0", True), ("complexity", False)])
def test_only_a_baseline_is_imported_before_the_clock_starts(module: str, is_imported: bool, tmp_path: Path) -> None:
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / f"{module}.py").write_text("print('imported', flush=True)\n")
    order = json.dumps({"limits": LIMITS, "seed": 0, "module": module})
    done = subprocess.run(
        [sys.executable, "-c", WORKER], cwd=tmp_path, input=f"{order}\n", capture_output=True, text=True, timeout=60
    )
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["ready", "loaded"]
    assert ("imported" in done.stderr) == is_imported
