"""What a user decides about a run."""

from dataclasses import dataclass
from enum import StrEnum

import harness
from harness.configuration import Configuration
from harness.execution.budget import TimeBudget
from harness.execution.versions import library_versions
from harness.execution.withhold import Withhold
from harness.sandbox.docker import Docker
from harness.sandbox.isolation import Isolation
from harness.sandbox.limits import Limits


class Starts(StrEnum):
    """How workers are started in bubblewrap's sandbox; values of measures do not depend on it."""

    AUTO = "auto"  #: fast where that works here, else fresh
    FAST = "fast"  #: a fork of a process that has imported TensorFlow, in a sandbox of its own
    FRESH = "fresh"  #: a new interpreter in a sandbox of its own


@dataclass(frozen=True)
class Settings:
    """What `plan_calls` and `execute` go by."""

    limits: Limits
    time_limit_s: float = 300.0
    time_budget: TimeBudget = TimeBudget.EACH
    seed: int = 0  #: of the run; every call derives its own
    keras: int | None = None  #: overrides what submissions ask for
    isolation: Isolation = Isolation.BUBBLEWRAP
    docker: Docker | None = None  #: how containers are made, if that is the isolation
    withhold: Withhold = Withhold.AUTO  #: of which tasks nothing but outcomes and values is kept
    starts: Starts = Starts.AUTO  #: makes no difference to values, so it is no part of what makes a call the same

    @property
    def sandboxed(self) -> bool:
        """Whether submissions are kept from this machine at all."""
        return self.isolation is not Isolation.NONE

    def configuration(self, keras: int) -> Configuration:
        """What a record keeps of these settings, for calls with that version of Keras."""
        return Configuration(
            run_seed=self.seed,
            keras=keras,
            time_limit_s=self.time_limit_s,
            time_budget=str(self.time_budget),
            memory_limit_bytes=self.limits.memory_bytes,
            isolation=str(self.isolation) if self.docker is None else self.docker.isolation,
            versions=library_versions(keras) if self.docker is None else self.docker.image_id,
            harness_version=harness.__version__,
        )
