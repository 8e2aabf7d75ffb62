"""What arange, linspace and eye give, by NumPy.

Reads a JSON list of cases from standard input and writes one of results: the elements' bytes in
hexadecimal, little-endian, row-major. Integers come as text where JSON would round them.

NumPy's own arange is asked for integers and where every value is exact. Elsewhere it adds (start + step) -
start again and again, which errs more than the start + i * step that is wanted: NumPy is asked for the count
and for that product and sum. Short floats that NumPy lacks are rounded by oracle.py.
"""
import json
import sys

import numpy as np

from oracle import NO_NUMPY, encoded


def arange(start, stop, step, dtype, exact):
    if isinstance(start, str): # of any 64 bits
        start, stop, step = int(start), int(stop), int(step)
        return np.array([value for value in range(start, stop, step)], dtype)
    if exact and dtype not in NO_NUMPY:
        return np.arange(start, stop, step, dtype=dtype)
    count = len(np.arange(start, stop, step, dtype=np.float64))
    return rounded(np.arange(count, dtype=np.float64) * np.float64(step) + np.float64(start), dtype)


def linspace(start, stop, num, endpoint, dtype):
    if dtype in NO_NUMPY:
        return encoded(np.linspace(start, stop, num, endpoint), dtype)
    return np.linspace(start, stop, num, endpoint, dtype=dtype)


def eye(n, m, k, dtype, order):
    if dtype in NO_NUMPY:
        return encoded(np.eye(n, m, k), dtype)
    return np.eye(n, m, k, dtype=dtype, order=order)


def rounded(values, dtype):
    return encoded(values, dtype) if dtype in NO_NUMPY else values.astype(dtype)


MAKERS = {'arange': arange, 'linspace': linspace, 'eye': eye}

if __name__ == '__main__':
    results = [MAKERS[case.pop('make')](**case).tobytes('C').hex() for case in json.load(sys.stdin)]
    json.dump(results, sys.stdout)
