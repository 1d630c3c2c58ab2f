"""The Dockerfile, as far as it can be tried without a container engine: its steps are run as a script."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from repository import PACKAGES, PYPROJECT, ROOT, SHIPPED
from throwaway import make_task

TEXT = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [
    (word, " ".join(rest.split()))
    for word, _, rest in (
        line.partition(" ")
        for line in re.sub(r"^ *#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
        if line
    )
]
TARGET = "/opt/pgdl"


def steps(instruction):
    return [rest for word, rest in INSTRUCTIONS if word == instruction]


def copied():
    """Source -> where it goes, for everything that is copied."""
    return {source: copy.split()[-1] for copy in steps("COPY") for source in copy.split()[:-1]}


def pip_step():
    return next(step for step in steps("RUN") if "pip install" in step)


def test_what_is_copied_is_what_the_package_is_built_from():
    project = PYPROJECT["project"]
    sources = {"pyproject.toml", "constraints.txt", project["readme"], *project["license-files"], *PACKAGES, *SHIPPED}
    assert set(copied()) == sources
    assert all((ROOT / source).exists() for source in sources)


def test_what_is_copied_reaches_the_engine():
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert set(kept) == set(copied())


def test_the_steps_are_portable_shell():
    for step in steps("RUN"):
        subprocess.run(["sh", "-n", "-c", step], check=True)


def test_what_the_sandbox_needs_is_installed():
    assert "bubblewrap libseccomp2 util-linux" in next(step for step in steps("RUN") if "apt-get" in step)


@pytest.mark.parametrize("extras", ["tensorflow", "gpu", "tensorflow,jax"])
def test_the_argument_decides_what_is_installed(machine, extras):
    machine.add("pip")
    machine.run("sh", "-c", f"EXTRAS={extras}; {pip_step()}")
    package = f"{TARGET}[{extras}]"
    assert machine.calls() == [f"pip install --no-cache-dir --constraint {TARGET}/constraints.txt {package}"]


def test_the_stage_for_codabench_is_root_without_an_entry_point():
    """The platform gives the whole command, and files that belong to root."""
    stage = TEXT.partition("AS codabench\n")[2].partition("\nFROM ")[0]
    assert [line.split()[0] for line in stage.splitlines() if line] == ["ENV", "CMD"]


def test_it_is_the_command_run_by_an_ordinary_user():
    (entry,) = steps("ENTRYPOINT")
    (user,) = steps("USER")
    assert json.loads(entry) == [next(iter(PYPROJECT["project"]["scripts"]))]
    assert int(user.split(":")[0]) > 0


@pytest.mark.skipif("PGDL_TEST_INSTALL" not in os.environ, reason="slow; set PGDL_TEST_INSTALL=1 to install for real")
@pytest.mark.timeout(900)
def test_the_package_is_installed_and_runs(tmp_path):
    target = tmp_path / "opt/pgdl"
    for source, destination in copied().items():
        place = tmp_path / destination.lstrip("/")
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place)
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, place)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    environment = {"PATH": f"{tmp_path}/venv/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    step = f"EXTRAS=tensorflow; {pip_step()}".replace(TARGET, str(target))
    subprocess.run(["sh", "-e", "-c", step], env=environment, check=True)
    shutil.rmtree(target)
    make_task(tmp_path / "tasks")
    run = ["pgdl", "run", "vc_dim", "--tasks", "tasks", "--unsafe-no-sandbox"]
    ran = subprocess.run(run, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "8 of 8" in ran.stdout
