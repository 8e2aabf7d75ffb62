"""NumPy's promote_types of all pairs of the dtypes that are named; null where one is an integer and the other is not."""
import json
import sys

import numpy as np


def is_integer(name):
    return np.dtype(name).kind in "biu"


def promoted(a, b):
    return np.promote_types(a, b).name if is_integer(a) == is_integer(b) else None


names = sys.argv[1:]
print(json.dumps([[promoted(a, b) for b in names] for a in names]))
