"""Tests of the sandbox's command line: its mounts, their order, and their owners."""

import os
import site
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.gpus import Gpu
from harness.sandbox import bubblewrap
from harness.sandbox.job import Job, Limits
from harness.sandbox.proc import COPIED
from harness.sandbox.staging import Staging

GPU = Gpu(1, "GPU-22222222-0000", "NVIDIA H200", "0000:3b:00.0")

#: Options that put something into the sandbox's file system. An option is followed by its words.
MOUNTS = {"--ro-bind", "--ro-bind-try", "--dev-bind-try", "--symlink", "--proc", "--dev", "--tmpfs", "--dir"}
KNOWN = MOUNTS | {
    "--size", "--perms", "--remount-ro", "--chdir", "--clearenv", "--setenv", "--seccomp", "--as-pid-1",
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--uid", "--gid", "--hostname", "--die-with-parent", "--new-session", "--cap-drop", "--cap-add",
}  # fmt: skip

Options = list[tuple[str, ...]]


def parse(arguments: list[str]) -> Options:
    """Split a command line into options with their words; fail on an unknown option."""
    starts = [number for number, word in enumerate(arguments) if word.startswith("--")]
    options = [tuple(arguments[first:after]) for first, after in zip(starts, [*starts[1:], None], strict=True)]
    assert {option[0] for option in options} <= KNOWN
    return options


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """The harness' user: an ordinary one, or the parameter."""
    user = getattr(request, "param", 1000)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    return user


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    """A staged job; the paths of the original files contain names that must stay secret."""
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    originals = [tmp_path / "originals" / name for name in ("alice", "task2_v1/model_148", "task2_v1/train")]
    with Staging() as staging:
        staged = []
        for original in originals:
            original.mkdir(parents=True)
            staged.append(staging.stage(str(original), lambda directory: (directory / "content").touch()))
        yield Job(staging.worker(), *staged, runtime="keras2", threads=3)


def command(job: Job, slot: int = 0) -> tuple[Options, list[str]]:
    options, prefix = bubblewrap.sandbox(job, Limits(), slot)
    return parse(options), [*prefix, *bubblewrap.worker(job.runtime)]


def on_gpu(job: Job) -> Job:
    return Job(*job.directories, gpu=GPU)


def test_the_worker_is_given_its_four_directories_and_no_original_path_can_be_read_inside(job):
    options, worker = command(job)
    everything = " ".join(word for words in (*options, worker) for word in words)
    assert [telling for telling in ("originals", "alice", "task2_v1", "model_148") if telling in everything] == []
    binds = {inside: outside for name, outside, inside in (o for o in options if o[0] == "--ro-bind")}
    names = ["/job/trusted", "/job/submission", "/job/model", "/job/data"]
    assert [binds[name] for name in names] == list(map(str, job.directories))
    assert worker[:7] == [sys.executable, "-I", "-X", "utf8", "-B", "-u", "-c"]
    assert worker[8:] == ["keras2", *names]


def test_nothing_is_writable_but_bounded_scratch_space(job):
    for options in (command(job)[0], command(on_gpu(job))[0]):
        assert not {option[0] for option in options} & {"--bind", "--bind-try", "--dev-bind"}
        scratch = []
        for number, option in enumerate(options):
            if option[0] == "--tmpfs" and ("--remount-ro", option[1]) not in options[number:]:
                scratch.append(option[1])
                assert options[number - 2][0] == "--size"
                assert int(options[number - 2][1]) <= 256 * 1024**2
        assert sorted(scratch) == ["/dev/shm", "/tmp"]


