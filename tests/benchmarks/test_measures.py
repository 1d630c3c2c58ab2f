"""Measures cost little more than the passes over examples that they need."""

import json
import subprocess
import sys

import pytest

#: Largest ratio of a measure's time to its floor.
FORWARD, OTHER = 1.15, 1.5


@pytest.fixture(scope="module")
def times():
    command = [sys.executable, "-m", "tests.benchmarks.measure_times"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_every_measure_is_near_its_floor(times, capsys):
    slow = []
    with capsys.disabled():
        print(f"\n{'2,048 images 32x32x3':34} {'network':16} seconds   floor  ratio")
        for network, measures in times.items():
            for name, (seconds, floor) in measures.items():
                print(f"{name:34} {network:16} {seconds:7.3f} {floor:7.3f} {seconds / floor:6.2f}")
                bound = FORWARD if name.startswith(("gi_", "inverse", "neg_")) else OTHER
                if seconds > bound * floor:
                    slow.append(f"{name} on {network}: {seconds / floor:.2f}, at most {bound} wanted")
    assert not slow
