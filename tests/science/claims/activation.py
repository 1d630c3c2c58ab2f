"""Claims of Gain and Siegelmann (2020), ICML: cognitive neural activation."""

import numpy as np

from tests.science.evidence import Evidence, bootstrap, correlation, span
from tests.science.finding import Finding, claim, decide

GAIN = "Gain and Siegelmann 2020"


@claim("Cognitive neural activation goes with test accuracy, over stages of training", f"{GAIN}, figure 7", "stages")
def _(evidence: Evidence) -> Finding:
    activation = -evidence.values("stages", "cna")  # the measure is minus the metric
    accuracy = np.array(list(evidence.reference("stages").test_accuracy.values()))
    low, high = bootstrap(correlation, activation, accuracy)
    found = correlation(activation, accuracy)
    return Finding(f"rank correlation {found:.2f} of {len(accuracy)} perceptrons", span((low, high)), decide(low, high),
                   "perceptrons on digits alone; the paper has four architectures and six datasets")  # fmt: skip


@claim("The CNA-Margin goes with the gap where labels are wrong", f"{GAIN}, section 4.3", "wrong labels")
def _(evidence: Evidence) -> Finding:
    values, gaps = evidence.values("wrong_labels", "cna_margin"), evidence.gaps("wrong_labels")
    low, high = bootstrap(correlation, values, gaps)
    found = correlation(values, gaps)
    return Finding(
        f"rank correlation {found:.2f} of {len(gaps)} perceptrons", span((low, high)), decide(low, high),
        "augmented training images stand in for the held-out images of the paper",
    )  # fmt: skip
