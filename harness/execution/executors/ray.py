"""The executor that makes calls on the machines of a Ray cluster (docs/cluster.md)."""

import logging
import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import chdir, contextmanager
from typing import Any

from harness.children import ROOT
from harness.errors import UserError
from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.messages import Engine, GoneError, UnavailableError
from harness.extras import install
from harness.registry import Parameter

#: Seconds within which the address must answer; Ray itself would try for minutes.
CONNECT_S = 5.0

#: Ray's own name for the cluster of which this machine is a part.
AUTO = "auto"

#: The form of an address; it has no room for a password.
_HOST_AND_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:]+\]?):(?P<port>\d{1,5})")

_MORE_ROOM = "give it more memory or disk, then run the same command again"
_START = "start one with `ray start --head`, or name its address with --ray-address"


class Ray(Cluster):
    """Makes calls on all machines of a Ray cluster, including this machine."""

    name = "ray"
    summary = "on all machines of a Ray cluster"
    parameters = (
        Parameter("address", "HOST:PORT", "the cluster, as `ray start` prints it. Default: this machine's cluster."),
        Parameter("machine_class", "TEXT", "only machines whose processor and GPUs contain this text."),
    )

    def connect(self, **parameters: str | None) -> Engine:
        """Connect to the cluster that --ray-address or RAY_ADDRESS names; by default, to this machine's cluster."""
        return RayEngine(parameters["address"] or os.environ.get("RAY_ADDRESS") or AUTO)


class RayEngine:
    """Ray as the engine of a cluster, with an actor (a process of Ray) on every node."""

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError as error:
            raise UserError("--executor ray: Ray is not installed", remedy=install("ray")) from error
        self._ray = ray
        if address != AUTO:
            _require_reachable(address)
        logging.getLogger("ray").setLevel(logging.CRITICAL)
        self._is_ours = not ray.is_initialized()  # a notebook may have connected before
        if self._is_ours:
            try:
                with _silence(), chdir(ROOT):  # Ray lets its workers import modules of the current directory
                    _keep_from_printing(ray)
                    ray.init(address=address, log_to_driver=False, configure_logging=False, namespace="pgdl-harness")
            except Exception as error:  # Ray raises errors of many types
                raise _explained(error, address) from error

    def nodes(self) -> dict[str, str]:
        """Return identifier -> name of each living node with processors; equal names are followed by the address."""
        there = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
        times = Counter(node["NodeManagerHostname"] for node in there)
        return {
            node["NodeID"]: host if times[host] == 1 else f"{host} ({node['NodeManagerAddress']})"
            for node in there
            for host in [node["NodeManagerHostname"]]
        }

    def start(self, node: str) -> Any:
        """Start an actor that reserves all processors and GPUs of a node. Return its handle."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        resources = next(one["Resources"] for one in self._ray.nodes() if one["NodeID"] == node)
        actor = self._ray.remote(self.machine()).options(
            num_cpus=resources.get("CPU", 0), num_gpus=resources.get("GPU", 0), max_restarts=-1, max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )  # fmt: skip
        return actor.remote(_fetch)

    def machine(self) -> type:
        """Return the class of the actors."""
        from harness.execution.cluster.machine import Machine  # here, because the module imports a sibling of this one

        return Machine

    def ask(self, handle: Any, method: str, *arguments: object) -> Any:
        """Begin to call a method of an actor. Return the future of its result."""
        return getattr(handle, method).remote(*arguments)

    def ready(self, futures: Sequence[Any], timeout_s: float) -> Collection[Any]:
        """Wait up to `timeout_s` seconds until a future is complete. Return all complete futures."""
        first, _ = self._ray.wait(list(futures), num_returns=1, timeout=timeout_s)
        if not first or len(futures) == 1:
            return list(first)
        more, _ = self._ray.wait(list(futures), num_returns=len(futures), timeout=0)
        return list(more)

    def result(self, future: Any) -> Any:
        """Return the result of a future. Raise the same errors as `Engine.result`."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(future)
        except errors.ActorUnavailableError as error:
            raise UnavailableError from error
        except errors.RayTaskError:
            raise  # a fault of the harness on the machine
        except errors.RayError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise GoneError(lines[-1] if lines else type(error).__name__) from error

    def put(self, content: Sequence[Any]) -> Any:
        """Store bytes in Ray's object store, and return Ray's reference."""
        errors = self._ray.exceptions
        try:
            return self._ray.put(list(content))
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            problem = f"the cluster's object store is full: {str(error).splitlines()[0]}"
            raise UserError(problem, remedy=_MORE_ROOM) from error

    def kill(self, handle: Any) -> None:
        """Kill an actor, and its sandboxes with it."""
        self._ray.kill(handle, no_restart=True)

    def close(self) -> None:
        """Disconnect from the cluster, unless the caller's own program had connected before."""
        if self._is_ours:
            self._ray.shutdown()


def _keep_from_printing(ray: Any) -> None:
    """Keep Ray from printing long messages about lost processes; Ray has no setting for that."""
    worker = ray._private.worker
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


@contextmanager
def _silence() -> Iterator[None]:
    """Discard standard error within the context, such as Ray's messages while it connects."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def _fetch(reference: Any) -> Any:
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        problem = f"the inputs of a call do not come from the cluster's object store: {str(error).splitlines()[0]}"
        raise UserError(problem, remedy=_MORE_ROOM) from error


def _require_reachable(address: str) -> None:
    found = _HOST_AND_PORT.fullmatch(address)
    if found is None:  # the message must not repeat the text, which may hold a password
        remedy = "write it as `ray start --head` prints it"
        raise UserError("--ray-address, or RAY_ADDRESS", expected=f"HOST:PORT, or {AUTO}", remedy=remedy)
    try:
        socket.create_connection((found["host"], int(found["port"])), CONNECT_S).close()
    except OSError as error:
        raise UserError(f"no Ray cluster at {address}: {error.strerror or error}", remedy=_START) from error


def _explained(error: Exception, address: str) -> UserError:
    text = " ".join(str(error).split())
    if "Version mismatch" in text:
        return UserError(f"another version of Ray or Python: {text}", remedy="install the cluster's versions here")
    if "Failed to connect to Ray cluster" in text or not text:  # no text from Ray 2.52 to 2.60 if the port is open
        remedy = "set RAY_AUTH_MODE=token if it asks for a token, and install the same Ray (pgdl help cluster)"
        return UserError(f"the Ray cluster at {address} does not let this command in", remedy=remedy)
    if isinstance(error, ConnectionError) and address == AUTO:
        return UserError("no Ray cluster on this machine", remedy=_START)
    return UserError(f"no connection to the Ray cluster ({address}): {text[:300]}", remedy=_START)
