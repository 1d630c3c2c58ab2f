"""Which columns of a table are taken for hyperparameters, and which are refused or mentioned."""

import pytest

from harness.errors import UserError
from harness.importer.completeness import notes_on_grid
from harness.importer.table import read_table


@pytest.fixture
def table(tmp_path):
    def read(text):
        (tmp_path / "models.csv").write_text(text)
        return read_table(tmp_path / "models.csv")

    return read


@pytest.mark.parametrize(
    "name",
    ["Test Acc", "val_accuracy", "accuracy", "acc_train", "train_acuracy", "trainaccuracy", "valAcc", "top-1 accuracy",
     "val_sparse_categorical_accuracy", "final_train_acc"],
)  # fmt: skip
def test_other_names_of_accuracies_are_no_hyperparameters(name, table):
    with pytest.raises(UserError, match=f"found an accuracy, '{name}'; call it train_accuracy or test_accuracy"):
        table(f"file,a,{name}\nm0.keras,1,0.9\n")


@pytest.mark.parametrize(
    "name",
    ["gap", "GAP", "generalization_gap", "generalisation gap", "gen_gap", "train_test_gap", "loss", "train_loss",
     "val_loss", "Loss", "best_val_loss", "test error", "trainErr", "sparse_categorical_crossentropy", "val_auc"],
)  # fmt: skip
@pytest.mark.parametrize("cell", ["0.31", "31%"])
def test_results_are_no_hyperparameters(name, cell, table):
    """A measure's score is conditioned on hyperparameters: the gap among them would be the target itself."""
    with pytest.raises(UserError, match=f"found a result of training, '{name}'; leave it out, or rename it"):
        table(f"file,a,{name}\nm0.keras,1,{cell}\n")


@pytest.mark.parametrize(
    "name",
    ["width", "weight_decay", "train_steps", "accumulation", "label_accuracy_target", "indexed", "target_loss",
     "loss_scale", "gap_filling", "train", "test_size", "label_error"],
)  # fmt: skip
def test_names_of_hyperparameters_are_no_results(name, table):
    assert table(f"file,{name}\nm0.keras,1\n").grid.names == (name,)


def test_a_loss_may_be_the_name_of_a_function(table):
    assert table("file,loss\nm0.keras,mse\nm1.keras,hinge\n").grid.values == {"loss": ("mse", "hinge")}


NOTE = "seconds has {} values in 8 models, as results and numbers do: is it a hyperparameter?"


@pytest.mark.parametrize(("different", "notes"), [(8, [NOTE.format(8)]), (6, [NOTE.format(6)]), (4, [])])
def test_a_column_that_tells_nearly_all_models_apart_is_mentioned(different, notes, table):
    rows = [f"m{n}.keras,{n // 4},{n // 2 % 2},{n % 2},{min(n, different - 1) / 7}\n" for n in range(8)]
    lines = notes_on_grid(table("file,a,b,c,seconds\n" + "".join(rows)).grid)
    assert [line for line in lines if "seconds has" in line] == notes
