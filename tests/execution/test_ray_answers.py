"""Tests of errors of Ray's connection: one line with a remedy."""

import pytest

from harness.execution.executors.ray import _explained

#: What Ray says where a cluster has another Python; a client of Ray 2.52 says nothing at all to a cluster of 2.60.
MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.60.0
    Python: 3.11.7
This process on node 192.0.2.2 was started with:
    Ray: 2.60.0
    Python: 3.12.1
"""


@pytest.mark.parametrize(
    ("error", "address", "expected"),
    [
        (RuntimeError(MISMATCH), "h:1", "another version of Ray or Python: Version mismatch: The cluster was started"),
        (ConnectionError(), "h:1", "the Ray cluster at h:1 does not let this command in; set RAY_AUTH_MODE=token if"),
        (ConnectionError(), "auto", "the Ray cluster at auto does not let this command in; set RAY_AUTH_MODE=token if"),
        (RuntimeError("Failed to connect to Ray cluster."), "h:1", "the Ray cluster at h:1 does not let this command"),
        (ConnectionError("Could not find any running Ray instance."), "auto", "no Ray cluster on this machine; start"),
        (ValueError("odd\nthings"), "h:1", "no connection to the Ray cluster (h:1): odd things; start one with"),
    ],
    ids=["another Python", "another Ray", "another Ray here", "no token", "none here", "anything else"],
)
def test_one_line(error: Exception, address: str, expected: str) -> None:
    line = str(_explained(error, address))
    assert line.startswith(expected)
    assert "\n" not in line
