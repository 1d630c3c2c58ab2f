"""What a user decides about a run."""

from dataclasses import dataclass

import harness
from harness.configuration import Configuration
from harness.execution.budget import TimeBudget
from harness.execution.withhold import Withhold
from harness.sandbox import Limits


@dataclass(frozen=True)
class Settings:
    """What `plan_calls` goes by."""

    limits: Limits
    time_limit_s: float = 300.0
    time_budget: TimeBudget = TimeBudget.EACH
    seed: int = 0  #: of the run; every call derives its own
    keras: int | None = None  #: overrides what submissions ask for
    withhold: Withhold = Withhold.AUTO  #: of which tasks nothing but outcomes and values is kept

    def configuration(self, keras: int, isolation: str, versions: str) -> Configuration:
        """What a record keeps of these settings, for calls with that version of Keras, so isolated."""
        return Configuration(
            run_seed=self.seed,
            keras=keras,
            time_limit_s=self.time_limit_s,
            time_budget=str(self.time_budget),
            memory_limit_bytes=self.limits.memory_bytes,
            isolation=isolation,
            versions=versions,
            harness_version=harness.__version__,
        )
