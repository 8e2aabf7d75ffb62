"""NumPy's side of algorithms/index.js, a line of JSON each: {"setup": ..., "run": ...} prepares, {"n": 3} runs."""
import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np


def values(*shape):
    return ((np.arange(int(np.prod(shape)), dtype="float64") * 7919 % 100003) / 100003).astype("float32").reshape(shape)


def main():
    run = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "n" not in asked:
            names = {"np": np, "values": values}
            exec(asked["setup"], names)
            code = compile(asked["run"], "row", "exec")
            run = lambda code=code, names=names: exec(code, names)
            print("{}", flush=True)
            continue
        begin = time.perf_counter()
        for _ in range(asked["n"]):
            run()
        print(json.dumps({"seconds": time.perf_counter() - begin}), flush=True)


main()
