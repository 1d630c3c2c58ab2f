"""Tests of the distribution of calls over the machines of a cluster."""

import hypothesis.strategies as st
from hypothesis import given

from harness.execution.cluster.member import DEPTH, EXCHANGE, ClusterMember
from harness.execution.cluster.messages import ReadyMachine
from harness.execution.cluster.queue import BATCH_S, Queue
from harness.execution.order import Allowance, Order
from harness.testing import Parts

PARTS = Parts()


def member(name: str, workers: int = 1) -> ClusterMember:
    ready = ReadyMachine(name, workers, 100, "bubblewrap", True, frozenset(), {}, (), "")
    return ClusterMember(name, name, None, step=EXCHANGE, ready=ready)


def order(model: str = "model", budget: int | None = None, text: str = "returns 1") -> Order:
    return PARTS.order(text, model=model, allowance=Allowance(budget, 60.0, 0.0, ""))


def test_a_machine_is_given_what_it_has_the_inputs_of() -> None:
    queue, machine = Queue(), member("one")
    batches = [(order("a"),), (order("b"),), (order("a"),)]
    queue.add(batches)
    machine.held |= {"data", "b"}
    assert queue.take(machine) == batches[1]
    assert queue.take(machine) == batches[0], "otherwise the first one that waits"


def test_calls_of_one_budget_go_to_one_machine_until_it_is_lost() -> None:
    queue, one, two = Queue(), member("one"), member("two")
    first, second, other = order(budget=1), order(budget=1), order(budget=2)
    queue.add([(first,), (second,), (other,)])
    assert queue.take(one) == (first,)
    assert queue.take(two) == (other,)
    assert queue.take(two) is None
    queue.put_back([(first,)], {1: 7.0}, one)
    assert queue.take(two) == (first,)
    assert queue.take(one) is None
    assert queue.current(second).allowance.spent_s == 7.0
    assert queue.current(other).allowance.spent_s == 0.0


def test_a_batch_is_shared_out_where_its_budgets_are_at_home() -> None:
    """A machine makes all calls of a time budget: a batch with budgets of two machines must be divided."""
    queue, one, two = Queue(), member("one"), member("two")
    mine, theirs = order(budget=1), order(budget=2)
    queue.add([(mine,), (theirs,)])
    queue.take(one)
    queue.take(two)
    both = order(budget=1), order(budget=2), order(budget=3)
    queue.add([both])
    assert queue.take(two) == both[1:]
    assert queue.take(one) == both[:1]
    assert queue.take(one) is queue.take(two) is None


def test_a_batch_has_about_ten_seconds_of_forecast_work() -> None:
    queue = Queue()
    slow, quick = order(text="slow"), [order(text="quick") for _ in range(50)]
    queue.note(slow, BATCH_S + 1)
    queue.note(quick[0], 0.01)
    queue.add([(slow, *quick)])
    assert queue.take(member("one")) == (slow,)
    assert queue.take(member("two")) == tuple(quick)


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1, max_size=4), max_size=30),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_every_call_is_given_out_once_and_no_machine_waits_in_vain(budgets, lanes, random) -> None:  # type: ignore[no-untyped-def]
    queue, members = Queue(), [member(f"m{number}", workers) for number, workers in enumerate(lanes)]
    seen: list[tuple[str, Order]] = []
    batches = [tuple(order(budget=budget) for budget in batch) for batch in budgets]
    assert queue.wanted(members) == DEPTH * sum(lanes)
    queue.add(batches)
    for _ in range(10 * len(batches) + 10):
        one = random.choice(members)
        if one.room and (batch := queue.take(one)) is not None:
            one.give(batch)
            seen += [(one.node, made) for made in batch]
        elif random.random() < 0.5:
            one.batches = one.batches[1:]  # its calls have ended
    for one in members * (len(batches) + 1):
        while (batch := queue.take(one)) is not None:
            seen += [(one.node, made) for made in batch]
    assert sorted(made.number for _, made in seen) == sorted(made.number for batch in batches for made in batch)
    homes = {(made.allowance.budget, node) for node, made in seen if made.allowance.budget is not None}
    assert len(homes) == len({budget for budget, _ in homes}), "one machine makes all calls of a budget"


def test_seconds_spent_elsewhere_are_those_of_the_newest_order() -> None:
    """A newer order may be sent first; then an older order must not lower the seconds that the budget has used."""
    queue, machine = Queue(), member("one")
    older, newer = (
        PARTS.order("x", model=name, allowance=Allowance(1, 60.0, spent_s, ""))
        for name, spent_s in (("a", 0.0), ("b", 40.0))
    )
    queue.add([(older,), (newer,)])
    machine.held |= {"data", "b"}
    sent = [queue.current(order).allowance.spent_s for _ in range(2) for order in queue.take(machine) or ()]
    assert sent == [40.0, 40.0]
