"""What a submission sees of the machine: its own files, one model, the training data, and nothing else."""

import json
import sys
from pathlib import Path

import pytest
from real_runs import records, write_submission

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
def seen(tmp_path_factory, four_models, program, sandbox):
    """What a curious submission finds, on one of the models."""
    directory = tmp_path_factory.mktemp("curious")
    reference = four_models / "reference_data" / "tiny" / "model_configs.json"
    config = four_models / "input_data" / "tiny" / "model_3" / "config.json"
    body = LOOK.replace("REFERENCE", repr(str(reference))).replace("CONFIG", repr(str(config)))
    submission = write_submission(directory, "curious", body)
    done = program("run", submission, "--tasks", four_models, "--results", directory / "r.db")
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = [json.loads(row["output_tail"]) for row in records(directory / "r.db")]
    return {"all": json.dumps(outputs)} | outputs[0]


def test_reference_data_and_other_models_are_not_there(seen):
    assert seen["reference"] == "FileNotFoundError"
    assert seen["config"] == "FileNotFoundError"
    assert seen["shadow"] == "FileNotFoundError"


def test_only_the_job_is_there(seen):
    assert seen["job"] == ["data", "model", "submission", "trusted"]
    assert seen["model"] == ["architecture.json", "initial_weights.npz", "weights.npz"]
    assert seen["data"] == ["inputs.npy", "labels.npy"]
    above_python = {Path(prefix).parts[1] for prefix in (sys.prefix, sys.base_prefix)}  # mount points need parents
    assert not set(seen["root"]) & ({"home", "root", "var", "opt", "sys", "srv", "mnt"} - above_python)


def test_no_name_of_a_model_or_task_shows_anywhere(seen):
    assert "model_" not in seen["all"].replace("model_configs", "")
    assert "tiny" not in seen["all"]


def test_the_environment_of_the_harness_does_not_show(seen):
    assert "SECRET_TOKEN" not in seen["all"]
    assert "hunter2" not in seen["all"]
    assert "PGDL" not in seen["all"]


def test_there_is_no_other_process_and_it_is_not_root(seen):
    assert set(seen["processes"]) <= {"1", "2", "3"}  # what holds the sandbox open, and the worker
    assert seen["uid"] != 0


def test_files_tell_no_time(seen):
    assert seen["times"] == [0.0]
