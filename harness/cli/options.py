"""The options of all commands: an option means the same in every command that has it.

Options made by `_option` are also environment variables: `--time-limit` is `PGDL_TIME_LIMIT`, and so on.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from harness.cli import completion
from harness.configuration import LONGEST_S
from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.names import ALL
from harness.task import DEFAULT_DIRECTORY
from harness.variables import variable_of
from harness.worker.runtimes import DEFAULT, RUNTIMES

if TYPE_CHECKING:
    from pgdl import Execution

Decorator = Callable[[Any], Any]

#: The value of --measures that selects no measure.
NONE = "none"

#: Seconds in the units of times.
UNITS_S = {"s": 1, "m": 60, "h": 3600}


def parse_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Parse a size such as 512M, 4G or 2GiB into bytes; units are powers of 1024."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"expected a size such as 512M or 4G, found {value!r}", context, parameter)
    size = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))
    if size < 1:
        raise click.BadParameter(f"expected a size such as 512M or 4G, found {value!r}", context, parameter)
    return size


def parse_address(_context: click.Context, parameter: click.Parameter, value: str | None) -> Address | None:
    """Parse an address, which may hold a password, or a file; from here on it is an `Address`, never text."""
    return None if value is None else Address(value, name_of(parameter))


def parse_addresses(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[Address, ...]:
    """Parse the addresses or files of an option or argument that may be repeated."""
    return tuple(Address(value, name_of(parameter)) for value in values)


def name_of(parameter: click.Parameter) -> str:
    """Return the name of a parameter in the help."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


def parse_names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Split a list of names at commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if value else ()


def parse_models(context: click.Context, parameter: click.Parameter, value: str | None) -> int | tuple[str, ...] | None:
    """Parse a number of models, at least 1, or their names; None for no value."""
    if value is not None and re.fullmatch(r"[+-]?\d+", value.strip()):
        if int(value) < 1:
            raise click.BadParameter(f"expected 1 model or more, found {value}", context, parameter)
        return int(value)
    return parse_names(context, parameter, value) or None


def parse_seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Parse a time such as 90, 90s, 5m or 1.5h into seconds: positive, and at most 30 days."""
    text = value.strip().lower()
    unit = text[-1:] if text.endswith(tuple(UNITS_S)) else "s"
    try:
        seconds = float(text.removesuffix(unit)) * UNITS_S[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        expected = f"a positive number of seconds, or a time such as 90s, 5m or 2h, at most {LONGEST_S} (30 days)"
        raise click.BadParameter(f"expected {expected}, found {value!r}", context, parameter)
    return seconds


class SuggestingChoice(click.Choice[str]):
    """A choice that refuses a misspelt value in one line, with the closest valid value."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """Return the value; if it is invalid, raises `UserError` with a similar value, or else click's error."""
        from harness.hints import did_you_mean

        hint = None if value in self.choices else did_you_mean(str(value), self.choices)
        if hint is not None and parameter is not None:
            raise UserError(f"{parameter.opts[0]}: no {value!r}", remedy=hint)
        return super().convert(value, parameter, context)


def parse_workers(context: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """Parse a positive number, or return None for `auto`; the executor knows how many there may be."""
    if value == "auto":
        return None
    if value.isdecimal() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"expected a number from 1 up, or auto, found {value!r}", context, parameter)


def _option(name: str, *more: str, **settings: Any) -> Decorator:
    return click.option(name, *more, envvar=variable_of(name), show_envvar=True, **settings)


