"""Tests of `pgdl ci` on pull requests of honest and of hostile people."""

import hashlib
import json
import signal
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from real_runs import FASTEST, PGDL, alive, descendants, records, run_here, wait_for
from shared_zygotes import SharedZygotes
from throwaway import make_task

from tests.ci.repositories import MEASURE, Content, Link, Repo, Submodule

pytestmark = [pytest.mark.usefixtures("sandbox"), pytest.mark.rest]

#: Measures of the tiny task, the second with a score.
LAYERS, SPREAD = MEASURE.format("float(len(model.layers))"), MEASURE.format("float(model.get_weights()[0].std())")
BASE: dict[str, Content] = {"submissions/first.py": LAYERS, "submissions/README.md": "how to submit"}

CURIOUS = """
import glob, os, sys
def complexity(model, dataset):
    print("\\n::set-output name=x::y\\n##[add-mask]z\\n::stop-commands::w", flush=True)
    for place in [*PLACES, *glob.glob("/proc/*/environ"), *glob.glob("/job/*/*")]:
        try:
            print(place, open(place, "rb").read())
        except OSError as error:
            print(place, type(error).__name__)
    raise ValueError(f"{dict(os.environ)}\\n::error::@everyone <b>`x`</b>%0A::warning::z")
"""

NOISE = "import time\ndef complexity(model, dataset):\n    return time.time()\n"

METADATA = 'name: first\nteam: "@everyone"\ndescription: "::error::x <script>"\n'


class Job:
    """A CI job for a repository; its competition, results and output are in other directories."""

    def __init__(self, directory: Path, environment: dict[str, str], zygotes: SharedZygotes) -> None:
        self.zygotes = zygotes
        self.repo = Repo(directory / "repository")
        self.results, self.output = directory / "kept" / "results.db", directory / "output"
        self.results.parent.mkdir()
        self.tasks = directory / "competition"
        make_task(self.tasks, layout="full")
        self.summary = directory / "summary.md"
        self.environment = environment | {"GITHUB_STEP_SUMMARY": str(self.summary)}
        self.base = self.repo.commit(BASE, branch="main")

    def arguments(self, *more: object) -> list[str]:
        own = (
            "--repository", self.repo.directory, "--tasks", self.tasks, "--results", self.results, "--output",
            self.output,
        )  # fmt: skip
        return [*PGDL, "ci", *map(str, (*own, *more))]

    def run(self, *more: object, github: bool = False, alone: bool = False) -> "Ended":
        """Run the job in this process, or with `alone` in a new process."""
        given = self.environment | ({"GITHUB_ACTIONS": "true"} if github else {})
        command = self.arguments(*more)
        if alone:
            done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=500)
        else:
            with self.zygotes.used():
                done = run_here(command[len(PGDL) :], given, self.tasks)
        assert "Traceback" not in done.stderr, done.stderr
        written = {path.name: path.read_text(errors="replace") for path in self.output.glob("*") if path.is_file()}
        return Ended(done.returncode, done.stdout, done.stderr, written)

    def pull_request(self, files: dict[str, Content], *more: object, **how: bool) -> "Ended":
        """Run the job for a change of the base's files."""
        head = self.repo.commit(BASE | files, self.base)
        return self.run("--base", "main", "--head", head, *more, **how)


class Ended(NamedTuple):
    """Exit status, output and files of a job."""

    code: int
    out: str
    err: str
    files: dict[str, str]

    @property
    def report(self) -> Any:
        return json.loads(self.files["report.json"])

    @property
    def board(self) -> list[str]:
        return [row["submission"] for row in json.loads(self.files["leaderboard.json"])["rows"]]


@pytest.fixture(scope="module")
def job(tmp_path_factory, environment, zygotes, sandbox) -> Job:
    """A job whose repository has an evaluated base branch, and a measure of the library on its board."""
    made = Job(tmp_path_factory.mktemp("job"), environment, zygotes)
    ended = made.run("--head", "main", "vc_dim")
    assert ended.code == 0, ended.err
    assert ended.board == ["first", "vc_dim"]
    assert [line["change"] for line in ended.report["lines"]] == ["evaluated"]
    return made


