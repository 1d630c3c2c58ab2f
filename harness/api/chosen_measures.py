"""Reads the option --measures: names of measures, families, costs, `all` or `cheap`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import baselines
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import ALL, CHEAP, as_names
from harness.submission import Submission, find_baseline


class Chosen(NamedTuple):
    """A selected measure."""

    submission: Submission
    family: str
    is_named: bool  #: whether the user wrote the measure's own name, not only its family or cost


def choose_measures(texts: Sequence[str] | str) -> list[Chosen]:
    """Return the selected measures, each once. Raise `UserError` for an unknown measure, family or cost.

    A text lists names, families, costs, `all` or `cheap`, separated by commas. A name may have parameters.
    """
    chosen: dict[str, Chosen] = {}
    for text in as_names(texts):
        for part in _parts(text):
            several = [
                name
                for name, measure in baselines.MEASURES.items()
                if part in (ALL, measure.family, measure.cost) or (part == CHEAP and measure.is_cheap)
            ]
            for name in several or [part]:
                submission = find_baseline(name)
                if submission is None:
                    families = {measure.family for measure in baselines.MEASURES.values()}
                    known = [*baselines.MEASURES, *families, *baselines.Cost, ALL, CHEAP]
                    hint = did_you_mean(name, known) or "pgdl measures lists them"
                    raise UserError(f"measures: no measure, family or cost {name!r}", remedy=hint)
                is_named = not several or (name in chosen and chosen[name].is_named)
                family = baselines.MEASURES[without_parameters(name)].family
                chosen[submission.name] = Chosen(submission, family, is_named)
    return list(chosen.values())


def without_parameters(name: str) -> str:
    """Return a measure's name without its parameters: `vc_dim` of `vc_dim:image_side=28`."""
    return name.partition(":")[0]


def _parts(text: str) -> list[str]:
    """Split at commas, except commas between the parameters of a measure."""
    return [part.strip() for part in re.split(r",(?![^:=,]*=)", text)]
