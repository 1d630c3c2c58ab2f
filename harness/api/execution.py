"""The settings of calls: sandbox, executor, limits and seed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path

from harness.api.progress import Progress
from harness.cache import cache_directory
from harness.configuration import LONGEST_S, UNSANDBOXED
from harness.errors import UserError, require_one_of
from harness.execution.budget import TimeBudget
from harness.execution.executor import Executor
from harness.execution.executors import EXECUTORS
from harness.execution.settings import RunSettings
from harness.sandbox import KINDS, SandboxChoice
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles, hidden_names
from harness.worker.runtimes import RUNTIMES

UNSAFE = "NOT SANDBOXED (--unsafe-no-sandbox): for your own code only; these results never rank."


@dataclass(frozen=True)
class Execution:
    """The settings of calls. An impossible value raises `UserError`."""

    time_limit_s: float = 300.0  #: seconds per call, from the moment the model is loaded
    #: `each`: the limit applies to every call; `average`: the limit times the number of models applies to a whole task
    time_budget: str = TimeBudget.EACH.value
    #: memory per call; by default 4 GiB (16 GiB with a GPU), at most 60 % of the machine's memory
    memory_bytes: int | None = None
    #: number of parallel calls on a machine; by default a call per GPU, otherwise as many as cores and memory allow
    workers: int | None = None
    runtime: str | None = None  #: framework of submissions; by default the submission's choice, otherwise TensorFlow
    seed: int = 0  #: seed of the run, from which every call derives its own seed
    executor: str = "local"  #: name of the executor that makes the calls
    #: parameters of the executor, for instance the address of a cluster
    executor_parameters: Mapping[str, str | None] = field(default_factory=dict)
    sandbox: str = SandboxChoice.AUTO  #: kind of sandbox; `auto`: the first that works of fast, fresh and landlock
    #: parameters of the kind of sandbox, for instance the image of a container
    sandbox_parameters: Mapping[str, str | None] = field(default_factory=dict)
    unsafe_no_sandbox: bool = False  #: no isolation at all, for your own code only; such results are never ranked
    #: whether to withhold outputs, messages and figures of calls: `always`, `never`, or `auto` (only on hidden tasks)
    withhold: str = Withhold.AUTO.value

    def __post_init__(self) -> None:
        sandboxes = [SandboxChoice.AUTO, *(name for name, kind in KINDS.items() if kind.is_sandbox)]
        require_one_of("time_budget", self.time_budget, sorted(TimeBudget))
        require_one_of("executor", self.executor, sorted(EXECUTORS))
        require_one_of("sandbox", self.sandbox, sorted(sandboxes))
        require_one_of("withhold", self.withhold, sorted(Withhold))
        if self.runtime is not None:
            require_one_of("runtime", self.runtime, sorted(RUNTIMES))
        seconds, workers, memory = self.time_limit_s, self.workers, self.memory_bytes
        _require("time_limit_s", seconds, _is(Real, seconds) and 0 < seconds <= LONGEST_S, f"above 0, to {LONGEST_S}")
        _require("seed", self.seed, _is(Integral, self.seed) and 0 <= self.seed < 2**63, "0 to 2**63 - 1")
        _require("workers", workers, workers is None or (_is(Integral, workers) and workers > 0), "1 or more, or None")
        is_size = memory is None or (_is(Integral, memory) and memory > 0)
        _require("memory_bytes", memory, is_size, "a whole number above 0, or None")
        kind = KINDS.get(self.sandbox)  # None for `auto`
        known = {
            "executor_parameters": [one.name for one in EXECUTORS[self.executor].parameters],
            "sandbox_parameters": [one.name for one in kind.parameters] if kind else [],
        }
        for name, names in known.items():
            parameters = getattr(self, name)
            is_known = isinstance(parameters, Mapping) and set(names).issuperset(parameters)
            expected = f"a mapping with keys among {', '.join(names)}" if names else "an empty mapping"
            _require(name, parameters, is_known, expected)
        if self.unsafe_no_sandbox and self.sandbox != SandboxChoice.AUTO:
            contradiction = f"--unsafe-no-sandbox and --sandbox {self.sandbox} contradict each other"
            raise UserError(contradiction, remedy="leave one out")


def _require(name: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise UserError(name, expected=expected, found=repr(value))


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


USUAL = Execution()  #: the settings of `pgdl run` without options


def prepare(chosen: Execution, tasks: Sequence[TaskFiles], progress: Progress) -> tuple[RunSettings, Executor]:
    """Return the settings and the executor for calls on tasks.

    Raise `UserError` if no sandbox works; if calls on a hidden task would run without a sandbox, or in the weaker
    sandbox to which `auto` falls back; or if submissions could read the directory of a task or the cache.
    """
    sandbox = _sandbox(chosen, hidden_names(tasks), progress)
    memory = None if chosen.memory_bytes is None else int(chosen.memory_bytes)  # numbers of NumPy are no JSON
    executor = EXECUTORS[chosen.executor](sandbox, memory, chosen.workers, progress.warn, **chosen.executor_parameters)
    settings = RunSettings(
        limits=executor.limits, time_limit_s=float(chosen.time_limit_s), time_budget=TimeBudget(chosen.time_budget),
        seed=int(chosen.seed), runtime=chosen.runtime, withhold=Withhold(chosen.withhold),
    )  # fmt: skip
    executor.require_unseen([*_private_files(tasks), cache_directory("staged")])
    return settings, executor


def _private_files(tasks: Sequence[TaskFiles]) -> Iterator[Path]:
    for task in tasks:
        yield from (task.directory, *([task.reference] if task.reference else []), *task.marks)
        yield from (path for path in task.directory.rglob("*") if path.is_symlink())


def _sandbox(chosen: Execution, hidden: Collection[str], progress: Progress) -> SandboxChoice:
    if not chosen.unsafe_no_sandbox:
        return SandboxChoice(chosen.sandbox, chosen.sandbox_parameters, may_promise_less=not hidden)
    if hidden:
        remedy = "leave it out, or choose other tasks with --task"
        raise UserError(f"--unsafe-no-sandbox: not with hidden tasks ({', '.join(sorted(hidden))})", remedy=remedy)
    progress.warn(UNSAFE)
    return SandboxChoice(UNSANDBOXED)
