"""Tests of the leaderboard's workflows, as far as they can run without GitHub."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from repository import ROOT
from throwaway import make_task
from workflow_runner import EVENTS, Job, Runner

from harness.api.starts import new_leaderboard
from harness.ci.comment import MARK
from harness.ci.post import ARTIFACT, FILE
from harness.records import Records
from harness.sandbox.kinds.fresh import Fresh
from tests.ci.fake_github import FakeGithub, serve
from tests.ci.repositories import MEASURE, Repo
from tests.records.evaluation_rows import evaluation

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
LEADERBOARD, COMMENT = WORKFLOWS["leaderboard"], WORKFLOWS["leaderboard-comment"]
ACTION = yaml.safe_load((ROOT / ".github/actions/leaderboard/action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
HARNESS = "lab/pgdl-harness"
BROKEN = "def complexity(model, dataset):\n    raise KeyError('no such layer')\n"


OWN = [step for workflow in (LEADERBOARD, COMMENT) for job in workflow["jobs"].values() for step in job["steps"]]


def step_named(start):
    (step,) = [step for step in STEPS if step.get("name", "").startswith(start)]
    return step


def test_only_actions_of_github_and_python_are_used_each_at_the_commit_of_one_version():
    """A tag or a branch can be moved to other code."""
    files = (ROOT / ".github").rglob("*.yml")
    used = {line for file in files for line in re.findall(r"uses: (.*)", file.read_text())}
    used.remove("./.github/actions/leaderboard")
    wanted = re.compile(r"((?:actions|pypa)/[a-z-]+)[a-z/-]*@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)(, .*)?")
    found = [wanted.fullmatch(one) for one in used]
    assert all(found), sorted(used)
    commits = {one.group(1, 2, 3) for one in found}
    assert len({name for name, *_ in commits}) == len(commits)


def test_a_job_for_a_pull_request_may_only_read_has_no_secret_and_neither_checks_out_nor_runs_text_of_it():
    """GitHub replaces expressions before the shell reads a script, so a branch's name could be a command."""
    scripts = [step["run"] for step in [*STEPS, *OWN] if "run" in step]
    assert (len(scripts), [script for script in scripts if "${{" in script]) == (7, [])
    assert set(LEADERBOARD[EVENTS]) == {"pull_request", "push", "workflow_dispatch"}
    assert LEADERBOARD["permissions"] == {"contents": "read"}
    assert "permissions" not in LEADERBOARD["jobs"]["evaluate"]
    text = (ROOT / ".github/workflows/leaderboard.yml").read_text() + json.dumps(ACTION)
    assert "secrets." not in text
    with_token = [step.get("name") for step in STEPS if "TOKEN" in step.get("env", {})]
    assert with_token == ["Fetch the change, as objects only"]
    checkouts = [one["with"] for one in [*STEPS, *OWN] if one.get("uses", "").startswith("actions/checkout")]
    assert [checkout["persist-credentials"] for checkout in checkouts] == [False, False]
    assert checkouts[0].get("ref") in (None, "${{ github.event.pull_request.base.sha || github.sha }}")
    assert all("head" not in checkout.get("ref", "") for checkout in checkouts)


def test_what_may_write_runs_nothing_of_a_pull_request():
    assert set(COMMENT[EVENTS]) == {"workflow_run"}
    assert COMMENT[EVENTS]["workflow_run"]["workflows"] == [LEADERBOARD["name"]]
    assert COMMENT["permissions"] == {}
    assert OWN[-1]["run"] == "python3 -m harness.ci.post"
    publish = LEADERBOARD["jobs"]["publish"]
    assert publish["if"].startswith("!cancelled() && github.event_name != 'pull_request' && ")
    assert not any("run" in step or "checkout" in step["uses"] for step in publish["steps"])


def test_the_comment_finds_the_report_of_the_job_and_records_are_kept_whatever_happens():
    keep = step_named("Keep the report")["with"]
    assert (keep["name"], keep["path"].rpartition("/")[2]) == (ARTIFACT, FILE)
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
def test_a_fresh_repository_gets_a_published_board_and_comments(tmp_path):
    """The repository's workflows lead from `pgdl new --ci` to the comment on a pull request."""
    new_leaderboard(tmp_path / "board", f"{HARNESS}@{'1' * 40}")
    origin = Repo(tmp_path / "board")
    origin.git("add", ".")
    origin.git("commit", "--quiet", "-m", "a leaderboard")
    runner = Runner(tmp_path, origin, HARNESS, PUBLISH_LEADERBOARD="true")
    leaderboard, comment = (
        yaml.safe_load((tmp_path / f"board/.github/workflows/{name}.yml").read_text())
        for name in ("leaderboard", "leaderboard-comment")
    )
    main = origin.git("rev-parse", "main")
    of_main = {"repository": "who/what", "ref_name": "main", "sha": main}
    jobs = runner.run(leaderboard, "push", **of_main)
    assert not any(job.failed for job in jobs.values()), jobs["evaluate"].output
    assert list(jobs) == ["evaluate", "publish"]
    board = json.loads((runner.artifacts["leaderboard"] / "leaderboard.json").read_text())
    assert {"mean_margin", "vc_dim"} < {row["submission"] for row in board["rows"]}
    assert runner.pages is not None
    assert (runner.pages / "index.html").is_file()

    origin.git("checkout", "--quiet", "-b", "change")
    (origin.directory / "submissions/broken.py").write_text(BROKEN)
    origin.git("add", ".")
    origin.git("commit", "--quiet", "-m", "a submission")
    head = origin.git("rev-parse", "HEAD")
    change = {"number": 7, "pull_request": {"number": 7, "base": {"sha": main}, "head": {"sha": head}}}
    jobs = runner.run(leaderboard, "pull_request", event=change, base_ref="main", repository="who/what")
    assert list(jobs) == ["evaluate"], "nothing of a pull request is published"
    assert jobs["evaluate"].failed
    assert "does not pass pgdl check" in jobs["evaluate"].output

    github = FakeGithub(head, runner.artifacts["leaderboard-report"].read_bytes(), page="https://board.example/")
    with serve(github) as address:
        runner.environment["GITHUB_API_URL"] = address
        ended = {"id": 77, "event": "pull_request", "conclusion": "failure", "head_sha": head}
        jobs = runner.run(comment, "workflow_run", event={"workflow_run": ended}, **of_main)
    assert jobs["comment"].output == "commented on: 7\n"
    (posted,) = [one["body"] for one in github.comments]
    of_job = "/who/what/actions/runs/77)"
    for text in ("- `broken: does not pass", "KeyError: 'no such layer'", of_job, "board.example"):
        assert text in posted
    assert comment[EVENTS]["workflow_run"]["workflows"] == [leaderboard["name"]]


