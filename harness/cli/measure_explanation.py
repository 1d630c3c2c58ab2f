"""What the page of a measure explains: its docstring, with every parameter."""

import inspect
import re
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baselines import Measure

#: Width of the lines that explain parameters, in characters: that of docstrings.
WIDTH = 116


def explanation(measure: "Measure") -> str:
    """Return the docstring of a measure without meaning and fields, with an entry for each parameter.

    Parameters that it leaves out are explained by the docstring of its module, or else by that of all parameters.
    """
    from baselines.core import parameters

    own, module = inspect.getdoc(measure.function) or "", sys.modules[measure.function.__module__]
    sources = [own, *(inspect.getdoc(one) or "" for one in (module, parameters))]
    entries = [next(filter(None, (_entry(name, source) for source in sources)), "") for name in measure.parameters]
    _, _, *others = own.split("\n\n")
    first = next((place for place, one in enumerate(others) if one.startswith(("Args:", "Raises:"))), len(others))
    arguments = ["\n".join(["Args:", *entries])] if entries else []
    return "\n\n".join([*others[:first], *arguments, *(one for one in others[first:] if one.startswith("Raises:"))])


def _entry(name: str, source: str) -> str:
    """Return the entry of a parameter in a docstring; nothing if there is none."""
    found = re.search(rf"^( *)({name}: .*(?:\n\1 +\S.*)*)", source, re.MULTILINE)
    text = " ".join(found[2].split()) if found else ""
    return textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
