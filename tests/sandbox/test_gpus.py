"""Tests of GPUs as their driver describes them, of a GPU's files in a sandbox, and of the driver's libraries."""

import shutil
import sysconfig
from pathlib import Path

import pytest
from sandbox.usable_kinds import usable

from harness.gpus import Gpu, find_gpus
from harness.outcome import Outcome
from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.sandbox import Staging, bubblewrap, devices
from harness.sandbox.devices import FILES, LIBRARY, NODES, driver_library, gpu_files, gpu_nodes, search_path
from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.landlock import Landlock, granted_paths
from harness.sandbox.selftest import CONTROL, Trap, run_trial, trial_job
from tests.gpu_files import machine

RUNTIME = installed_runtime(QUICKEST).name
GPU = Gpu(1, "GPU-22222222-0000", "NVIDIA H200", "0000:3b:00.0")


def test_gpus_are_listed_by_their_device_nodes_not_by_their_buses(tmp_path):
    assert find_gpus(tmp_path) == [], "there is no driver"
    root = machine(tmp_path, ("19", 10, "aaaa"), ("3b", 2, "bbbb"), ("5d", 0, "cccc"))
    expected = [
        Gpu(0, "GPU-cccc", "NVIDIA H200", "0000:5d:00.0"),
        Gpu(2, "GPU-bbbb", "NVIDIA H200", "0000:3b:00.0"),
        Gpu(10, "GPU-aaaa", "NVIDIA H200", "0000:19:00.0"),
    ]
    assert find_gpus(root) == expected
    (root / "dev/nvidia0").unlink()  # as in a container that was not given this GPU
    assert find_gpus(root) == expected[1:]


def test_one_gpu_is_shown_and_no_other_with_files_that_exist(tmp_path):
    root = machine(tmp_path, ("19", 0, "aaaa"), ("3b", 1, "bbbb"))
    assert gpu_nodes(GPU) == ["/dev/nvidiactl", "/dev/nvidia1", "/dev/nvidia-uvm"]
    information = "/proc/driver/nvidia/gpus/0000:3b:00.0/information"
    assert gpu_files(GPU, root) == [information]
    nodes = root / "sys/devices/system/node"
    for number in (0, 1):
        (nodes / f"node{number}").mkdir(parents=True)
        for name in ("cpumap", "meminfo", "numastat"):
            (nodes / f"node{number}" / name).touch()
    maps = [f"/sys/devices/system/node/node{number}/cpumap" for number in (0, 1)]
    assert sorted(gpu_files(GPU, root)) == [information, *maps]
    for path, reason in (NODES | FILES).items():
        assert reason
        assert not path.endswith(("/", "*")), "every entry is a single file"
        assert path.startswith(("/dev/nvidia", "/proc/driver/nvidia/", "/proc/sys/vm/", "/sys/")), path


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """A GPU whose files exist on every machine."""
    shown = ("/proc/sys/vm/mmap_min_addr", "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/nothing")
    monkeypatch.setattr(devices, "FILES", dict.fromkeys(shown, "a reason"))
    return GPU


#: Lists everything below a directory.
WALK = "[os.path.join(top, name) for top, _, names in os.walk(root) for name in names]"


def test_a_call_with_a_gpu_sees_these_files_and_nothing_else(pretended, tmp_path, monkeypatch):
    kind = usable(Fresh())
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    statements = f"""import os
    for root in ("/sys", "/proc/sys", "/proc/driver"):
        print(*sorted({WALK}), end=" ")
    print(open("/proc/sys/vm/mmap_min_addr").read().strip().isdigit())
    return 0.0"""
    with Staging() as staging, kind:
        job = trial_job(staging, Trap("files", statements, Outcome.OK), runtime=RUNTIME, gpu=pretended)
        result = run_trial(kind.start, job, 0, 30.0)
    assert result.outcome is Outcome.OK, result
    assert result.output_tail == "/sys/devices/system/cpu/online /proc/sys/vm/mmap_min_addr  True\n"


def test_landlock_grants_the_same_files(pretended, tmp_path):
    granted, without = (granted_paths(job(tmp_path, gpu), tmp_path) for gpu in (pretended, None))
    more = set(granted["read"]) - set(without["read"])
    assert more == {"/proc/devices", "/proc/sys/vm/mmap_min_addr", "/sys/devices/system/cpu/online"}
    assert set(granted) - set(without) == {"list", "threads"}


