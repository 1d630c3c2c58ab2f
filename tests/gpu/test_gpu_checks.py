"""Tests of tests/gpu/pack, which collects the files that a machine lacks, and of steps and report of tests/gpu/run."""

import io
import json
import runpy
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import gpu_packing
import gpu_setup
import gpu_steps
import pytest
from e2e.real_runs import wait_for
from gpu_packing import ASSUMED, LEFT_OUT, canonical, check_size, collect_wheels, missing, needed, read_freeze
from gpu_steps import FAILED, OK, ORDER, SKIPPED, STEPS, Result, Skip, perform, to_markdown
from packaging.requirements import Requirement

gpu_steps.load_steps()

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

FREEZE = """\
absl-py==2.3.1
Click==8.2.0
jax @ file:///somewhere/jax-0.7.2.whl
torch==2.9.0+cu128
-e git+https://example.org/mine#egg=mine
numpy==2.1.3
PyYAML==6.0.2
"""

VERSIONS = ("PyYAML", "6.0.2"), ("click", "8.2.0"), ("h5py", "3.14.0"), ("typing_extensions", "4")
REPORT = json.dumps({"install": [{"metadata": {"name": name, "version": version}} for name, version in VERSIONS]})


def test_a_list_of_the_targets_packages_is_read_and_what_it_has_is_not_taken() -> None:
    assert read_freeze(FREEZE) == {
        "absl-py": "2.3.1", "click": "8.2.0", "jax": "", "torch": "2.9.0", "numpy": "2.1.3", "pyyaml": "6.0.2",
    }  # fmt: skip
    assert missing(REPORT, read_freeze(FREEZE)) == ["h5py==3.14.0", "typing_extensions==4"]
    assert missing(REPORT, ASSUMED) == ["PyYAML==6.0.2", "click==8.2.0", "h5py==3.14.0"]
    names = {canonical(Requirement(one).name) for one in needed((ROOT / "pyproject.toml").read_text())}
    assert {"keras", "h5py", "landlockpy", "pyseccomp", "sqlalchemy"} <= names
    assert not names & LEFT_OUT


