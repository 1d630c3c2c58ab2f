"""Measures have the values of the same ones of peers, and take no more processor time.

    PGDL_PEERS=PYTHON .venv/bin/python -m pytest tests/benchmarks/test_peers.py -o addopts= -s

PYTHON is the interpreter of an environment with what `peers/theirs.py` imports. Each library runs in a process of its
own with one thread, on equal weights and data, and both take turns. A first call of each is not timed.
"""

import os
import sys

import pytest

from tests.benchmarks.peers.answering import Asked

#: Calls of each that are timed; the least disturbed counts.
CALLS = 3

#: A larger ratio is a failure. A busy machine may cost that much.
SLACK = 1.3

NETWORKS = ("118,498", "5,961,408")

#: Peer's name and measure -> examples, and how far values may be apart, in parts of them.
PAIRS = {
    ("BackPACK", "fisher_trace"): (2048, 1e-4),
    ("BackPACK", "gsnr"): (2048, 1e-4),
    ("BackPACK", "hessian_trace"): (256, 1e-4),
    ("PyHessian", "hessian_trace"): (256, 0.2),
    ("curvlinops", "hessian_top_eigenvalue"): (256, 1e-3),
    ("PyHessian", "hessian_top_eigenvalue"): (256, 1e-2),
    ("captum", "input_jacobian_norm"): (512, 1e-4),
    ("foolbox", "deepfool_margin"): (64, 1e-2),
    ("weightwatcher", "alpha"): (0, 1e-4),
    ("formula", "adaptive_sharpness_avg"): (256, 0.3),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    if not (python := os.environ.get("PGDL_PEERS")):
        pytest.skip("PGDL_PEERS does not name the Python of an environment with the peers")
    directory = tmp_path_factory.mktemp("peers")
    ours, theirs = (
        Asked(who, f"tests.benchmarks.peers.{name}", directory)
        for who, name in ((sys.executable, "ours"), (python, "theirs"))
    )
    print(theirs("versions")[0])
    yield ours, theirs
    ours.end()
    theirs.end()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_measure_takes_no_longer_than_that_of_a_peer(libraries, network, pair, capsys):
    ours, theirs = libraries
    peer, measure = pair
    n_samples, apart = PAIRS[pair]
    ours("write", network, n_samples)
    calls = [
        (ours("compute", network, measure, n_samples), theirs("compute", network, f"{peer} {measure}", n_samples))
        for _ in range(1 + CALLS)
    ]
    value, expected = calls[-1][0][0], calls[-1][1][0]
    seconds, floor = (min(call[side][1] for call in calls[1:]) for side in (0, 1))
    with capsys.disabled():
        print(f"\n{network:10} {peer:13} {measure:23} {value:12.6g} {expected:12.6g}", end=" ")
        print(f"{seconds:7.3f} s {floor:7.3f} s {seconds / floor:5.2f}", end=" ")
    assert value == pytest.approx(expected, rel=apart)
    assert seconds <= SLACK * floor
