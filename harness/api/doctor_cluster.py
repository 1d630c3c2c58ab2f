"""The part of `pgdl doctor` about the machines of a cluster."""

from collections.abc import Iterator

from harness.api.doctor import BAD, GOOD, WARNING, Finding
from harness.configuration import GIB
from harness.errors import require_one_of
from harness.execution.cluster import Cluster, ClusterMember, is_installed
from harness.execution.executors import EXECUTORS
from harness.sandbox import SandboxChoice
from harness.worker.runtimes import RUNTIMES


def findings(name: str, parameters: dict[str, str | None]) -> Iterator[Finding]:
    """Try the sandbox on every machine of an executor's cluster, in every installed runtime, and yield findings."""
    require_one_of("executor", name, sorted(EXECUTORS))
    lines: list[str] = []
    executor = EXECUTORS[name](SandboxChoice(), None, None, lines.append, **parameters)
    if not isinstance(executor, Cluster):
        raise TypeError(f"no cluster: {name}")
    with executor:
        executor.prepare([runtime for runtime, found in executor.fleet.common.versions.items() if is_installed(found)])
        for line in lines:
            yield Finding(WARNING, f"executor {name}", line)
        for member in sorted(executor.fleet.all_members, key=lambda member: member.name):
            yield from _about(member)
        follows = f"{executor.limits.memory_bytes / GIB:g} GiB each (--workers for each machine, --memory)"
        yield Finding(GOOD, "calls at once", str(executor.workers), follows)


def _about(member: ClusterMember) -> Iterator[Finding]:
    item = f"machine {member.name}"
    if member.why_out:
        yield Finding(BAD, item, "gets no calls", member.why_out)
    elif member.ready is None or member.description is None:
        yield Finding(WARNING, item, "no answer", "busy with other work of the cluster?")
    else:
        ready = member.ready
        yield Finding(GOOD, item, member.description.machine_class, f"{ready.workers} calls at once")
        yield Finding(GOOD, "  sandbox", ready.isolation, "tried in every runtime that is installed")
        yield Finding(GOOD, "  cache", ready.cache, "models and data of earlier calls")
        for runtime in RUNTIMES:
            found = ready.versions[runtime]
            yield Finding(GOOD if is_installed(found) else WARNING, f"  runtime {runtime}", found)