tasks = _option(
    "--tasks", "tasks_dir", type=click.Path(path_type=Path), default=DEFAULT_DIRECTORY, show_default=True,
    metavar="DIR",
    help="Directory of the tasks: contains input_data/ and reference_data/, or the task folders themselves.",
)  # fmt: skip
task = _option(
    "--task",
    "task_names",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tasks,
    help="Only this task; may be repeated. Default: all.",
)
results = _option(
    "--results", callback=parse_address, default=RESULTS, show_default=True, metavar="URL",
    help="Database of the records: an SQLite file, or a URL such as postgresql+psycopg://host/name.",
)  # fmt: skip
time_limit = _option(
    "--time-limit", callback=parse_seconds, default="300", show_default=True, metavar="TIME",
    help="Time per call, from the moment the model is loaded: seconds, or e.g. 90s, 5m, 2h.",
)  # fmt: skip
time_budget = _option(
    "--time-budget", type=click.Choice(["each", "average"]), default="each", show_default=True,
    help="`each`: the limit applies to every call. `average`: as in the competition, the limit times the number of "
    "models applies to the whole task.",
)  # fmt: skip
memory = _option(
    "--memory", "memory_bytes", callback=parse_size, metavar="SIZE",
    help="Memory per call, e.g. 2G. Default: 4G (16G with a GPU), at most 60 % of the machine's.",
)  # fmt: skip
workers = _option(
    "--workers", callback=parse_workers, default="auto", show_default=True, metavar="N|auto",
    help="Number of parallel processes; auto is one per GPU, otherwise one per core, as far as memory allows.",
)  # fmt: skip
runtime = _option(
    "--runtime",
    type=SuggestingChoice(sorted(RUNTIMES)),
    help="Framework in which submissions run; keras2 is TensorFlow with Keras 2. Default: the submission's choice, "
    f"otherwise {DEFAULT}.",
)
seed = _option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Seed of the run; every call derives its own.",
)
withhold = _option(
    "--withhold", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Withhold outputs, messages and figures of calls from participants, and round published scores. auto: only on "
    "tasks that are marked as hidden.",
)  # fmt: skip
unsafe = _option(
    "--unsafe-no-sandbox", is_flag=True,
    help="Run without any isolation. For your own code only: such results are marked and never ranked.",
)  # fmt: skip
everything = click.option(
    "--all", "everything", is_flag=True, help="Show every version and configuration of a submission in its own row."
)
names = click.option(
    "--as", "names", multiple=True, metavar="NAME",
    help="Name of a SUBMISSION, overrides its metadata; give one per SUBMISSION, in order. In `pgdl run`, a name that "
    "is already recorded makes it a new version of that submission.",
)  # fmt: skip
as_files = click.option(
    "--as-files", is_flag=True, help="Name each SUBMISSION after its file, whatever its metadata say: of participants.",
)  # fmt: skip
#: The task of an evaluation protocol.
one_task = click.argument("task_name", metavar="TASK", shell_complete=completion.tasks)
models = click.option(
    "--models", callback=parse_models, metavar="N|NAME[,NAME...]",
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
    help="Measures to run: names, families, costs, all, or cheap: those that read weights only or make up to three "
    "forward passes; may be repeated. A name may have parameters, as in vc_dim:image_side=28. pgdl measures lists the "
    "measures, with their costs. testbed: the word none leaves measures out.",
)  # fmt: skip
catalogue = click.option(
    "--catalogue", callback=parse_address, metavar="FILE|URL",
    help="A file that describes a corpus, in place of those in the package (pgdl help pgdl2020); a URL with --sha256.",
)  # fmt: skip
sha256 = click.option(
    "--sha256", metavar="HEX", help="Digest of the archive at URL (task fetch), or of a --catalogue that is a URL."
)
#: Overrides --tasks, for `pgdl task validate DIR`.
directory = click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
quiet = click.option("--quiet", "-q", is_flag=True, help="Print only warnings and errors; the exit code shows success.")
force = click.option("--force", is_flag=True, help="Make recorded calls again.")
retry_timeouts = click.option(
    "--retry-timeouts", is_flag=True,
    help="Make recorded calls again that exceeded their time with less than half of a processor: the machine was busy, "
    "or they waited.",
)  # fmt: skip
repeat = click.option(
    "--repeat", "repeats", type=click.IntRange(0, 1000), default=0, show_default=True, metavar="K",
    help="Call a quarter of the models, at least 8, K more times with other seeds: shows how much of a score is luck "
    "of the measure's own random draws. These calls never change a score.",
)  # fmt: skip


def output(written: str, *, required: bool = False) -> Decorator:
    """Add `--output`, with a help of the command's own."""
    return click.option(
        "--output", type=click.Path(path_type=Path), required=required, metavar="PATH", help=f"Write {written}"
    )


