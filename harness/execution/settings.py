"""The settings of a run that the user chooses."""

from dataclasses import dataclass

import harness
from harness.configuration import Configuration
from harness.execution.budget import TimeBudget
from harness.execution.loader import loader_digest
from harness.sandbox import Limits
from harness.task.hidden import Withhold


@dataclass(frozen=True)
class RunSettings:
    """The input of `plan_calls`, besides submissions and tasks."""

    limits: Limits
    time_limit_s: float = 300.0
    time_budget: TimeBudget = TimeBudget.EACH
    seed: int = 0  #: of the run; every call derives its own
    runtime: str | None = None  #: overrides the runtime that submissions name
    withhold: Withhold = Withhold.AUTO  #: tasks whose messages and outputs are not recorded

    def configuration(self, runtime: str, isolation: str, versions: str) -> Configuration:
        """Return the configuration of calls with these settings, runtime, isolation and library versions."""
        return Configuration(
            run_seed=self.seed,
            runtime=runtime,
            time_limit_s=self.time_limit_s,
            time_budget=str(self.time_budget),
            memory_limit_bytes=self.limits.memory_bytes,
            isolation=isolation,
            versions=versions,
            harness_version=harness.__version__,
            loader=loader_digest(runtime),
        )
