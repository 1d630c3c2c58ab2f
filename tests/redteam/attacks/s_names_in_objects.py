"""Looks for the model's or task's name in the model, the files, the arguments and the frames above."""

import json
import os
import sys

EXPECT = ("OK",)


def complexity(model, dataset):
    seen = [repr(sys.argv), repr(sys.orig_argv), repr(dict(os.environ)), os.getcwd(), model.name, repr(sys.path)]
    seen += [layer.name for layer in model.layers]
    seen += [json.dumps(model.get_config(), default=repr), str(dataset)]
    seen += [name for _, directories, files in os.walk(os.path.dirname(__file__)) for name in directories + files]
    frame = sys._getframe()
    while frame := frame.f_back:
        seen.append(repr(frame.f_locals))
    for text in seen:
        for name in ("@TASK@", "single", "model_0", "s_names_in"):
            if name in text:
                print(f"BREACH: {name} in {text[:200]}")
    return 1.0
