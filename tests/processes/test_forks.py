"""What tests use in place of new processes behaves as those do where threads meet."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from forks import forks


def test_all_threads_that_wait_for_a_fork_learn_how_it_ended():
    program = [sys.executable, "-c", "import time; time.sleep(0.2); raise SystemExit(3)"]
    with Path(os.devnull).open("rb+") as none, ThreadPoolExecutor(8) as threads:
        fork = forks.start("tensorflow", program, os.environ, [none.fileno()] * 3)
        assert list(threads.map(fork.wait, [None] * 4 + [60] * 4)) == [3] * 8
    assert fork.poll() == 3
