"""The workflows of the leaderboard, as far as they can be tried without GitHub: their steps are run as scripts."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from repository import ROOT
from throwaway import make_task

from harness.ci.comment import MARK
from harness.ci.post import ARTIFACT, FILE
from harness.records import Records
from harness.sandbox import Fresh
from tests.ci.repositories import MEASURE, Repo
from tests.records.evaluation_rows import evaluation

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
LEADERBOARD, COMMENT = WORKFLOWS["leaderboard"], WORKFLOWS["leaderboard-comment"]
ACTION = yaml.safe_load((ROOT / ".github/actions/leaderboard/action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
EVENTS = True  # the key `on`, as YAML reads it


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


EVERY_STEP = [*STEPS, *(step for workflow in WORKFLOWS.values() for step in steps_of(workflow))]


def step_named(start):
    (step,) = [step for step in STEPS if step.get("name", "").startswith(start)]
    return step


def test_no_text_of_an_event_is_part_of_a_script():
    """An expression in a script would be replaced before the shell reads it: a branch's name could be a command."""
    own = [step["run"] for step in [*STEPS, *steps_of(LEADERBOARD), *steps_of(COMMENT)] if "run" in step]
    assert len(own) == 7
    assert [script for script in own if "${{" in script] == []


def test_only_actions_of_github_and_python_are_used_each_at_the_commit_of_one_version():
    """A tag or a branch can be moved to other code."""
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / "docs/leaderboard-job.md"]
    used = {line for file in files for line in re.findall(r"uses: (.*)", file.read_text())}
    used.remove("./.github/actions/leaderboard")
    used.remove("OWNER/pgdl-harness/.github/actions/leaderboard@COMMIT")
    found = [
        re.fullmatch(r"((?:actions|pypa)/[a-z-]+)[a-z/-]*@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)(, .*)?", one)
        for one in used
    ]
    assert all(found), sorted(used)
    commits = {one.group(1, 2, 3) for one in found}
    assert len({name for name, *_ in commits}) == len(commits)


def test_a_job_for_a_pull_request_may_only_read_and_has_no_secret():
    assert set(LEADERBOARD[EVENTS]) == {"pull_request", "push", "workflow_dispatch"}
    assert LEADERBOARD["permissions"] == {"contents": "read"}
    assert "permissions" not in LEADERBOARD["jobs"]["evaluate"]
    text = (ROOT / ".github/workflows/leaderboard.yml").read_text() + json.dumps(ACTION)
    assert "secrets." not in text
    assert [step.get("name") for step in STEPS if "TOKEN" in step.get("env", {})] == [
        "Fetch the change, as objects only"
    ]


def test_nothing_of_a_pull_request_is_checked_out():
    steps = [*STEPS, *steps_of(LEADERBOARD), *steps_of(COMMENT)]
    checkouts = [step["with"] for step in steps if step.get("uses", "").startswith("actions/checkout")]
    assert [checkout["persist-credentials"] for checkout in checkouts] == [False, False]
    assert checkouts[0].get("ref") in (None, "${{ github.event.pull_request.base.sha || github.sha }}")
    assert all("head" not in checkout.get("ref", "") for checkout in checkouts)


def test_what_may_write_runs_nothing_of_a_pull_request():
    assert set(COMMENT[EVENTS]) == {"workflow_run"}
    assert COMMENT[EVENTS]["workflow_run"]["workflows"] == [LEADERBOARD["name"]]
    assert COMMENT["permissions"] == {}
    _, post = steps_of(COMMENT)
    assert post["run"] == "python3 -m harness.ci.post"
    publish = LEADERBOARD["jobs"]["publish"]
    assert publish["if"].startswith("!cancelled() && github.event_name != 'pull_request' && ")
    assert not any("run" in step or "checkout" in step["uses"] for step in publish["steps"])


def test_the_comment_finds_the_report_of_the_job():
    keep = step_named("Keep the report")
    assert keep["with"]["name"] == ARTIFACT
    assert keep["with"]["path"].endswith(f"/{FILE}")


def test_records_are_kept_whatever_happens():
    of_branch, of_pull, save = (
        step for step in STEPS if step.get("uses", "").startswith("actions/cache/") and "records" in step["with"]["key"]
    )
    assert {step["with"]["path"] for step in (of_branch, of_pull, save)} == {"${{ runner.temp }}/pgdl/records"}
    assert save["if"] == "always()"
    assert STEPS.index(save) > STEPS.index(step_named("Evaluate"))
    key = save["with"]["key"]
    assert "github.event_name == 'pull_request' && format('pull-{0}', github.event.number)" in key
    assert "format('branch-{0}', github.ref_name)" in key
    assert of_pull["with"]["restore-keys"] == "pgdl-records-pull-${{ github.event.number }}-"
    assert of_branch["with"]["restore-keys"] == "pgdl-records-branch-${{ github.base_ref || github.ref_name }}-"


