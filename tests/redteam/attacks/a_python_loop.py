"""Never returns. The harness' wall clock ends it."""

EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    while True:
        pass
