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
    """Return the docstring of a measure, with an entry for each parameter.

    Parameters that it leaves out are explained by the docstring of its module, or else by another measure there.
    """
    from baselines import MEASURES

    module = measure.function.__module__
    own, *others = (
        inspect.getdoc(one.function) or "" for one in (measure, *MEASURES.values()) if one.function.__module__ == module
    )
    sources = [own, inspect.getdoc(sys.modules[module]) or "", *others]
    entries = [
        next(filter(None, (_entry(name, source) for source in sources)), f"    {name}") for name in measure.parameters
    ]
    text, _, section = own.partition("\n\nArgs:\n")
    after = section.partition("\n\n")[2]
    return "\n\n".join(filter(None, [text, "\n".join(["Args:", *entries] if entries else []), after]))


def _entry(name: str, source: str) -> str:
    """Return the entry of a parameter in a docstring; nothing if there is none."""
    found = re.search(rf"^( *)({name}: .*(?:\n\1 +\S.*)*)", source, re.MULTILINE)
    text = " ".join(found[2].split()) if found else ""
    return textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
