"""The tests that every executor must pass."""

import time
from collections.abc import Sequence
from pathlib import Path

from harness.errors import UserError
from harness.execution.executor import Executor
from harness.execution.order import Allowance, FinishedCall, Order
from harness.outcome import Outcome
from harness.sandbox import SandboxChoice
from harness.testing.actors import Actors, Parts

#: The sandbox of the tests: workers are threads. Executors on other machines find it by importing `harness.testing`.
STAGE = SandboxChoice(Actors.name)

#: Seconds after which a test fails because a call has not ended.
CALL_END_S = 60.0


class ExecutorContract:
    """Tests of an executor, for pytest. A subclass defines the method `executor`."""

    def executor(self, workers: int) -> Executor:
        """Return an executor of `workers` concurrent calls in the sandbox `STAGE`. The caller enters the executor."""
        raise NotImplementedError

    def make(self, workers: int, parts: Parts, orders: Sequence[Order]) -> dict[int, FinishedCall[int]]:
        """Make calls in a new executor, and return number of an order -> finished call."""
        with self.executor(workers) as executor:
            executor.prepare(["tensorflow"])
            return made(executor, parts, orders)

    def test_every_order_comes_back_once_with_its_value(self) -> None:
        """Every order comes back once, with its value; calls may end in any order."""
        parts = Parts()
        orders = [parts.order(f"returns {number}", model=f"model {number % 3}") for number in range(12)]
        done = self.make(2, parts, orders)
        assert {number: one.result.value for number, one in done.items()} == {
            order.number: float(position) for position, order in enumerate(orders)
        }
        assert {one.sandbox for one in done.values()} == {Actors.isolation}
        assert all(one.machine["kernel"] and one.machine["threads"] for one in done.values())

    def test_orders_may_be_added_while_others_are_under_way(self) -> None:
        """`wanted` is positive while the executor has too few orders, and 0 when it has enough."""
        parts = Parts()
        with self.executor(1) as executor:
            executor.prepare(["tensorflow"])
            assert executor.wanted > 0
            executor.add([parts.order("waits") for _ in range(executor.wanted + 8)], parts)
            assert executor.wanted == 0
            assert executor.next(0.05) is None

    def test_a_second_helping_is_made_as_the_first(self) -> None:
        """An executor accepts several calls of `add` in a context."""
        parts = Parts()
        with self.executor(1) as executor:
            for value in (1.0, 2.0):
                executor.prepare(["tensorflow"])
                (done,) = made(executor, parts, [parts.order(f"returns {value}")]).values()
                assert done.result.value == value

    def test_only_baselines_share_a_sandbox_and_only_on_one_model(self) -> None:
        """The submission `counts` returns how many calls its sandbox has made: more than 1 if the sandbox is shared."""
        parts = Parts()
        orders = [parts.order("counts") for _ in range(3)]
        orders += [parts.order(f"counts {number}", is_baseline=True) for number in range(3)]
        orders += [parts.order("counts", is_baseline=True, model="another")]
        orders += [parts.order("counts", is_baseline=True, repeat=1)]
        done = self.make(2, parts, orders)
        assert [done[order.number].result.value for order in orders] == [1, 1, 1, 1, 2, 3, 1, 1]

    def test_after_harm_the_others_go_on_in_another_sandbox(self) -> None:
        """After a crash, the other calls of a batch get their own outcomes."""
        parts = Parts()
        orders = [parts.order(text, is_baseline=True) for text in ("counts", "exits 3", "counts on")]
        done = self.make(1, parts, orders)
        assert [(done[order.number].result.outcome, done[order.number].result.value) for order in orders] == [
            (Outcome.OK, 1.0), (Outcome.CRASH, None), (Outcome.OK, 1.0),
        ]  # fmt: skip

    def test_whatever_a_call_does_has_an_outcome(self) -> None:
        """Every behaviour of a worker leads to an outcome and a message."""
        parts, short = Parts(), Allowance(None, 0.3, 0.0, "the time limit of 0.3 s")
        expected = {
            parts.order("raises ValueError: no"): (Outcome.EXCEPTION, "ValueError: no"),
            parts.order("claims TIMEOUT"): (Outcome.PROTOCOL, "a result with a status that a worker may not claim"),
            parts.order("claims INFRA_ERROR"): (Outcome.PROTOCOL, "a result with a status that a worker may not"),
            parts.order("claims OK"): (Outcome.PROTOCOL, "a result that is not a finite number"),
            parts.order("returns inf"): (Outcome.PROTOCOL, "a result that is not a finite number"),
            parts.order("says nonsense"): (Outcome.PROTOCOL, "a frame that is not JSON"),
            parts.order("says [1, 2]"): (Outcome.PROTOCOL, "a frame that is not a JSON object"),
            parts.order('says {"event": "ready"}'): (Outcome.PROTOCOL, "expected a frame 'result'"),
            parts.order(f"says {'x' * 5000}"): (Outcome.PROTOCOL, "a frame of over 4096 bytes"),
            parts.order("prints 3"): (Outcome.OUTPUT, "printed too much (limit 1 MiB, used "),
            parts.order("exits 3"): (Outcome.CRASH, "exited with status 3 without a result"),
            parts.order("exits 139"): (Outcome.CRASH, "was ended by signal 11"),
            parts.order("exits 137"): (
                Outcome.CRASH,
                "was ended by signal 9, by itself or from outside; if from outside, pgdl run --force",
            ),
            parts.order("waits", allowance=short): (Outcome.TIMEOUT, "exceeded the time limit of 0.3 s (used "),
            parts.order("fails to load"): (Outcome.INFRA_ERROR, "the model or data could not be loaded: no such model"),
            parts.order("does not start"): (Outcome.INFRA_ERROR, "the sandbox did not start: no stage"),
        }
        done = self.make(2, parts, list(expected))
        for order, (outcome, message) in expected.items():
            result = done[order.number].result
            assert (result.outcome, result.value) == (outcome, None)
            assert result.message.startswith(message), result.message

    def test_calls_of_one_budget_share_its_seconds(self) -> None:
        """Calls share a budget with calls of other executors; a call starts only if seconds are left."""
        parts, meaning = Parts(), "the budget"
        spent = Allowance(1, 5.0, 5.0, meaning)
        shared = [Allowance(2, 0.4, 0.0, meaning)] * 6
        with self.executor(1) as executor:
            executor.prepare(["tensorflow"])
            (none,) = made(executor, parts, [parts.order("returns 1", allowance=spent)]).values()
            done = made(executor, parts, [parts.order("waits", allowance=one) for one in shared])
        assert none.result.message == "not started: earlier calls used up the budget"
        assert {one.result.outcome for one in (none, *done.values())} == {Outcome.TIMEOUT}
        assert sum(one.result.message.startswith("exceeded") for one in done.values()) < len(done)

    def test_leaving_the_context_ends_what_runs(self, tmp_path: Path) -> None:
        """When the context is left, calls end: the submission `beats` stops writing to its file."""
        parts, pulse = Parts(), tmp_path / "pulse"
        with self.executor(2) as executor:
            executor.prepare(["tensorflow"])
            executor.add([parts.order(f"beats {pulse}")], parts)
            until = time.monotonic() + CALL_END_S
            while not pulse.exists():
                assert time.monotonic() < until, "no call has begun"
                assert executor.next(0.05) is None
            executor.add([parts.order("waits") for _ in range(5)], parts)
        beats = pulse.stat().st_size
        time.sleep(0.1)
        assert pulse.stat().st_size == beats

    def test_inputs_that_cannot_be_written_are_an_error_of_the_run(self) -> None:
        """If the inputs of a call cannot be written, the run ends with an error; the call has no outcome."""
        parts = Parts(missing="changed")
        try:
            self.make(1, parts, [parts.order("returns 1", model="changed")])
        except UserError as error:
            assert "changed since the task was read" in str(error)  # noqa: PT017 - pytest is not needed here
        else:
            raise AssertionError("no error was raised")


def made(executor: Executor, parts: Parts, orders: Sequence[Order]) -> dict[int, FinishedCall[int]]:
    """Make calls in an executor, and return number of an order -> finished call."""
    executor.add(orders, parts)
    done: dict[int, FinishedCall[int]] = {}
    until = time.monotonic() + CALL_END_S
    while len(done) < len(orders):
        assert time.monotonic() < until, f"{len(orders) - len(done)} calls did not end"
        returned = executor.next(1.0)
        if returned is not None:
            assert returned.call not in done, "returned twice"
            done[returned.call] = returned
    assert executor.next(0.05) is None, "more was returned than ordered"
    return done
