"""The options of all commands. An option means the same in every command that has it.

Options that `_option` makes can also be set by environment variables: --seed by PGDL_SEED, for example. Most options
have the same name as a parameter of a function in `pgdl`. Commands pass these options on as `**asked`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from harness.cli import completion
from harness.cli.shown_in_full import with_warning
from harness.configuration import LONGEST_S, MOST_REPEATS
from harness.credentials import RESULTS, Address
from harness.errors import UserError, require_directory
from harness.names import ALL
from harness.shell import variable_of
from harness.task import DEFAULT_DIRECTORY
from harness.worker.runtimes import DEFAULT, RUNTIMES

Decorator = Callable[[Any], Any]

#: The value of --measures that selects no measure.
NONE = "none"

#: Unit of a time on the command line -> its length in seconds.
UNITS_S = {"s": 1, "m": 60, "h": 3600}


def parsed(parse: Callable[[str], Any], default: Any = None) -> Callable[..., Any]:
    """Return a callback for a click option: it returns `parse(text)`, or `default` if the option is not used.

    A `ValueError` of `parse` must state the expected and the found text; it becomes a usage error.
    """

    def callback(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
        try:
            return default if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error), context, parameter) from error

    return callback


class NumberRange(click.FloatRange):
    """A range of numbers for an option, without NaN (which `click.FloatRange` accepts)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; end with a usage error for NaN and for a number outside of the range."""
        number = super().convert(value, param, ctx)
        return number if number == number else self.fail(f"expected a number, found {value!r}", param, ctx)


class NonemptyPath(click.Path):
    """A path. An empty text, such as the value of a variable that is not set, does not mean the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; end with a usage error for an empty text."""
        return super().convert(value, param, ctx) if value != "" else self.fail("expected a path, found ''", param, ctx)


PATH = NonemptyPath(path_type=Path)


def parse_size(text: str) -> int:
    """Return the number of bytes, at least 1, that a text such as 512M, 4G or 2GiB means; units are powers of 1024."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if size < 1:
        raise ValueError(f"expected a size such as 512M or 4G, found {text!r}")
    return size


def parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a text with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_models(text: str) -> int | tuple[str, ...] | None:
    """Return a number of models, at least 1, or the names of models; None for an empty text."""
    if re.fullmatch(r"[+-]?\d+", text.strip()) is None:
        return parse_names(text) or None
    if int(text) < 1:
        raise ValueError(f"expected 1 model or more, found {text}")
    return int(text)


def parse_seconds(text: str) -> float:
    """Return the seconds that a text such as 90, 90s, 5m or 1.5h means: above 0, and at most 30 days."""
    number = text.strip().lower()
    unit = number[-1:] if number.endswith(tuple(UNITS_S)) else "s"
    try:
        seconds = float(number.removesuffix(unit)) * UNITS_S[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        expected = f"a positive number of seconds, or a time such as 90s, 5m or 2h, at most {LONGEST_S} (30 days)"
        raise ValueError(f"expected {expected}, found {text!r}")
    return seconds


def parse_workers(text: str) -> int | None:
    """Return a number from 1 up, or None for `auto`: the executor then chooses the number."""
    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"expected a number from 1 up, or auto, found {text!r}")
    return int(text)


