"""Benchmark of training data: a pass over decoded data does no parsing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from throwaway import write_shards

from harness.task.data import read_training_data


def test_a_pass_over_decoded_data_is_five_times_faster_than_parsing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    random = np.random.default_rng(0)
    inputs = random.random((10_000, 32, 32, 3), np.float32)
    write_shards(tmp_path / "train", inputs, np.zeros(10_000, np.int32), n_shards=5)
    data = read_training_data(tmp_path / "train")
    script = Path(__file__).with_name("dataset_passes.py")
    command = [sys.executable, "-m", f"tests.benchmarks.{script.stem}", tmp_path / "train", data.directory]
    times = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    with capsys.disabled():
        print(
            f"\none pass over 10,000 images 32x32x3: parsing {times['parsing']:.2f} s, decoded {times['decoded']:.3f} s"
        )
    assert times["parsing"] / times["decoded"] > 5
