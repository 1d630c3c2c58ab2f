"""Tests of a site's pages: their content, that strangers' texts stay texts, and what the first page says of leaders."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from markupsafe import escape
from site_examples import HOSTILE, data_of, page_of, pages_of

from harness.board.leaderboard import build_board
from harness.board.verdict import verdict
from harness.outcome import Outcome
from harness.records import Evaluation
from harness.site import SiteData, charts, gather, paths_of, verify_site, write_report, write_site
from harness.site.axis import Axis
from harness.site.board import leaderboard
from harness.site.drawing import Dot, Drawing, View
from harness.task.task_notes import N_PERMUTATIONS
from scoring import compare_with_chance, explain_score
from tests.board.board_examples import GAPS, MEASURE, board_of, collect, failed, references, rows
from tests.records.evaluation_rows import request

#: The only links that leave a site: to papers, without a referrer and without a recommendation to search engines.
TO_PAPERS = re.compile(
    r'<a href="https?://[^"]+" rel="nofollow noopener noreferrer external" aria-label="[^"]+ of [^"]+">[^<]+</a>'
)


@pytest.fixture(scope="module")
def pages(data: SiteData) -> dict[str, str]:
    return pages_of(data)


def test_every_row_has_a_page_and_every_link_leads_to_a_file_of_the_site(pages: dict[str, str]) -> None:
    rows = {f"submissions/{name}.html" for name in ("winner", "path_norm", "ties", "half", "outside")}
    assert {name for name in pages if name.startswith("submissions/")} == rows
    require_links(pages)


def require_links(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        if not name.endswith(".html"):
            continue
        for link in re.findall(r'(?:href|src)="([^"#?]+)[^"]*"', TO_PAPERS.sub("", text)):
            target = (Path("/site") / Path(name).parent / link).resolve().relative_to("/site").as_posix()
            assert target in pages or target.startswith("data/"), (name, link)
        assert not re.search("https?://", TO_PAPERS.sub("", text))


def test_pages_say_what_is_so_and_nothing_else(pages: dict[str, str], tmp_path: Path) -> None:
    said = {
        "submissions/half.html": (
            "&lt;/script&gt;&lt;script&gt;document.title", "{{ 7 * 7 }}", f"No score: 1 EXCEPTION: {escape(HOSTILE)}.",
            "repair what failed (1 EXCEPTION): pgdl check with --models model_7 and the options of the run makes",
            "A dot for each model that has a value;",
        ),
        "compare.html": ("a dot for each network for which the submission has a value.",),
        "submissions/ties.html": ("8 of 8 models share their value with another", "measure&#39;s own random draws"),
        "index.html": ("own ±", "cells with more colour"),
    }  # fmt: skip
    for page, texts in said.items():
        assert [text for text in texts if text not in pages[page]] == [], page
    assert "<script>document" not in pages["submissions/half.html"]
    assert "own random draws" not in pages["submissions/winner.html"]
    assert "cells with more colour" not in site_with(tmp_path)["index.html"]


def test_equal_failures_are_shown_once_with_their_number(tmp_path: Path) -> None:
    kinds = [Outcome.EXCEPTION] * 6 + [Outcome.CRASH] * 2
    calls = [failed("mine", f"model_{n}", kind, message=f"why {kind}") for n, kind in enumerate(kinds)]
    page = pages_of(data_of(references(tmp_path), calls))["submissions/mine.html"]
    lines = "model_0 and 5 more like it: EXCEPTION, why EXCEPTION", "model_6 and 1 more like it: CRASH, why CRASH"
    assert [page.count(f"<summary>{line}</summary>") for line in lines] == [1, 1]
    assert "all are in the records" not in page


def site_with(directory: Path, **said: str) -> dict[str, str]:
    """Return the pages of a site with a submission that has this metadata."""
    records = rows("mine")
    return pages_of(data_of(references(directory), records, [request(records[0], **said)]))


def test_a_submission_says_who_made_it_and_where_it_is_described(tmp_path: Path) -> None:
    pages = site_with(tmp_path, team="The Seven", description="a margin", paper="https://example.org/a?b=c&d")
    for name, text in (("index.html", "paper"), ("submissions/mine.html", "https://example.org/a?b=c&amp;d")):
        assert "The Seven" in pages[name]
        assert "a margin" in pages[name]
        link = f'aria-label="{text} of mine">{text}</a>'
        assert [found[-len(link) :] for found in TO_PAPERS.findall(pages[name])] == [link]
    require_links(pages)


def test_what_a_submission_says_is_text(tmp_path: Path) -> None:
    texts = [HOSTILE, 'x" onmouseover="alert(1)', "javascript:alert(1)", 'https://a"><b>']
    made = {f"mine_{number}": text for number, text in enumerate(texts)}
    records = [row for name in made for row in rows(name)]
    asked = [request(*rows(name)[:1], team=text, description=text, paper=text) for name, text in made.items()]
    pages = pages_of(data_of(references(tmp_path), records, asked))
    for submission, text in made.items():
        for page in (pages["index.html"], pages[f"submissions/{submission}.html"]):
            assert escape(text) in page
            assert "<b>" not in page
            assert " onmouseover=" not in re.sub('="[^"]*"', "", re.sub(">[^<]*<", "><", page))
            assert "javascript:" not in "".join(re.findall('href="[^"]*"', page))


def test_the_page_of_a_submission_explains_its_score(pages: dict[str, str], tmp_path: Path) -> None:
    text = pages["submissions/path_norm.html"]
    (reference,) = references(tmp_path).values()
    explained = explain_score(MEASURE, GAPS, reference.grid)
    assert [name in explained.deciding for name in re.findall(r'<mark data-by="(.*?)">', text)[:2]] == [True, True]
    assert f"{100 * explained.score:.2f} of 100" in text
    assert explained.costly_pairs[0].larger_gap in text
    chance = compare_with_chance(MEASURE, GAPS, reference.grid, N_PERMUTATIONS)
    assert f"<dd>{100 * chance.level:.2f}</dd>" in text
    assert f"{chance.p_value:.4f} (adjusted" in text


def test_a_report_is_a_single_file(data: SiteData, tmp_path: Path) -> None:
    write_report(page_of(data, "half"), tmp_path / "half.html")
    text = (tmp_path / "half.html").read_text()
    assert not re.search(r"<(?:script|link)[^>]*(?:src|href)=", text)
    assert not re.search(r'<a [^>]*href="(?!#)', text)


@pytest.mark.parametrize(
    ("values", "page", "texts"),
    [
        (None, "index.html", ["<dt>submissions</dt><dd>0</dd>", "Nobody has submitted anything yet."]),
        (MEASURE[:2], "index.html", ['<td class="axis"><small>6 missing</small></td>']),
        ([1.0] * 8, "submissions/mine.html",
         ["Score 0.00 (90 % interval 0.0 to 0.0)",
          "all models have the same value, so the measure does not order them."]),
    ],
    ids=["nobody", "missing", "ties"],
)  # fmt: skip
def test_a_board_with_little_to_show(values: list[float] | None, page: str, texts: list[str], tmp_path: Path) -> None:
    shown = pages_of(data_of(references(tmp_path), [] if values is None else rows("mine", values)))[page]
    assert all(text in shown for text in texts)
    assert "wrong" not in shown


def test_names_that_differ_in_case_or_signs_have_pages_of_their_own(tmp_path: Path) -> None:
    records = [*rows("Mine"), *rows("mine"), *rows("mine 2"), *rows("..")]
    found = sorted(paths_of(leaderboard(data_of(references(tmp_path), records))))
    assert len({page.casefold() for page in found}) == 4
    assert all(re.fullmatch(r"submissions/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*\.html", page) for page in found)


@pytest.mark.parametrize("values", [[1.0] * 8, GAPS])
def test_a_task_with_two_hyperparameters_has_no_official_score(tmp_path: Path, values: list[float]) -> None:
    pages = pages_of(data_of(references(tmp_path, sizes=(4, 2)), rows("mine", values)))
    text = pages["submissions/mine.html"]
    assert "No score: no task has an official score." in text
    assert "expected at least 3 hyperparameters that vary, found axis_a, axis_b" in text
    assert "Kendall" in text
    assert "interval" not in pages["index.html"].split("<tbody>")[0]


@pytest.mark.parametrize("withheld", [("flat",), ("flat", "toy")])
def test_a_hidden_task_on_which_nobody_can_have_a_score_lowers_no_row(
    tmp_path: Path, withheld: tuple[str, ...]
) -> None:
    tasks = references(tmp_path, "flat", sizes=(4, 2)) | references(tmp_path, "toy")
    records = [*rows("best", GAPS), *rows("whole", MEASURE, [*tasks])]
    found = leaderboard(data_of(tasks, records, withheld=withheld)).rows
    assert [(row.rank, row.submission, row.complete) for row in found] == [(1, "best", True), (2, "whole", True)]


def test_failures_are_told_in_the_order_of_the_board(tmp_path: Path) -> None:
    tasks = references(tmp_path)
    outcomes = {"model_7": Outcome.CRASH, "model_1": Outcome.EXCEPTION}
    records = [failed("mine", model, outcome, message=f"of {model}") for model, outcome in outcomes.items()]
    (shown,), (computed,) = board_of(records, tasks).rows, leaderboard(data_of(tasks, records)).rows
    assert shown.reason == computed.reason
    assert list(shown.failures) == list(computed.failures)


def test_rows_of_one_name_are_told_apart_by_the_labels_of_the_board(tmp_path: Path) -> None:
    tasks, mine = references(tmp_path), rows("mine")
    others = [*rows("mine", [2 * value for value in MEASURE], run_seed=7, sandbox="none"), *rows("other", GAPS)]
    pages = pages_of(data_of(tasks, [*mine, *others]))
    assert re.findall(r">(mine[^<]*)<", pages["tasks/toy.html"]) == ["mine", "mine (seed 7, not sandboxed)"]
    collected = collect([*mine, *rows("mine", GAPS, harness_version="9.9")], tasks, everything=True)
    board = build_board(collected, tasks)
    labels = [row.label for row in leaderboard(gather(collected.shown, board, tasks, {}, {})).rows]
    assert len({*labels}) == 2
    assert labels == [row.label for row in board.rows]


@pytest.mark.parametrize("other", ["tensorflow", "jax"])
def test_the_runtime_is_a_mark_where_rows_differ(tmp_path: Path, other: str) -> None:
    records = [*rows("mine"), *rows("theirs", GAPS, runtime=other)]
    page = pages_of(data_of(references(tmp_path), records))["index.html"]
    assert ('<small class="mark">runtime ' in page) == (other == "jax")


def test_the_page_of_a_submission_has_its_own_level_of_chance(tmp_path: Path) -> None:
    """Ties lower a submission's level of chance; the first page shows the median of all rows."""
    data = data_of(references(tmp_path), [*rows("ties", [1.0] * 4 + [2.0] * 4), *rows("mine"), *rows("other", GAPS)])
    levels = {row.submission: row.chance_level for row in leaderboard(data).rows}
    assert {name: page_of(data, name)["axis"].chance for name in levels} == levels
    assert levels["ties"] < levels["mine"]


