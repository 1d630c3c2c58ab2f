"""Tests of the names of options: an option has the same meaning in every command and in the environment."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from in_process import Pgdl, Record

from harness.cli import options
from harness.registry import Parameter
from tests.board.board_examples import rows, write_reference
from tests.cli.every_command import every_command

#: Command, name and option of every option of every command.
OPTIONS = [
    (" ".join(words), option.opts[0], option)
    for words, command in every_command()
    for option in command.params
    if isinstance(option, click.Option)
]

VOCABULARY = {
    "--tasks", "--task", "--results", "--time-limit", "--time-budget", "--memory", "--workers", "--runtime",
    "--seed", "--sandbox", "--withhold", "--unsafe-no-sandbox",
}  # fmt: skip


def test_every_option_has_help_and_a_word_of_the_vocabulary_means_the_same_in_every_command_and_variable() -> None:
    assert {name for _, name, _ in OPTIONS} >= VOCABULARY
    seen: dict[str, tuple[Any, ...]] = {}
    for command, name, option in OPTIONS:
        assert option.help, f"{command} {name}"
        if name in VOCABULARY:
            variable = "PGDL_" + name.removeprefix("--").upper().replace("-", "_")
            assert (option.envvar, option.show_envvar) == (variable, True), f"{command} {name}"
        text = None if name in ("--output", "--html") else option.help  # differs by command
        meaning = (text, option.envvar, option.default, option.metavar, option.multiple)
        assert seen.setdefault(name, meaning) == meaning, f"{command} {name}"


def test_sizes_times_and_workers() -> None:
    """An empty text is neither a size nor a time: it must not silently select the default."""
    for text, value in {
        "1024": 1024, "4g": 2**32, "2GiB": 2**31, "2 GB": 2**31, " 1.5G ": 3 * 2**29, "999999K": 999999 * 2**10,
        "7M": 7 * 2**20, "3T": 3 * 2**40,
    }.items():  # fmt: skip
        assert options.parse_size(text) == value
    for text in ("", "G", "-1G", "4 giga", "4G 2", "1e9", "0x10", "inf", "nan", "4,5G", "0", "0G", "9" * 400):
        with pytest.raises(ValueError, match="expected a size such as 512M or 4G, found "):
            options.parse_size(text)
    for text, value in {"90": 90, "1e-3": 0.001, "90s": 90, "5m": 300, " 1.5 H ": 5400, "720h": 2592000}.items():
        assert options.parse_seconds(text) == value
    for text in ("", "m", "5 d", "1h30m", "5ms", "nan", "inf", "-1m", "0s", "721h"):
        with pytest.raises(ValueError, match="a time such as 90s, 5m or 2h, at most 2592000 "):
            options.parse_seconds(text)
    assert [options.parse_workers(text) for text in ("auto", "1", "4")] == [None, 1, 4]


def test_a_choice_whose_name_has_a_hyphen_has_parameters() -> None:
    choices = {"slow-start": SimpleNamespace(parameters=[Parameter("long_pause", "S", "seconds.")])}
    asked = {"slow_start_long_pause": "3", "seed": 1}
    assert options.take_parameters(asked, "--start", "slow-start", choices) == {"long_pause": "3"}
    assert asked == {"seed": 1}


def test_the_environment_is_used_and_the_command_line_goes_before_it(
    folder: Path, pgdl: Pgdl, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reference(folder / "here")
    results = record(rows("margin")).rename(folder / "mine.db")
    monkeypatch.setenv("PGDL_TASKS", str(folder / "here"))
    monkeypatch.setenv("PGDL_RESULTS", str(results))
    assert pgdl("score").code == 0
    assert pgdl("score", "--tasks", folder / "elsewhere").code == 2
    monkeypatch.setenv("PGDL_DOCKER_IMAGE", "x")  # of a sandbox that is not asked for
    assert "no such directory" in pgdl("run", "depth", "--tasks", "nowhere").refusal()
    monkeypatch.setenv("PGDL_TASK", "toy other")
    assert "no task 'other'" in pgdl("score").err
