"""Tests of isolation: a submission sees only its own files, and a run's command line shows no password."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from real_runs import PGDL, descendants, records, write_submission

from tests.canary import SECRET, require_unwritten

LOOK = """
import json, os, pathlib
def text(path):
    try:
        return pathlib.Path(path).read_text(errors='replace')
    except OSError as error:
        return type(error).__name__
seen = {
    'environment': dict(os.environ), 'uid': os.getuid(), 'root': sorted(os.listdir('/')),
    'job': sorted(os.listdir('/job')), 'model': sorted(os.listdir('/job/model')),
    'data': sorted(os.listdir('/job/data')),
    'init_environment': text('/proc/1/environ'), 'init_command': text('/proc/1/cmdline'),
    'mounts': text('/proc/self/mountinfo'), 'processes': [p for p in os.listdir('/proc') if p.isdigit()],
    'times': sorted({os.stat(os.path.join('/job/model', f)).st_mtime for f in os.listdir('/job/model')}),
    'names': [layer.name for layer in model.layers], 'reference': text(REFERENCE), 'config': text(CONFIG),
    'shadow': text('/etc/shadow'),
}
print(json.dumps(seen))
return 1.0
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory, four_models, environment, sandbox):
    """The directory, the output and all processes' arguments of a run whose database has a password in its address."""
    directory = tmp_path_factory.mktemp("curious")
    reference = four_models / "reference_data" / "tiny" / "model_configs.json"
    config = four_models / "input_data" / "tiny" / "model_3" / "config.json"
    body = LOOK.replace("REFERENCE", repr(str(reference))).replace("CONFIG", repr(str(config)))
    submission = write_submission(directory, "curious", body)
    location = f"sqlite:///file:results.db?uri=true&password={SECRET}"
    run = subprocess.Popen(
        [*PGDL, "run", str(submission), "--tasks", str(four_models)], cwd=directory,
        env=environment | {"PGDL_RESULTS": location, "PGDL_CACHE": str(directory / "cache")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    arguments: set[str] = set()
    while run.poll() is None:
        for process in descendants(run):
            with suppress(psutil.Error):
                arguments |= {" ".join(process.cmdline())}
    said = run.communicate()[0]
    assert run.returncode == 0, said
    return directory, said, arguments


@pytest.fixture(scope="module")
def seen(watched):
    """Findings of a submission that looks around: name -> finding on the first model; `all` -> all findings as text."""
    outputs = [json.loads(row["output_tail"]) for row in records(watched[0] / "results.db")]
    return {"all": json.dumps(outputs)} | outputs[0]


def test_reference_data_and_other_models_are_not_there(seen):
    assert [seen[name] for name in ("reference", "config", "shadow")] == ["FileNotFoundError"] * 3
    assert "model_" not in seen["all"].replace("model_configs", "")
    assert "tiny" not in seen["all"]


def test_only_the_job_is_there_and_tells_no_time_and_nothing_of_the_harness(seen):
    assert seen["job"] == ["data", "model", "submission", "trusted"]
    assert seen["model"] == ["architecture.json", "initial_weights.npz", "weights.npz"]
    assert seen["data"] == ["inputs.npy", "labels.npy"]
    above_python = {Path(prefix).parts[1] for prefix in (sys.prefix, sys.base_prefix)}  # mount points need parents
    assert not set(seen["root"]) & ({"home", "root", "var", "opt", "sys", "srv", "mnt"} - above_python)
    assert seen["times"] == [0.0]
    assert [text for text in ("SECRET_TOKEN", "hunter2", "PGDL") if text in seen["all"]] == []


def test_there_is_no_other_process_and_it_is_not_root(seen):
    assert set(seen["processes"]) <= {"1", "2", "3"}  # what holds the sandbox open, and the worker
    assert seen["uid"] != 0


def test_a_run_gives_its_password_to_no_process(watched):
    directory, said, arguments = watched
    assert any("bwrap" in one or "harness" in one for one in arguments)
    assert SECRET not in said
    assert [one for one in arguments if SECRET in one] == []
    require_unwritten(directory)