def test_equal_values_share_their_mean_rank_and_ticks_of_ranks_are_ranks(tmp_path: Path) -> None:
    tasks, values = references(tmp_path), [1e9, 2.0, -3.0, 2.0, 2.0, 7.0, 0.5, 1e9]
    (row,) = board_of(rows("mine", values), tasks).rows
    views, ranks = charts.scatter(row.tasks["toy"]).views, [7.5, 4, 1, 4, 4, 6, 2, 7.5]
    assert views["ranks"].points == list(zip([2, 5, 4, 7, 3, 6, 1, 8], ranks, strict=True))
    assert [y for _, y in views["values"].points] == values
    (row,) = board_of(rows("mine", [3.0, 1.0]), tasks).rows
    assert [text for _, text in charts.scatter(row.tasks["toy"]).view.y_ticks] == ["1", "2"]


def test_values_too_small_for_an_axis_leave_no_site_without_pages(tmp_path: Path) -> None:
    tiny = {"a": [5e-324] * 8, "b": [0.0, 5e-324] * 4, "c": [1e-322] * 8}
    pages = pages_of(data_of(references(tmp_path), [row for name in tiny for row in rows(name, tiny[name])]))
    assert all("value of the measure" in pages[f"submissions/{name}.html"] for name in tiny)


