"""Measures cost little more than the passes over examples that they need."""

import json
import subprocess
import sys

import pytest

#: Wanted ratios of a measure's time to its floor: of those that need forward passes alone, and of others.
FORWARD, OTHER = 1.15, 1.5

#: What is above the goal times this is a failure: a busy machine, or a colour space, may cost that much.
SLACK = 1.5


@pytest.fixture(scope="module")
def times():
    command = [sys.executable, "-m", "tests.benchmarks.measure_times"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(1200)
def test_every_measure_is_near_its_floor(times, capsys):
    slow = []
    with capsys.disabled():
        print(f"\n{'2,048 images 32x32x3':34} {'network':16} seconds   floor  ratio  wanted")
        for network, measures in times.items():
            for name, (seconds, floor) in measures.items():
                wanted = FORWARD if name.startswith(("gi_", "inverse", "neg_")) else OTHER
                print(f"{name:34} {network:16} {seconds:7.3f} {floor:7.3f} {seconds / floor:6.2f} {wanted:7.2f}")
                if seconds > SLACK * wanted * floor:
                    slow.append(f"{name} on {network}: {seconds / floor:.2f}")
    assert not slow
