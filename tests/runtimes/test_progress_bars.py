"""A model draws progress bars only if a submission asks for them: they would push its own output out of the record."""

from each_runtime import each_of, run


@each_of("tensorflow", "keras2")
def test_only_a_bar_that_is_asked_for_is_drawn(name: str) -> None:
    unasked, asked = run(name, "bars").split("---\n")
    assert unasked == ""
    assert "1/1" in asked
