"""The configuration of calls: settings and versions, which are equal for all calls of a score."""

import hashlib
import json
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property, lru_cache
from typing import get_type_hints

from harness.parsing import parse_json
from harness.text import is_line

MIB, GIB = 1024**2, 1024**3

#: Suffixes of the name of a sandbox in records: how its workers start, on which no value depends.
WAYS = ("fast", "fresh")

#: The isolation of calls without a sandbox, whose results never rank.
UNSANDBOXED = "none"

#: Maximum time limit in seconds: 30 days.
LONGEST_S = 30 * 24 * 3600


@dataclass(frozen=True)
class Configuration:
    """Everything besides submission and model that may affect the value or the failure of a call."""

    run_seed: int  #: seed of the run, from which the seeds of calls derive
    runtime: str  #: name of the framework's runtime
    time_limit_s: float
    time_budget: str  #: `each` or `average`
    memory_limit_bytes: int
    isolation: str  #: kind of sandbox; results with `none` never rank
    versions: str  #: versions of the libraries that affect values, e.g. "keras 3.12.0, numpy 2.3.5"
    harness_version: str
    loader: str  #: digest of the harness' code that loads models and calls measures (`harness.execution.settings`)

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
        """The configuration without versions: the settings that the user chooses."""
        return replace(self, versions="", harness_version="", loader="")

    @property
    def software(self) -> str:
        """The versions of the harness, its loader and the libraries, in words for readers."""
        return f"pgdl-harness {self.harness_version} ({self.loader[:8]}), {self.versions}"

    def to_json(self) -> str:
        """Return all fields as JSON, which `configuration_from` reads."""
        return json.dumps(asdict(self))


@lru_cache(maxsize=1024)  # requests have few different configurations
def configuration_from(text: str) -> Configuration:
    """Return the configuration in a text by `Configuration.to_json`; raises `ValueError` for any other text."""
    found = parse_json(text)
    types = get_type_hints(Configuration)
    if not isinstance(found, dict) or found.keys() != types.keys():
        raise ValueError(f"expected the settings of a configuration, found {text[:100]!r}")
    for name, kind in types.items():
        value, allowed = found[name], (int, float) if kind is float else (kind,)
        if type(value) not in allowed or not (is_line(value) if isinstance(value, str) else 0 <= value < 2**63):
            raise ValueError(f"{name}: expected {kind.__name__}, found {repr(value)[:40]}")
    return Configuration(**found)