@pytest.mark.parametrize("user", [1000, 0], indirect=True)
@pytest.mark.parametrize("gpu", [False, True])
def test_everybody_gets_own_namespaces_and_a_file_system_that_is_closed_after_the_last_mount(user, gpu, job):
    options, _ = command(on_gpu(job) if gpu else job)
    namespaces = {"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
    assert namespaces | {"--die-with-parent", "--new-session"} < {option[0] for option in options}
    last_mount = max(number for number, option in enumerate(options) if option[0] in MOUNTS)
    assert options.index(("--remount-ro", "/")) > last_mount
    under_dev = [n for n, o in enumerate(options) if o[0] in MOUNTS and o[-1].startswith("/dev")]
    assert options.index(("--remount-ro", "/dev")) > max(under_dev)


def test_a_place_is_mounted_before_what_lies_in_it(job):
    """A directory that is mounted later would hide earlier mounts below it."""
    options, _ = command(on_gpu(job))
    places = [option[-1] for option in options if option[0] in MOUNTS and option[0] != "--dir"]
    for number, place in enumerate(places):
        assert not any(earlier.startswith(f"{place}/") for earlier in places[:number]), place


def test_an_interpreter_under_a_private_home_can_be_reached(job, monkeypatch):
    """Bubblewrap makes parent directories that no other user may enter, so the harness makes them first."""
    monkeypatch.setattr(sys, "prefix", "/root/work/venv")
    options, _ = command(job)
    bind = options.index(("--ro-bind", "/root/work/venv", "/root/work/venv"))
    assert options.index(("--dir", "/root")) < options.index(("--dir", "/root/work")) < bind


def test_an_environment_on_top_of_another_shows_both_but_not_the_users_own_packages(tmp_path, monkeypatch):
    before = bubblewrap.interpreter()
    other, own, given = (tmp_path / name / "lib/python3/site-packages" for name in ("other", "own", "given"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{given}")
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(own))
    added = [*map(str, (other, own, given, tmp_path)), f"{sys.prefix}/site-packages"]
    monkeypatch.setattr(sys, "path", [*sys.path, *added])
    assert bubblewrap.interpreter() == before | {other}


def test_an_ordinary_user_needs_a_user_namespace(job):
    options, worker = command(job)
    assert {("--unshare-user",), ("--disable-userns",), ("--uid", "65534"), ("--gid", "65534")} < set(options)
    assert ("--cap-drop", "ALL") in options
    assert not any(option[0] == "--cap-add" for option in options)
    assert worker[0] == sys.executable


@pytest.mark.parametrize("user", [0], indirect=True)
def test_root_becomes_an_ordinary_user_of_the_slot(user, job):
    options, worker = command(job, slot=3)
    assert not {"--unshare-user", "--disable-userns", "--uid", "--gid"} & {option[0] for option in options}
    kept = {option[1] for option in options if option[0] == "--cap-add"}
    assert kept == {"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"}
    end, uid = worker.index("--"), bubblewrap.worker_uid(slot=3)
    drop = " ".join(worker[:end])
    assert drop.startswith(f"/usr/bin/setpriv --reuid {uid} --regid {uid} --clear-groups ")
    assert "--bounding-set=-all --inh-caps=-all --no-new-privs" in drop
    assert worker[end + 1] == sys.executable
    assert command(job, slot=4)[1][2] == str(bubblewrap.worker_uid(slot=4)) != str(uid)


def test_a_gpu_is_shown_only_to_a_call_that_has_one(job):
    without, with_gpu = (command(j)[0] for j in (job, on_gpu(job)))
    assert not any("nvidia" in word or word.startswith("/sys") for option in without for word in option)
    assert not any(word == "/sys" for option in with_gpu if option[0] != "--dir" for word in option)
    assert ("--dev-bind-try", "/dev/nvidia1", "/dev/nvidia1") in with_gpu
    assert ("--setenv", "CUDA_VISIBLE_DEVICES", "-1") in without
    assert ("--setenv", "CUDA_VISIBLE_DEVICES", GPU.uuid) in with_gpu


def test_the_environment_has_nothing_of_the_harness_but_settings_of_keras_threads_and_libraries(job, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("PGDL_RESULTS", "postgresql://me:hunter2@host/name")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/home/alice/lib:{sys.base_prefix}/lib:")
    options, worker = command(job)
    assert not any("hunter2" in word for words in (*options, worker) for word in words)
    variables = {option[1]: option[2] for option in options if option[0] == "--setenv"}
    assert variables == job.environment(home="/tmp")
    first = next(number for number, option in enumerate(options) if option[0] == "--setenv")
    assert options.index(("--clearenv",)) < first
    assert variables["LD_LIBRARY_PATH"] == f"{sys.base_prefix}/lib"
    assert variables["TF_USE_LEGACY_KERAS"] == "1"
    assert on_gpu(job).environment(home="/tmp")["TF_USE_LEGACY_KERAS"] == "0"
    assert {variables[name] for name in variables if name.endswith("_THREADS")} == {"3"}


def test_a_trial_is_the_same_box_without_a_job(job):
    arguments, wrapper = bubblewrap.trial()
    box = parse(arguments)
    assert wrapper == []
    copied = {("--ro-bind", "/dev/null", f"/proc/{name}") for name in COPIED}
    assert set(box) - copied < set(command(job)[0])
    assert not any(word.startswith("/job") for option in box for word in option)


def test_without_bubblewrap_the_user_is_told_how_to_get_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"bubblewrap is not installed; install it, e\.g\. apt-get install"):
        bubblewrap.executable()


ALL = (1 << 41) - 1
CHOWN, SETGID, SETUID, KILL = (1 << number for number in (0, 6, 7, 5))


@pytest.mark.parametrize(
    ("user", "capabilities", "becomes"),
    [(0, ALL, True), (0, ALL & ~KILL, True), (0, ALL & ~SETUID, False), (0, ALL & ~SETGID, False),
     (0, ALL & ~CHOWN, False), (0, 0, False), (1000, ALL, False)],
    indirect=["user"],
)  # fmt: skip
def test_workers_are_other_users_only_if_root_can_make_them_so(monkeypatch, user, capabilities, becomes):
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    assert bubblewrap._capabilities() == int(status["CapEff"], 16)
    monkeypatch.setattr(bubblewrap, "_capabilities", lambda: capabilities)
    assert bubblewrap.becomes_others() is becomes
    assert (bubblewrap.worker_uid(0) is not None) is becomes
