"""How calls are made: the options of `pgdl run` as an object."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from harness.configuration import LONGEST_S
from harness.errors import UserError
from harness.execution.budget import TimeBudget
from harness.execution.executors import EXECUTORS
from harness.sandbox import AUTO, KINDS
from harness.task.hidden import Withhold
from harness.worker.runtimes import RUNTIMES

UNSAFE = "NOT SANDBOXED (--unsafe-no-sandbox): for your own code only; these results never rank."


@dataclass(frozen=True)
class Execution:
    """Limits, sandbox and engine of calls. Raises `UserError` for a value that cannot be.

    Attributes:
        time_limit_s: seconds per call, from the moment the model is loaded.
        time_budget: `each`: the limit applies to every call; `average`: the limit times the number of models applies
            to the whole task.
        memory_bytes: memory per call; None: 4 GiB (16 GiB with a GPU), at most 60 % of the machine's.
        workers: number of parallel calls on a machine; None: one per GPU, otherwise one per core, as far as memory
            allows.
        runtime: framework of submissions; None: the submission's choice, otherwise TensorFlow.
        seed: of the run; every call derives its own.
        executor: engine that runs the calls.
        executor_parameters: parameters of that engine, for instance the address of a cluster.
        sandbox: kind of sandbox; `auto`: the first that works of fast, fresh and landlock.
        sandbox_parameters: parameters of that kind, for instance the image of a container.
        unsafe_no_sandbox: no isolation at all, for your own code only: such results are marked and never ranked.
        withhold: whether outputs, messages and figures are withheld; `auto`: on tasks that are marked as hidden.
    """

    time_limit_s: float = 300.0
    time_budget: str = TimeBudget.EACH.value
    memory_bytes: int | None = None
    workers: int | None = None
    runtime: str | None = None
    seed: int = 0
    executor: str = "local"
    executor_parameters: Mapping[str, str | None] = field(default_factory=dict)
    sandbox: str = AUTO
    sandbox_parameters: Mapping[str, str | None] = field(default_factory=dict)
    unsafe_no_sandbox: bool = False
    withhold: str = Withhold.AUTO.value

    def __post_init__(self) -> None:
        sandboxes = [AUTO, *(name for name, kind in KINDS.items() if kind.is_sandbox)]
        _require_one_of("time_budget", self.time_budget, [one.value for one in TimeBudget])
        _require_one_of("executor", self.executor, EXECUTORS)
        _require_one_of("sandbox", self.sandbox, sandboxes)
        _require_one_of("withhold", self.withhold, [one.value for one in Withhold])
        if self.runtime is not None:
            _require_one_of("runtime", self.runtime, RUNTIMES)
        _require("time_limit_s", self.time_limit_s, 0 < self.time_limit_s <= LONGEST_S, f"above 0, to {LONGEST_S}")
        _require("seed", self.seed, 0 <= self.seed < 2**63, "0 to 2**63 - 1")
        _require("workers", self.workers, self.workers is None or self.workers > 0, "1 or more, or None")
        _require("memory_bytes", self.memory_bytes, self.memory_bytes is None or self.memory_bytes > 0, "above 0")
        if self.unsafe_no_sandbox and self.sandbox != AUTO:
            contradiction = f"--unsafe-no-sandbox and --sandbox {self.sandbox} contradict each other"
            raise UserError(contradiction, remedy="leave one out")


def _require(name: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise UserError(name, expected=expected, found=value)


def _require_one_of(name: str, value: str, known: Collection[str]) -> None:
    _require(name, repr(value), value in known, f"one of {', '.join(sorted(known))}")


#: As `pgdl run` without options.
USUAL = Execution()