@pytest.mark.rest
def test_the_commands_of_the_checks_import_nothing_that_is_left_out() -> None:
    """The test's program imports the modules that the commands import; frameworks run in other processes."""
    program = f"""
import sys
for name in {sorted(LEFT_OUT - {"scikit-learn"} | {"sklearn"})}:
    sys.modules[name] = None
from harness.cli import check, check_table, doctor, results, run, score, scores, summary, terminal
import pgdl
from harness.api import check_report
pgdl.check, pgdl.results, pgdl.run, pgdl.score
from harness.execution import check, run
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_wheels_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def pip(*arguments: str | Path) -> str:
        calls.append(list(map(str, arguments)))
        return REPORT

    monkeypatch.setattr(gpu_packing, "pip", pip)
    present = read_freeze(FREEZE)
    assert collect_wheels(tmp_path / "wheels", "3.13", present) == ["h5py==3.14.0", "typing_extensions==4"]
    resolve, download, wheel = calls
    for call in (resolve, download):
        assert call[call.index("--python-version") + 1] == "3.13"
        assert "--only-binary=:all:" in call
        assert "manylinux_2_28_x86_64" in call
    assert "numpy==2.1.3\n" in (tmp_path / "target.txt").read_text()
    assert resolve[resolve.index("--constraint") + 1] == str(tmp_path / "target.txt")
    assert "--no-deps" in download
    assert download[-3:] == ["pip", "h5py==3.14.0", "typing_extensions==4"]
    assert (wheel[0], wheel[-1]) == ("wheel", str(ROOT))


def test_too_much_is_refused_and_the_largest_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(bytes(10))
    assert check_size(tmp_path, 100) == 10
    (tmp_path / "large.whl").write_bytes(bytes(1000))
    with pytest.raises(SystemExit, match=r"at most 0 MiB; the largest: large\.whl"):
        check_size(tmp_path, 100)


def test_a_debian_package_is_unpacked_without_dpkg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        entry = tarfile.TarInfo("./usr/bin/bwrap")
        entry.size, entry.mode = 4, 0o755
        archive.addfile(entry, io.BytesIO(b"true"))
    members = (("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), ("data.tar.xz", data.getvalue()))
    deb = b"!<arch>\n"
    for name, content in members:
        head = f"{name:16}{0:<12}{0:<6}{0:<6}{'100644':8}{len(content):<10}`\n"
        deb += head.encode() + content + b"\n" * (len(content) % 2)
    (tmp_path / "debs").mkdir()
    (tmp_path / "debs" / "bubblewrap.deb").write_bytes(deb)
    monkeypatch.setenv("PATH", "/usr/bin")
    for there, expected in (("/usr/bin/bwrap", []), (None, ["bwrap"])):  # what the machine has is not replaced
        monkeypatch.setattr(gpu_setup.shutil, "which", lambda _, path=there: path)
        programs = gpu_setup.unpack_programs(tmp_path / "debs", tmp_path / "programs")
        assert [path.name for path in programs.iterdir()] == expected
    assert str(tmp_path / "programs/system/usr/bin/bwrap") in (programs / "bwrap").read_text()


def test_a_report_has_a_row_per_step_and_a_section_for_each_with_details() -> None:
    results = [
        Result("first", OK, "2 | 3", "| a | b |", 1.6),
        Result("second", SKIPPED, "no GPU"),
        Result("third", FAILED, "an\nerror", seconds=100),
    ]
    assert to_markdown(results, "2026-01-02 03:04") == (
        "# Checks on this machine\n\n"
        "Begun 2026-01-02 03:04. 1 ok, 1 FAILED, 1 skipped.\n\n"
        "| step |  | finding | s |\n| --- | --- | --- | --- |\n"
        "| first | ok | 2 \\| 3 | 2 |\n| second | skipped | no GPU | 0 |\n| third | FAILED | an error | 100 |\n\n"
        "## first\n\n| a | b |\n"
    )


def test_steps_end_in_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    def skips() -> str:
        raise Skip("no GPU")

    def fails() -> str:
        raise RuntimeError("no memory")

    for run in (lambda: "5 calls", skips, fails):
        monkeypatch.setitem(STEPS, run.__name__, gpu_steps.Step(run, "", 1.0))
    assert [perform(name) for name in ("<lambda>", "skips", "fails")] == [
        (OK, "5 calls"), (SKIPPED, "no GPU"), (FAILED, "RuntimeError: no memory"),
    ]  # fmt: skip


def test_without_a_gpu_its_steps_say_so() -> None:
    if Path("/proc/driver/nvidia/gpus").exists():
        pytest.skip("this machine has a GPU")
    for name in ("needed_files", "growth", "host_limit", "kill", "traces", "one_of_several"):
        state, finding = perform(name)
        assert (state, finding.partition(":")[0]) == (SKIPPED, "no GPU")


run_step = runpy.run_path(str(HERE / "run"))["perform"]


@pytest.mark.rest
def test_a_step_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    program = f"echo begun; sleep 600 & echo $! > {tmp_path}/child; wait"
    result = run_step(["/bin/sh", "-c", program], "hangs", 5.5, time.monotonic() + 1000)
    assert (result.state, result.finding) == (FAILED, "did not end within 6 s")
    assert "begun" in result.details
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    wait_for(lambda: not state.exists() or state.read_text().split()[2] == "Z", "its child to end")


def test_a_step_that_crashes_and_one_without_time() -> None:
    crashed = run_step(["/bin/sh", "-c", "echo half; exit 3"], "crashes", 60, time.monotonic() + 1000)
    assert (crashed.state, crashed.finding) == (FAILED, "ended with status 3")
    assert "half" in crashed.details
    late = run_step(["/bin/false"], "late", 60, time.monotonic() + 1)
    assert (late.state, late.finding) == (SKIPPED, "no time was left (--seconds)")


def test_every_step_is_listed_once_for_the_runner() -> None:
    assert sorted(ORDER) == sorted(STEPS)
    done = subprocess.run([sys.executable, HERE / "gpu_steps.py"], capture_output=True, text=True, check=True, cwd=HERE)
    assert done.stdout.count('"') == 4 * len(STEPS)
