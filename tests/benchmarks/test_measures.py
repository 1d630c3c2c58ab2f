"""Benchmark of measures: a measure takes little longer than its passes over examples."""

import json
import subprocess
import sys

import pytest

#: Wanted ratios of a measure's time to its floor: of gradients of single examples, and of all others.
SINGLE, ALL = 1.5, 1.15

#: A time above the goal times this factor is a failure: a busy machine, or a colour space, may cost that much.
SLACK = 1.5

#: Seconds that a call may take besides: to look up what is shared, to draw examples, to sum up.
CALL = 0.002


#: Wanted ratios of a call to its passes where a network is new, of MNIST's size and on the demo's tasks.
MNIST_SIZE, DEMO = 1.3, 2

#: Ratios there that more than a busy machine exceeds. A pass of the demo takes milliseconds: beside it, layers and
#: gradients cost Python; correlations of thousands of units cost more than the passes of either.
REACHED = {"cdnv": (1.6, 3), "layer_margin_log_mean": (1.6, 4.2), "gsnr": (1.9, 6), "persistence_mean_h0": (3.6, 12)}


def printed_by(way):
    command = [sys.executable, "-m", "tests.benchmarks.measure_times", way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(1200)
def test_every_measure_is_near_its_floor(capsys):
    slow = []
    with capsys.disabled():
        print(f"\n{'2,048 images':36} {'network':16} seconds   floor   ratio  wanted")
        for network, measures in printed_by("again").items():
            for name, (seconds, floor) in measures.items():
                wanted = SINGLE if name == "fisher_trace" else ALL
                print(f"{name:36} {network:16} {seconds:7.4f} {floor:7.4f} {seconds / floor:6.2f} {wanted:7.2f}")
                if seconds > SLACK * wanted * floor + CALL:
                    slow.append(f"{name} on {network}: {seconds / floor:.2f}")
    assert not slow


@pytest.mark.timeout(1200)
def test_a_warm_call_on_a_new_network_is_near_its_passes(capsys):
    slow = []
    with capsys.disabled():
        print(f"\n{'warm calls':24} {'network':16} seconds   floor   ratio  wanted  before")
        for network, measures in printed_by("new").items():
            is_demo = network.startswith("digits")
            for name, (before, seconds, floor) in measures.items():
                numbers = f"{seconds:7.4f} {floor:7.4f} {seconds / floor:6.2f} {DEMO if is_demo else MNIST_SIZE:7.2f}"
                print(f"{name:24} {network:16} {numbers} {before:7.4f}")
                if seconds > SLACK * REACHED[name][is_demo] * floor + CALL:
                    slow.append(f"{name} on {network}: {seconds / floor:.2f}")
    assert not slow
