"""Decides which machines of a cluster may make calls: code, isolation and library versions must agree."""

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import harness
from harness.execution.cluster.messages import MachineDescription, ReadyMachine
from harness.execution.settings import loader_digest
from harness.submission.installed import find_installed, installed_measures
from harness.worker.runtimes import RUNTIMES

_REMEDY = "install the same versions there, as pgdl help cluster says"


@dataclass(frozen=True)
class CommonSetup:
    """The isolation and the library versions that all machines of a cluster must have to make calls."""

    isolation: str
    is_sandboxed: bool
    versions: dict[str, str]

    def difference(self, ready: ReadyMachine, runtimes: Sequence[str]) -> str | None:
        """Return how a machine's isolation or versions for these runtimes differ from the common setup; else None."""
        if ready.isolation != self.isolation:
            remedy = "request this kind by --sandbox, or mend what pgdl doctor shows there"
            return f"its sandbox: expected {self.isolation} as elsewhere, found {ready.isolation}; {remedy}"
        for name in runtimes:
            expected, found = self.versions[name], ready.versions[name]
            if found != expected:
                return f"runtime {name}: expected {expected} as elsewhere, found {found}; {_REMEDY}"
        return None


def agree(ready: Sequence[ReadyMachine]) -> CommonSetup:
    """Return the most common isolation, and the most common versions on machines with this isolation."""
    isolation = _most_common([one.isolation for one in ready])
    same = [one for one in ready if one.isolation == isolation]
    versions = {name: _most_common([one.versions[name] for one in same]) for name in RUNTIMES}
    return CommonSetup(isolation, same[0].is_sandboxed, versions)


def difference_from_here(found: MachineDescription) -> str | None:
    """Return how the code on a machine differs from the code of this process; None if it is the same."""
    if found.harness != harness.__version__:
        return f"pgdl-harness: expected {harness.__version__} as here, found {found.harness}; {_REMEDY}"
    for name, digest in installed_digests().items():
        if found.installed.get(name) != digest:
            return f"the installed measure {name} is not there, or has other files than here; {_REMEDY}"
    if dict(found.loaders) != loader_digests():
        return f"its pgdl-harness {found.harness} has other code than here; {_REMEDY}"
    return None


def loader_digests() -> dict[str, str]:
    """Return name of a runtime -> digest of the code that loads models and calls measures."""
    return {name: loader_digest(name) for name in RUNTIMES}


@functools.cache
def installed_digests() -> dict[str, str]:
    """Return name of a measure -> its digest, for measures that other packages install."""
    usable = [one.name for one in installed_measures() if one.problem is None]
    return {name: found.digest for name in usable if (found := find_installed(name)) is not None}


def _most_common(values: Sequence[str]) -> str:
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))
