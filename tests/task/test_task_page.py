"""Tests of `pgdl task show --html`: one page on all tasks, in light and dark mode, without other files."""

import html
import json
import re
from xml.etree import ElementTree

import pytest
from throwaway import make_task

from harness.plots import dark_rules

pytestmark = pytest.mark.rest


def rows_of(page):
    """Return the texts of the cells of each row of a table."""
    rows = re.findall(r"<tr\b.*?</tr>", page, re.DOTALL)
    cells = [re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[html.unescape(re.sub("<[^>]+>", "", cell)) for cell in row] for row in cells]


@pytest.fixture
def written(tmp_path, pgdl):
    """Return a function that writes the page of all tasks, and returns its text."""

    def write():
        file = tmp_path / "new" / "page.html"
        ended = pgdl("task", "show", tmp_path, "--html", file)
        assert (ended.code, f"Wrote {file}" in ended.err) == (0, True), ended
        page = file.read_text()
        assert all(one.isprintable() or one in "\n\t" for one in page + ended.out + ended.err)
        return page

    return write


@pytest.fixture
def page(tmp_path, written):
    """The page of two tasks, one of which has no reference data."""
    make_task(tmp_path)
    make_task(tmp_path, name="alone", reference=False)
    return written()


@pytest.mark.parametrize(
    "texts",
    [
        (r"$\frac$", "$x$ and $", r"\("),
        ("<script>alert(1)</script>", "a\x1b[31mb", "a\u202eb"),
        ("{{ 7 * 7 }}", "x", "y"),
    ],
)
def test_names_and_values_of_hyperparameters_are_text(written, texts, task):
    values = {"relu": f"{texts[0]} value", "tanh": f"{texts[1]} {texts[2]} value"}
    content = (task / "model_configs.json").read_text()
    for old, new in (*zip(("activation", "depth", "width"), texts, strict=True), *values.items()):
        content = content.replace(f'"{old}"', json.dumps(new))
    (task / "model_configs.json").write_text(content)
    page = written()
    names, values = ([re.sub("[\x1b\u202e]", "?", text) for text in some] for some in (texts, values.values()))
    assert {row[0] for row in rows_of(page)} >= set(names)
    for name in names:
        assert f"gap by {name} (line: mean)" in html.unescape(page)
    for value in values:
        assert html.unescape(page).count(value) >= 2, "in the table, and below its plot"
    assert "<script" not in page
    for plot in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(plot)


def test_reference_data_alone_have_none(tmp_path, pgdl):
    make_task(tmp_path, layout="full")
    err = pgdl("task", "show", tmp_path / "reference_data", "--html", tmp_path / "page.html").refusal()
    assert "nothing to write: expected a task with models, found only reference data; leave out --html" in err


def test_the_plots_and_tables_of_a_task_with_reference_data(page):
    assert page.count("<svg") == 3 + 3
    for title in ("gaps", "train and test accuracy", "gap by number of parameters", "gap by width (line: mean)"):
        assert f"<figcaption>{title}</figcaption>" in page
    used = set(re.findall(r"(?:fill|stroke): #[0-9a-f]+", "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))))
    assert used
    assert dark_rules() in page
    assert [colour for colour in used if f'[style*="{colour}"]' not in dark_rules()] == [], "each has one in dark mode"
    rows = rows_of(page)
    assert ["hyperparameter", "value", "models", "min gap", "mean", "median", "max"] in rows
    assert ["(all)", "", "8", "0.0500", "0.1925", "0.1750", "0.4000"] in rows
    assert ["", "tanh", "4", "0.0500", "0.1975", "0.1700", "0.4000"] in rows
    (told,) = [cells[1] for cells in rows if cells[0] == "resolution"]
    assert told.startswith("8 networks cannot show more than p = 0.0625")


def test_the_contents_lead_to_every_task_and_nothing_else_is_needed(page):
    assert not {"<link", "<script", "<img", "<iframe", "@import", "@font-face", "src="} & {*re.split(r"[\s>(]", page)}
    assert re.findall(r"url\((?!#)", page) == []
    ids = re.findall(r'\bid="(.*?)"', re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))
    assert len(ids) == len(set(ids)), "outside of plots"
    links = set(re.findall(r'<a\b[^>]*\bhref="(.*?)"', page))
    assert links == {"#task-1", "#plots-2", "#gaps-2", "#task-2", "#top"}  # the first has no reference data
    assert {link.removeprefix("#") for link in links} <= {*re.findall(r'\bid="(.*?)"', page)}
    assert re.findall(r"<h2.*?>(.*)</h2>", page) == ["alone", "tiny"]


def test_a_value_that_no_model_has_is_listed_without_figures(tmp_path, written):
    make_task(tmp_path, n_models=4)
    assert ["", "tanh", "0", "-", "-", "-", "-"] in rows_of(written())


def test_gaps_that_differ_only_by_rounding_have_a_plot(tmp_path, written):
    make_task(tmp_path, gaps=[0.5, 0.5 + 2**-53] * 4)
    assert "<figcaption>gaps</figcaption>" in written()
