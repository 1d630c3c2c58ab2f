"""The GPU driver's libraries: shown and named to the loader where it would not find them."""

import shutil
import sysconfig
from pathlib import Path

import pytest

from harness.gpus import Gpu
from harness.sandbox import bubblewrap, devices
from harness.sandbox.devices import LIBRARY, driver_library, search_path
from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.landlock import Landlock, granted_paths

GPU = Gpu(0, "GPU-0", "NVIDIA H200", "0000:3b:00.0")


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a GPU, whose loader knows no driver."""
    monkeypatch.setattr(devices, "find_gpus", lambda: [GPU])
    monkeypatch.setattr(devices, "_known_to_loader", lambda: None)
    monkeypatch.setattr(devices, "USUAL", ())
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    devices._search_path.cache_clear()


def driver(directory: Path) -> Path:
    directory.mkdir(parents=True)
    (directory / LIBRARY).touch()
    return directory


def job(directory: Path, gpu: Gpu | None = GPU) -> Job:
    return Job(directory, directory, directory, directory, gpu=gpu)


def test_nothing_is_needed_where_the_system_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_known_to_loader", lambda: Path("/usr/lib/libcuda.so.1"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver(tmp_path / "other")))
    assert search_path() == []
    assert driver_library() == Path("/usr/lib/libcuda.so.1")
    assert "LD_LIBRARY_PATH" not in job(tmp_path).environment("/tmp")


def test_a_directory_of_the_users_own_is_shown_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = driver(tmp_path / "nvidia")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/empty::{found}")
    assert search_path() == [found]
    assert driver_library() == found / LIBRARY
    assert job(tmp_path).environment("/tmp")["LD_LIBRARY_PATH"] == str(found)
    options, _ = bubblewrap.sandbox(job(tmp_path), Limits(), 0)
    assert str(found) in options
    assert str(found) in granted_paths(job(tmp_path), tmp_path)["run"]
    assert found in Fresh().shown() & Landlock().shown(), "nothing private may be kept there"


def test_a_call_without_a_gpu_sees_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = driver(tmp_path / "nvidia")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(found))
    assert "LD_LIBRARY_PATH" not in job(tmp_path, None).environment("/tmp")
    assert str(found) not in bubblewrap.sandbox(job(tmp_path, None), Limits(), 0)[0]


def test_a_link_is_followed_into_the_directory_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, links = driver(tmp_path / "driver"), tmp_path / "links"
    links.mkdir()
    (links / LIBRARY).symlink_to(real / LIBRARY)
    monkeypatch.setattr(devices, "USUAL", (str(links),))
    assert search_path() == [links, real]


def test_a_driver_outside_of_the_system_that_the_loader_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_known_to_loader", lambda: tmp_path / "opt/libcuda.so.570.1")
    assert search_path() == [tmp_path / "opt"]


def test_without_a_driver_or_a_gpu_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_path() == []
    assert driver_library() is None
    monkeypatch.setattr(devices, "find_gpus", list)
    monkeypatch.setattr(devices, "USUAL", ("/usr",))
    assert search_path() == []


def test_the_loader_itself_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any library will do: loading it under that name is what shows its place."""
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
