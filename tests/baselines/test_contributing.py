"""The measure that CONTRIBUTING.md shows works as it stands there."""

import re
import textwrap
from pathlib import Path

from small_networks import T1_DATA, dataset, t1

from baselines import MEASURES

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()


def test_the_measure_of_the_page():
    (code,) = re.findall(r"^ *```python\n(.*?)^ *```", PAGE, re.MULTILINE | re.DOTALL)
    names = {"__name__": "baselines.size.example"}
    try:
        exec(textwrap.dedent(code), names)
        assert MEASURES["sum_of_l1"].family == "size"
        assert names["sum_of_l1"](t1(), dataset(*T1_DATA)) == 11
    finally:
        MEASURES.pop("sum_of_l1", None)
