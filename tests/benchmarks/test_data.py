"""Benchmarks of training data: preparing them reads every byte once, and a pass over prepared data does no parsing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from stopwatch import Seconds, of_children
from throwaway import write_shards

CLOCK = """
import resource, sys, time
from pathlib import Path

def used():
    return time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
"""

#: Program of TensorFlow's bare reader, which checks checksums but parses nothing.
READER = f"""{CLOCK}
import tensorflow as tf
before = used()
for _ in tf.data.TFRecordDataset(sys.argv[1:], buffer_size=2**22).batch(256):
    pass
print([after - one for after, one in zip(used(), before)])
"""

PREPARE = f"""{CLOCK}
from harness.task.data import read_training_data
before = used()
read_training_data(Path(sys.argv[1]))
print([after - one for after, one in zip(used(), before)])
"""

#: Program that prints the seconds of a pass over shards, and over decoded arrays.
PASSES = """
import sys
from pathlib import Path
import tensorflow as tf
from harness.task.data import read_training_data
from harness.worker.runtimes import RUNTIMES
from tests.benchmarks.stopwatch import seconds

FEATURES = {name: tf.io.FixedLenFeature([], tf.string) for name in ("inputs", "output")}

def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.io.parse_tensor(example["inputs"], tf.float32), tf.io.parse_tensor(example["output"], tf.int32)

shards = Path(sys.argv[1])
parsed = tf.data.TFRecordDataset([str(file) for file in sorted(shards.glob("*.tfrecord"))]).map(parse)
decoded = RUNTIMES["tensorflow"].load_dataset(read_training_data(shards).directory)
print([seconds(lambda: [None for _ in one.batch(256)], repeats=5) for one in (parsed, decoded)])
"""


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    """The training data: 20,000 images of 32 x 32 x 3, which are in the page cache."""
    images = np.random.default_rng(0).random((20_000, 32, 32, 3), np.float32)
    write_shards(tmp_path / "train", images, np.zeros(20_000, np.int32), n_shards=4)
    files = sorted(map(str, (tmp_path / "train").glob("*.tfrecord")))
    subprocess.run(["sha256sum", *files], check=True, stdout=subprocess.DEVNULL)
    return files


def printed(*program: str, cache: Path) -> list[float]:
    environment = os.environ | {"PGDL_CACHE": str(cache), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-c", *program]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def least(measure: Callable[[], Seconds]) -> float:
    """Return the processor seconds of the cheapest of three runs."""
    return min(measure().processor for _ in range(3))


def test_preparing_reads_every_byte_once_and_then_none_and_a_pass_is_five_times_faster_than_parsing(
    shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache, directory = tmp_path / "cache", str(tmp_path / "train")

    def prepare(is_new: bool) -> Seconds:
        if is_new:
            shutil.rmtree(cache, ignore_errors=True)
        return Seconds(*printed(PREPARE, directory, cache=cache))

    digest = least(lambda: of_children(lambda: subprocess.run(["sha256sum", *shards], check=True, capture_output=True)))
    both = digest + least(lambda: Seconds(*printed(READER, *shards, cache=cache)))
    new, again = least(lambda: prepare(True)), least(lambda: prepare(False))
    parsing, decoded = printed(PASSES, directory, cache=cache)
    with capsys.disabled():
        print(f"\n20,000 images 32x32x3: {new / both:.2f} times the processor time of a digest and a bare reader")
        print(f"one pass: parsing {parsing:.2f} s, decoded {decoded:.3f} s")
    assert new < 2 * both
    assert again < 0.1 * new
    assert parsing > 5 * decoded
