"""What all calls behind one score have in common, beside the submission and the task."""

import hashlib
import json
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Configuration:
    """How a run's calls were made, as far as values and failures may depend on it.

    A score comes from calls of one configuration: a mixture of two seeds, or of two limits, is the score of neither.
    """

    run_seed: int  #: of the run; every call derives its own
    keras: int  #: which Keras `tf.keras` means: 2 or 3
    time_limit_s: float
    time_budget: str  #: `each` or `average`
    memory_limit_bytes: int
    isolation: str  #: kind of sandbox; `none` never ranks
    versions: str  #: of the libraries that values depend on, e.g. "keras 3.12.0, numpy 2.3.5"
    harness_version: str

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that tell configurations apart."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:12]

    @property
    def settings(self) -> "Configuration":
        """What the user chose: the same without versions, which come and go by themselves."""
        return replace(self, versions="", harness_version="")


def configuration_of(record: Any) -> Configuration:
    """Return the configuration that a record's columns say."""
    isolation = record.sandbox.removesuffix("/fast").removesuffix("/fresh")  # how it was started changes no value
    columns = {field.name: getattr(record, field.name) for field in fields(Configuration) if field.name != "isolation"}
    return Configuration(isolation=isolation, **columns)