def test_under_landlock_a_call_with_a_gpu_may_name_its_threads(pretended, tmp_path, monkeypatch):
    """CUDA names its threads, and gives up if that is refused."""
    kind = usable(Landlock())
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    statements = """import threading
    def name():
        open(f"/proc/self/task/{threading.get_native_id()}/comm", "r+").write("renamed")
        print(open(f"/proc/self/task/{threading.get_native_id()}/comm").read())
    thread = threading.Thread(target=name)
    thread.start()
    thread.join()
    return 0.0"""
    with Staging() as staging, kind:
        trap = Trap("threads", statements, Outcome.OK)
        traps = [trial_job(staging, trap, runtime=RUNTIME, gpu=gpu) for gpu in (pretended, None)]
        kind.prepare([trial_job(staging, CONTROL, runtime=RUNTIME, gpu=pretended)])
        outputs = [run_trial(kind.start, job, 0, 30.0).output_tail for job in traps]
    assert "renamed" in outputs[0]
    assert "PermissionError" in outputs[1]


FIRST = Gpu(0, "GPU-0", "NVIDIA H200", "0000:3b:00.0")


@pytest.fixture(autouse=True)
def without_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine with a GPU whose driver's library the loader does not find."""
    monkeypatch.setattr(devices, "find_gpus", lambda: [FIRST])
    monkeypatch.setattr(devices, "_known_to_loader", lambda: None)
    monkeypatch.setattr(devices, "USUAL", ())
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    devices._search_path.cache_clear()


def driver(directory: Path) -> Path:
    directory.mkdir(parents=True)
    (directory / LIBRARY).touch()
    return directory


def job(directory: Path, gpu: Gpu | None = FIRST) -> Job:
    return Job(directory, directory, directory, directory, gpu=gpu)


def test_nothing_more_is_shown_where_the_system_knows_the_library_or_there_is_none(tmp_path, monkeypatch):
    assert (search_path(), driver_library()) == ([], None)
    monkeypatch.setattr(devices, "_known_to_loader", lambda: tmp_path / "opt/libcuda.so.570.1")
    devices._search_path.cache_clear()
    assert search_path() == [tmp_path / "opt"]
    monkeypatch.setattr(devices, "_known_to_loader", lambda: Path("/usr/lib/libcuda.so.1"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver(tmp_path / "other")))
    devices._search_path.cache_clear()
    assert (search_path(), driver_library()) == ([], Path("/usr/lib/libcuda.so.1"))
    assert "LD_LIBRARY_PATH" not in job(tmp_path).environment("/tmp")
    monkeypatch.setattr(devices, "_known_to_loader", lambda: None)
    monkeypatch.delenv("LD_LIBRARY_PATH")
    monkeypatch.setattr(devices, "find_gpus", list)
    monkeypatch.setattr(devices, "USUAL", ("/usr",))
    devices._search_path.cache_clear()
    assert search_path() == []


def test_a_directory_of_the_users_own_is_shown_and_named(tmp_path, monkeypatch):
    found = driver(tmp_path / "nvidia")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/empty::{found}")
    assert search_path() == [found]
    assert driver_library() == found / LIBRARY
    assert job(tmp_path).environment("/tmp")["LD_LIBRARY_PATH"] == str(found)
    options, _ = bubblewrap.sandbox(job(tmp_path), Limits(), 0)
    assert str(found) in options
    assert str(found) in granted_paths(job(tmp_path), tmp_path)["run"]
    assert found in Fresh().shown() & Landlock().shown(), "nothing private may be kept there"
    assert "LD_LIBRARY_PATH" not in job(tmp_path, None).environment("/tmp"), "for a call without a GPU"
    assert str(found) not in bubblewrap.sandbox(job(tmp_path, None), Limits(), 0)[0]


def test_a_link_is_followed_into_the_directory_of_the_library(tmp_path, monkeypatch):
    real, links = driver(tmp_path / "driver"), tmp_path / "links"
    links.mkdir()
    (links / LIBRARY).symlink_to(real / LIBRARY)
    monkeypatch.setattr(devices, "USUAL", (str(links),))
    assert search_path() == [links, real]


def test_the_loader_itself_is_asked(tmp_path, monkeypatch):
    """The file of a library is found by loading it, here a copy of a NumPy library under the driver's name."""
    monkeypatch.undo()
    extension = next(Path(sysconfig.get_path("platlib")).glob("numpy/_core/*.so"))
    shutil.copy(extension, tmp_path / LIBRARY)
    load = devices.LOAD.replace(repr(LIBRARY), repr(str(tmp_path / LIBRARY)))
    monkeypatch.setattr(devices, "LOAD", load)
    devices._known_to_loader.cache_clear()
    try:
        assert devices._known_to_loader() == tmp_path / LIBRARY
    finally:
        devices._known_to_loader.cache_clear()
