"""Models that have not learned their training set are named before anything runs."""

from pathlib import Path

import pytest

from tests.throwaway import edit_json, make_task


@pytest.mark.parametrize(("number", "said"), [(1, "model_1 has"), (2, "2 models (model_1, model_2) have")])
def test_models_at_chance_accuracy_are_named(number: int, said: str, tmp_path: Path, pgdl) -> None:
    make_task(tmp_path)
    (reference,) = tmp_path.glob("**/model_configs.json")

    def unlearned(content):
        for model in ["1", "2"][:number]:
            content[model]["metrics"] = {"train_acc": 0.4, "test_acc": 0.4}
        return content

    assert not [line for line in pgdl("task", "validate", tmp_path).lines if "chance reaches" in line]
    edit_json(reference, unlearned)
    (line,) = [one for one in pgdl("task", "validate", tmp_path).lines if "chance reaches" in one]
    assert line.startswith(f"tiny: note: {said} a train accuracy that chance reaches (up to 0.")
