"""The work of a measure is text that a forecast can read."""

import pytest

import baselines
from baselines.core.work import Passes, Sizes, passes_of

SIZES = Sizes(kappa=10, d=8, m=50_000)


@pytest.mark.parametrize(
    ("work", "n_samples", "passes"),
    [
        ("none", None, (0, 0)),
        ("SVD at every frequency", None, (0, 0)),
        ("SVD and 1 F", 10_000, (10_000, 0)),
        ("3 F", None, (150_000, 0)),
        ("1 F", 100_000, (50_000, 0)),
        ("1 F of 450 x kappa mixtures, and 1 F of 1200 examples up to a layer", None, (5_700, 0)),
        ("1 F of max(m / 10, 2048) examples", None, (5_000, 0)),
        ("8 F of min(m, 12,864) examples", None, (102_912, 0)),
        ("1 B + min(kappa, 10) B", 2048, (0, 22_528)),
        ("min(kappa, 20) B; not piecewise linear: 20 x 3 B", 2048, (0, 20_480)),
        ("25 x 3 B", 2048, (0, 153_600)),
        ("2 F, and 2.75 x d B of 256 examples", 10_000, (20_000, 5_632)),
        ("about 5 F, up to 17", 10_000, (50_000, 0)),
        ("1 F, and B of the layers behind it alone, kappa times", 2048, (2_048, 0)),
    ],
)
def test_passes_that_are_read_from_a_text(work, n_samples, passes):
    assert passes_of(work, n_samples, SIZES) == Passes(*passes)


@pytest.mark.parametrize("measure", baselines.MEASURES.values(), ids=lambda measure: measure.name)
def test_every_measure_says_its_passes(measure):
    forward, backward = measure.passes(SIZES)
    if measure.cost == "weights":
        assert (forward, backward) == (0, 0)
        return
    assert forward + backward > 0
    assert backward == 0 or baselines.Need.GRADIENTS in measure.needs
