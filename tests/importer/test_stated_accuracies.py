"""How exactly a table states its accuracies: the longest cell of a column says it."""

import pytest

from harness.importer.stated import rounding_of
from harness.importer.table import read_table


@pytest.fixture
def column(tmp_path):
    """Return the stated accuracies of a table with these cells, and its notes."""

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
    """The table says 1, Keras 0.7025 or 0.9658."""
    (stated,), notes = column(one)
    assert stated.agrees(0.999, 1000)
    assert not any(stated.agrees(computed, 1000) for computed in (0.998, 0.9658, 0.7025))
    assert notes == []


def test_a_short_cell_is_as_exact_as_the_others(column):
    """Pandas writes 1.0 where other rows have 16 digits."""
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
