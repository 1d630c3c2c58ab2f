"""Tests of the outcomes of harmless and harmful submissions in real sandboxes, and of both kinds of time budget."""

import re
import zipfile

import h5py
import pytest
from real_runs import records, write_submission

#: Time limits in seconds: of endless calls, and of calls that end by themselves, on a busy machine late.
ENDLESS_S, LONG_S = 3, 90
MEMORY = "1500M"

#: name -> (body of complexity(), outcome, part of the message)
CASES = {
    "weights": ("return sum(float((w ** 2).sum()) for w in model.get_weights())", "OK", ""),
    "numpy_scalar": ("import numpy as np\nreturn np.float32(0.5)", "OK", ""),
    "python_loop": ("while True: pass", "TIMEOUT", "s of processor time), at complexity.py:2"),
    "sleeps_and_swallows": (
        "import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass", "TIMEOUT",
        "s of processor time)",
    ),
    "call_in_c": (
        "import numpy as np\na = np.random.rand(2500, 2500)\nreturn float(np.linalg.svd(a)[1][0])", "TIMEOUT", "3 s",
    ),
    "raises": ("raise ValueError('no luck')", "EXCEPTION", "ValueError: no luck"),
    "exits": ("import sys\nsys.exit(0)", "EXCEPTION", "SystemExit"),
    "dies": ("import os\nos._exit(7)", "CRASH", "exited with status 7"),
    "segfaults": ("import ctypes\nctypes.string_at(0)", "CRASH", "signal 11"),
    "nan": ("return float('nan')", "BAD_VALUE", "finite"),
    "infinite": ("return float('inf')", "BAD_VALUE", "finite"),
    "text": ("return '0.5'", "BAD_VALUE", "str"),
    "nothing": ("pass", "BAD_VALUE", "NoneType"),
    "floods": ("while True: print('x' * 65536)", "OUTPUT", "64 MiB"),
    "network": ("import socket\nsocket.create_connection(('127.0.0.1', 22), 1)", "FORBIDDEN", "not permitted"),
    "resolves": ("import socket\nsocket.getaddrinfo('a.org', 80)", "EXCEPTION", "(the sandbox has no network)"),
    "reads": ("open('/home/anna/a.json')", "EXCEPTION", "(the sandbox shows the submission's own files, in"),
    "hogs": (
        "import numpy as np\nhog = []\nwhile True: hog.append(np.ones(2 << 20))", "MEMORY",
        "out of memory (limit 1500 MiB, used ",
    ),
    "allocates": ("import numpy as np\nnp.ones(10**12)", "MEMORY", "(the sandbox limits a call to 1500 MiB of memory)"),
    "indexes": ("return dataset[:512]", "EXCEPTION", "`inputs, labels = dataset.arrays` has all)"),
    "predicts_unbatched": ("return model.predict(dataset).mean()", "EXCEPTION", "write `dataset.batch(512)`"),
    "writes": ("open('/job/submission/left', 'w')", "FORBIDDEN", "Read-only"),
}  # fmt: skip


