"""What Windows says: the step of the workflow, with a Python that has lost what Windows lacks."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.packaging.repository import ROOT

PGDL = f"""\
#!{sys.executable}
import sys
import click
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
sys.platform = "win32"
from harness.cli.main import main
main()
"""


def test_windows_is_told_of_wsl(tmp_path: Path) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    (step,) = [step for step in workflow["jobs"]["windows"]["steps"] if step.get("shell") == "bash"]
    (tmp_path / "pgdl").write_text(PGDL)
    (tmp_path / "pgdl").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    remedy = "install it in WSL (wsl --install), where everything works"
    assert done.stdout.splitlines() == [f"pgdl: system: expected Linux or macOS, found Windows; {remedy}"]
