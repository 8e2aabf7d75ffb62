"""NumPy's assignment for the cases that it is sent, a line of JSON each: {"case": ...} makes the arrays, {"n": 3} runs and answers seconds."""
import json
import sys
import time

import numpy as np


def array_of(side, values):
    flat = values(side["size"]).astype(side["dtype"])
    item = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat[side["offset"]:], side["shape"], [s * item for s in side["strides"]])


def factors_of(case, name):
    values = np.array(case[name], dtype="float32")
    if case["axis"] < 0:
        return values[0]
    shape = [1] * len(case["to"]["shape"])
    shape[case["axis"]] = len(values)
    return values.reshape(shape)


def run_of(case):
    to = array_of(case["to"], np.zeros)
    source = array_of(case["from"], lambda n: np.arange(n) % 100)
    if not case["scale"]:
        return lambda: np.copyto(to, source, casting="unsafe")
    scale, bias = factors_of(case, "scale"), factors_of(case, "bias")

    def scaled():
        np.multiply(source, scale, out=to, casting="unsafe")
        np.add(to, bias, out=to)

    return scaled


def main():
    run = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "case" in asked:
            run = run_of(asked["case"])
            print("{}", flush=True)
            continue
        begin = time.perf_counter()
        for _ in range(asked["n"]):
            run()
        print(json.dumps({"seconds": time.perf_counter() - begin}), flush=True)


main()