def parse_address(_context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return the address or file in a parameter as an `Address`, which hides its password in every message.

    Return a tuple of addresses for a parameter that may be repeated, and None for a parameter without a value.
    """
    name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
    if isinstance(value, tuple):
        return tuple(Address(one, name) for one in value)
    return None if value is None else Address(value, name)


def _there(_context: click.Context, _parameter: click.Parameter, directory: Path | None) -> Path | None:
    if directory is not None:
        require_directory(directory, remedy="a task in a directory is named by --task NAME --tasks DIR")
    return directory


def _option(name: str, *more: str, **settings: Any) -> Decorator:
    return click.option(name, *more, envvar=variable_of(name), show_envvar=True, **settings)


tasks = _option(
    "--tasks", "tasks_dir", type=PATH, default=DEFAULT_DIRECTORY, show_default=True,
    metavar="DIR",
    help="Directory of the tasks: contains input_data/ and reference_data/, or the task folders themselves.",
)  # fmt: skip
task = _option(
    "--task", "task_names", multiple=True, metavar="NAME", help="Only this task; may be repeated. Default: all."
)  # fmt: skip
results = _option(
    "--results", callback=parse_address, default=RESULTS, show_default=True, metavar="URL",
    help="Database of the records: an SQLite file, or a URL such as postgresql+psycopg://host/name.",
)  # fmt: skip
time_limit = _option(
    "--time-limit", "time_limit_s", callback=parsed(parse_seconds), default="300", show_default=True, metavar="TIME",
    help="Time per call, from the moment the model is loaded: seconds, or e.g. 90s, 5m, 2h.",
)  # fmt: skip
time_budget = _option(
    "--time-budget", type=click.Choice(["each", "average"]), default="each", show_default=True,
    help="`each`: the limit applies to every call. `average`: as in the competition, the limit times the number of "
    "models applies to the whole task.",
)  # fmt: skip
memory = _option(
    "--memory", "memory_bytes", callback=parsed(parse_size), metavar="SIZE",
    help="Memory per call, e.g. 2G. Default: 4G (16G with a GPU), at most 60 % of the machine's.",
)  # fmt: skip
workers = _option(
    "--workers", callback=parsed(parse_workers), default="auto", show_default=True, metavar="N|auto",
    help="Number of parallel processes; auto: a process per GPU, otherwise per core, as far as memory allows.",
)  # fmt: skip
runtime = _option(
    "--runtime", type=click.Choice(sorted(RUNTIMES)),
    help="Framework in which submissions run; keras2 is TensorFlow with Keras 2. Default: the submission's choice, "
    f"otherwise {DEFAULT}; of pgdl new: {DEFAULT}, or another framework if only that is installed.",
)  # fmt: skip
seed = _option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True,
    help="Seed of the run; every call derives its own seed from it.",
)  # fmt: skip
withhold = with_warning(_option(
    "--withhold", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Withhold outputs, messages and figures of calls from participants, and round published scores. auto: only on "
    "tasks that are marked as hidden.",
))  # fmt: skip
unsafe = _option(
    "--unsafe-no-sandbox", is_flag=True,
    help="Run without any isolation. For your own code only: such results are marked and never ranked.",
)  # fmt: skip
everything = click.option(
    "--all", "everything", is_flag=True, help="Show every version and configuration of a submission in its own row."
)
names = click.option(
    "--as", "names", multiple=True, metavar="NAME",
    help="Name of a SUBMISSION, which overrides its metadata; give a name per SUBMISSION, in order. In `pgdl run`, a "
    "name that is already recorded makes SUBMISSION a new version of the recorded submission.",
)  # fmt: skip
as_files = click.option(
    "--as-files", is_flag=True, help="Name each SUBMISSION after its file, and not by its metadata."
)
#: The argument TASK of commands that need exactly one task.
one_task = click.argument("task_name", metavar="TASK")
models = click.option(
    "--models", callback=parsed(parse_models), metavar="N|NAME[,NAME...]",
    help="Models of a task: a number of them, from the smallest to the largest, or names, e.g. model_0,model_7. "
    "Default: 3 (check), otherwise all.",
)  # fmt: skip
data = click.option(
    "--data", required=True, metavar="DATA",
    help="Training data of the models (task import), or training and test images of seen and unseen classes (testbed).",
)  # fmt: skip
measures = click.option(
    "--measures", multiple=True, default=[ALL], show_default=True, metavar="NAME[,NAME...]",
    shell_complete=completion.measure_lists,
    help="Measures to run: names, families, costs, all, or cheap (measures that read weights only or make up to three "
    "forward passes); may be repeated. A name may have parameters, as in vc_dim:image_side=28. pgdl measures lists the "
    "measures with their costs. testbed: the word none leaves measures out.",
)  # fmt: skip
#: The argument DIR of `pgdl task validate DIR` and others, which replaces --tasks.
directory = click.argument("directory", required=False, metavar="[DIR]", type=PATH, callback=_there)
quiet = click.option("--quiet", "-q", is_flag=True, help="Print only warnings and errors; the exit code shows success.")
force = click.option("--force", is_flag=True, help="Make recorded calls again.")
retry_timeouts = click.option(
    "--retry-timeouts", is_flag=True,
    help="Make recorded calls again that exceeded their time with less than half of a processor: the machine was busy, "
    "or the calls waited.",
)  # fmt: skip
repeat = click.option(
    "--repeat", "repeats", type=click.IntRange(0, MOST_REPEATS), default=0, show_default=True, metavar="K",
    help="Call a quarter of the models, at least 8, K more times with other seeds, to show how much of a score depends "
    "on the measure's own random draws. These calls never change a score.",
)  # fmt: skip


def output(written: str, *, required: bool = False) -> Decorator:
    """Return the option `--output` with the help text `Write WRITTEN`."""
    return click.option("--output", type=PATH, required=required, metavar="PATH", help=f"Write {written}")


def html(written: str) -> Decorator:
    """Return the option `--html` with the help text `Also write WRITTEN`."""
    return click.option("--html", type=PATH, metavar="PATH", help=f"Also write {written}")


def execution(command: Any) -> Any:
    """Add the options that say how calls are made; `with_execution` turns their values into an `Execution`."""
    return sandboxed_execution(unsafe(command))


def sandboxed_execution(command: Any) -> Any:
    """Add the options of `execution`, except --unsafe-no-sandbox."""
    limits = (time_limit, time_budget, memory, workers, runtime, seed)
    return _add(command, [*limits, *_executors(), *_sandboxes(), withhold])


def executors(command: Any) -> Any:
    """Add the options that choose the executor of calls."""
    return _add(command, [*_executors()])


def _add(command: Any, added: Sequence[Decorator]) -> Any:
    for option in reversed(added):
        command = option(command)
    return command


def _executors() -> Iterator[Decorator]:
    from harness.execution.executors import EXECUTORS

    meanings = "; ".join(f"{name}: {executor.summary}" for name, executor in EXECUTORS.items())
    yield _option(
        "--executor", type=click.Choice(sorted(EXECUTORS)), default="local", show_default=True,
        help=f"Where calls are made. {meanings}.",
    )  # fmt: skip
    yield from _parameters("executor", EXECUTORS)


def _sandboxes() -> Iterator[Decorator]:
    from harness.sandbox import KINDS, SandboxChoice

    auto, (*tried, last) = SandboxChoice.AUTO, SandboxChoice.TRIED
    kinds = {name: kind for name, kind in KINDS.items() if kind.is_sandbox}
    meanings = "; ".join(f"{name}: {kind.summary}" for name, kind in kinds.items())
    yield _option(
        "--sandbox", type=click.Choice([auto, *kinds]), default=auto, show_default=True,
        help=f"Sandbox of a call. {meanings}. {auto}: the first that works of {', '.join(tried)} and {last}. "
        "Values are the same in each.",
    )  # fmt: skip
    yield from _parameters("sandbox", kinds)


def _parameters(option: str, choices: Mapping[str, Any]) -> Iterator[Decorator]:
    for name, choice in choices.items():
        for one in choice.parameters:
            yield _option(
                f"--{name}-{one.name}".replace("_", "-"), default=one.default, show_default=one.default is not None,
                metavar=one.metavar, help=f"With --{option} {name}: {one.meaning}",
            )  # fmt: skip


def take_parameters(
    asked: dict[str, Any], option: str, chosen: str, choices: Mapping[str, Any]
) -> dict[str, str | None]:
    """Remove the parameters of all `choices` (executors or sandboxes) from `asked`, and return those of `chosen`.

    `option` is the option that chooses. Raise `UserError` if the command line sets a parameter of another choice.
    """
    values: dict[str, str | None] = {}
    for name, choice in choices.items():
        of_choice = {f"{name}_{one.name}".replace("-", "_"): one.name for one in choice.parameters}
        if name != chosen:
            wanted = f"{option} {name}"
            require_not_given(of_choice, f"an option of {wanted} alone", remedy=f"add {wanted}, or leave it out")
        given = {parameter: asked.pop(key) for key, parameter in of_choice.items()}
        values |= given if name == chosen else {}
    return values


def with_execution(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command's options, with an `Execution` in place of the options that the decorator `execution` adds."""
    from harness.execution.executors import EXECUTORS
    from harness.sandbox import KINDS
    from pgdl import Execution

    rest = dict(asked)
    executor_parameters = take_parameters(rest, "--executor", rest["executor"], EXECUTORS)
    sandbox_parameters = take_parameters(rest, "--sandbox", rest["sandbox"], KINDS)
    chosen = {field.name: rest.pop(field.name) for field in fields(Execution) if field.name in rest}
    execution = Execution(**chosen, executor_parameters=executor_parameters, sandbox_parameters=sandbox_parameters)
    return rest | {"execution": execution}


def require_not_given(names: Collection[str], why: str, remedy: str = "leave it out") -> None:
    """Raise `UserError` with the reason `why` if the command line sets a parameter in `names`."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UserError(why, found=parameter.opts[0], remedy=remedy)
