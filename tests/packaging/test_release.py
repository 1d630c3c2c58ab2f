"""Tests of a release: pinned versions, workflows, the image, and accepted tags."""

import json
import re
import subprocess
from importlib import metadata

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from repository import PACKAGES, PYPROJECT, ROOT, SHIPPED

PROJECT = PYPROJECT["project"]
WORKFLOWS = ROOT / ".github/workflows"
RELEASE, TESTED = (yaml.safe_load((WORKFLOWS / f"{one}.yml").read_text())["jobs"] for one in ("release", "test"))
OLDEST, *_, NEWEST = TESTED["test"]["strategy"]["matrix"]["python"]


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_a_tag_is_accepted_if_every_file_states_its_version_or_a_line_names_each_that_does_not(tmp_path):
    stated = {
        "pyproject.toml": 'version = "1.2.3"', "harness/__init__.py": '__version__ = "1.2.3"',
        "CITATION.cff": "version: 1.2.3", "CHANGELOG.md": "## 1.2.3",
    }  # fmt: skip
    (tmp_path / "harness").mkdir()

    def check(tag, other=""):
        for name, line in stated.items():
            (tmp_path / name).write_text(f"# first\n{line}{' (unreleased)' if name == other else ''}\nlast\n")
        ended = subprocess.run([ROOT / ".ci/check-tag", tag], cwd=tmp_path, capture_output=True, text=True)
        return ended.returncode, [line.partition(":")[0] for line in ended.stderr.splitlines()]

    assert check("v1.2.3") == (0, [])
    assert check("v1.2.4") == (1, list(stated))
    for name in stated:
        assert check("v1.2.3", name) == (1, [name])
    stated = {name: (ROOT / name).read_text() for name in stated}  # of this checkout
    stated["CHANGELOG.md"] = stated["CHANGELOG.md"].replace(" (unreleased)\n", "\n")
    assert check(f"v{PROJECT['version']}") == (0, [])


def test_every_python_is_tried_before_publishing_and_publishing_alone_may_publish():
    accepted = SpecifierSet(PROJECT["requires-python"])
    tried = RELEASE["try"]["strategy"]["matrix"]["python"]
    assert tried == [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted]
    assert (RELEASE["try"]["needs"], RELEASE["publish"]["needs"]) == ("build", "try")
    assert RELEASE["publish"]["environment"]["name"] == "pypi"
    assert [name for name, job in RELEASE.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    scripts = [command.split()[0] for job in RELEASE.values() for command in commands(job)]
    assert [(ROOT / one).exists() for one in scripts if one.startswith(".ci/")] == [True] * 3


def test_everything_that_is_needed_is_pinned_once_at_an_accepted_version_and_nothing_else():
    def is_installed(name):
        return next(metadata.distributions(name=name), None) is not None

    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    assert len(lines) == len(pinned)
    extras = ("dev", "docs", "testbed", "tensorflow", "jax", "torch", "run", "parquet")
    texts = [*PROJECT["dependencies"], *(one for extra in extras for one in PROJECT["optional-dependencies"][extra])]
    direct = [Requirement(text) for text in texts if not text.startswith(PROJECT["name"])]
    assert [one.name for one in direct if not one.specifier.contains(pinned[canonicalize_name(one.name)])] == []
    needed, waiting = set(), list(direct)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in needed or name.startswith(("nvidia-", "cuda-", "triton")):  # of PyPI's build of PyTorch alone
            continue
        needed.add(name)
        further = map(Requirement, metadata.requires(name) or ()) if is_installed(name) else ()
        chosen = [{"extra": extra} for extra in ("", *requirement.extras)]
        waiting += [one for one in further if one.marker is None or any(map(one.marker.evaluate, chosen))]
    assert needed <= set(pinned)
    assert set(filter(is_installed, pinned)) <= needed


def test_ci_tests_the_oldest_and_the_newest_python_where_the_sandbox_is_allowed_and_publishes_the_leaderboard():
    chosen = (ROOT / ".ci/find-python").read_text()
    assert f"(3, {OLDEST[2:]}) <= sys.version_info[:2] <= (3, {NEWEST[2:]})" in chosen
    assert f"ARG PYTHON={NEWEST}\n" in TEXT
    assert f"make demo PYTHON=python{NEWEST}" in commands(TESTED["demo"])
    for job in ("test", "demo"):
        ran = commands(TESTED[job])
        allow = ran.index("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
        assert allow < next(number for number, command in enumerate(ran) if command.startswith(f"make {job}"))
    (upload,) = [step["with"] for step in TESTED["demo"]["steps"] if "upload-artifact" in step.get("uses", "")]
    site, records = upload["path"].split()
    assert f'cat {site}/leaderboard.md >> "$GITHUB_STEP_SUMMARY"' in commands(TESTED["demo"])
    demo = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for option in (f"--results {records} --output", f"--html {site}\n"):
        assert option in demo


TEXT = (ROOT / "Dockerfile").read_text()
LINES = re.sub(r"^ *#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()


def steps(instruction):
    words = (" ".join(line.split()).partition(" ") for line in LINES if line)
    return [rest for word, _, rest in words if word == instruction]


def test_what_is_copied_is_what_the_package_is_built_from_and_reaches_the_engine():
    sources = {"pyproject.toml", "constraints.txt", PROJECT["readme"], *PROJECT["license-files"], *PACKAGES, *SHIPPED}
    assert {source for copy in steps("COPY") for source in copy.split()[:-1]} == sources
    assert all((ROOT / source).exists() for source in sources)
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert set(kept) == sources


def test_the_steps_are_portable_shell_and_an_argument_decides_what_is_installed(machine):
    machine.add("pip")
    for step in steps("RUN"):
        subprocess.run(["sh", "-n", "-c", step], check=True)
    assert "bubblewrap libseccomp2 util-linux" in next(step for step in steps("RUN") if "apt-get" in step)
    pip, place = next(step for step in steps("RUN") if "pip install" in step), "/opt/pgdl"
    for extras in ("tensorflow", "gpu", "tensorflow,jax"):
        machine.run("sh", "-c", f"EXTRAS={extras}; {pip}")
        installed = f"pip install --no-cache-dir --constraint {place}/constraints.txt {place}[{extras}]"
        assert machine.calls() == [installed]


def test_it_is_the_command_run_by_an_ordinary_user_but_for_codabench_by_root_without_an_entry_point():
    """Codabench states the whole command, and mounts files that belong to root."""
    stage = TEXT.partition("AS codabench\n")[2].partition("\nFROM ")[0]
    assert [line.split()[0] for line in stage.splitlines() if line] == ["ENV", "CMD"]
    (entry,), (user,) = steps("ENTRYPOINT"), steps("USER")
    assert json.loads(entry) == [next(iter(PROJECT["scripts"]))]
    assert int(user.split(":")[0]) > 0
