"""Raises an error whose message and representation raise errors themselves."""

EXPECT = ("EXCEPTION",)


class RaisingError(Exception):
    def __str__(self):
        raise ValueError("no message")

    __repr__ = __str__


def complexity(model, dataset):
    raise RaisingError