def test_a_new_and_a_changed_submission(job):
    folder = {"submissions/second/complexity.py": SPREAD, "submissions/second/metadata": "name: vc_dim\n"}
    changed = {"submissions/first.py": MEASURE.format("-float(len(model.layers))")}
    ended = job.pull_request(folder | changed, "--require-check", "--min-score", 0)
    assert ended.code == 0, ended.err
    lines = {line["name"]: line for line in ended.report["lines"]}
    assert (lines["first"]["change"], lines["second"]["change"]) == ("changed", "new")
    assert (lines["first"]["rank_before"], lines["second"]["rank_before"]) == (1, None)
    second = lines["second"]
    assert second["low"] <= second["score"] <= second["high"]
    assert second["best_rank"] <= second["rank"] == 1 <= second["worst_rank"]
    assert second["calls_ok"] == second["calls_expected"] == 8
    assert 0 <= second["below_p_value"] <= 1
    assert "| `second` | `new` | 1 |" in ended.files["comment.md"]
    assert "- `vc_dim`: 1 → 2" in ended.files["comment.md"]
    assert "::" not in ended.out, "annotations are for GitHub"
    assert {"leaderboard.csv", "leaderboard.md", "leaderboard.parquet", "leaderboard.tex"} < set(ended.files)


def test_rules_are_broken_after_all_work_is_recorded(job):
    before = len(records(job.results))
    files = {"submissions/low.py": LAYERS, "submissions/curious.py": curious(job), "tool.py": "x"}
    ended = job.pull_request(files, "--min-score", 5, "--only-submissions", github=True, alone=True)
    assert ended.code == 1
    low = "low: score 0, expected at least 5"
    assert ended.report["broken"] == [
        "the change touches files that belong to no submission", "curious: no score, expected at least 5", low,
    ]  # fmt: skip
    assert f"::error file=submissions/low.py::{low}" in ended.out.splitlines()
    assert f"pgdl: {low}\n" in ended.err
    assert len(records(job.results)) == before + 16


def test_a_submission_sees_no_secret_of_the_job(job):
    """The previous test has run the submission `curious`, whose output is only in the records."""
    outputs = [row["output_tail"] for row in records(job.results) if row["submission"] == "curious"]
    assert len(outputs) == 8
    for output in outputs:
        assert "/proc/self/environ b'" in output, "it looked"
        for secret in ("hunter2", "SECRET_TOKEN", "train_acc", "root:", "SQLite format", "smudge"):
            assert secret not in output


def curious(job):
    """Return the code of a submission that looks for secrets, and prints commands of GitHub."""
    places = [
        "/etc/shadow", "/proc/self/environ", str(job.results), str(job.repo.directory / ".git" / "config"),
        str(job.tasks / "reference_data" / "tiny" / "model_configs.json"), str(job.summary),
    ]  # fmt: skip
    return CURIOUS.replace("PLACES", repr(places))


def test_too_many_submissions_are_not_evaluated(job):
    before = records(job.results)
    ended = job.pull_request(
        {f"submissions/n{number}.py": LAYERS for number in range(3)} | {"tool": "x"}, "--at-most", 2
    )
    assert ended.code == 1
    assert ended.report["broken"] == ["the change touches 3 submissions, more than 2: none was evaluated"]
    assert records(job.results) == before


@pytest.fixture(scope="module")
def hostile(job):
    """The ended job of a pull request with all kinds of attacks, under GitHub, with a secret in its environment."""
    ran = job.tasks.parent / "ran"
    run_me = f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n"
    job.repo.git("config", "filter.evil.smudge", f"touch {ran}")
    hook = job.repo.directory / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    files: dict[str, Content] = {
        "submissions/passwords.py": Link("/etc/passwd"),
        "submissions/module": Submodule(),
        "submissions/linked/complexity.py": Link("../../../competition/reference_data/tiny/model_configs.json"),
        "submissions/FIRST.py": SPREAD,
        "submissions/vc-dim.py": SPREAD,
        "submissions/curious.py": curious(job),
        "submissions/random_one.py": NOISE,
        "submissions/claims/complexity.py": LAYERS,
        "submissions/claims/metadata": METADATA,
        "submissions/x\n::error::y.py": "no python",
        ".gitattributes": "* filter=evil",
        ".github/workflows/leaderboard.yml": "on: push",
        "task_data/reference_data/tiny/model_configs.json": "{}",
        **dict.fromkeys(("conftest.py", "sitecustomize.py", "harness/__init__.py", "submissions.py", "pgdl"), run_me),
    }
    secret = job.environment | {"PAYMENT_TOKEN": "hunter3"}
    before = {path: path.stat().st_mtime_ns for path in job.repo.directory.iterdir()}
    previous, job.environment = job.environment, secret
    ended = job.pull_request(files, "--require-check", "--at-most", 20, github=True, alone=True)
    job.environment = previous
    assert {path: path.stat().st_mtime_ns for path in job.repo.directory.iterdir()} == before, "nothing is checked out"
    assert not ran.exists(), "nothing of the change ran outside the sandbox"
    return ended