#: Name of a file or folder -> its files, and the flaw that is found before the first call.
FLAWED = {
    "no_function.py": ("measure = 1\n", "no_function.py: expected a function complexity(model, dataset), found none"),
    "no_file": (
        {"measure.py": "def complexity(model, dataset): return 1.0\n"},
        "no_file: expected a file complexity.py at the top, found measure.py",
    ),
    "broken.py": ("def complexity(model, dataset:\n", "broken.py: line 1: '(' was never closed"),
    "tagged": (
        {"complexity.py": "def complexity(model, dataset): return 1.0\n", "metadata": "name: !!bool maybe\n"},
        "tagged: metadata: name: expected plain text, found the tag",
    ),
    "bomb.zip": (None, "bomb.zip: complexity.py: expected a member that is stored or deflated, found bzip2"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory, one_model, pgdl, sandbox):
    """Run the endless cases, then all others and some flawed submissions; return the last command and the database."""
    directory = tmp_path_factory.mktemp("submissions")
    endless, others = [], [directory / name for name in ("binds_a_number.py", *FLAWED)]
    for name, (body, outcome, _) in CASES.items():
        (endless if outcome == "TIMEOUT" else others).append(write_submission(directory, name, body))
    (directory / "binds_a_number.py").write_text("complexity = 1\n")
    for name, (content, _) in FLAWED.items():
        if isinstance(content, str):
            (directory / name).write_text(content)
        for file, text in content.items() if isinstance(content, dict) else ():
            (directory / name).mkdir(exist_ok=True)
            (directory / name / file).write_text(text)
    with zipfile.ZipFile(directory / "bomb.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("complexity.py", bytes(1 << 20))
    database = directory / "results.db"
    shared = ("--tasks", one_model, "--results", database, "--memory", MEMORY)
    for submissions, limit in ((endless, ENDLESS_S), (others, LONG_S)):
        done = pgdl("run", *submissions, *shared, "--time-limit", limit)
        assert done.returncode == 1, done.stdout + done.stderr
    return done, database


@pytest.fixture(scope="module")
def rows(run):
    return {row["submission"]: row for row in records(run[1])}


@pytest.mark.parametrize("name", CASES)
def test_outcome(rows, name):
    _, outcome, message = CASES[name]
    assert (rows[name]["outcome"], rows[name]["value"] is not None) == (outcome, outcome == "OK"), rows[name]
    assert message in rows[name]["message"]


def test_a_flaw_that_needs_no_model_is_named_before_the_first_call(run):
    left_out = [line for line in run[0].stderr.splitlines() if line.startswith("pgdl: left out: ")]
    for name, (_, flaw) in FLAWED.items():
        (line,) = [one for one in left_out if re.search(rf"/{name}\b", one)]
        assert flaw in line


def test_every_submission_without_a_known_flaw_has_one_record_with_its_value_limits_and_what_was_used(rows, one_model):
    assert set(rows) == {*CASES, "binds_a_number"}
    assert rows["binds_a_number"]["outcome"] == "INVALID_SUBMISSION"
    assert "expected a function complexity" in rows["binds_a_number"]["message"]
    limits = {(row["time_limit_s"], row["memory_limit_bytes"]) for row in rows.values()}
    assert limits == {(ENDLESS_S, 1500 * 1024**2), (LONG_S, 1500 * 1024**2)}
    assert rows["python_loop"]["call_wall_s"] >= ENDLESS_S
    assert rows["python_loop"]["call_cpu_s"] > rows["sleeps_and_swallows"]["call_cpu_s"]
    assert rows["weights"]["load_wall_s"] > 0
    assert 1500 * 1024**2 < rows["hogs"]["peak_memory_bytes"] < 2200 * 1024**2  # a busy machine measures it late
    tail = rows["raises"]["output_tail"]
    assert tail.startswith("Traceback"), "it starts at the submission"
    assert [part for part in ("raise ValueError", "/job/submission/complexity.py") if part not in tail] == []
    with h5py.File(one_model / "single" / "model_0" / "weights.hdf5") as file:
        arrays = []
        file.visititems(lambda _, item: arrays.append(item[()]) if isinstance(item, h5py.Dataset) else None)
    assert rows["weights"]["value"] == pytest.approx(sum(float((a**2).sum()) for a in arrays), rel=1e-6)


def test_a_used_up_budget_fails_the_remaining_calls_and_the_score(tmp_path, competition, pgdl, sandbox):
    submission = write_submission(tmp_path, "slow", "import time\ntime.sleep(1)\nreturn 1.0")
    database = tmp_path / "results.db"
    shared = ("--tasks", competition, "--results", database)
    done = pgdl("run", submission, *shared, "--time-limit", 0.3, "--time-budget", "average")
    assert done.returncode == 1
    rows = records(database)
    outcomes = [row["outcome"] for row in rows]
    assert outcomes.count("OK") in (1, 2)  # the budget is 2.4 s
    assert set(outcomes) == {"OK", "TIMEOUT"}
    assert any("not started" in row["message"] for row in rows)
    assert "time budget of 2.4 s (8 models, 0.3 s each on average)" in rows[-1]["message"]
    scored = pgdl("score", *shared, "--format", "json")
    assert '"score": 0.0' in scored.stdout
    assert scored.returncode == 1
