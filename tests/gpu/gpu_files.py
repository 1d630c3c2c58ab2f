"""The step that finds the files which CUDA needs, by omitting entries of harness/sandbox/devices.py."""

from collections.abc import Iterator
from contextlib import contextmanager

from gpu_calls import best_kind, make_call, make_job, require_gpu, runtimes, stage
from gpu_report import table
from gpu_steps import Skip, step

from harness.sandbox import KINDS, devices

#: Added one by one where CUDA does not work with the list as it is.
MORE_NODES = ("/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/zero")
MORE_FILES = (
    "/sys/module", "/sys/devices", "/sys/bus", "/sys/class", "/sys/kernel", "/proc/driver/nvidia", "/proc/sys/vm",
    "/proc/sys/kernel", "/proc/driver",
)  # fmt: skip


@contextmanager
def shown(nodes: dict[str, str], files: dict[str, str]) -> Iterator[None]:
    """In the context, replace the lists of device nodes and files that a call with a GPU sees."""
    before = devices.NODES, devices.FILES
    devices.NODES, devices.FILES = nodes, files
    try:
        yield
    finally:
        devices.NODES, devices.FILES = before


@step("files that CUDA needs", 150)
def needed_files() -> str:
    """Return the entries that CUDA needs. If CUDA fails with all entries, try additions, and raise `RuntimeError`."""
    gpu = require_gpu()
    kind, runtime = KINDS[best_kind()](), runtimes()[0]
    if not kind.is_sandbox:
        raise Skip("no sandbox works here")
    nodes, files = dict(devices.NODES), dict(devices.FILES)
    rows: list[tuple[str, str, str]] = []
    with stage(kind, [runtime], gpu) as staging:
        job = make_job(staging, "probe", runtime, gpu)

        def probe(what: str, some_nodes: dict[str, str], some_files: dict[str, str]) -> bool:
            with shown(some_nodes, some_files):
                result = make_call(kind, job)
            last = (result.output_tail.strip().splitlines() or [""])[-1]
            device = result.environment.get("device", "none")
            good = result.value == 0.0
            rows.append((what, "works" if good else f"{result.outcome} {result.message} {last}", device))
            return good

        works = probe("the list as it is", nodes, files)
        if works:
            for path in [*nodes, *files]:
                probe(f"without {path}", *({k: v for k, v in one.items() if k != path} for one in (nodes, files)))
        else:
            for path in MORE_NODES:
                probe(f"with {path}", nodes | {path: ""}, files)
            for path in MORE_FILES:
                probe(f"with {path}", nodes, files | {path: ""})
            probe("with all of these", nodes | dict.fromkeys(MORE_NODES, ""), files | dict.fromkeys(MORE_FILES, ""))
    print(table(("sandbox", "CUDA", "the framework's device"), rows))
    if not works:
        mended = [what for what, state, _ in rows if state == "works"]
        raise RuntimeError(f"CUDA does not work; it does {' or '.join(mended) or 'with none of the additions'}")
    needed = [what.removeprefix("without ") for what, state, device in rows if (state, device) != rows[0][1:]]
    return f"CUDA works; needed are: {', '.join(needed) or 'none alone'}"