@pytest.mark.rest
@pytest.mark.skipif(Fresh().problem() is not None, reason="no sandbox here")
def test_the_steps_of_the_action_evaluate_a_pull_request_of_another_repository(tmp_path):
    """A repository of submissions, whose tasks are downloaded, and a clone without the commits of the pull request."""
    origin = Repo(tmp_path / "origin")
    base = origin.commit({"measures/one.py": MEASURE.format("float(len(model.layers))")}, branch="main")
    head = origin.commit({"measures/two.py": MEASURE.format("1.0")}, base)
    origin.git("update-ref", "refs/pull/1/head", head)
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    workspace = tmp_path / "workspace"
    origin.git("clone", "--quiet", "--no-local", f"file://{origin.directory}", str(workspace))
    machine = Machine(tmp_path, workspace)
    url, sha256 = archive_of_tasks(tmp_path)
    given = {"head": head, "base": base, "submissions": "measures", "tasks": "tasks", "tasks-url": url}
    options = "--at-most 1  --min-score 0"
    machine.inputs |= given | {"tasks-sha256": sha256, "options": options, "token": "t", "measures": "vc_dim"}
    for step in STEPS:
        if "run" in step:
            machine.run(step)
        if step.get("name") == "Restore the records of the branch":  # as an earlier job left them
            left = machine.temporary / "pgdl/records/results.db"
            left.parent.mkdir(parents=True)
            with Records(str(left)) as records:
                records.add(evaluation(submission="earlier"))
    assert machine.log == [
        "python -I -m pip cache dir",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", "sudo apt-get update",
        "sudo apt-get install --yes bubblewrap",
        f"python -I -m pip install --quiet --constraint {ROOT}/constraints.txt {ROOT}[tensorflow]",
    ]  # fmt: skip
    assert sorted(path.name for path in workspace.iterdir()) == [".git", "measures", "tasks"]
    assert [path.name for path in (workspace / "measures").iterdir()] == ["one.py"], "nothing is checked out"
    report = json.loads((machine.temporary / "pgdl/leaderboard/report.json").read_text())
    assert {line["name"]: line["change"] for line in report["lines"]} == {"two": "new", "one": "removed"}
    assert (machine.temporary / "summary").read_text().startswith(MARK)
    assert (machine.temporary / "pgdl/leaderboard/site/index.html").is_file()
    with Records(str(machine.temporary / "pgdl/records/results.db")) as records:
        assert records.distinct("submission") == ["earlier", "two", "vc_dim"]


def test_pytorch_is_installed_for_processors_and_packages_are_kept(tmp_path):
    machine = Machine(tmp_path, ROOT)
    machine.inputs["extras"] = "tensorflow,torch"
    machine.run(step_named("Find the packages"))
    machine.run(step_named("Install"))
    torch = re.search(r"^torch==.*$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]
    install = "python -I -m pip install --quiet"
    assert machine.log[-2:] == [
        f"{install} --no-deps --retries 0 --timeout 10 --index-url https://download.pytorch.org/whl/cpu {torch}",
        f"{install} --constraint {ROOT}/constraints.txt {ROOT}[tensorflow,torch]",
    ]
    versions = hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest()
    assert f"versions={versions}" in (machine.temporary / "output").read_text().splitlines()
    kept = step_named("Restore the packages")["with"]
    assert kept["path"] == "${{ steps.pip.outputs.directory }}"
    assert kept["key"].endswith("-${{ inputs.extras }}-${{ steps.pip.outputs.versions }}")


def archive_of_tasks(directory):
    """Address and digest of an archive of a competition."""
    make_task(directory / "competition", layout="full")
    file = directory / "tasks.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for path in (directory / "competition").iterdir():
            archive.add(path, path.name)
    return file.as_uri(), hashlib.sha256(file.read_bytes()).hexdigest()


class Machine:
    """Runs steps as GitHub does; programs that would change the machine only say that they were called."""

    def __init__(self, directory: Path, workspace: Path) -> None:
        self.workspace, self.temporary = workspace, directory / "temporary"
        self.inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        self._log, self._programs = directory / "log", directory / "bin"
        self.temporary.mkdir()
        for name in ("sudo", "python"):
            self._add(name, f'echo "{name} $*" >> {self._log}')
        self._add("pgdl", f'exec {sys.executable} -m pgdl "$@"')

    def _add(self, name: str, script: str) -> None:
        self._programs.mkdir(exist_ok=True)
        path = self._programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    @property
    def log(self) -> list[str]:
        return self._log.read_text().splitlines()

    def run(self, step) -> None:
        """Run the script of a step with the values of its expressions."""
        environment = {
            "PATH": f"{self._programs}:{os.environ['PATH']}", "HOME": str(self.temporary), "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.temporary), "GITHUB_ACTIONS": "true", "PYTHONSAFEPATH": "1",
            "GITHUB_OUTPUT": str(self.temporary / "output"),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary"), "TF_NUM_INTRAOP_THREADS": "1",
        } | {name: self._value(text) for name, text in step.get("env", {}).items()}  # fmt: skip
        shell = [shutil.which(step["shell"]), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(shell, cwd=self.workspace, env=environment, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr

    def _value(self, text: str) -> str:
        known = {f"inputs.{name}": value for name, value in self.inputs.items()}
        known |= {
            "github.action_path": str(ROOT / ".github/actions/leaderboard"),
            "github.server_url": "https://github.com",
        }
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], text)
