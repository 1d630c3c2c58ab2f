"""Every user of a machine can list the arguments of its processes: those that a run starts have no password."""

import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from real_runs import FASTEST, PGDL, descendants, write_submission

from tests.canary import SECRET, require_unwritten


@pytest.mark.rest
@pytest.mark.usefixtures("sandbox")
def test_a_run_gives_its_password_to_no_process(tmp_path: Path, environment: dict[str, str], four_models: Path) -> None:
    location = f"sqlite:///file:results.db?uri=true&password={SECRET}"
    submission = write_submission(tmp_path, "one", "return 1.0")
    run = subprocess.Popen(
        [*PGDL, "run", str(submission), "--tasks", str(four_models), *FASTEST], cwd=tmp_path,
        env=environment | {"PGDL_RESULTS": location, "PGDL_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    seen: set[str] = set()
    while run.poll() is None:
        for process in descendants(run):
            with suppress(psutil.Error):
                seen |= {" ".join(process.cmdline())}
    said = run.communicate()[0]
    assert run.returncode == 0, said
    assert any("bwrap" in one or "harness" in one for one in seen)
    assert SECRET not in said
    assert [one for one in seen if SECRET in one] == []
    require_unwritten(tmp_path)
