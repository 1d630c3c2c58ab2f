"""The measures of the option --measures."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import baselines
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import ALL, CHEAP, as_names
from harness.submission import Submission, find_baseline


class Chosen(NamedTuple):
    """A measure of the option --measures."""

    submission: Submission
    family: str
    is_named: bool  #: whether the option has its name, rather than its family or cost, `all` or `cheap`


def choose_measures(texts: Sequence[str] | str) -> list[Chosen]:
    """Return the measures of the option --measures, each once; raises `UserError`."""
    families = {measure.family for measure in baselines.MEASURES.values()}
    chosen: dict[str, Chosen] = {}
    for text in as_names(texts):
        for part in _parts(text):
            several = [name for name, one in baselines.MEASURES.items() if _is_among(one, part)]
            for name in several or [part]:
                submission = find_baseline(name)
                if submission is None:
                    known = [*baselines.MEASURES, *families, *baselines.Cost, ALL, CHEAP]
                    hint = did_you_mean(name, known) or "pgdl measures lists them"
                    raise UserError(f"measures: no measure, family or cost {name!r}", remedy=hint)
                is_named = not several or (name in chosen and chosen[name].is_named)
                family = baselines.MEASURES[without_parameters(name)].family
                chosen[submission.name] = Chosen(submission, family, is_named)
    return list(chosen.values())


def without_parameters(name: str) -> str:
    """Return a measure's name without parameters."""
    return name.partition(":")[0]


def _is_among(measure: baselines.Measure, several: str) -> bool:
    return several in (ALL, measure.family, measure.cost) or (several == CHEAP and measure.is_cheap)


def _parts(text: str) -> list[str]:
    """Split at commas, except those between the parameters of a measure."""
    return [part.strip() for part in re.split(r",(?![^:=,]*=)", text)]
