"""NumPy's side of math/index.js, a line of JSON each: {"row": ..., "shape": ...} or {"name": ..., "a": ..., "b": ...} prepares, {"n": 3} runs."""
import json
import sys
import time

import numpy as np


def values(n):
    return ((np.arange(n) * 37 % 1000) / 1000).astype("float32")


def view(flat, side):
    return np.lib.stride_tricks.as_strided(flat[side["offset"]:], side["shape"], [s * 4 for s in side["strides"]])


def row_of(asked):
    n = int(np.prod(asked["shape"]))
    a = values(n).reshape(asked["shape"])
    b = values(n)[::-1].copy().reshape(asked["shape"])
    bools = asked["row"].startswith("np.less")
    names = {"np": np, "a": a, "b": b, "m": a > 0.5, "o": np.empty(a.shape, "bool" if bools else "float32")}
    code = compile(asked["row"], "row", "exec")
    return lambda: exec(code, names)


def drawn_of(asked):
    a = view(values(asked["a"]["size"]), asked["a"])
    b = np.float32(0.5) if asked["b"] is None else view(values(asked["b"]["size"])[::-1].copy(), asked["b"])
    name = asked["name"]
    out = np.empty(a.shape, "bool" if name == "less" else "float32")
    if name == "clip":
        return lambda: np.clip(a, 0.25, 0.75, out=out)
    if name == "where":
        mask = np.ascontiguousarray(a > 0.5)
        return lambda: np.where(mask, a, b)
    function = getattr(np, name)
    return lambda: function(a, b, out=out)


def main():
    run = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "n" not in asked:
            run = row_of(asked) if "row" in asked else drawn_of(asked)
            print("{}", flush=True)
            continue
        begin = time.perf_counter()
        for _ in range(asked["n"]):
            run()
        print(json.dumps({"seconds": time.perf_counter() - begin}), flush=True)


main()
