"""The program of a process that computes measures on a network and data in a worker's file formats.

A question is `{"model": DIRECTORY, "data": DIRECTORY, "measures": [NAME, ...]}`; the answer has the rows of
`pgdl.measures` as `rows`. A question without `measures` requests outputs (`harness.processes.accuracies`).
"""

from pathlib import Path

from harness.api.library import measures
from harness.processes.accuracies import write_outputs
from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime


def answer(runtime: Runtime, question: Question) -> Answer:
    """Return the rows of measures; or write outputs to the file that the question names, and return no rows."""
    with faults_of_the_model():
        model = runtime.load_model(Path(question["model"]))
        if "measures" not in question:
            write_outputs(runtime, model, question)
            return {}
    return {"rows": measures(model, runtime.load_dataset(Path(question["data"])), question["measures"])}


prepare = of_models(answer)
