"""`pgdl overfit --synthetic`: the paper's experiment with few repetitions."""

import csv
from pathlib import Path

import numpy as np
import pytest
from in_process import in_process

from harness.protocols.overfit.synthetic import repetition
from harness.protocols.overfit.synthetic.repetition import Setting
from harness.protocols.overfit.synthetic.report import compare
from harness.protocols.overfit.synthetic.run import STEP_LENGTHS, Experiment, number_of_parts, run_experiment
from harness.protocols.overfit.synthetic.training import RATE, train
from scoring import GaussianMargin


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("synthetic")


@pytest.fixture(autouse=True)
def _cache(cache, monkeypatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(cache))


@pytest.fixture(scope="module")
def experiment(cache) -> Experiment:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDL_CACHE", str(cache))
        return run_experiment(4)


def test_dependence_is_found_with_steps_of_10_to_50(experiment) -> None:
    strong = [at for at in experiment.outcomes[Setting.DEPENDENT] if 10 <= at.step <= 50]
    assert len(strong) > 5
    assert all(at.p_values[2].max() < 0.05 for at in strong)
    assert all(at.adversarial_estimates.mean() > at.error_rates.mean() + 0.05 for at in strong)
    for at in (experiment.at(Setting.DEPENDENT, 0.01), experiment.at(Setting.DEPENDENT, 1.0)):
        assert at.p_values[1].mean() > 0.9, "too short steps find nothing"


def test_independence_is_not_rejected(experiment) -> None:
    assert min(at.p_values[1].min() for at in experiment.outcomes[Setting.INDEPENDENT]) > 0.05
    for at in experiment.outcomes[Setting.INDEPENDENT]:
        np.testing.assert_allclose(at.adversarial_estimates, at.error_rates, atol=0.02)


def test_trainings_end_where_those_of_the_paper_do(experiment) -> None:
    """A loss of 0.25 is 10,000 times the square of half the learning rate: the penalty keeps the first weight there."""
    for one in experiment.repetitions[Setting.DEPENDENT]:
        assert (one.train_accuracy, one.loss) == (1, pytest.approx(0.25, abs=1e-3))
        assert one.risk == pytest.approx(0.5, abs=0.03)
        assert len(one.view.labels) == 1000
    for one in experiment.repetitions[Setting.INDEPENDENT]:
        assert (one.train_accuracy, one.loss) == (1, pytest.approx(0, abs=1e-6))
        assert len(one.view.labels) == 10_000


def test_the_penalty_leaves_the_first_weight_at_half_the_learning_rate() -> None:
    points, labels = GaussianMargin().sample(500, np.random.default_rng(0))
    classifier = train(points, labels, 1e4, np.random.default_rng(1))
    assert abs(classifier.weights[0]) == pytest.approx(RATE / 2, rel=1e-3)
    assert classifier.steps < 50_000, "it came to rest"


def test_rows_of_the_comparison_name_the_numbers_of_the_paper(experiment) -> None:
    rows = {(setting, name): (paper, here) for setting, name, paper, here in compare(experiment)}
    assert rows["dependent", "training loss with penalty"] == ("0.25", "0.2500")
    assert rows["dependent", "epsilon 6, N = 1: mean p-value"][0] == "0.5984"
    assert not any("N = 25" in name for _, name in rows), "there are only four repetitions"


def test_the_command_writes_tables_and_plots_and_computes_nothing_twice(
    experiment, monkeypatch, capsys, tmp_path
) -> None:
    monkeypatch.setattr(repetition, "_compute", None)
    arguments = ["overfit", "--synthetic", "--repetitions", 4, "--output", tmp_path]
    outcome = in_process(monkeypatch, capsys)(*arguments)
    assert outcome.code == 0
    assert "4 repetitions in each setting, seed 0" in outcome.out
    rows = list(csv.DictReader((tmp_path / "synthetic.csv").open()))
    assert len(rows) == 2 * len(STEP_LENGTHS) * 2
    assert {row["n_models"] for row in rows} == {"1", "2"}
    for name in ("synthetic_steps", "synthetic_histograms"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        assert "</svg>" in (tmp_path / f"{name}.svg").read_text()


def test_an_interrupted_experiment_continues(experiment, monkeypatch) -> None:
    computed, compute = [], repetition._compute

    def count(*arguments):
        computed.append(arguments)
        return compute(*arguments)

    monkeypatch.setattr(repetition, "_compute", count)
    steps = []
    longer = run_experiment(5, on_part=lambda: steps.append(1))
    assert (len(computed), len(steps)) == (2, number_of_parts(5))
    for setting in Setting:
        first, again = (one.repetitions[setting][0].view for one in (experiment, longer))
        np.testing.assert_array_equal(first.along, again.along)