def test_gaps_that_differ_only_by_rounding_are_one_bar(tmp_path: Path) -> None:
    tasks = references(tmp_path, gaps=[0.9 - 0.8, 0.4 - 0.3] * 4)
    page = pages_of(data_of(tasks, rows("mine")))["index.html"]
    assert [page.count(f'width="9" height="{height}"') for height in ("36.0", "0.0")] == [1, 15]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_hyperparameter_whose_effect_is_missed_is_named(sign: int, tmp_path: Path) -> None:
    """Gaps follow only axis_a; the measure follows the other hyperparameters, or their opposite."""
    gaps = [0.1 + 0.2 * (number >= 4) + 0.001 * number for number in range(8)]
    records = rows("mine", [sign * float(number % 4) for number in range(8)])
    data = data_of(references(tmp_path, gaps=gaps), [*records, *rows("reversed", [-gap for gap in gaps])])
    (missed,) = page_of(data, "mine")["parts"][0]["insight"].missed
    assert (missed.name, missed.tau) == ("axis_a", 0.0)
    assert missed.share > 0.9
    assert "misses the effect of axis_a" in pages_of(data)["submissions/mine.html"]
    assert page_of(data, "reversed")["parts"][0]["insight"].missed == []


def test_the_page_on_reading_explains_every_column_of_luck(pages: dict[str, str]) -> None:
    """Each column has its own section, to whose heading other pages can link."""
    text = pages["reading.html"]
    explained = {
        "interval": "nine of ten", "own": "own ±", "groups": "thick line",
        "chance": "assigned to the networks at random",
        "p-value": "is not the probability", "front": "Pareto front",
    }  # fmt: skip
    for name, words in explained.items():
        section = text.partition(f'<h2 id="{name}">')[2].partition("<h2")[0]
        assert words in section, name


