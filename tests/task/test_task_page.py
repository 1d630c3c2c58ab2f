"""Tests of `pgdl task show --html`: one page on all tasks, in light and dark mode, without other files."""

import html
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from throwaway import make_task

from harness.plots import dark_rules

pytestmark = pytest.mark.rest


class Page(HTMLParser):
    """Ids and links of a page, and the rows of its tables."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.rows, self._cell = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" else []
        if tag == "tr":
            self.rows.append([])
        self._cell = "" if tag in ("td", "th") else self._cell

    def handle_data(self, data):
        self._cell = None if self._cell is None else self._cell + data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self._cell)
            self._cell = None


@pytest.fixture
def page(tmp_path, pgdl):
    """The page of two tasks, one of which has no reference data."""
    make_task(tmp_path)
    make_task(tmp_path, name="alone", reference=False)
    file = tmp_path / "new" / "page.html"
    assert f"Wrote {file}" in pgdl("task", "show", tmp_path, "--html", file).err
    return file.read_text()


@pytest.mark.parametrize(
    "text", [r"$\frac$", "$x$ and $", r"\(", "a\x1b[31mb", "<script>alert(1)</script>", "a\u202eb", "{{ 7 * 7 }}"]
)
def test_names_and_values_of_hyperparameters_are_text(tmp_path, pgdl, text, task):
    content = (task / "model_configs.json").read_text()
    (task / "model_configs.json").write_text(
        content.replace('"activation"', json.dumps(text)).replace('"relu"', json.dumps(f"{text} value"))
    )
    file = tmp_path / "page.html"
    ended = pgdl("task", "show", tmp_path, "--html", file)
    assert ended.code == 0, ended.err
    page = file.read_text()
    shown = "".join(one if one.isprintable() else "?" for one in text)
    assert {row[0] for row in Page(page).rows} >= {shown}
    assert f"gap by {shown} (line: mean)" in html.unescape(page)
    assert all(one.isprintable() or one in "\n\t" for one in page + ended.out + ended.err)
    assert "<script" not in page
    for plot in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(plot)
    assert html.unescape(page).count(f"{shown} value") >= 2, "in the table, and below its plot"


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
    rows = Page(page).rows
    assert ["hyperparameter", "value", "models", "min gap", "mean", "median", "max"] in rows
    assert ["(all)", "", "8", "0.0500", "0.1925", "0.1750", "0.4000"] in rows
    assert ["", "tanh", "4", "0.0500", "0.1975", "0.1700", "0.4000"] in rows
    (told,) = [cells[1] for cells in rows if cells[0] == "resolution"]
    assert told.startswith("8 networks cannot show more than p = 0.0625")


def test_the_contents_lead_to_every_task_and_nothing_else_is_needed(page):
    assert not {"<link", "<script", "<img", "<iframe", "@import", "@font-face", "src="} & {*re.split(r"[\s>(]", page)}
    assert re.findall(r"url\((?!#)", page) == []
    found, ids = Page(page), Page(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)).ids
    assert len(ids) == len(set(ids)), "outside of plots"
    assert [link for link in found.links if link.removeprefix("#") not in found.ids] == []
    assert {"#task-1", "#plots-2", "#gaps-2", "#task-2", "#top"} == set(found.links)  # the first has no reference data
    assert re.findall(r"<h2.*?>(.*)</h2>", page) == ["alone", "tiny"]


def test_a_value_that_no_model_has_is_listed_without_figures(tmp_path, pgdl):
    make_task(tmp_path, n_models=4)
    file = tmp_path / "page.html"
    assert pgdl("task", "show", tmp_path, "--html", file).code == 0
    assert ["", "tanh", "0", "-", "-", "-", "-"] in Page(file.read_text()).rows


def test_gaps_that_differ_only_by_rounding_have_a_plot(tmp_path, pgdl):
    make_task(tmp_path, gaps=[0.5, 0.5 + 2**-53] * 4)
    file = tmp_path / "page.html"
    assert pgdl("task", "show", tmp_path, "--html", file).code == 0
    assert "<figcaption>gaps</figcaption>" in file.read_text()
