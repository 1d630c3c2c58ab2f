"""constraints.txt pins everything that an installation with the tools of development and documentation brings."""

from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from repository import PYPROJECT, ROOT

LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PINNED = {canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)}
PROJECT = PYPROJECT["project"]
INSTALLED = ("dev", "docs", "testbed", "tensorflow", "jax", "torch", "run", "site", "parquet")
EXTRAS = [text for extra in INSTALLED for text in PROJECT["optional-dependencies"][extra]]
DIRECT = [Requirement(text) for text in [*PROJECT["dependencies"], *EXTRAS] if not text.startswith(PROJECT["name"])]

#: What PyPI's build of PyTorch needs in addition to that for processors.
CUDA = ("nvidia-", "cuda-", "triton")


def is_installed(name):
    """Whether a distribution is there; that of the documentation is installed by `make docs` alone."""
    return next(metadata.distributions(name=name), None) is not None


def needed():
    """Names of all distributions that the direct dependencies bring, as far as they are installed here."""
    names, waiting = set(), list(DIRECT)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in names or name.startswith(CUDA):
            continue
        names.add(name)
        further = map(Requirement, metadata.requires(name) or ()) if is_installed(name) else ()
        extras = ["", *requirement.extras]
        waiting += [
            other for other in further
            if other.marker is None or any(other.marker.evaluate({"extra": extra}) for extra in extras)
        ]  # fmt: skip
    return names


@pytest.mark.parametrize("requirement", DIRECT, ids=lambda requirement: requirement.name)
def test_every_dependency_is_pinned_at_a_version_that_it_accepts(requirement):
    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)])


def test_everything_that_they_need_is_pinned_and_nothing_else():
    assert needed() <= set(PINNED)
    assert set(filter(is_installed, PINNED)) <= needed()


def test_nothing_is_pinned_twice():
    assert len(LINES) == len(PINNED)
