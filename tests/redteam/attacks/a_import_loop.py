"""Hangs while it is imported. The clock starts before the import."""

import time

EXPECT = ("TIMEOUT",)

while True:
    time.sleep(1)
