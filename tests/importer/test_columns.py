"""Tests of a table's columns: hyperparameters, refused columns, columns with a note, and precision of accuracies."""

import pytest

from harness.errors import UserError
from harness.importer.completeness import notes_on_grid
from harness.importer.stated import rounding_of
from harness.importer.table import read_table


@pytest.fixture
def table(tmp_path):
    def read(text):
        (tmp_path / "models.csv").write_text(text)
        return read_table(tmp_path / "models.csv")

    return read


ACCURACIES = (
    "Test Acc", "val_accuracy", "accuracy", "acc_train", "train_acuracy", "trainaccuracy", "valAcc", "top-1 accuracy",
    "val_sparse_categorical_accuracy", "final_train_acc", "test_acc",
)  # fmt: skip
RESULTS = (
    "gap", "GAP", "generalization_gap", "generalisation gap", "gen_gap", "train_test_gap", "loss", "train_loss",
    "val_loss", "Loss", "best_val_loss", "test error", "trainErr", "sparse_categorical_crossentropy", "val_auc",
)  # fmt: skip


@pytest.mark.parametrize("name", ACCURACIES + RESULTS)
@pytest.mark.parametrize("cell", ["0.31", "31%"])
def test_results_and_other_names_of_accuracies_are_no_hyperparameters(name, cell, table):
    """If the gap were among the hyperparameters on which a score is conditioned, nothing would be left to predict."""
    found = (
        f"a result of training, '{name}'; leave it out, or rename it"
        if name in RESULTS
        else f"an accuracy, '{name}'; call it train_accuracy or test_accuracy"
    )
    with pytest.raises(UserError, match=f"expected hyperparameters, found {found}"):
        table(f"file,a,{name}\nm0.keras,1,{cell}\n")


@pytest.mark.parametrize(
    "name",
    ["width", "weight_decay", "train_steps", "accumulation", "label_accuracy_target", "indexed", "target_loss",
     "loss_scale", "gap_filling", "train", "test_size", "label_error"],
)  # fmt: skip
def test_names_of_hyperparameters_are_no_results_nor_is_the_name_of_a_loss_function(name, table):
    assert table(f"file,{name}\nm0.keras,1\n").grid.names == (name,)
    assert table("file,loss\nm0.keras,mse\nm1.keras,hinge\n").grid.values == {"loss": ("mse", "hinge")}


def test_too_many_columns_are_refused_by_the_header_alone(table, monkeypatch):
    monkeypatch.setattr("harness.importer.table.require_hyperparameter", None)
    columns = ",".join(f"a{number}" for number in range(101))
    with pytest.raises(UserError, match=r"header: expected at most 100 hyperparameters, found 101$"):
        table(f"file,train_accuracy,{columns}\n")


NOTE = "seconds has {} values in 8 models, as results or row numbers do: is it a hyperparameter?"


@pytest.mark.parametrize(("different", "notes"), [(8, [NOTE.format(8)]), (6, [NOTE.format(6)]), (4, [])])
def test_a_column_that_tells_nearly_all_models_apart_is_mentioned(different, notes, table):
    rows = [f"m{n}.keras,{n // 4},{n // 2 % 2},{n % 2},{min(n, different - 1) / 7}\n" for n in range(8)]
    lines = notes_on_grid(table("file,a,b,c,seconds\n" + "".join(rows)).grid)
    assert [line for line in lines if "seconds has" in line] == notes


@pytest.fixture
def column(tmp_path):
    """Return a function that writes accuracies to a table, reads the table, and returns read accuracies and notes."""

    def read(*cells):
        table = tmp_path / "models.csv"
        lines = [f"m{n}.keras,{n},{cell}\n" for n, cell in enumerate(cells)]
        table.write_text("file,width,train_accuracy\n" + "".join(lines))
        found = read_table(table)
        return [row.train for row in found.rows], found.notes

    return read


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0.98", "0.9731", ""], 0.00005),
        (["1.0", "0.9"], 0.05),
        (["1.00", "1.00"], 0.005),
        (["9.7e-1", "1"], 0.005),
        (["1.0", "0.9658333333333333"], 5e-17),
        (["0.5", "1e-400"], 5e-18),
        (["high", "0.25"], 0.005),
        (["1", "0"], 0),
        (["1.0", "0.0"], 0),
        ([], 0),
    ],
)
def test_the_longest_cell_gives_the_rounding(cells, expected):
    assert rounding_of(cells) == pytest.approx(expected)


@pytest.mark.parametrize("one", ["1", "1.0"])
def test_one_alone_is_exact_to_one_example(column, one):
    """In a table of one row, 1 agrees with a computed accuracy of 0.999 on 1000 examples, but not with 0.998."""
    (stated,), notes = column(one)
    assert stated.agrees(0.999, 1000)
    assert not any(stated.agrees(computed, 1000) for computed in (0.998, 0.9658, 0.7025))
    assert notes == []


def test_a_short_cell_is_as_exact_as_the_others(column):
    """Pandas writes 1.0 where other rows have 16 digits. Still, 1.0 does not agree with a computed 0.9658."""
    (one, _), _ = column("1.0", "0.9316666666666666")
    assert one.agrees(0.998, 1000)
    assert not one.agrees(0.9658, 1000)


@pytest.mark.parametrize("empty", ["", "NaN", "nan", "NA"])
def test_no_number_is_no_accuracy(column, empty):
    assert column(empty, "0.98")[0][0] is None


def test_a_column_of_few_digits_is_mentioned(column):
    assert column("0.98", "0.9")[1] == []
    assert column("1.0", "0.9")[1] == [
        "train_accuracy is stated to within 0.05 only: give more digits, or leave the column out to have it computed"
    ]
