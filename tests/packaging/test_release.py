"""Tests of a release: pinned versions, workflows, the image, and accepted tags."""

import json
import re
import shutil
import subprocess
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from repository import PACKAGES, PYPROJECT, ROOT, SHIPPED

JOBS = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
STATED = {
    "pyproject.toml": 'version = "1.2.3"',
    "harness/__init__.py": '__version__ = "1.2.3"',
    "CITATION.cff": "version: 1.2.3",
    "CHANGELOG.md": "## 1.2.3",
}


@pytest.fixture
def stated(tmp_path):
    """A directory whose files state version 1.2.3."""
    for name, line in STATED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# first\n{line}\nlast\n")
    return tmp_path


def check(tag, folder):
    return subprocess.run([ROOT / ".ci/check-tag", tag], cwd=folder, capture_output=True, text=True)


def test_the_tag_of_the_version_is_accepted_and_another_refused_in_a_line_for_each_file(stated):
    assert (check("v1.2.3", stated).returncode, check("v1.2.3", stated).stderr) == (0, "")
    ended = check("v1.2.4", stated)
    assert ended.returncode == 1
    assert [line.partition(":")[0] for line in ended.stderr.splitlines()] == list(STATED)


@pytest.mark.parametrize("name", STATED)
def test_a_file_that_states_another_version_is_named(stated, name):
    (stated / name).write_text(STATED[name] + " (unreleased)\n")
    ended = check("v1.2.3", stated)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{name}: ")


def test_the_files_of_this_checkout_state_one_version(tmp_path):
    for name in STATED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace(" (unreleased)\n", "\n"))
    assert check(f"v{PYPROJECT['project']['version']}", tmp_path).returncode == 0


def test_every_python_is_tried_before_publishing_and_publishing_alone_may_publish():
    tried = JOBS["try"]["strategy"]["matrix"]["python"]
    accepted = SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert tried == [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted]
    assert (JOBS["try"]["needs"], JOBS["publish"]["needs"]) == ("build", "try")
    assert JOBS["publish"]["environment"]["name"] == "pypi"
    assert [name for name, job in JOBS.items() if "id-token" in job.get("permissions", {})] == ["publish"]


def test_the_scripts_of_its_steps_are_there():
    scripts = [step["run"].split()[0] for job in JOBS.values() for step in job["steps"] if "run" in step]
    assert [(ROOT / one).exists() for one in scripts if one.startswith(".ci/")] == [True] * 3


LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PINNED = {canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)}
PROJECT = PYPROJECT["project"]
INSTALLED = ("dev", "docs", "testbed", "tensorflow", "jax", "torch", "run", "parquet")
EXTRAS = [text for extra in INSTALLED for text in PROJECT["optional-dependencies"][extra]]
DIRECT = [Requirement(text) for text in [*PROJECT["dependencies"], *EXTRAS] if not text.startswith(PROJECT["name"])]

#: What PyPI's build of PyTorch needs in addition to that for processors.
CUDA = ("nvidia-", "cuda-", "triton")


def is_installed(name):
    return next(metadata.distributions(name=name), None) is not None


def needed():
    """Return the names of all distributions that the direct dependencies need."""
    names, waiting = set(), list(DIRECT)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in names or name.startswith(CUDA):
            continue
        names.add(name)
        further = map(Requirement, metadata.requires(name) or ()) if is_installed(name) else ()
        extras = ["", *requirement.extras]
        waiting += [
            other for other in further
            if other.marker is None or any(other.marker.evaluate({"extra": extra}) for extra in extras)
        ]  # fmt: skip
    return names


def test_everything_that_is_needed_is_pinned_once_at_an_accepted_version_and_nothing_else():
    assert [one.name for one in DIRECT if not one.specifier.contains(PINNED[canonicalize_name(one.name)])] == []
    assert needed() <= set(PINNED)
    assert set(filter(is_installed, PINNED)) <= needed()
    assert len(LINES) == len(PINNED)


WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
TESTED = WORKFLOW["jobs"]
NEWEST = TESTED["test"]["strategy"]["matrix"]["python"][-1]


def commands(job):
    return [step["run"] for step in TESTED[job]["steps"] if "run" in step]


@pytest.mark.parametrize(("job", "target"), [("test", "make test"), ("demo", "make demo")])
def test_the_sandbox_is_allowed_before_it_is_needed(job, target):
    ran = commands(job)
    allow = ran.index("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    assert allow < next(number for number, command in enumerate(ran) if command.startswith(target))


def test_the_oldest_and_the_newest_python_are_tested_and_the_image_and_the_demo_use_the_newest():
    oldest = TESTED["test"]["strategy"]["matrix"]["python"][0]
    chosen = (ROOT / ".ci/find-python").read_text()
    assert f"(3, {oldest[2:]}) <= sys.version_info[:2] <= (3, {NEWEST[2:]})" in chosen
    assert f"ARG PYTHON={NEWEST}\n" in TEXT
    assert f"make demo PYTHON=python{NEWEST}" in commands("demo")


def test_the_leaderboard_is_published():
    (upload,) = [step["with"] for step in TESTED["demo"]["steps"] if "upload-artifact" in step.get("uses", "")]
    site, records = upload["path"].split()
    assert f'cat {site}/leaderboard.md >> "$GITHUB_STEP_SUMMARY"' in commands("demo")
    demo = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"--results {records} --output" in demo
    assert f"--html {site}\n" in demo


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
    """Return source -> target for everything that the Dockerfile copies."""
    return {source: copy.split()[-1] for copy in steps("COPY") for source in copy.split()[:-1]}


def pip_step():
    return next(step for step in steps("RUN") if "pip install" in step)


def test_what_is_copied_is_what_the_package_is_built_from_and_reaches_the_engine():
    project = PYPROJECT["project"]
    sources = {"pyproject.toml", "constraints.txt", project["readme"], *project["license-files"], *PACKAGES, *SHIPPED}
    assert set(copied()) == sources
    assert all((ROOT / source).exists() for source in sources)
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert set(kept) == sources


@pytest.mark.parametrize("extras", ["tensorflow", "gpu", "tensorflow,jax"])
def test_the_argument_decides_what_is_installed(machine, extras):
    machine.add("pip")
    machine.run("sh", "-c", f"EXTRAS={extras}; {pip_step()}")
    package = f"{TARGET}[{extras}]"
    assert machine.calls() == [f"pip install --no-cache-dir --constraint {TARGET}/constraints.txt {package}"]


def test_the_steps_are_portable_shell_and_install_what_the_sandbox_needs():
    for step in steps("RUN"):
        subprocess.run(["sh", "-n", "-c", step], check=True)
    assert "bubblewrap libseccomp2 util-linux" in next(step for step in steps("RUN") if "apt-get" in step)


def test_the_stage_for_codabench_is_root_without_an_entry_point():
    """The platform states the whole command, and mounts files that belong to root."""
    stage = TEXT.partition("AS codabench\n")[2].partition("\nFROM ")[0]
    assert [line.split()[0] for line in stage.splitlines() if line] == ["ENV", "CMD"]


def test_it_is_the_command_run_by_an_ordinary_user():
    (entry,) = steps("ENTRYPOINT")
    (user,) = steps("USER")
    assert json.loads(entry) == [next(iter(PYPROJECT["project"]["scripts"]))]
    assert int(user.split(":")[0]) > 0
