"""Steps that find the files which CUDA opens, by omitting entries of harness/sandbox/devices.py and by tracing."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch

from gpu_calls import SUBMISSIONS, WORK, best_kind, make_call, make_job, require_gpu, runtimes, stage
from gpu_report import block, table
from gpu_steps import Skip, step

from harness.gpus import Gpu
from harness.sandbox import KINDS, devices, proc

#: Added one by one where CUDA does not work with the list as it is.
MORE_NODES = ("/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/zero")
MORE_FILES = (
    "/sys/module", "/sys/devices", "/sys/bus", "/sys/class", "/sys/kernel", "/proc/driver/nvidia", "/proc/sys/vm",
    "/proc/sys/kernel", "/proc/driver",
)  # fmt: skip

#: The traced program of each framework.
FRAMEWORK = {
    "torch": "import torch; print(torch.ones(4, device='cuda').sum().item())",
    "jax": "import jax; print(jax.numpy.ones(4).sum(), jax.devices())",
}

OPENED = re.compile(r'(\w+)\((?:AT_FDCWD, )?"((?:/dev|/proc|/sys)/[^"]*)".*\)\s+= (-?\d+)(?: (\w+))?')


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
    """Initialise CUDA in sandboxes that lack one entry each; if it fails with all entries, add more."""
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


@step("files that CUDA opens", 120)
def opened_files() -> str:
    """Trace the files that CUDA and each framework open outside of a sandbox, and compare them with the lists."""
    gpu = require_gpu()
    if shutil.which("strace") is None:
        raise Skip("strace is not installed")
    probe = f"import sys; sys.path.insert(0, {str(SUBMISSIONS)!r}); import probe; print(probe.complexity(None, None))"
    programs = {"CUDA": probe} | {name: FRAMEWORK[name] for name in runtimes()}
    results: dict[str, dict[str, str]] = {}
    for name, program in programs.items():
        log = WORK / f"strace-{name}.txt"
        calls = "trace=open,openat,stat,lstat,access,newfstatat,readlink,statx"
        command = ["strace", "-f", "-qq", "-e", calls, "-o", str(log), sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if not log.exists() or "ptrace" in done.stderr:
            raise Skip(f"strace does not work here: {done.stderr.strip()[-200:]}")
        for path, result in parse(log.read_text(errors="replace")).items():
            results.setdefault(path, {})[name] = result
    rows = [(path, ", ".join(f"{k}: {v}" for k, v in by.items()), visible(path, gpu)) for path, by in results.items()]
    print(table(("path", "opened by", "in the sandbox"), sorted(rows)))
    hidden = [path for path, by, state in sorted(rows) if state == "hidden" and "ok" in by]
    unused = [path for path in [*devices.gpu_nodes(gpu), *devices.gpu_files(gpu)] if path not in results]
    print(block("opened, but hidden:\n" + "\n".join(hidden) + "\n\nshown, but not opened:\n" + "\n".join(unused)))
    return f"{len(hidden)} files were opened that a call does not see; {len(unused)} that it sees were not opened"


def parse(trace: str) -> dict[str, str]:
    """Return the paths below /dev, /proc and /sys in the output of strace, with `ok` or the error."""
    found: dict[str, str] = {}
    for match in OPENED.finditer(trace):
        path = re.sub(r"^/proc/(\d+|self)/task/\d+", "/proc/self/task/N", re.sub(r"^/proc/\d+", "/proc/self", match[2]))
        if found.get(path) != "ok":
            found[path] = "ok" if int(match[3]) >= 0 else match[4] or "error"
    return found


def visible(path: str, gpu: Gpu) -> str:
    """Return how a call with a GPU sees a path in bubblewrap's sandbox, such as "shown" or "a copy"."""
    standard = (
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm*", "/dev/pts*",
    )  # fmt: skip
    own = ("/proc/self", "/proc/self/*", "/proc/thread-self*", "/proc/mounts", "/proc/net*")
    fixed = [f"/proc/{name}" for name in proc.FIXED] + [f"/proc/{name}/*" for name in proc.FIXED]
    if path in [f"/proc/{name}" for name in proc.COPIED_WITH_GPU]:
        return "a copy"
    if path in [*devices.gpu_nodes(gpu), *devices.gpu_files(gpu)]:
        return "shown"
    if any(one.startswith(f"{path.rstrip('/')}/") for one in devices.gpu_files(gpu)):
        return "a directory"
    return "standard" if any(fnmatch(path, one) for one in (*standard, *own, *fixed)) else "hidden"