def test_each_hostile_submission_is_refused_in_one_line(hostile):
    assert hostile.code == 1
    assert [line.partition(": ")[::2] for line in hostile.report["broken"]] == [
        ("FIRST.py", "another submission has this name or a similar one: first.py"),
        ("vc-dim.py", "cannot be called 'vc-dim': vc_dim is a measure of the library"),
        ("curious", hostile.report["broken"][2].partition(": ")[2]),
        ("linked", "complexity.py: expected a regular file, found a link"),
        ("module", "expected a file or folder, found a submodule"),
        ("passwords", "expected a file or folder, found a link"),
        ("random_one", "does not pass pgdl check: a repeated call gave another value"),
        ("x___error__y", "line 1: invalid syntax"),
    ]
    assert hostile.report["broken"][2].startswith("curious: does not pass pgdl check: EXCEPTION on tiny/model_")


def test_names_come_from_files_and_nobody_takes_anothers_row(hostile):
    assert hostile.board == ["claims", "first", "vc_dim"]
    assert "'@everyone" not in hostile.files["leaderboard.md"]
    first = json.loads(hostile.files["leaderboard.json"])["rows"][1]
    assert first["version"] == digest_of(LAYERS)


def digest_of(source: str) -> str:
    content = source.encode()
    return hashlib.sha256(f"13 complexity.py {len(content)} ".encode() + content).hexdigest()


def test_no_secret_is_in_what_a_job_publishes(hostile):
    seen = hostile.out + hostile.err + "".join(hostile.files.values())
    assert "hunter" not in seen
    assert "root:" not in seen
    assert "train_acc" not in seen


def test_nothing_that_a_submission_prints_is_a_command(hostile):
    lines = hostile.out.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert lines[0] == f"::stop-commands::{token}"
    assert len(token) == 32
    resumed = lines.index(f"::{token}::")
    allowed = ("::error file=submissions/", "::warning file=submissions/random_one.py::not repeatable")
    assert [line for line in lines[resumed + 1 :] if not line.startswith(allowed)] == []
    assert "set-output" not in hostile.out
    assert "add-mask" not in hostile.out
    assert not any(line.startswith("::") for line in hostile.err.splitlines())
    assert any(line.startswith("::error file=submissions/curious.py,line=10::EXCEPTION") for line in lines)
    assert any(line.startswith("::error file=submissions/x?%3A%3Aerror%3A%3Ay.py::") for line in lines)


def test_what_else_the_change_touches_is_said_and_not_used(hostile):
    assert ".github/workflows/leaderboard.yml" in hostile.report["others"]
    assert "task_data/reference_data/tiny/model_configs.json" in hostile.report["others"]
    assert "- `sitecustomize.py`" in hostile.files["comment.md"]


def test_the_comment_is_the_summary_of_the_job(hostile, job):
    assert job.summary.read_text().endswith(hostile.files["comment.md"])


def test_a_cancelled_job_loses_nothing(tmp_path, environment, zygotes):
    job = Job(tmp_path, environment, zygotes)
    slow = "import time\ndef complexity(model, dataset):\n    time.sleep(0.4)\n    return float(len(model.layers))\n"
    head = job.repo.commit(BASE | {"submissions/slow.py": slow}, job.base)
    change = ("--base", "main", "--head", head, "--workers", 1, *FASTEST)
    for number, (sent, code) in enumerate([(signal.SIGTERM, 130), (signal.SIGKILL, -9)], start=1):
        cancel(job.arguments(*change), job, sent, code, 2 * number)
        # The folder travels to another machine, as a cache does.
        job.results = job.results.parent.rename(tmp_path / f"moved-{number}") / "results.db"
    before = records(job.results)
    ended = job.run(*change)
    assert ended.code == 1
    assert "no rank: records of first are missing" in ended.err
    assert f"{len(before)} of 8 calls are recorded already" in ended.out
    assert records(job.results)[: len(before)] == before
    assert len(records(job.results)) == 8


def cancel(command, job, sent, code, after):
    """Start the job, and send the signal `sent` when the job has written `after` records."""
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=job.environment, text=True, **streams)
    wait_for(lambda: len(records(job.results)) >= after, f"{after} records")
    below = descendants(process)
    process.send_signal(sent)
    assert process.wait(240) == code
    wait_for(lambda: not alive(below), "the end of the sandboxes")
