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
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.stopwatch import Seconds, of_children

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


def ratio(found: dict[str, Seconds]) -> float:
    return found["prepared"].processor / (found["sha256sum"].processor + found["TFRecord reader"].processor)


def measure(directory: str) -> dict[str, Seconds]:
    """Return the seconds of the preparation and of each reference, the smallest of three runs."""
    shards = sorted(map(str, Path(directory).glob("*.tfrecord")))
    for shard in shards:
        Path(shard).read_bytes()  # into the page cache
    found = {
        "sha256sum": _least(lambda: of_children(lambda: _output(["sha256sum", *shards]))),
        "TFRecord reader": _least(lambda: _printed([READER, *shards])),
    }
    with tempfile.TemporaryDirectory(dir=Path(directory).parent) as cache:
        found["prepared"] = _least(lambda: _printed([PREPARE, directory], cache, is_new=True))
        found["prepared again"] = _least(lambda: _printed([PREPARE, directory], cache))
    return found


def _least(measure: Callable[[], Seconds]) -> Seconds:
    return min((measure() for _ in range(3)), key=lambda found: found.processor)


def _printed(script: list[str], cache: str = "", is_new: bool = False) -> Seconds:
    if is_new:
        for entry in Path(cache).iterdir():
            shutil.rmtree(entry)
    environment = os.environ | {"PGDL_CACHE": cache, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    return Seconds(*json.loads(_output([sys.executable, "-c", *script], environment).splitlines()[-1]))


def _output(command: list[str], environment: dict[str, str] | None = None) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


if __name__ == "__main__":
    main(sys.argv[1])