def test_the_bars_of_a_task_have_an_axis(pages: dict[str, str]) -> None:
    heading = pages["tasks/toy.html"].partition("<thead>")[2].partition("</thead>")[0]
    assert re.findall(r">(\d+)</text>", heading) == ["0", "20", "40", "60", "80", "100"]


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ([(10, 10), (50, 50), (10, 90)], {"dot_0": "start", "dot_1": "start", "dot_2": "start"}),
        ([(99, 50)], {"dot_0": "end"}),
        ([(18, 50)], {"dot_0": "start"}),
        ([(18, 0)], {"dot_0": "end"}),
        ([(50, 50), (48, 50), (52, 50)], {"dot_1": "end", "dot_2": "start"}),
    ],
    ids=["room for all", "room on one side", "no label of a tick", "a label of a tick", "no room: left out"],
)
def test_names_stand_beside_dots_with_room(places: list[tuple[float, float]], names: dict[str, str]) -> None:
    assert named(*places) == names


def test_a_ringed_dot_gets_its_name_first() -> None:
    assert [[*named((0, 50), (0, 51), ringed=ringed)] for ringed in (0, 1)] == [["dot_0"], ["dot_1"]]


def named(*places: tuple[float, float], ringed: int | None = None) -> dict[str, str]:
    """Return name -> side of the dot on which the name stands; `places` (x, y) of dots are between 0 and 100."""
    dots = [Dot("", [0], name=f"dot_{number}", is_ringed=number == ringed) for number in range(len(places))]
    view = View(Axis(0, 100), Axis(0, 100), "x", "y", places)
    return {name: side for _, _, side, name in Drawing("time", dots, {"time": view}).names}


