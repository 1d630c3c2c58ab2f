"""The configuration: the settings that all calls behind a score have in common."""

import hashlib
import json
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, get_type_hints

from harness.parsing import parse_json
from harness.text import is_line

MIB, GIB = 1024**2, 1024**3

#: How workers start; records append it to the isolation, as in `bubblewrap/fast`. It does not affect values.
WAYS = ("fast", "fresh")

#: Name of the isolation of calls without a sandbox. Such calls do not count on a board.
UNSANDBOXED = "none"

#: Maximum time limit: 30 days, in seconds.
LONGEST_S = 30 * 24 * 3600

#: Maximum number of repetitions of a call.
MOST_REPEATS = 1000


@dataclass(frozen=True)
class Configuration:
    """The settings that may affect values and failures. They are equal for all calls behind a score."""

    run_seed: int  #: seed of the run, from which the seed of each call is derived
    runtime: str  #: the framework, such as `tensorflow`
    time_limit_s: float
    time_budget: str  #: `each` or `average`, as in `harness.execution.budget`
    memory_limit_bytes: int
    isolation: str  #: isolation of the sandbox, or `UNSANDBOXED`
    versions: str  #: versions of libraries that affect values, such as "keras 3.12.0, numpy 2.3.5"
    harness_version: str
    loader: str  #: digest of the harness' code that loads models and calls measures

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that identify the configuration."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:12]

    @property
    def is_sandboxed(self) -> bool:
        """Whether calls run in a sandbox."""
        return self.isolation != UNSANDBOXED

    @property
    def settings(self) -> "Configuration":
        """The configuration without versions and `loader`: only settings that the user chooses."""
        return replace(self, versions="", harness_version="", loader="")

    @property
    def software(self) -> str:
        """The versions of the harness and of libraries, as text."""
        return f"pgdl-harness {self.harness_version} ({self.loader[:8]}), {self.versions}"

    def to_json(self) -> str:
        """Return all fields as JSON, for `configuration_from`."""
        return json.dumps(asdict(self))


#: The columns of a record that describe its configuration, in the order of the fields of `Configuration`.
RECORDED = tuple("sandbox" if field.name == "isolation" else field.name for field in fields(Configuration))


@lru_cache(maxsize=1024)  # records and requests have few different configurations
def recorded_configuration(*values: Any) -> Configuration:
    """Return the configuration of a recorded call. `values` are the values of the columns `RECORDED`."""
    found = dict(zip(RECORDED, values, strict=True))
    sandbox = found.pop("sandbox")
    return Configuration(isolation=isolation_of(sandbox), **found)


def isolation_of(sandbox: str) -> str:
    """Return the isolation of a recorded sandbox: `bubblewrap` for `bubblewrap/fast`. `WAYS` lists such endings."""
    isolation, _, way = sandbox.rpartition("/")
    return isolation if way in WAYS else sandbox


@lru_cache(maxsize=1024)
def configuration_from(text: str) -> Configuration:
    """Return the configuration whose `to_json` returns `text`. Raise `ValueError` for any other text."""
    found = parse_json(text)
    types = get_type_hints(Configuration)
    if not isinstance(found, dict) or found.keys() != types.keys():
        raise ValueError(f"expected the settings of a configuration, found {text[:100]!r}")
    for name, kind in types.items():
        value, allowed = found[name], (int, float) if kind is float else (kind,)
        if type(value) not in allowed or not (is_line(value) if isinstance(value, str) else 0 <= value < 2**63):
            raise ValueError(f"{name}: expected {kind.__name__}, found {repr(value)[:40]}")
    return Configuration(**found)
