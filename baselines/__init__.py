"""A library of complexity measures; the harness accepts their names in place of submissions.

`MEASURES` describes all measures; `load("name:parameter=value")` returns a function of (model, dataset). Importing this
package does not import TensorFlow, so the command line lists the names quickly.
"""

from baselines.core.families import import_families
from baselines.core.measure import MEASURES, Complexity, Cost, Measure, MeasureUnavailable, Need, Sizes
from baselines.core.parameters import canonical, load
from baselines.core.subject import share, sharing

import_families()

__all__ = [
    "MEASURES", "Complexity", "Cost", "Measure", "MeasureUnavailable", "Need", "Sizes", "canonical", "load", "share",
    "sharing",
]  # fmt: skip
