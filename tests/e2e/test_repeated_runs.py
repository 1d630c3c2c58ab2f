"""Tests of `pgdl run --repeat` with a random measure, a deterministic one, and a random one that claims determinism."""

import json
from collections import Counter

import pytest
from real_runs import records, write_submission

pytestmark = [pytest.mark.usefixtures("sandbox"), pytest.mark.rest]

STEADY = "import numpy as np\nreturn float(np.linalg.norm(model.get_weights()[0]))"
NOISY = f"import random\n{STEADY.replace('return', 'size =', 1)}\nreturn size + random.gauss(0, 1)"


def test_luck_is_measured_and_who_denies_it_is_named(tmp_path, competition, pgdl):
    noisy, plain = write_submission(tmp_path, "noisy", NOISY), tmp_path / "plain.db"
    claiming = [tmp_path / "steady", tmp_path / "boaster"]
    for directory, body in zip(claiming, (STEADY, NOISY), strict=True):
        directory.mkdir()
        write_submission(directory, "complexity", body)
        (directory / "metadata").write_text("deterministic: true\n")
    shared = ("--tasks", competition, "--results", tmp_path / "results.db")
    done = pgdl("run", noisy, *claiming, "random", *shared, "--repeat", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tiny, repeated  8 of 8" in done.stdout
    rows = records(tmp_path / "results.db")
    assert Counter(row["repeat"] for row in rows) == {0: 32, 1: 32}
    (line,) = (line for line in done.stderr.splitlines() if "deterministic" in line)
    assert line.startswith("pgdl: boaster calls itself deterministic (metadata), but another seed gave another value: ")
    assert " on tiny/model_" in line

    scored = json.loads(pgdl("score", *shared, "--format", "json").stdout)
    own = {row["submission"]: row["own_randomness"]["tasks"]["tiny"] for row in scored["submissions"]}
    assert own["steady"] == {"error": 0.0, "models": 8, "unsteady": 0}
    for name in ("noisy", "boaster", "random"):
        assert (own[name]["models"], own[name]["unsteady"]) == (8, 8)
        assert own[name]["error"] > 1
    assert [line for line in scored["remarks"] if "deterministic" in line] == [line.removeprefix("pgdl: ")]

    assert pgdl("run", noisy, "--tasks", competition, "--results", plain).returncode == 0
    counting = ({row["model"]: (row["key"], row["value"]) for row in found if row["submission"] == "noisy"}
                for found in ([row for row in rows if not row["repeat"]], records(plain)))  # fmt: skip
    assert next(counting) == next(counting), "repetitions leave the first values as they are"
