"""The user's settings of a run, and the digest of the code that affects values."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import harness
from harness.configuration import Configuration
from harness.digest import code_of, digest_of
from harness.execution.budget import TimeBudget
from harness.sandbox import Limits
from harness.task.hidden import Withhold
from harness.worker.runtimes import RUNTIMES

_HARNESS = Path(__file__).parents[1]

#: The code that affects values: the worker, the reading and rewriting of models and data, and staging. All other files
#: of the sandbox only isolate and limit.
SOURCES = ("worker/**/*.py", "format/**/*.py", "sandbox/staging.py")


@dataclass(frozen=True)
class RunSettings:
    """The settings of all calls of a run."""

    limits: Limits
    time_limit_s: float = 300.0
    time_budget: TimeBudget = TimeBudget.EACH
    seed: int = 0  #: seed of the run, from which the seed of each call is derived
    runtime: str | None = None  #: replaces the runtime that submissions name
    withhold: Withhold = Withhold.AUTO  #: says for which tasks messages and outputs are not recorded

    def configuration(self, runtime: str, isolation: str, versions: str) -> Configuration:
        """Return the configuration of calls with this runtime, isolation and library versions."""
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


@functools.cache
def loader_digest(runtime: str) -> str:
    """Return the SHA-256 (hex) of the code that affects the values of calls in a runtime."""
    files = sorted((file.relative_to(_HARNESS).as_posix(), file) for file in _sources(runtime))
    return digest_of((name, code_of(file.read_bytes())) for name, file in files)


def _sources(runtime: str) -> Iterator[Path]:
    """Yield the files of `SOURCES`, without the modules of other runtimes, unless `runtime` inherits from them."""
    every = {type(one).__module__ for one in RUNTIMES.values()}
    foreign = every - {kind.__module__ for kind in type(RUNTIMES[runtime]).__mro__}
    modules = {_HARNESS.parent.joinpath(*name.split(".")).with_suffix(".py") for name in foreign}
    for pattern in SOURCES:
        yield from (file for file in _HARNESS.glob(pattern) if file not in modules)
