"""Tests of `pgdl measures`: the content of the library, quickly and without TensorFlow."""

import json
import re
from unittest.mock import Mock

import pytest
from in_process import Pgdl
from rich.text import Text

import baselines
import harness
from harness.cli import measure_tables
from harness.cli.measure_tables import explanation
from harness.submission.installed import InstalledMeasure
from harness.tables import SafeConsole


def test_the_list_has_a_line_per_measure_below_its_family(pgdl: Pgdl) -> None:
    ended = pgdl("measures")
    assert (ended.code, ended.err) == (0, "")
    family, found = "", {}
    heading, *lines = ended.out.splitlines()
    assert not any(line.endswith(" ") for line in (heading, *lines))
    assert heading.split() == ["measure", "meaning", "cost", "needs", "source"]
    for line in lines:
        if line.startswith(" "):
            found[line.split()[0]] = (family, line)
        elif line:
            family = line
    assert list(found) == [m.name for name in families() for m in baselines.MEASURES.values() if m.family == name]
    for name, measure in baselines.MEASURES.items():
        family, line = found[name]
        assert family == measure.family
        work = measure.work.removeprefix("none")
        assert all(part in line for part in (measure.meaning, measure.cost, work, *measure.needs, measure.source))


def families() -> list[str]:
    return list(dict.fromkeys(measure.family for measure in baselines.MEASURES.values()))


def test_families_and_costs(pgdl: Pgdl) -> None:
    def names(*options: str) -> set[str]:
        return {one["name"] for one in json.loads(pgdl("measures", "--format", "json", *options).out)}

    _, heading, *lines = pgdl("measures", "--family", "size").lines
    size = [name for name, measure in baselines.MEASURES.items() if measure.family == "size"]
    assert (heading, [line.split()[0] for line in lines]) == ("size", size)
    of = {cost: names("--cost", cost) for cost in baselines.Cost}
    assert sum(map(len, of.values())) == len(baselines.MEASURES)
    assert of["weights"] > {"num_params", "log_prod_of_spec_op", "path_norm"}
    assert of["forward"] > {"cross_entropy", "vpm", "noise_sensitivity"}
    assert of["gradients"] > {"layer_margin_q1_l0", "gradient_norm", "jacobian_norm"}
    assert of["many"] > {"pacbayes_init", "gi_rotation", "hessian_trace"}
    assert names("--cost", "cheap") == of["weights"] | of["forward"]
    assert names("--cost", "forward", "--family", "margin") < of["forward"]


def test_a_narrow_terminal_wraps_meanings_and_leaves_out_what_one_page_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = SafeConsole(force_terminal=True, no_color=True, width=90, soft_wrap=True)
    monkeypatch.setattr(measure_tables, "wide_console", lambda: console)
    measure_tables.print_measures(list(baselines.MEASURES.values()))
    heading, *lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    assert heading.split() == ["measure", "meaning", "cost"]
    assert max(map(len, lines)) <= 90
    first, last = heading.index("meaning"), heading.index("cost")
    meanings, name = dict[str, str](), ""
    for line in lines:
        name = line[:first].strip() or name
        meanings[name] = f"{meanings.get(name, '')} {line[first:last].strip()}".strip()
    assert all(meanings[name] == measure.meaning for name, measure in baselines.MEASURES.items())
    assert lines[-1] == "pgdl measures NAME shows needs, work and source of a measure."


def test_json_has_everything(pgdl: Pgdl) -> None:
    found = {one["name"]: one for one in json.loads(pgdl("measures", "--format", "json").out)}
    assert list(found) == list(baselines.MEASURES)
    size = json.loads(pgdl("measures", "--format", "json", "--family", "size").out)
    assert size == [one for one in found.values() if one["family"] == "size"]
    one = json.loads(pgdl("measures", "vc_dim", "--format", "json").out)
    assert one == found["vc_dim"]
    assert one.keys() == {
        "name", "family", "meaning", "formula", "range", "parameters", "needs", "weights", "draws", "order",
        "refused", "cost", "work", "source", "origin", "explanation",
    }  # fmt: skip
    assert one["parameters"]["image_side"] == 32
    assert (one["needs"], found["distance_from_init"]["needs"]) == ([], ["initial weights"])
    assert [found[name]["weights"] for name in ("vc_dim", "l2_norm", "hessian_trace")] == [None, "folded", "as trained"]


@pytest.mark.rest
def test_every_measure_has_a_page_that_explains_all_of_its_parameters(pgdl: Pgdl) -> None:
    """The docstring of the measure or of its file explains each parameter; no entry refers to text outside the page."""
    for name, measure in baselines.MEASURES.items():
        ended = pgdl("measures", name)
        assert (ended.code, ended.err, len(ended.lines) >= 10) == (0, "", True), name
        page = explanation(measure)
        unexplained = [one for one in measure.parameters if not re.search(rf"^    {one}: \S", page, re.MULTILINE)]
        assert not unexplained, name
        entries = page.partition("\nArgs:\n")[2]
        assert re.search(r"as above|not named here|as for all|: (as for|see) ", entries) is None, name
        if re.match("(pacbayes|sharpness)_(mag_)?(init|orig|flatness)$", name):
            symbol = "sigma" if name.startswith("pacbayes") else "alpha"
            assert re.search(f"accuracy_drop: .*\\s{symbol}\\s+is\\s+the\\s.*largest\\s+scale", page, re.DOTALL)
            assert f"{symbol}'" in page


def test_one_measure_is_explained(pgdl: Pgdl) -> None:
    lines, measure = pgdl("measures", "vc_dim").lines, baselines.MEASURES["vc_dim"]
    assert lines[0] == f"vc_dim: {measure.meaning}"
    parameters = ", ".join(f"{name}={default}" for name, default in measure.parameters.items())
    assert dict(line.split(maxsplit=1) for line in lines[2:10]) == {
        "family": "size", "formula": measure.formula, "range": "[0, inf)", "parameters": parameters, "needs": "none",
        "cost": "weights", "source": measure.source, "origin": f"pgdl-harness {harness.__version__}",
    }  # fmt: skip
    assert "height and width of the images in pixels" in "\n".join(lines)


def test_a_measure_of_another_package_has_no_forecast(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    other = InstalledMeasure("theirs", "package.module:function", "package 1.0", "", Mock())
    monkeypatch.setattr("harness.submission.installed.installed_measures", lambda: (other,))
    ended = pgdl("measures", "theirs", "--cost")
    message = "theirs: its cost is not known: expected a measure of the library, found a measure of package 1.0"
    assert (ended.code, ended.err) == (2, f"pgdl: {message}\n")
