"""Prints processor and wall time of preparing a task: digesting, checking and decoding its training data.

    python -m tests.benchmarks.preparing SHARDS

SHARDS is a directory of training shards, such as `real_size` writes. The same run measures two references: `sha256sum`,
and TensorFlow's bare TFRecord reader, which checks checksums but parses nothing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

READER = """
import resource, sys, time
import tensorflow as tf

def used():
    return time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])

before = used()
for _ in tf.data.TFRecordDataset(sys.argv[1:], buffer_size=2**22).batch(256):
    pass
print([after - one for after, one in zip(used(), before)])
"""

PREPARE = """
import resource, sys, time
from pathlib import Path
from harness.task.data import read_training_data

before = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
data = read_training_data(Path(sys.argv[1]))
print([time.perf_counter() - before[0], sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before[1]])
"""


def main(directory: str) -> None:
    """Print wall and processor seconds of the preparation and of the references."""
    found = measure(directory)
    for name, (wall, processor) in found.items():
        print(f"{name:16} {wall:6.2f} s, {processor:6.2f} s of processor time")
    print(f"prepared over both: {ratio(found):.2f} times their processor time")


def ratio(found: dict[str, list[float]]) -> float:
    return found["prepared"][1] / (found["sha256sum"][1] + found["TFRecord reader"][1])


def measure(directory: str) -> dict[str, list[float]]:
    """Return wall and processor seconds of the preparation and of each reference, the smallest of three runs."""
    shards = sorted(map(str, Path(directory).glob("*.tfrecord")))
    for shard in shards:
        Path(shard).read_bytes()  # into the page cache
    found = {
        "sha256sum": _least(lambda: _seconds(["sha256sum", *shards])),
        "TFRecord reader": _least(lambda: json.loads(_output(["-c", READER, *shards]))),
    }
    with tempfile.TemporaryDirectory(dir=Path(directory).parent) as cache:
        found["prepared"] = _least(lambda: json.loads(_output(["-c", PREPARE, directory], cache, is_new=True)))
        found["prepared again"] = _least(lambda: json.loads(_output(["-c", PREPARE, directory], cache)))
    return found


def _least(measure: Callable[[], list[float]]) -> list[float]:
    return min((measure() for _ in range(3)), key=lambda found: found[1])


def _seconds(command: list[str]) -> list[float]:
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return [time.perf_counter() - began, processor]


def _output(arguments: list[str], cache: str = "", is_new: bool = False) -> str:
    if is_new:
        for entry in Path(cache).iterdir():
            shutil.rmtree(entry)
    environment = os.environ | {"PGDL_CACHE": cache, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    return subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout.splitlines()[-1]


if __name__ == "__main__":
    main(sys.argv[1])
