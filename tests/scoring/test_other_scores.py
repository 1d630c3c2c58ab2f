"""Tests of the printed score, Kendall's coefficients and the sign-error: reference values and invariances."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations, product
from math import log2
from statistics import mean

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.stats import kendalltau
from scoring_examples import FEW, TOY_GAP, TOY_MEASURE, Task, task, tasks, toy

from scoring import Grid, ScoreUndefined, Ties, granulated_kendall, kendall_tau, printed_score, sign_errors
from scoring.sign_error import order_certainty


def test_the_values_of_the_toy_grid() -> None:
    result = printed_score(*toy().arrays)
    single = {(): 0.0248809, ("a",): 0.3140247, ("b",): 0.0817042, ("c",): 0.1895135}
    pairs = dict.fromkeys(combinations("abc", 2), 1.0)
    assert result.subsets == pytest.approx(single | pairs, rel=0, abs=1e-7)
    assert result.score == result.subsets[()]
    for measure, gap in (([7.0] * 8, TOY_GAP), (TOY_MEASURE, [0.1] * 8)):
        assert printed_score(measure, gap, toy().grid).score == 0, "no pair counts"
        assert printed_score(measure, gap, toy().grid, ties="minus").score == 0


@FEW
@given(tasks(distinct=True))
def test_closed_form_without_ties(t: Task) -> None:
    """Each group gives 1 - H2(q) bits, where q is its fraction of concordant pairs."""
    result = printed_score(*t.arrays)
    for names, value in result.subsets.items():
        groups: dict[tuple[int, ...], list[str]] = {}
        for model, cell in t.current.items():
            groups.setdefault(tuple(cell[name] for name in names), []).append(model)
        bits = []
        for members in groups.values():
            pairs = list(combinations(members, 2))
            concordant = sum((t.gap[i] > t.gap[j]) == (t.measure[i] > t.measure[j]) for i, j in pairs)
            q = concordant / len(pairs)
            bits.append(1 + sum(p * log2(p) for p in (q, 1 - q) if p))
        assert value == pytest.approx(sum(bits) / len(bits), rel=0, abs=1e-12)
    assert result.score == min(result.subsets.values())
    assert printed_score(*t.arrays, ties="minus") == result


@FEW
@given(tasks(), st.sampled_from(["drop", "minus"]), st.data())
def test_neither_order_nor_scale_nor_sign_matters(t: Task, ties: Ties, data: st.DataObject) -> None:
    models = data.draw(st.permutations(list(t.current)))
    measure, gap, grid = t.with_models_in_order(models).arrays
    rescaled = printed_score([m**3 + 5 for m in measure], gap, grid, ties=ties)
    assert rescaled == printed_score(*t.arrays, ties=ties)
    negative, given = (printed_score(sign * np.array(measure), gap, grid).subsets for sign in (-1, 1))
    assert negative == pytest.approx(given, rel=0, abs=1e-12)


def test_which_sets_are_evaluated_and_groups_of_two_say_nothing() -> None:
    arrays = toy().arrays
    assert set(printed_score(*arrays, max_conditioned=0).subsets) == {()}
    assert set(printed_score(*arrays, max_conditioned=1).subsets) == {(), ("a",), ("b",), ("c",)}
    # All three together would leave one model per group, so no pairs.
    assert printed_score(*arrays, max_conditioned=3) == printed_score(*arrays, max_conditioned=2)
    # Documented degeneracy: for every measure, a pair and its mirror image determine each other.
    for signs in product((-1.0, 1.0), repeat=2):
        t = task([0.1, 0.2, 0.3, 0.4], [0.0, signs[0], 5.0, 5.0 + signs[1]], a=2, b=2)
        assert printed_score(*t.arrays).subsets["a",] == pytest.approx(1.0, abs=1e-12)


def test_ties_counted_as_minus_pair_by_pair() -> None:
    """The expected value conditions on nothing and counts all ordered pairs of models."""
    gap, measure = [0.1, 0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.5], [1.0, 1.0, 3.0, 3.0, 2.0, 1.0, 4.0, 4.0]
    pairs = [(gap[i] > gap[j], measure[i] > measure[j]) for i, j in permutations(range(8), 2)]
    shares = [{key: count / 56 for key, count in Counter(of).items()} for of in (pairs, *zip(*pairs, strict=True))]
    joint, of_gap, of_measure = shares
    information = sum(p * log2(p / (of_gap[g] * of_measure[m])) for (g, m), p in joint.items())
    entropy = -sum(p * log2(p) for p in of_gap.values())
    found = printed_score(measure, gap, toy().grid, ties="minus")
    assert found.subsets[()] == pytest.approx(information / entropy)


def test_kendall_is_that_of_scipy_but_for_ties_and_huge_numbers() -> None:
    measure, gap = np.random.default_rng(0).normal(size=(2, 24))
    assert kendall_tau(measure, gap) == pytest.approx(kendalltau(measure, gap).statistic, abs=1e-12)
    # Pairs (0,1), (0,2), (1,2): concordant, concordant, tied.
    assert kendall_tau([0.0, 1.0, 1.0], [0.0, 1.0, 2.0]) == pytest.approx(2 / 3)
    assert kendall_tau([1.0, 1.0, 1.0], [0.0, 1.0, 2.0]) == 0
    assert kendall_tau([-1.7e308, 1.7e308], [0.0, 1.0]) == 1


def test_granulated_by_hand_with_and_without_empty_cells() -> None:
    t = task([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 3.0, 2.0, 9.0, 8.0, 7.0], a=2, b=3)
    result = granulated_kendall(*t.arrays)
    # a: three pairs (1,4), (2,5), (3,6), all in order. b: (1,3,2) has tau 1/3, (9,8,7) has tau -1.
    assert result.psi == pytest.approx({"a": 1.0, "b": (1 / 3 - 1) / 2})
    assert result.score == pytest.approx((1 + (1 / 3 - 1) / 2) / 2)
    # Without (1, 2): along a, groups {0, 3} and {1, 4}, both concordant; along b, {0, 1, 2} and {3, 4}.
    whole = task([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 2.0, 1.0, 3.0, 4.0, 5.0], a=2, b=3)
    rest = whole.with_models_in_order([f"model_{number}" for number in range(5)])
    assert not rest.grid.is_complete
    result = granulated_kendall(*rest.arrays)
    assert result.psi == pytest.approx({"a": 1.0, "b": (1 / 3 + 1) / 2})
    assert result.score == pytest.approx((1 + 2 / 3) / 2)


@FEW
@given(tasks())
def test_range_sign_and_scale(t: Task) -> None:
    measure, gap, grid = t.arrays
    result = granulated_kendall(measure, gap, grid)
    assert set(result.psi) == set(grid.varying)  # a hyperparameter with one value has no psi
    assert -1 <= result.score <= 1
    assert -1 <= kendall_tau(measure, gap) <= 1
    assert granulated_kendall([m**3 + 5 for m in measure], gap, grid) == result
    assert granulated_kendall([-m for m in measure], gap, grid).score == pytest.approx(-result.score)


@FEW
@given(tasks())
def test_the_mean_over_groups_of_equal_size_is_the_mean_over_pairs(t: Task) -> None:
    """The vectorised definition for complete grids takes the mean over pairs."""
    measure, gap, grid = t.arrays
    for name, psi in granulated_kendall(measure, gap, grid).psi.items():
        others = [other for other in grid.names if other != name]
        groups = np.argsort(grid.group_numbers(others), kind="stable").reshape(-1, len(grid.values[name]))
        taus = [kendall_tau(np.array(measure)[row], np.array(gap)[row]) for row in groups]
        assert psi == pytest.approx(np.mean(taus))


def literal_errors(t: Task) -> dict[str, list[float]]:
    """Return hyperparameter -> error of each pair of models that differ in this hyperparameter only."""
    errors: dict[str, list[float]] = {}
    for i, j in combinations(t.current, 2):
        different = [name for name in t.grid.names if t.current[i][name] != t.current[j][name]]
        if len(different) == 1:
            sign = np.sign(t.measure[i] - t.measure[j]) * np.sign(t.gap[i] - t.gap[j])
            errors.setdefault(different[0], []).append((1 - sign) / 2)
    return errors


@FEW
@given(tasks(), st.booleans())
def test_equal_to_loops_over_pairs(t: Task, holed: bool) -> None:
    t = t.with_models_in_order(list(t.current)[:-1]) if holed else t
    expected = literal_errors(t)
    every = [error for errors in expected.values() for error in errors]
    found = sign_errors(*t.arrays)
    assert {name: summary.mean for name, summary in found.varied.items()} == pytest.approx(
        {name: mean(errors) for name, errors in expected.items()}
    )
    assert found.overall.mean == pytest.approx(mean(every))
    assert found.overall.percentile_90 == pytest.approx(np.quantile(every, 0.9))
    assert found.overall.robust == max(every)
    assert (found.overall.n_environments, found.n_discarded) == (len(every), 0)


def test_pairs_that_test_sets_cannot_order_are_discarded() -> None:
    # 10,000 images: one half is reached at a difference of 0.0196 (exp(-5000 d^2) = (1 - sqrt(1/2)) / 2).
    assert order_certainty(0.0196, 10_000) == pytest.approx(0.5, abs=2e-3)
    assert (order_certainty(0.0, 10_000), order_certainty(1.0, 10_000)) == (0, 1)
    # Along a: 0.10 and 0.11 are one within noise, 0.20 and 0.30 are not.
    t = task([0.10, 0.20, 0.11, 0.30], [1.0, 2.0, 0.0, 1.0], a=2, b=2)
    found = sign_errors(*t.arrays, test_images=10_000)
    assert (found.varied["a"].n_environments, found.varied["a"].mean) == (1, 1)
    assert (found.varied["b"].n_environments, found.varied["b"].mean) == (2, 0)
    assert found.n_discarded == 1
    with pytest.raises(ScoreUndefined, match="expected pairs that differ in one hyperparameter, found 4 too noisy"):
        sign_errors(*t.arrays, test_images=10)


def test_pairs_of_several_seeds_are_one_environment_if_they_are_enough() -> None:
    gap = [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2]
    measure = [0.0, 0.0, 0.0, 3.0, 1.0, 1.0, 1.0, 2.0]  # of 16 pairs the 4 of one model are wrong
    t = task(gap, measure, a=2, seed=4)
    found = sign_errors(*t.arrays, seed="seed")
    assert found.overall.n_environments == 1
    assert found.overall.robust == pytest.approx(4 / 16)
    assert set(found.varied) == {"a"}
    # Surer pairs weigh more: the tenth gap of the wrong model is nearer to the others.
    near = sign_errors(measure, [0.1, 0.1, 0.1, 0.17, 0.2, 0.2, 0.2, 0.2], t.grid, test_images=10_000, seed="seed")
    assert near.overall.mean < 4 / 16
    t = task(TOY_GAP, TOY_GAP, a=2, b=2, seed=2)  # 4 pairs in each environment, 12 are wanted
    with pytest.raises(ScoreUndefined, match="found 4 too noisy"):
        sign_errors(*t.arrays, seed="seed")


SINGLE = task([1.0], [1.0], a=1)
LONELY = Grid.from_hyperparameters({"a": [0, 1], "b": [0, 1]}, {"m": {"a": 0, "b": 0}, "n": {"a": 1, "b": 1}})


@pytest.mark.parametrize(
    ("score", "error", "message"),
    [
        (lambda: printed_score(*SINGLE.arrays), ScoreUndefined, "at least 2 models, found 1"),
        (lambda: kendall_tau([1.0], [1.0]), ScoreUndefined, "at least 2 models, found 1"),
        (lambda: granulated_kendall(*SINGLE.arrays), ScoreUndefined, "differ in one hyperparameter only, found n"),
        (lambda: sign_errors([1.0, 2.0], [1.0, 2.0], LONELY), ScoreUndefined, "found 0 too noisy"),
        (lambda: printed_score(*toy().arrays, max_conditioned=-1), ValueError, "max_conditioned: expected 0 or more"),
        (lambda: sign_errors(*toy().arrays, test_images=0), ValueError, "test_images: expected 1 or more, found 0"),
        (lambda: sign_errors(*toy().arrays, seed="d"), ValueError, "seed: expected one of a, b, c, found 'd'"),
    ],
)
def test_models_that_cannot_be_compared_have_no_score_and_wrong_options_are_refused(
    score: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        score()
