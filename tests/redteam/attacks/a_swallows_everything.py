"""Sleeps and swallows every exception. The clock is outside, and SIGKILL is no exception."""

import time

EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
