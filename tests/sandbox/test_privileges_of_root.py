"""Root with its capabilities makes its workers other users; root of a container often cannot."""

import os
from pathlib import Path

import pytest

from harness.sandbox import bubblewrap

ALL = (1 << 41) - 1
CHOWN, SETGID, SETUID, KILL = (1 << number for number in (0, 6, 7, 5))


@pytest.mark.parametrize(
    ("user", "capabilities", "becomes"),
    [(0, ALL, True), (0, ALL & ~KILL, True), (0, ALL & ~SETUID, False), (0, ALL & ~SETGID, False),
     (0, ALL & ~CHOWN, False), (0, 0, False), (1000, ALL, False)],
)  # fmt: skip
def test_workers_are_other_users_only_if_root_can_make_them_so(monkeypatch, user, capabilities, becomes):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(bubblewrap, "_capabilities", lambda: capabilities)
    assert bubblewrap.becomes_others() is becomes
    assert (bubblewrap.worker_uid(0) is not None) is becomes


def test_the_capabilities_are_those_of_the_kernel():
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff:")]
    assert bubblewrap._capabilities() == int(line.split()[1], 16)
