"""A tag is released only as the version that the files state, and only after it ran from wheel and sdist everywhere."""

import shutil
import subprocess

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from repository import PYPROJECT, ROOT

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


def test_the_tag_of_the_version_is_accepted(stated):
    assert (check("v1.2.3", stated).returncode, check("v1.2.3", stated).stderr) == (0, "")


def test_another_tag_is_refused_in_a_line_for_each_file(stated):
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


def test_every_python_is_tried():
    tried = JOBS["try"]["strategy"]["matrix"]["python"]
    accepted = SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert tried == [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted]


def test_publishing_waits_for_all_of_it_and_alone_may_publish():
    assert (JOBS["try"]["needs"], JOBS["publish"]["needs"]) == ("build", "try")
    assert JOBS["publish"]["environment"]["name"] == "pypi"
    assert [name for name, job in JOBS.items() if "id-token" in job.get("permissions", {})] == ["publish"]


def test_the_scripts_of_its_steps_are_there():
    scripts = [step["run"].split()[0] for job in JOBS.values() for step in job["steps"] if "run" in step]
    assert [(ROOT / one).exists() for one in scripts if one.startswith(".ci/")] == [True] * 3
