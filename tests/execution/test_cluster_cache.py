"""Tests of caches: their directory, and models and data on a machine of a cluster, whose driver sends missing files."""

import hashlib
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.cache import cache_directory, locked
from harness.errors import UserError
from harness.execution.cluster.cache import Cache, digests_of
from harness.execution.cluster.messages import Bundle, OrderNeed
from harness.execution.cluster.store import Store, Supply
from harness.outcome import StoppedError
from harness.testing import Parts


@pytest.fixture(autouse=True)
def cache_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))


def write(directory: Path) -> None:
    (directory / "weights.npz").write_bytes(b"w" * 1000)


def bundle(content: bytes, digest: str | None = None) -> Bundle:
    return Bundle({"weights.npz": digest or hashlib.sha256(content).hexdigest()}, [content])


def test_the_directory_of_caches_is_named_by_the_user_or_below_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty PGDL_CACHE is no directory, and not the current one."""
    monkeypatch.chdir(tmp_path)
    for variables, expected in (
        ({"PGDL_CACHE": str(tmp_path / "mine")}, "mine/staged"),
        ({"PGDL_CACHE": "mine"}, "mine/staged"),
        ({"PGDL_CACHE": "", "XDG_CACHE_HOME": str(tmp_path / "xdg")}, "xdg/pgdl-harness/staged"),
        ({"PGDL_CACHE": "", "HOME": str(tmp_path / "home")}, "home/.cache/pgdl-harness/staged"),
    ):
        with monkeypatch.context() as patch:
            patch.delenv("XDG_CACHE_HOME", raising=False)
            for name, value in variables.items():
                patch.setenv(name, value)
            assert cache_directory("staged") == tmp_path / expected, variables
        assert (tmp_path / expected).is_dir()


def test_a_cache_that_cannot_be_used_is_the_users_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="PGDL_CACHE"):
        cache_directory("staged")
    # A directory cannot be opened for writing, as a file of another user cannot.
    with pytest.raises(UserError, match=r"cannot be written: .*; name another cache by PGDL_CACHE"), locked(tmp_path):
        pass
    for variable in ("PGDL_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # as in a container
    with pytest.raises(UserError, match="you have no home directory; set HOME or PGDL_CACHE"):
        cache_directory("shapes")


def test_an_entry_is_written_once_and_linked(tmp_path: Path) -> None:
    cache, target = Cache(), tmp_path / "target"
    target.mkdir()
    assert not cache.link("model", "a", target)
    path = cache.add("model", "a", write)
    assert cache.add("model", "a", lambda _: pytest.fail("it is there already")) == path
    assert cache.link("model", "a", target)
    assert (target / "weights.npz").stat().st_ino == (path / "weights.npz").stat().st_ino
    assert cache.entry("data", "a") is None, "another kind of thing may have the same digest"


def test_an_entry_is_there_when_its_files_are_on_the_disk_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process left behind goes when its entry is written."""

    def sync(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        assert cache.entry("model", "a") is None

    def failing(error: BaseException) -> Callable[[Path], None]:
        def fail(directory: Path) -> None:
            write(directory)
            raise error

        return fail

    cache, synced = Cache(), set[int]()
    with pytest.raises(UserError, match="cannot be kept: No space left on device; free some space"):
        cache.add("model", "a", failing(OSError(28, "No space left on device")))
    assert cache.entry("model", "a") is None
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda *_, **__: None)  # a killed process removes nothing
        with pytest.raises(KeyboardInterrupt):
            cache.add("model", "a", failing(KeyboardInterrupt()))
    monkeypatch.setattr(os, "fsync", sync)
    path = cache.add("model", "a", write)
    assert synced == {(path / "weights.npz").stat().st_ino}
    assert [one for one in path.parent.iterdir() if one.suffix != ".lock"] == [path]


def test_the_least_recently_used_goes_when_there_are_too_many_bytes() -> None:
    cache = Cache(kept_bytes=2500)
    for name in "ab":
        cache.add("model", name, write)
    for name, when in (("a", 2_000_000_000), ("b", 1_000_000_000)):
        path = cache.entry("model", name)
        assert path is not None
        os.utime(path, (when, when))
    cache.add("model", "c", write)
    assert [name for name in "abc" if cache.entry("model", name)] == ["a", "c"]


def test_a_store_waits_for_the_driver_and_then_needs_it_no_more(tmp_path: Path) -> None:
    store, parts = Store(Cache(), lambda content: content), Parts()
    order = parts.order("returns 1")
    store.announce([order])
    needs = store.needs
    names = ("submission", order.submission), ("model", "model"), ("data", "data")
    assert set(needs) == {OrderNeed(*name) for name in names}
    files = {"complexity.py": b"1"}
    with ThreadPoolExecutor(1) as thread:
        thread.submit(store.write_model, "model", tmp_path)
        store.supply(
            {OrderNeed("model", "model"): bundle(b"weights"), OrderNeed("submission", order.submission): files}
        )
    assert (tmp_path / "weights.npz").read_bytes() == b"weights"
    assert store.files(order.submission) == files
    assert store.needs == (OrderNeed("data", "data"),)
    again = Store(Cache(), lambda _: pytest.fail("the machine has it"))
    (tmp_path / "again").mkdir()
    again.write_model("model", tmp_path / "again")


def test_what_arrives_damaged_is_refused(tmp_path: Path) -> None:
    store = Store(Cache(), lambda content: content)
    store.supply({OrderNeed("model", "m"): bundle(b"weights", digest="0" * 64)})
    with pytest.raises(UserError, match="the files from the driver arrived damaged"):
        store.write_model("m", tmp_path)
    assert Cache().entry("model", "m") is None


def test_who_waits_is_let_go_when_the_machine_ends() -> None:
    store = Store(Cache(), list)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(store.files, "never")
        store.close()
        assert isinstance(waiting.exception(), StoppedError)


def test_the_driver_keeps_few_bytes_for_further_machines(tmp_path: Path) -> None:
    class Models(Parts):
        def write_model(self, digest: str, directory: Path) -> None:
            (directory / "weights.npz").write_bytes(digest.encode() * 100)

    parts, put = Models(), []
    supply = Supply(lambda content: put.append(1) or [bytes(one) for one in content], kept_bytes=250)
    orders = [parts.order("returns 1", model=name) for name in "abc"]
    supply.add(orders, parts)
    needs = {name: OrderNeed("model", name) for name in "abc"}
    first = supply.answer([needs["a"]])[needs["a"]]
    assert isinstance(first, Bundle)
    assert first.content == [b"a" * 100]
    assert dict(first.digests) == digests_of(Cache().entry("model", "a") or tmp_path)
    supply.answer([needs["b"]])
    assert (supply.answer([needs["a"]])[needs["a"]], len(put)) == (first, 2)
    supply.answer([needs["c"]])
    assert (supply.answer([needs["b"]])[needs["b"]] is not None, len(put)) == (True, 4), "b was let go of"


def test_several_processes_may_make_room_at_once() -> None:
    """A process that links an entry of the cache gets the whole entry or nothing."""
    (cache := Cache(kept_bytes=2500)).add("model", "0", write)

    def fill(number: int) -> None:
        for step in range(30):
            cache.add("model", f"{number} {step}", write)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(fill, range(3)))
