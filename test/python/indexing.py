"""Indexing as NumPy does it. Reads cases (JSON) from standard input: itemsize, shape, bytes (base64), entries, and of an assignment the
value's shape and bytes. Elements are bytes here, of whatever dtype. Writes for each case the result's shape and bytes, whether it is a view, and
the bytes of the whole after the assignment; null where NumPy refuses."""
import base64
import json
import sys
import warnings

import numpy as np

warnings.simplefilter('error', DeprecationWarning)  # of indices out of bounds in results without elements


def array(shape, text, itemsize):
    return np.frombuffer(base64.b64decode(text), dtype='V%d' % itemsize).reshape(shape).copy()


def entry(one):
    kind = one['kind']
    if kind == 'number':
        return one['index']
    if kind == 'slice':
        return slice(*one['slice'])
    if kind == 'ellipsis':
        return Ellipsis
    if kind == 'newaxis':
        return None
    values = np.array(one['values'], dtype=bool if kind == 'mask' else one['dtype']).reshape(one['shape'])
    return values.tolist() if kind == 'list' and values.size else values


def answer(case):
    x = array(case['shape'], case['bytes'], case['itemsize'])
    entries = tuple(entry(one) for one in case['entries'])
    try:
        result = x[entries]
        is_view = isinstance(result, np.ndarray) and np.shares_memory(result, x)
        shape = list(np.shape(result))
        out = {'shape': shape, 'bytes': base64.b64encode(np.asarray(result).tobytes()).decode(), 'isView': is_view}
        if 'value' in case:
            x[entries] = array(case['value']['shape'], case['value']['bytes'], case['itemsize'])
            out['after'] = base64.b64encode(x.tobytes()).decode()
        return out
    except (IndexError, ValueError, DeprecationWarning) as error:
        return {'error': str(error)}


print(json.dumps([answer(case) for case in json.load(sys.stdin)]))
