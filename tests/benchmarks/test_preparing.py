"""Benchmark of preparing training data: at most twice the time of a digest and a bare reader together."""

import numpy as np
from throwaway import write_shards

from tests.benchmarks.preparing import measure, ratio


def test_preparing_reads_every_byte_once_and_then_none(tmp_path, capsys):
    random = np.random.default_rng(0)
    write_shards(tmp_path / "train", random.random((20_000, 32, 32, 3), np.float32), np.zeros(20_000), n_shards=4)
    found = measure(str(tmp_path / "train"))
    with capsys.disabled():
        print(f"\n20,000 images 32x32x3: {ratio(found):.2f} times the processor time of both")
    assert ratio(found) < 2
    assert found["prepared again"].processor < 0.1 * found["prepared"].processor
