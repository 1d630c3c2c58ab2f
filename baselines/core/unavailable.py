"""The error of a measure that cannot be computed here."""


class MeasureUnavailable(Exception):
    """The model or the data lack something that the measure needs, such as the initial weights."""