TIES = [1.0, 2.0] * 4


def sentence(directory: Path, everything: Sequence[Evaluation], withheld: Sequence[str] = ()) -> str:
    board = board_of(everything, references(directory), withheld)
    found = verdict(board, ["page"] * len(board.rows))
    said = ["".join(words.text for words in pieces) for pieces in (found.lead, found.rest)]
    assert found.scope == (SCOPE if board.comparison and len(said[1]) > 0 and "no row has" not in said[1] else "")
    return "".join(said)


SCOPE = "This applies to these tasks, with networks trained anew; fewer than 4 tasks say nothing about others."

ANEW = " If these networks were trained anew, it would score 100.0 to 100.0 (90 % interval)."

#: Eight models are too few: one of 16 permutations within a pair of hyperparameters is always as good.
LUCK = ", maybe by chance"
CHANCE = f"{LUCK}{ANEW} Chance gives 26.5 and could explain the leading score (p = 0.0723)."
OF_TWO = f"{LUCK}{ANEW} Chance gives 26.5 and could explain the leading score (p = 0.0723, for the best of 2 rows)."


@pytest.mark.parametrize(
    ("everything", "expected"),
    [
        ([], "Nobody has submitted anything yet."),
        (rows("a", GAPS, sandbox="none"), "Nobody has a rank: all rows ran outside the sandbox."),
        (rows("a", GAPS[:7]), "Nobody has a score yet."),
        (rows("a", GAPS), f"a leads with 100.0{CHANCE} There is no other complete row to compare it with."),
        ([*rows("a", GAPS), *rows("b", GAPS)], f"a and b lead with 100.0{OF_TWO.replace(ANEW, '')}"),
        ([*rows("a", GAPS), *rows("b", [1.0] * 8), *rows("c", GAPS[:7])], f"a leads with 100.0{OF_TWO}"),
        (
            [*rows("a", MEASURE, is_baseline=True), *rows("b", TIES)],
            f"a (baseline) leads with 29.5{LUCK} If these networks were trained anew, it would score 10.1 to 59.2 "
            "(90 % interval). The best submission is b, rank 2. Chance gives 25.6 and could explain the leading score "
            "(p = 0.5262, for the best of 2 rows).",
        ),
    ],
)
def test_the_sentence_on_who_leads(tmp_path: Path, everything: Sequence[Evaluation], expected: str) -> None:
    assert sentence(tmp_path, everything) == expected


def test_rounded_scores_say_nothing_of_certainty(tmp_path: Path) -> None:
    everything = [*rows("a", GAPS), *rows("b", MEASURE)]
    expected = "a leads with 100.0 Whether luck explains the lead is withheld, since a task is hidden."
    assert sentence(tmp_path, everything, ["toy"]) == expected


def test_title_and_organiser_are_text_and_the_date_is_that_of_the_records(tmp_path: Path) -> None:
    tasks, everything = references(tmp_path / "reference"), rows("a", GAPS)
    data = data_of(tasks, everything, [request(everything[0])], title="<b>Cup", organiser="A & B")
    page = pages_of(data)["index.html"]
    assert "<title>&lt;b&gt;Cup</title>" in page
    assert "A &amp; B · newest request 2026-01-02" in page
    write_site(data, tmp_path / "site")
    assert verify_site(tmp_path / "site").differences == ()


def test_rows_that_chance_could_explain_are_grey_and_others_are_not(tmp_path: Path) -> None:
    """Eight models are too few to exclude chance, so rows are grey; being a baseline makes no row grey."""
    tasks = references(tmp_path / "few")
    records = [*rows("a", GAPS, is_baseline=True), *rows("b", TIES)]
    assert pages_of(data_of(tasks, records))["index.html"].count('faint">') == 4  # with the yardsticks
    page = pages_of(data_of(tasks, records, withheld=["toy"]))["index.html"]
    assert "faint" not in page.split("<tbody>")[1].split("</tbody>")[0]
    assert "docs/" not in page
