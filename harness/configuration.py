"""The settings shared by all calls behind one score."""

import hashlib
import json
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Configuration:
    """The settings of a run that may affect values and failures.

    All calls behind a score have the same configuration: a score may not mix seeds or limits.
    """

    run_seed: int  #: of the run; every call derives its own
    runtime: str  #: name of the framework's runtime
    time_limit_s: float
    time_budget: str  #: `each` or `average`
    memory_limit_bytes: int
    isolation: str  #: kind of sandbox; results with `none` never rank
    versions: str  #: of the libraries that affect values, e.g. "keras 3.12.0, numpy 2.3.5"
    harness_version: str

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that identify the configuration."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:12]

    @property
    def settings(self) -> "Configuration":
        """The user's choices: the configuration without versions, which change without the user's doing."""
        return replace(self, versions="", harness_version="")


def configuration_of(record: Any) -> Configuration:
    """Return the configuration of a record, from its columns."""
    isolation = record.sandbox.removesuffix("/fast").removesuffix("/fresh")  # the start does not affect values
    columns = {field.name: getattr(record, field.name) for field in fields(Configuration) if field.name != "isolation"}
    return Configuration(isolation=isolation, **columns)
