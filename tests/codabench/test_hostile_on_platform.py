"""What a hostile submission can reach in the platform's container, which has a network and runs as root."""

import json
import zipfile

import pytest
from organised import GOOD, pack
from platform_worker import NEEDS_CONTAINERS, Worker, start

pytestmark = NEEDS_CONTAINERS

FEEDBACK, FINAL = 0, 1

#: Returns the number of things that it could do; each is printed.
HOSTILE = """
import ctypes, os, pathlib, signal, socket
done = []
def attempt(name, action):
    try:
        result = action()
    except BaseException:
        return
    if result is not False:
        done.append(name)
        print("BREACH:", name)
for file in ("/app/program/key", "/app/program/phase.json", "/app/output/result.json", "/proc/1/environ",
             "/proc/1/cmdline", "/proc/1/mem", "/app/ingested_program/complexity.py", "/etc/passwd"):
    attempt(file, lambda: open(file, "rb").read(1))
for place in ("/app/program/tasks", "/app/input_data", "/app/output", "/app", "/", "/tmp"):
    attempt(place, lambda: os.listdir(place))
for place in ("/app/output", "/app/input_data", "/app/program", "/app/ingested_program", "/tmp", "/dev/shm"):
    attempt("write " + place, lambda: pathlib.Path(place, "mine").write_text("x"))
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    attempt(f"socket {family}", lambda: socket.socket(family))
libc = ctypes.CDLL(None)
for pid in (1, os.getppid()):
    attempt(f"signal {pid}", lambda: os.kill(pid, 0))
attempt("setuid", lambda: os.setuid(65534))
attempt("unshare", lambda: libc.unshare(0x10000000) == 0)
attempt("mount", lambda: libc.mount(b"none", b"/", b"tmpfs", 0, None) == 0)
attempt("chroot", lambda: os.chroot("/"))
attempt("ptrace", lambda: libc.ptrace(0x4206, 1, 0, 0) == 0)
attempt("raise limits", lambda: __import__("resource").setrlimit(4, (1, 1 << 30)))
return float(len(done))
"""

#: Starts more threads and processes than a call may have, and waits.
BOMBS = {
    "threads": """
import threading, time
for _ in range(1000):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(60)
""",
    "processes": """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
    except OSError:
        pass
""",
}


@pytest.fixture(scope="module")
def worker(bundled, tmp_path_factory) -> Worker:
    return Worker(bundled / "bundle.zip", tmp_path_factory.mktemp("worker"))


def test_the_attacks_succeed_without_the_sandbox(tmp_path):
    """As a command in a container of the platform, which has no sandbox in it."""
    for name in ("program", "output", "input_data"):
        (tmp_path / name).mkdir()
    (tmp_path / "program/key").touch()
    body = HOSTILE.replace("return float(len(done))", "")
    (tmp_path / "program/attack.py").write_text(body)
    volumes = {tmp_path / name: f"/app/{name}" for name in ("program", "output", "input_data")}
    container = start("/usr/bin/python3 /app/program/attack.py", volumes, tmp_path / "log.txt")
    assert container.end() == 0
    found = container.log.read_text()
    for what in ("/app/program/key", "/proc/1/environ", "/app/input_data", "write /app/output", "socket 2", "ptrace"):
        assert f"BREACH: {what}\n" in found


@pytest.mark.parametrize("phase", [FEEDBACK, pytest.param(FINAL, marks=pytest.mark.full)])
def test_a_call_reaches_nothing_of_the_container(bundled, tmp_path, phase):
    worker = Worker(bundled / "bundle.zip", tmp_path, network=phase == FEEDBACK)
    ended = worker.run(phase, pack(tmp_path, "hostile", HOSTILE))
    assert ended.status == "Finished", ended.log
    assert ended.prediction is not None
    with zipfile.ZipFile(ended.prediction) as archive:
        values = json.loads(archive.read("tiny.predict" if phase == FEEDBACK else "secret.predict"))
        assert not [name for name in archive.namelist() if name.endswith("mine")]
    assert set(values.values()) == {0.0}, ended.report


@pytest.mark.full
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_ends_its_own_calls_alone(worker, tmp_path, kind):
    lines = "".join(f"    {line}\n" for line in BOMBS[kind].strip().splitlines())
    ended = worker.run(FEEDBACK, pack(tmp_path, "bomb", f"if model.layers[0].units == 6:\n{lines}{GOOD}"))
    assert ended.status == "Finished", ended.log
    assert "8 calls done 4 failed" in ended.log
    if kind == "threads":  # it takes longer to fork as often
        assert ended.log.count("MEMORY: too many processes and threads (limit ") >= 4


def test_a_command_of_the_submission_counts_for_nothing(worker, tmp_path):
    """The platform runs it beside the ingestion program, outside of every sandbox."""
    submission = pack(tmp_path, "commander", GOOD, metadata__yaml="command: /bin/true\n")
    ended = worker.run(FEEDBACK, submission)
    assert (ended.status, ended.scores) == ("Failed", {})
    assert "refused: metadata.yaml has a `command`, which runs outside of the sandbox" in ended.report


#: Hides the command, waits for the values, and writes others. Python's start is slower than the ingestion program's
#: look at the metadata, so the file is gone before only because the shell removes it.
FORGE = """
cd /app/program
rm metadata.yaml
while [ ! -e /app/output/tiny.predict ]; do sleep 0.1; done
echo '{"model_0": 1.0}' > /app/output/tiny.predict
ls /app/program /app/input_data > /app/output/seen.txt
"""


def test_what_it_writes_in_place_of_the_values_is_recognised(worker, tmp_path):
    submission = pack(tmp_path, "forger", GOOD, metadata__yaml="command: sh /app/program/forge.sh\n", forge__sh=FORGE)
    ended = worker.run(FEEDBACK, submission)
    assert (ended.status, ended.scores) == ("Failed", {})
    assert "refused" in ended.report or "changed after the ingestion program wrote it" in ended.report


def test_a_hidden_phase_has_no_input_data_that_it_could_read(worker, tmp_path):
    script = "find /app -type f > /app/output/seen.txt; sleep 1"
    command = f"sh -c '{script}'"
    ended = worker.run(FINAL, pack(tmp_path, "reader", GOOD, metadata__yaml=f"command: {command}\n"))
    assert ended.prediction is not None
    with zipfile.ZipFile(ended.prediction) as archive:
        seen = archive.read("seen.txt").decode().split()
    assert {name for name in seen if not name.startswith(("/app/program/", "/app/output/"))} == set()
    assert not [name for name in seen if "weights" in name or "/key" in name]


def test_a_hidden_phase_is_not_run_where_a_command_could_send_its_values_away(worker, tmp_path):
    ended = worker.run(FINAL, pack(tmp_path, "good", GOOD))
    assert (ended.status, ended.scores) == ("Failed", {})
    assert "a hidden phase needs containers without a network, and this one has " in ended.report
    assert "set COMPETITION_CONTAINER_NETWORK_DISABLED=True on the workers" in ended.report
