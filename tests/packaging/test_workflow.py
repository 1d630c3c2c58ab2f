"""The workflow of continuous integration runs what a user runs."""

import subprocess

import pytest
import yaml
from repository import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
JOBS = WORKFLOW["jobs"]
NEWEST = JOBS["test"]["strategy"]["matrix"]["python"][-1]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


@pytest.mark.parametrize(("job", "target"), [("test", "make test"), ("demo", "make demo")])
def test_the_sandbox_is_allowed_before_it_is_needed(job, target):
    ran = commands(job)
    allow = ran.index("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    assert allow < next(number for number, command in enumerate(ran) if command.startswith(target))


def test_the_oldest_and_the_newest_python_are_tested():
    oldest = JOBS["test"]["strategy"]["matrix"]["python"][0]
    chosen = (ROOT / ".ci/find-python").read_text()
    assert f"(3, {oldest[2:]}) <= sys.version_info[:2] <= (3, {NEWEST[2:]})" in chosen


def test_the_image_and_the_demo_use_the_newest_python():
    assert f"ARG PYTHON={NEWEST}\n" in (ROOT / "Dockerfile").read_text()
    assert f"make demo PYTHON=python{NEWEST}" in commands("demo")


def test_the_leaderboard_is_published():
    (upload,) = [step["with"] for step in JOBS["demo"]["steps"] if "upload-artifact" in step.get("uses", "")]
    site, records = upload["path"].split()
    assert f'cat {site}/leaderboard.md >> "$GITHUB_STEP_SUMMARY"' in commands("demo")
    demo = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"--results {records} --output" in demo
    assert f"--html {site}\n" in demo
