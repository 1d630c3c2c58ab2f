"""The order of a board is total, and what has no score is never above what has one."""

import math
from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import given

from scoring import Entry, rank

scores = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, 20.0, 50.0, 50.0, 100.0]))
entries = st.builds(Entry, st.text("abc", max_size=3), scores, complete=st.booleans(), eligible=st.booleans())
boards = st.lists(entries, max_size=8, unique_by=lambda entry: entry.name)


def score_of(entry: Entry) -> float:
    return -math.inf if entry.score is None or not math.isfinite(entry.score) else entry.score


def beats(first: Entry, second: Entry) -> bool:
    """The rule in words, for entries that may be ranked."""
    if -math.inf in (score_of(first), score_of(second)) or first.complete == second.complete:
        return score_of(first) > score_of(second)
    return first.complete


def test_a_board() -> None:
    board = [
        Entry("unsafe", 99.0, complete=True, eligible=False),
        Entry("nothing", None, complete=False),
        Entry("partial", 80.0, complete=False),
        Entry("zero", 0.0, complete=True),
        Entry("second", 20.0, complete=True),
        Entry("also second", 20.0, complete=True),
        Entry("best", 30.0, complete=True),
        Entry("broken", float("nan"), complete=True),
    ]
    assert [(ranked.entry.name, ranked.rank) for ranked in rank(board)] == [
        ("best", 1),
        ("also second", 2),
        ("second", 2),
        ("zero", 4),
        ("partial", 5),
        ("broken", 6),
        ("nothing", 6),
        ("unsafe", None),
    ]


@given(boards)
def test_a_rank_is_one_more_than_the_number_of_better_entries(board: list[Entry]) -> None:
    eligible = [entry for entry in board if entry.eligible]
    for ranked in rank(board):
        if ranked.entry.eligible:
            assert ranked.rank == 1 + sum(beats(other, ranked.entry) for other in eligible)
        else:
            assert ranked.rank is None


@given(boards, st.data())
def test_every_entry_appears_once_and_in_the_same_place_however_the_board_is_given(
    board: list[Entry], data: st.DataObject
) -> None:
    ordered = rank(board)
    assert sorted(ranked.entry.name for ranked in ordered) == sorted(entry.name for entry in board)
    assert rank(data.draw(st.permutations(board))) == ordered


@given(boards)
def test_what_may_not_be_ranked_comes_last_and_the_rest_in_order(board: list[Entry]) -> None:
    ordered = rank(board)
    for above, below in pairwise(ordered):
        assert above.entry.eligible or not below.entry.eligible
        assert above.rank is None or below.rank is None or above.rank <= below.rank


@given(boards, st.data())
def test_names_of_submissions_do_not_change_ranks(board: list[Entry], data: st.DataObject) -> None:
    names = data.draw(st.permutations([entry.name for entry in board]))
    renamed = [
        Entry(name, entry.score, entry.complete, entry.eligible) for name, entry in zip(names, board, strict=True)
    ]
    new_name = dict(zip((entry.name for entry in board), names, strict=True))
    ranks = {ranked.entry.name: ranked.rank for ranked in rank(renamed)}
    assert {new_name[ranked.entry.name]: ranked.rank for ranked in rank(board)} == ranks