def html(written: str) -> Decorator:
    """Add `--html`, with a help of the command's own."""
    return click.option("--html", type=click.Path(path_type=Path), metavar="PATH", help=f"Also write {written}")


def execution(command: Any) -> Any:
    """Add the options for running calls."""
    return sandboxed_execution(unsafe(command))


def sandboxed_execution(command: Any) -> Any:
    """Add the options for running calls, except the option to run without a sandbox."""
    limits = (time_limit, time_budget, memory, workers, runtime, seed)
    for option in reversed((*limits, *_executors(), *_sandboxes(), withhold)):
        command = option(command)
    return command


def executors(command: Any) -> Any:
    """Add the options that choose the executor of calls."""
    for option in reversed([*_executors()]):
        command = option(command)
    return command


def executor_of(options: Mapping[str, Any]) -> tuple[str, dict[str, str | None]]:
    """Return the name and the parameters of the executor, from the options of `executors`."""
    from harness.execution.executors import EXECUTORS

    return options["executor"], _values(options["executor"], EXECUTORS, options)


def _executors() -> Iterator[Decorator]:
    """Yield `--executor` and the options for the parameters of each."""
    from harness.execution.executors import EXECUTORS

    meanings = "; ".join(f"{name}: {executor.summary}" for name, executor in EXECUTORS.items())
    yield _option(
        "--executor", type=click.Choice(sorted(EXECUTORS)), default="local", show_default=True,
        help=f"Where calls are made. {meanings}.",
    )  # fmt: skip
    yield from _parameters("executor", EXECUTORS)


def _parameters(option: str, choices: Mapping[str, Any]) -> Iterator[Decorator]:
    """Yield the options for the parameters that each choice declares."""
    for name, choice in choices.items():
        for one in choice.parameters:
            yield _option(
                f"--{name}-{one.name}".replace("_", "-"), default=one.default, show_default=one.default is not None,
                metavar=one.metavar, help=f"With --{option} {name}: {one.meaning}",
            )  # fmt: skip


def _values(name: str, choices: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the values of the parameters that the choice `name` declares; empty for an unknown name."""
    parameters = choices[name].parameters if name in choices else ()
    return {one.name: options[f"{name}_{one.name}"] for one in parameters}


def _sandboxes() -> Iterator[Decorator]:
    """Yield `--sandbox` and the options for the parameters of each kind."""
    from harness.sandbox import KINDS, SandboxChoice

    auto, (*tried, last) = SandboxChoice.AUTO, SandboxChoice.TRIED
    kinds = {name: kind for name, kind in KINDS.items() if kind.is_sandbox}
    meanings = "; ".join(f"{name}: {kind.summary}" for name, kind in kinds.items())
    yield _option(
        "--sandbox", "sandbox_mode", type=click.Choice([auto, *kinds]), default=auto, show_default=True,
        help=f"Sandbox of a call. {meanings}. {auto}: the first that works of {', '.join(tried)} and {last}. "
        "Values are the same in each.",
    )  # fmt: skip
    yield from _parameters("sandbox", kinds)


def require_not_given(names: Collection[str], why: str) -> None:
    """Raise `UserError` if a user set one of the parameters by an option of the command."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UserError(why, found=parameter.opts[0], remedy="leave it out")


def execution_of(options: Mapping[str, Any]) -> "Execution":
    """Return the settings of the options of `execution`."""
    from harness.sandbox import KINDS
    from pgdl import Execution

    sandbox = options["sandbox_mode"]
    executor, executor_parameters = executor_of(options)
    return Execution(
        time_limit_s=options["time_limit"],
        time_budget=options["time_budget"],
        memory_bytes=options["memory_bytes"],
        workers=options["workers"],
        runtime=options["runtime"],
        seed=options["seed"],
        executor=executor,
        executor_parameters=executor_parameters,
        sandbox=sandbox,
        sandbox_parameters=_values(sandbox, KINDS, options),
        unsafe_no_sandbox=options.get("unsafe_no_sandbox", False),
        withhold=options["withhold"],
    )
