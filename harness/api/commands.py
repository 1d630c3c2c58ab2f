"""Commands that are printed for users to paste."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.board.collect import Calls
from harness.configuration import Configuration
from harness.credentials import RESULTS, has_secrets
from harness.execution.settings import Settings
from harness.sandbox import Limits, default_memory_bytes, find_gpus
from harness.worker.runtimes import DEFAULT


def results_option(location: str) -> str:
    """Return the option for the records; a location with a password stands for itself in a variable."""
    if location == RESULTS:
        return ""
    return '--results "$PGDL_RESULTS"' if has_secrets(location) else shlex.join(["--results", location])


def run_command(calls: Sequence[Calls], tasks: Path, results: str) -> str:
    """Return the command line that makes these calls, which share their settings, except those that are recorded.

    Paths are given the names of their rows, wherever these came from.
    """
    distinct = {one.submission: one for one in calls}.values()
    words = ["pgdl", "run", *map(_argument, distinct)]
    words += [word for one in distinct if _is_path(one) for word in ("--as", one.submission)]
    if str(tasks) != "task_data":
        words += ["--tasks", str(tasks)]
    configuration = calls[0].configuration
    options = _options(configuration) if configuration else []
    return " ".join(filter(None, (shlex.join(words), results_option(results), shlex.join(options))))


def _is_path(calls: Calls) -> bool:
    """Whether it is neither a measure of the library nor one of another package, whose source is its name."""
    return not calls.is_baseline and calls.source != calls.submission


def _argument(calls: Calls) -> str:
    return calls.source if _is_path(calls) else calls.submission


def _options(configuration: Configuration) -> list[str]:
    """Return the options that differ from their defaults."""
    defaults = Settings(Limits(default_memory_bytes(len(find_gpus()))))
    options = {
        "--seed": (configuration.run_seed, defaults.seed),
        "--runtime": (configuration.runtime, DEFAULT),
        "--time-limit": (f"{configuration.time_limit_s:g}", f"{defaults.time_limit_s:g}"),
        "--time-budget": (configuration.time_budget, defaults.time_budget),
        "--memory": (f"{configuration.memory_limit_bytes // 1024**2}M", f"{defaults.limits.memory_bytes // 1024**2}M"),
    }
    words = [word for option, (value, default) in options.items() if value != default for word in (option, str(value))]
    if configuration.isolation == "none":
        words.append("--unsafe-no-sandbox")
    elif configuration.isolation != "bubblewrap":
        words += ["--sandbox", configuration.isolation.partition("/")[0]]
    return words
