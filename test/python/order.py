"""What NumPy makes of test/math/order.test.js's cases: JSON from stdin, bytes of results to stdout."""
import base64
import json
import sys
import warnings

import numpy as np

warnings.simplefilter('ignore')


def read(t):
    return np.frombuffer(base64.b64decode(t['bytes']), t['dtype']).reshape(t['shape'])


def ranks(x):
    """Integers in the order of the elements, which may be negated; NaN is the greatest."""
    values, inverse = np.unique(x, return_inverse=True)
    return inverse.reshape(x.shape)


def descending(x):
    r = -ranks(x)
    return np.where(np.isnan(x), 1, r) if x.dtype.kind == 'f' else r


def results(case):
    name, x = case['name'], read(case['x'])
    if name in ('sort', 'argsort'):
        keys = descending(x) if case['descending'] else ranks(x)
        order = np.argsort(keys, axis=case['axis'], kind='stable')
        if name == 'argsort':
            return [order.astype(case['dtype'])]
        made = np.take_along_axis(x, order, case['axis'])
        if not case['descending']:
            assert np.array_equal(made, np.sort(x, case['axis'], kind='stable'), equal_nan=True)
        return [made]
    if name == 'topK':
        r = ranks(x)
        order = np.argsort(-r if case['largest'] else r, axis=case['axis'], kind='stable')
        first = np.take(order, range(case['k']), case['axis'])
        return [np.take_along_axis(x, first, case['axis']), first.astype(case['dtype'])]
    if name == 'searchsorted':
        sorter = read(case['sorter']) if 'sorter' in case else None
        return [np.asarray(np.searchsorted(x, read(case['y']), case['side'], sorter)).astype(case['dtype'])]
    if name == 'isin':
        return [np.isin(x, read(case['y']), invert=case['invert'])]
    if name == 'unique':
        values, first, inverse, counts = np.unique(x, True, True, True, equal_nan=False)
        return [values] + [r.astype(case['dtype']) for r in (first, inverse, counts)]
    weights = read(case['weights']) if 'weights' in case else None
    made = np.bincount(x, weights, case['minlength'])
    return [np.where(np.isnan(made), np.nan, made) if weights is not None else made.astype(case['dtype'])]


json.dump([[base64.b64encode(np.ascontiguousarray(r).tobytes()).decode() for r in results(case)]
           for case in json.load(sys.stdin)], sys.stdout)
