"""Command lines that boards and reports print for users to copy.

If an environment variable such as PGDL_SEED is set, the command has the option --seed even for the default seed: the
option overrides the variable.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.board.collect import Calls
from harness.configuration import MIB, Configuration
from harness.credentials import RESULTS, Address
from harness.shell import is_name, typed, variable_of
from harness.task import DEFAULT_DIRECTORY
from harness.text import exact
from harness.worker.runtimes import DEFAULT

#: The option that runs calls without a sandbox. No option switches it off; only its environment variable with value 0.
UNSAFE_OPTION = "--unsafe-no-sandbox"


def results_option(results: Address) -> str:
    """Return the option --results with the address of a database; "" for the default database.

    If the address may hold a password, the option names the variable PGDL_RESULTS instead.
    """
    if results.has_secrets:
        return '--results "$PGDL_RESULTS"' if _is_set("--results") else '--results "${PGDL_RESULTS:?its address}"'
    return typed(*_option("--results", str(results), RESULTS))


def board_command(tasks: Path, names: Sequence[str], results: Address) -> str:
    """Return the command line that prints the board of the tasks `names` (empty: all) in the directory `tasks`."""
    words = ["pgdl", "board", "--tasks", str(tasks), *_each("--task", names)]
    return f"{typed(*words)} {results_option(results)}".rstrip()


def run_command(calls: Sequence[Calls], tasks: Path, results: Address) -> str:
    """Return the command line that makes the missing calls of a board's rows, which must have the same settings.

    In some cases a sentence of advice replaces the command line: for Python functions, for files in a repository, for
    calls without a sandbox, and for recorded names or settings that a shell could interpret. Strangers may have chosen
    these.
    """
    if calls[0].is_function:
        return "hand in the functions again, with pgdl.run"
    distinct = list({one.submission: one for one in calls}.values())
    configuration, of_library = calls[0].configuration, all(one.is_baseline for one in distinct)
    chosen = sorted({task for task, _ in calls[0].stale}) if _is_set("--task") else []
    if not all(map(is_name, _recorded(distinct, chosen, configuration))):
        return "make the calls again with pgdl run; no command is given, since a recorded name or setting is unusual"
    if configuration and not configuration.is_sandboxed:
        return f"make the calls again with {UNSAFE_OPTION}, if the code is your own"
    if calls[0].is_in_repository:
        return "make the calls again with pgdl ci, in the repository of the submissions"
    words = ["pgdl", "run", *map(_argument, distinct)]
    words += _each("--as", [one.submission for one in distinct if _is_path(one)])
    words += _option("--tasks", str(tasks), DEFAULT_DIRECTORY)
    words += _each("--task", chosen)
    options = _settings(configuration, of_library=of_library) if configuration else []
    if _is_set(UNSAFE_OPTION):
        words.insert(0, f"{variable_of(UNSAFE_OPTION)}=0")
    return " ".join(filter(None, (typed(*words), results_option(results), typed(*options))))


def _recorded(calls: Sequence[Calls], tasks: Sequence[str], configuration: Configuration | None) -> list[str]:
    words = [*tasks, *(word for one in calls for word in (one.submission, _argument(one)))]
    if configuration:
        words += [configuration.runtime, configuration.time_budget, *configuration.isolation.split("/")]
    return words


def _is_path(calls: Calls) -> bool:
    return not calls.is_baseline and calls.source != calls.submission


def _argument(calls: Calls) -> str:
    return calls.source if _is_path(calls) else calls.submission


def _settings(configuration: Configuration, *, of_library: bool) -> list[str]:
    from harness.execution.settings import RunSettings  # here: boards load no sandbox
    from harness.gpus import find_gpus
    from harness.sandbox import Limits

    defaults = RunSettings(Limits(Limits.default_memory_bytes(len(find_gpus()))))
    # The default runtime of a submission is in its metadata, which are unknown here.
    runtime = _option("--runtime", configuration.runtime, DEFAULT if of_library else "")
    return [
        *_option("--seed", str(configuration.run_seed), str(defaults.seed)),
        *runtime,
        *_option("--time-limit", exact(configuration.time_limit_s), exact(defaults.time_limit_s)),
        *_option("--time-budget", configuration.time_budget, defaults.time_budget),
        *_option("--memory", _size(configuration.memory_limit_bytes), _size(defaults.limits.memory_bytes)),
        *_sandbox(configuration.isolation),
    ]


def _size(n_bytes: int) -> str:
    return str(n_bytes) if n_bytes % MIB else f"{n_bytes // MIB}M"


def _sandbox(isolation: str) -> list[str]:
    """Return the options of `pgdl run` that choose an isolation, such as `bubblewrap` or `docker/runsc`."""
    kind, _, runtime = isolation.partition("/")
    chosen = "auto" if kind == "bubblewrap" else kind  # the isolation of the kinds that `auto` tries first
    of_docker = _option("--docker-runtime", runtime, "") if kind == "docker" else []
    return [*_option("--sandbox", chosen, "auto"), *of_docker]


def _option(name: str, value: str, default: str) -> list[str]:
    return [name, value] if value != default or _is_set(name) else []


def _each(name: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (name, value)]


def _is_set(name: str) -> bool:
    return bool(os.environ.get(variable_of(name)))
