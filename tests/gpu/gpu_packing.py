"""Chooses and collects the packages that the target of tests/gpu/run lacks."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: All files together; what travels to the target must fit into 60 MiB.
MOST_BYTES = 60 * 1024**2

#: Packages that the target is assumed to have if no list is given: PyTorch, JAX, and their own needs.
ASSUMED = (
    "filelock", "fsspec", "jax", "jaxlib", "jinja2", "markupsafe", "ml-dtypes", "mpmath", "networkx", "numpy",
    "opt-einsum", "scipy", "setuptools", "sympy", "torch", "typing-extensions",
)  # fmt: skip

#: Dependencies of this project that doctor, check, run and score do not import (tests/gpu/test_gpu_checks.py): the
#: site, plots, parquet, recipes, and a library for measures of 2020.
LEFT_OUT = frozenset({"jinja2", "matplotlib", "pgdl-harness", "pydantic", "scikit-learn", "tqdm"})

PLATFORMS = tuple(f"manylinux{one}_x86_64" for one in ("_2_28", "_2_17", "2014", "_2_12", "2010", "1"))

#: Debian packages: the sandbox, with the libraries that a small system may lack.
DEBS = ("bubblewrap", "libcap2", "libselinux1", "libpcre2-8-0", "libseccomp2")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def read_freeze(text: str) -> dict[str, str]:
    """Return package -> version in the output of `pip freeze`; "" for packages not installed from an index."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("-") and (match := re.match(r"([A-Za-z0-9._-]+)\s*(?:==\s*([^+;\s]+)|@)?", line)):
            found[canonical(match[1])] = match[2] or ""
    return found


def needed(pyproject: str) -> list[str]:
    project = tomllib.loads(pyproject)["project"]
    dependencies: list[str] = project["dependencies"] + project["optional-dependencies"]["run"]
    return [one for one in dependencies if canonical(re.match(r"[A-Za-z0-9._-]+", one)[0]) not in LEFT_OUT]  # type: ignore[index]


def missing(report: str, present: Iterable[str]) -> list[str]:
    """Return NAME==VERSION of each package in pip's installation report that the target lacks."""
    packages = [item["metadata"] for item in json.loads(report)["install"]]
    has = set(map(canonical, present))
    return sorted(f"{one['name']}=={one['version']}" for one in packages if canonical(one["name"]) not in has)


def check_size(directory: Path, most: int = MOST_BYTES) -> int:
    sizes = {file: file.stat().st_size for file in directory.rglob("*") if file.is_file()}
    total = sum(sizes.values())
    if total > most:
        largest = sorted(sizes, key=lambda file: -sizes[file])[:5]
        names = ", ".join(f"{file.name} ({sizes[file] / 2**20:.1f} MiB)" for file in largest)
        sys.exit(f"{directory}: {total / 2**20:.1f} MiB, at most {most / 2**20:.0f} MiB; the largest: {names}")
    return total


def pip(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def collect_wheels(target: Path, python_version: str, present: dict[str, str]) -> list[str]:
    """Collect wheels of the project, pip and all missing packages in `target`.

    Return NAME==VERSION of the missing packages.
    """
    foreign = ["--only-binary=:all:", "--implementation", "cp", "--python-version", python_version]
    foreign += [word for platform in PLATFORMS for word in ("--platform", platform)]
    target.mkdir(parents=True)
    constraints = target.parent / "target.txt"
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in present.items() if version))
    wanted = needed((ROOT / "pyproject.toml").read_text())
    resolve = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-", "--target", target / "none"]
    chosen = missing(pip(*resolve, *foreign, "--constraint", constraints, *wanted), present)
    pip("download", "--quiet", "--no-deps", *foreign, "--dest", target, "pip", *chosen)
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # files of an earlier build would go into the wheel
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", target, ROOT)
    return chosen


def collect_debs(target: Path, packages: Sequence[str] = DEBS) -> None:
    """Download Debian packages into `target`; needs apt's lists (apt-get update)."""
    target.mkdir(parents=True)
    subprocess.run(["apt-get", "download", "--quiet", *packages], cwd=target, check=True, stdout=subprocess.DEVNULL)
