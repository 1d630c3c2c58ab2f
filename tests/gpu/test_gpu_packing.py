"""Tests of tests/gpu/pack: it collects the files that the target lacks, prints its assumptions, and stays small."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import gpu_packing
import gpu_setup
import pytest
from gpu_packing import ASSUMED, LEFT_OUT, canonical, check_size, collect_wheels, missing, needed, read_freeze
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

FREEZE = """\
absl-py==2.3.1
Click==8.2.0
jax @ file:///somewhere/jax-0.7.2.whl
torch==2.9.0+cu128
-e git+https://example.org/mine#egg=mine
numpy==2.1.3
PyYAML==6.0.2
"""

VERSIONS = {"PyYAML": "6.0.2", "click": "8.2.0", "h5py": "3.14.0", "typing_extensions": "4"}
REPORT = json.dumps({"install": [{"metadata": {"name": name, "version": VERSIONS[name]}} for name in VERSIONS]})


def test_a_list_of_the_targets_packages_is_read_and_what_it_has_is_not_taken() -> None:
    assert read_freeze(FREEZE) == {
        "absl-py": "2.3.1", "click": "8.2.0", "jax": "", "torch": "2.9.0", "numpy": "2.1.3", "pyyaml": "6.0.2",
    }  # fmt: skip
    assert missing(REPORT, read_freeze(FREEZE)) == ["h5py==3.14.0", "typing_extensions==4"]
    assert missing(REPORT, ASSUMED) == ["PyYAML==6.0.2", "click==8.2.0", "h5py==3.14.0"]


def test_dependencies_of_the_checks_are_those_of_the_project_but_for_some() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    names = {canonical(Requirement(one).name) for one in needed(text)}
    assert {"keras", "h5py", "landlockpy", "pyseccomp", "sqlalchemy"} <= names
    assert not names & LEFT_OUT


@pytest.mark.rest
def test_the_commands_of_the_checks_import_nothing_that_is_left_out() -> None:
    """The test's program imports the modules that the commands import; frameworks run in other processes."""
    modules = {"scikit-learn": "sklearn"}
    program = f"""
import sys
for name in {sorted(modules.get(name, name) for name in LEFT_OUT)}:
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
