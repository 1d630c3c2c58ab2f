"""Tests of a participant's steps: demo or template, check, run, score, place on the board; also with bad input."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from real_runs import PGDL, write_submission
from throwaway import GAPS

pytestmark = pytest.mark.usefixtures("sandbox")

Run = Callable[..., subprocess.CompletedProcess[str]]

#: Stands for `pgdl` in the shell into which the commands are pasted: tells the directory and the words of each.
TELL = 'pgdl() { printf "%s\\0" "$PWD" "$@"; echo; }'


def test_the_printed_commands_lead_to_a_leaderboard(tmp_path: Path, pgdl: Run) -> None:
    made = pgdl("demo", cwd=tmp_path)
    commands = [line.strip() for line in made.stdout.splitlines() if line.startswith("  ")]
    assert [command.split()[:2] for command in commands][1:] == [["pgdl", "check"], ["pgdl", "run"], ["pgdl", "board"]]
    pasted = subprocess.run(
        ["sh", "-ec", "\n".join([TELL, *commands])], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for line in pasted.stdout.splitlines():
        directory, *words = line.removesuffix("\0").split("\0")
        ended = pgdl(*words, cwd=Path(directory))
        assert (ended.returncode, ended.stderr) == (0, "")
    board = [line.split() for line in f"\n{ended.stdout}".partition("\nrank ")[2].splitlines()]
    ranked = {row[1]: row[-1] for row in board[1:4]}
    assert ranked == dict.fromkeys(["layer_margin_q1_l0", "input_gradient", "random"], "16/16")
    of_skill = [name for name in ranked if name != "random"]  # luck decides on the rank of `random`
    assert of_skill == ["layer_margin_q1_l0", "input_gradient"]


@pytest.mark.rest
def test_the_template_passes_check(tmp_path, four_models, pgdl):
    assert pgdl("new", tmp_path / "mine").returncode == 0
    done = pgdl("check", tmp_path / "mine", "--tasks", four_models)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine passes" in done.stdout
    assert "A full run: 4 models, about" in done.stdout


def test_check_shows_what_failed_and_records_nothing(tmp_path, competition, pgdl):
    submission = write_submission(tmp_path, "bad", "print('before the end')\nraise KeyError('[red]x[/red]')")
    done = pgdl("check", submission, "--tasks", competition, cwd=tmp_path)
    assert done.returncode == 1
    for part in ("EXCEPTION", "KeyError: '[red]x[/red]'", "before the end", "does not pass"):
        assert part in done.stdout
    assert not (tmp_path / "results.db").exists()


def test_the_gap_itself_scores_one_hundred_and_leads_the_board(tmp_path, competition, pgdl):
    # The gaps of the throw-away task are known, and its models can be told apart by their shapes.
    body = (
        "first = model.layers[0]\n"
        "place = 4 * (first.activation.__name__ == 'tanh') + 2 * (len(model.layers) - 2) + (first.units == 6)\n"
        f"return {GAPS!r}[place]"
    )
    perfect = tmp_path / "perfect"
    perfect.mkdir()
    write_submission(perfect, "complexity", body)
    (perfect / "metadata").write_text("team: The Seven\ndescription: knows it all\npaper: https://example.org\n")
    reverse = write_submission(tmp_path, "reverse", body.replace("return ", "return -"))
    shared = ("--tasks", competition, "--results", tmp_path / "results.db")
    assert pgdl("run", perfect, reverse, *shared).returncode == 0
    score = json.loads(pgdl("score", "perfect", *shared, "--format", "json").stdout)
    assert score["score"] == pytest.approx(100)
    assert score["tasks"]["tiny"]["official"] == pytest.approx(100)
    board = pgdl("board", *shared, "--output", tmp_path / "board")
    assert board.returncode == 0
    assert board.stdout.index("perfect") < board.stdout.index("reverse")
    rows = json.loads((tmp_path / "board" / "leaderboard.json").read_text())["rows"]
    assert {row["submission"]: row["score"] for row in rows}["reverse"] == pytest.approx(47.47705595857634)
    said = next([row["team"], row["description"], row["paper"]] for row in rows if row["submission"] == "perfect")
    assert said == ["The Seven", "knows it all", "https://example.org"]
    assert (tmp_path / "board" / "leaderboard.md").read_text().count("\n|") == 4


def test_without_bubblewrap_the_run_refuses_and_says_what_mends_it(tmp_path, competition, environment):
    submission = write_submission(tmp_path, "mine", "return 1.0")
    command = [*PGDL, "run", str(submission), "--tasks", str(competition), "--results", str(tmp_path / "r.db")]
    done = subprocess.run(
        command, env=environment | {"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 2
    assert "apt-get install" in done.stderr
    assert not (tmp_path / "r.db").exists()
    assert done.stderr.count("\n") == 1