@pytest.mark.rest
@pytest.mark.skipif(Fresh().problem() is not None, reason="no sandbox here")
def test_tasks_of_a_repository_can_be_downloaded(tmp_path):
    """The job downloads the tasks, and fetches the commits of the pull request, which its clone lacks."""
    origin = Repo(tmp_path / "origin")
    base = origin.commit({"measures/one.py": MEASURE.format("float(len(model.layers))")}, branch="main")
    head = origin.commit({"measures/two.py": MEASURE.format("1.0")}, base)
    origin.git("update-ref", "refs/pull/1/head", head)
    runner = Runner(tmp_path, origin, HARNESS)
    records = runner.cache["pgdl-records-branch-main-5"] = tmp_path / "records"  # as an earlier job left them
    records.mkdir()
    with Records(str(records / "results.db")) as earlier:
        earlier.add(evaluation(submission="earlier"))
    make_task(tmp_path / "competition", layout="full")
    archive = Path(shutil.make_archive(str(tmp_path / "tasks"), "gztar", tmp_path / "competition"))
    given = {"head": head, "base": base, "submissions": "measures", "tasks": "tasks", "tasks-url": archive.as_uri()}
    given |= {
        "tasks-sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "options": "--at-most 1  --min-score 0",
        "measures": "vc_dim",
    }
    checkout = {"uses": "actions/checkout@v6", "with": {"ref": base, "persist-credentials": False}}
    action = {"uses": f"{HARNESS}/.github/actions/leaderboard@v1", "with": given}
    workflow = {EVENTS: ["pull_request"], "jobs": {"evaluate": {"steps": [checkout, action]}}}
    job = runner.run(workflow, "pull_request", base_ref="main")["evaluate"]
    assert not job.failed, job.output
    assert runner.log == [
        "python -I -m pip cache dir",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", "sudo apt-get update",
        "sudo apt-get install --yes bubblewrap",
        f"python -I -m pip install --quiet --constraint {ROOT}/constraints.txt {ROOT}[tensorflow]",
    ]  # fmt: skip
    assert sorted(path.name for path in job.workspace.iterdir()) == [".git", "measures", "tasks"]
    assert [path.name for path in (job.workspace / "measures").iterdir()] == ["one.py"], "nothing is checked out"
    report = json.loads(runner.artifacts["leaderboard-report"].read_text())
    assert {line["name"]: line["change"] for line in report["lines"]} == {"two": "new", "one": "removed"}
    assert (job.temporary / "github_step_summary").read_text().startswith(MARK)
    (saved,) = [folder for key, folder in runner.cache.items() if key.startswith("pgdl-records-pull-")]
    with Records(str(saved / "results.db")) as kept:
        assert kept.distinct("submission") == ["earlier", "two", "vc_dim"]


def test_pytorch_is_installed_for_processors_and_packages_are_kept(tmp_path):
    runner = Runner(tmp_path, Repo(tmp_path / "origin"))
    job = Job(runner, tmp_path / "job", {})
    folder = str(ROOT / ".github/actions/leaderboard")
    job.run_steps([step_named("Find the packages"), step_named("Install")], {"extras": "tensorflow,torch"}, folder)
    torch = re.search(r"^torch==.*$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]
    install = "python -I -m pip install --quiet"
    assert runner.log[-2:] == [
        f"{install} --no-deps --retries 0 --timeout 10 --index-url https://download.pytorch.org/whl/cpu {torch}",
        f"{install} --constraint {ROOT}/constraints.txt {ROOT}[tensorflow,torch]",
    ]
    versions = hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest()
    assert f"versions={versions}" in (job.temporary / "github_output").read_text().splitlines()
    kept = step_named("Restore the packages")["with"]
    assert kept["path"] == "${{ steps.pip.outputs.directory }}"
    assert kept["key"].endswith("-${{ inputs.extras }}-${{ steps.pip.outputs.versions }}")
