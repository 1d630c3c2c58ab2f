"""The score as the competition's paper prints it: reference values, closed form, invariances."""

from collections import Counter
from itertools import combinations, permutations, product
from math import log2

import hypothesis.strategies as st
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, task, tasks, toy

from scoring import Grid, ScoreUndefined, Ties, printed_score


def binary_entropy(q: float) -> float:
    return -sum(p * log2(p) for p in (q, 1 - q) if p)


def test_the_values_of_the_toy_grid() -> None:
    result = printed_score(*toy().arrays)
    assert result.subsets == pytest.approx(
        {
            (): 0.0248809,
            ("a",): 0.3140247,
            ("b",): 0.0817042,
            ("c",): 0.1895135,
            ("a", "b"): 1.0,
            ("a", "c"): 1.0,
            ("b", "c"): 1.0,
        },
        rel=0,
        abs=1e-7,
    )
    assert result.score == result.subsets[()]


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
            bits.append(1 - binary_entropy(concordant / len(pairs)))
        assert value == pytest.approx(sum(bits) / len(bits), rel=0, abs=1e-12)
    assert result.score == min(result.subsets.values())


@given(tasks())
def test_a_measure_and_its_negative_score_the_same(t: Task) -> None:
    measure, gap, grid = t.arrays
    negative = printed_score([-m for m in measure], gap, grid)
    assert negative.subsets == pytest.approx(printed_score(measure, gap, grid).subsets, rel=0, abs=1e-12)


@given(tasks(), st.sampled_from(["drop", "minus"]), st.data())
def test_neither_order_nor_scale_matters(t: Task, ties: Ties, data: st.DataObject) -> None:
    models = data.draw(st.permutations(list(t.current)))
    measure, gap, grid = t.with_models_in_order(models).arrays
    rescaled = printed_score([m**3 + 5 for m in measure], gap, grid, ties=ties)
    assert rescaled == printed_score(*t.arrays, ties=ties)


@given(tasks(), st.sampled_from(["drop", "minus"]), st.integers(0, 4))
def test_the_score_lies_between_0_and_1(t: Task, ties: Ties, max_conditioned: int) -> None:
    result = printed_score(*t.arrays, max_conditioned=max_conditioned, ties=ties)
    assert all(0 <= value <= 1 + 1e-12 for value in result.subsets.values())


@given(tasks(distinct=True))
def test_without_ties_both_treatments_agree(t: Task) -> None:
    assert printed_score(*t.arrays, ties="minus") == printed_score(*t.arrays, ties="drop")


def test_ties_counted_as_minus() -> None:
    """One group of three models, gaps 0, 1, 2, measure 0, 0, 1: by hand."""
    t = task([0.0, 1.0, 2.0], [0.0, 0.0, 1.0], a=3)
    # Of six ordered pairs: 2 (+, +), 1 (+, -), 3 (-, -).
    table = {(0, 0): 2 / 6, (0, 1): 1 / 6, (1, 1): 3 / 6}
    p_gap, p_measure = (3 / 6, 3 / 6), (2 / 6, 4 / 6)
    bits = sum(p * log2(p / (p_gap[r] * p_measure[c])) for (r, c), p in table.items())
    assert printed_score(*t.arrays, ties="minus").score == pytest.approx(bits, abs=1e-12)
    assert printed_score(*t.arrays, ties="drop").score == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("ties", ["drop", "minus"])
def test_no_countable_pair_scores_0(ties: Ties) -> None:
    assert printed_score([7.0] * 8, TOY_GAP, toy().grid, ties=ties).score == 0
    assert printed_score(TOY_MEASURE, [0.1] * 8, toy().grid, ties=ties).score == 0


def test_which_sets_are_evaluated() -> None:
    arrays = toy().arrays
    assert set(printed_score(*arrays, max_conditioned=0).subsets) == {()}
    assert set(printed_score(*arrays, max_conditioned=1).subsets) == {(), ("a",), ("b",), ("c",)}
    # All three together would leave one model per group, so no pairs.
    assert printed_score(*arrays, max_conditioned=3) == printed_score(*arrays, max_conditioned=2)


def test_what_has_no_score() -> None:
    single = Grid.from_hyperparameters({"a": [0]}, {"m": {"a": 0}})
    with pytest.raises(ScoreUndefined, match="expected at least 2 models, found 1"):
        printed_score([1.0], [1.0], single)
    with pytest.raises(ValueError, match="max_conditioned: expected 0 or more, found -1"):
        printed_score(*toy().arrays, max_conditioned=-1)


def test_groups_of_two_say_nothing() -> None:
    """Documented degeneracy: a pair and its mirror image determine each other, whatever the measure."""
    for signs in product((-1.0, 1.0), repeat=2):
        t = task([0.1, 0.2, 0.3, 0.4], [0.0, signs[0], 5.0, 5.0 + signs[1]], a=2, b=2)
        assert printed_score(*t.arrays).subsets["a",] == pytest.approx(1.0, abs=1e-12)


def test_ties_counted_as_minus_pair_by_pair() -> None:
    """Given nothing, over all ordered pairs of models: which has the larger value tells which has the larger gap."""
    gap, measure = [0.1, 0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.5], [1.0, 1.0, 3.0, 3.0, 2.0, 1.0, 4.0, 4.0]
    pairs = [(gap[i] > gap[j], measure[i] > measure[j]) for i, j in permutations(range(8), 2)]
    shares = [{key: count / 56 for key, count in Counter(of).items()} for of in (pairs, *zip(*pairs, strict=True))]
    joint, of_gap, of_measure = shares
    information = sum(p * log2(p / (of_gap[g] * of_measure[m])) for (g, m), p in joint.items())
    entropy = -sum(p * log2(p) for p in of_gap.values())
    found = printed_score(measure, gap, toy().grid, ties="minus")
    assert found.subsets[()] == pytest.approx(information / entropy)
