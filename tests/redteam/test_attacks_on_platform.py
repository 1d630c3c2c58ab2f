"""Tests of attacks in a platform's container: workers are root without capabilities, and there is a network.

All selected attacks with the same time limit run in one container, in the kind of sandbox that the ingestion program
uses.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest
from attack_suite import ATTACKS, ENDLESS_S, LONG_S, MEMORY, PLATFORM, prepared
from e2e.real_runs import records
from matrix import full

from harness.worker.runtimes import DEFAULT, RUNTIMES
from tests.containers import NEEDS_CONTAINERS, start

pytestmark = [*NEEDS_CONTAINERS, pytest.mark.timeout(3600)]

#: Attacks whose defences differ most from those elsewhere: users, processes, files of others, the network.
CHOSEN = {
    "d_fork_bomb", "e_daemon", "j_kills_all", "k_forged_value", "m_environments", "m_other_processes",
    "n_socket_families", "o_guessed_paths", "p_ptrace", "r_left_files", "t_becomes_root", "t_namespaces",
}  # fmt: skip

NAMES = [name for name, attack in ATTACKS.items() if attack.runtime in (None, RUNTIMES[DEFAULT].framework)]


@pytest.fixture(scope="module")
def rows(request, tmp_path_factory, target, token, surroundings, beacon) -> dict[str, dict[str, Any]]:
    """The records of the attacks whose tests were selected."""
    directory, cache = tmp_path_factory.mktemp("attacks"), surroundings["PGDL_CACHE"]
    program = directory / "program"
    for path in (program, directory / "data"):
        path.mkdir()
    selected = [item.callspec.params["name"] for item in request.session.items if item.path == Path(__file__)]
    for limit in (ENDLESS_S, LONG_S):
        attacks = [ATTACKS[name] for name in selected if ATTACKS[name].time_limit_s == limit]
        if not attacks:
            continue
        copies = prepared(attacks, directory, target, cache, token)
        command = [
            "env", f"PGDL_CACHE={cache}", "SECRET_TOKEN=hunter2", "pgdl", "run", *copies, "--tasks", target,
            "--results", directory / "results.db", "--time-limit", limit, "--memory", MEMORY,
            "--sandbox", "landlock", "--runtime", DEFAULT, "--workers", 1,
        ]  # fmt: skip
        volumes = {path: str(path) for path in (directory, target, Path(cache))} | {program: "/app/program"}
        container = start(shlex.join(map(str, command)), volumes, directory / f"{limit}.txt", data=directory / "data")
        assert container.end() in (0, 1), container.log.read_text()
        assert "Traceback (most" not in container.log.read_text()
    return {row["submission"]: row for row in records(directory / "results.db")}


@pytest.mark.rest
@pytest.mark.parametrize("name", [name if name in CHOSEN else full(name) for name in NAMES])
def test_attack_on_a_platform(request, rows, name):
    if (reason := ATTACKS[name].breach_in(PLATFORM)) is not None:
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    for called in ATTACKS[name].calls:
        ATTACKS[name].require(rows[called], PLATFORM)
