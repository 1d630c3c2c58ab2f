"""A runtime imports its framework and no other, and leaves nothing behind that a fork could not use."""

import json

import pytest
from each_runtime import each, each_of, run

from harness.errors import UserError
from harness.extras import install
from harness.inspector.keys import CHOICES
from harness.sandbox.kinds.kind import library_versions
from harness.worker.runtimes import RUNTIMES
from harness.worker.runtimes.runtime import FRAMEWORKS


@pytest.mark.rest
@each_of("tensorflow", "jax", "torch")
def test_no_other_framework_can_be_imported(name: str) -> None:
    runtime = RUNTIMES[name]
    found = json.loads(run(name, "imports", anew=True))
    assert found["loaded"] == [runtime.framework]
    assert found["threads"] == 1, "workers are forked from it"
    assert found["errors"] == {
        other: f"{other} is not available in the runtime {name}; choose another with --runtime, or in metadata"
        for other in set(FRAMEWORKS) - {runtime.framework}
    }
    assert set(found["versions"]) == {"python", "numpy", runtime.framework, "keras"} | set(runtime.distributions) - {
        "tf-keras"
    }


@each
def test_versions_are_known_before_the_call(name: str) -> None:
    for distribution in ("python", *RUNTIMES[name].distributions, "numpy", "scipy"):
        assert f"{distribution} " in library_versions(name)


def test_a_runtime_that_is_not_installed_is_named_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(RUNTIMES["torch"]), "distributions", ("torch", "no-such-package"))
    library_versions.cache_clear()
    with pytest.raises(UserError) as raised:
        library_versions("torch")
    library_versions.cache_clear()
    assert str(raised.value) == f"runtime torch: not installed: no-such-package; {install('torch')}"


def test_submissions_may_name_every_runtime() -> None:
    assert set(CHOICES["runtime"]) == set(RUNTIMES)
