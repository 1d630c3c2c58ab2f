"""Claims of Werpachowski, György and Szepesvári (2019), NeurIPS: the test for overfitting to a test set."""

from tests.studies.science.evidence import Evidence
from tests.studies.science.finding import Finding, Verdict, claim
from tests.studies.science.settings import SYNTHETIC

WERPACHOWSKI = "Werpachowski et al. 2019"

#: P-values below this reject independence.
LEVEL = 0.05

#: Steps of the generator between which the paper rejects, and the one at which more models help.
STRONG, BETWEEN = (10.0, 50.0), 6.0

#: Numbers of models, and the paper's mean p-values there.
PRINTED = {1: 0.598, 25: 0.151, 100: 0.115}


def _rows(evidence: Evidence, setting: str, n_models: int) -> list[dict[str, str]]:
    """Return the rows of the synthetic experiment with this setting and this number of models."""
    table = evidence.table("synthetic.csv")
    return [row for row in table if row["setting"].startswith(setting) and int(row["n_models"]) == n_models]


def _range(row: dict[str, str]) -> str:
    low, high = float(row["p_low"]), float(row["p_high"])
    return f"95 % of the p-values at epsilon {float(row['epsilon']):.3g}: {low:.2g} to {high:.2g}"


@claim("The overfitting test rejects independence at epsilon 10 to 50 if a model was trained on half of the test set",
       f"{WERPACHOWSKI}, figure 6", "synthetic",
       {SYNTHETIC.name: "100 repetitions, as in the paper"})  # fmt: skip
def _(evidence: Evidence) -> Finding:
    rows = [row for row in _rows(evidence, "dependent", 1) if STRONG[0] <= float(row["epsilon"]) <= STRONG[1]]
    most = max(rows, key=lambda row: float(row["p_high"]))
    return Finding(
        f"largest mean p-value {max(float(row['p_mean']) for row in rows):.2g}",
        _range(most),
        Verdict.REPRODUCED if float(most["p_high"]) < LEVEL else Verdict.NOT_REPRODUCED,
    )


@claim("More models make the overfitting test stronger", f"{WERPACHOWSKI}, section 5.1", "synthetic",
       {SYNTHETIC.name: "100 repetitions show a fall of the mean p-value by 0.05"})  # fmt: skip
def _(evidence: Evidence) -> Finding:
    rows = {number: _nearest(_rows(evidence, "dependent", number), BETWEEN) for number in PRINTED}
    means = {number: float(row["p_mean"]) for number, row in rows.items()}
    falls = means[1] > means[25] > means[100]
    numbers = ", ".join(f"{mean:.3f} with {number} ({PRINTED[number]})" for number, mean in means.items())
    return Finding(
        f"mean p-value at epsilon {float(rows[1]['epsilon']):.3g} (and the paper's): {numbers}",
        f"with 25 models: {float(rows[25]['p_low']):.3f} to {float(rows[25]['p_high']):.3f}",
        Verdict.REPRODUCED if falls else Verdict.NOT_REPRODUCED,
    )


def _nearest(rows: list[dict[str, str]], epsilon: float) -> dict[str, str]:
    return min(rows, key=lambda row: abs(float(row["epsilon"]) - epsilon))


@claim("With translations, the overfitting test rejects the training set, and not the test set",
       f"{WERPACHOWSKI}, section 5.2", "torus, train",
       "p-values are bounds: large p-values are weak evidence, small p-values strong evidence")  # fmt: skip
def _(evidence: Evidence) -> Finding:
    worst = {}
    for split in ("train", "test"):
        rows = [row for row in evidence.table(f"torus_{split}/overfit.csv") if row["kind"] == "all"]
        worst[split] = [float(row["p_value"]) for row in rows]
    holds = max(worst["train"]) < LEVEL < min(worst["test"])
    train, test = max(worst["train"]), min(worst["test"])
    return Finding(
        f"p-values of all models together: training set at most {train:.2g}, test set at least {test:.2g}",
        "p-values are bounds",
        Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED,
        remark="on a torus, where shifts change neither label nor density; docs/overfitting.md shows single models",
    )
