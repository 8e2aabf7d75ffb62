"""NumPy's finfo of the dtypes that are named, as a list each."""
import json
import sys

import numpy as np


def limits(name):
    info = np.finfo(name)
    return [info.bits, float(info.eps), float(info.max), float(info.min), float(info.smallest_normal), info.dtype.name]


print(json.dumps([limits(name) for name in sys.argv[1:]]))
