"""Models are trained in TensorFlow, which an installation for JAX or PyTorch need not have."""

from pathlib import Path

import pytest

from harness.corpus.build import Build
from harness.corpus.recipe import read_recipe
from harness.errors import UserError
from harness.shipped import task_data
from harness.worker.runtimes import RUNTIMES


def test_it_is_one_line_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(RUNTIMES["tensorflow"]), "distributions", ("no-such-package",))
    recipe = read_recipe(task_data() / "recipes" / "digits_nin.toml")
    with pytest.raises(UserError, match=r"trained in TensorFlow; not installed: no-such-package; .*pip install"):
        Build(recipe, tmp_path).begin()
    assert list(tmp_path.iterdir()) == []
