"""What NumPy makes of the cases that test/api/combine-numpy.test.js sends.

Reads JSON from stdin: a list of {op, inputs, args, dtype, out}; writes a list of {shape, values}, or of true and
false for comparisons. An input is a buffer of numbers and a layout over it; strides and offset count elements.
With out, values is the whole of out's buffer afterwards.
"""
import json
import sys

import numpy as np


def number(x):
    return complex(float(x[0]), float(x[1])) if isinstance(x, list) else float(x) if isinstance(x, str) else x


def array(layout):
    values = [number(x) for x in layout['values']]
    buffer = np.array(values, dtype=object).astype(layout['dtype']) if values else np.empty(0, layout['dtype'])
    size = buffer.dtype.itemsize
    view = np.ndarray(layout['shape'], buffer.dtype, buffer, layout['offset'] * size, [s * size for s in layout['strides']])
    return buffer, view


def result(op, inputs, args, dtype):
    if op == 'concat':
        return np.concatenate([x.astype(dtype) for x in inputs], **args)
    if op == 'stack':
        return np.stack([x.astype(dtype) for x in inputs], **args)
    if op == 'array_equal':
        return bool(np.array_equal(*inputs, **args))
    if op == 'allclose':
        return bool(np.all(np.isclose(*inputs, **args) | (inputs[0] == inputs[1])))  # NumPy 1 multiplies by one, which makes complex infinities NaN
    if op == 'take_along_axis':
        return np.take_along_axis(inputs[0], np.array(args['indices'], np.int64).reshape(args['shape']), args['axis'])
    return getattr(np, op)(inputs[0], **args)


def plain(x):
    if isinstance(x, complex):
        return [x.real, x.imag]
    return int(x) if isinstance(x, bool) else x


def run(case):
    made = result(case['op'], [array(layout)[1].copy() for layout in case['inputs']], case['args'], case['dtype'])
    if isinstance(made, bool):
        return made
    shape = list(made.shape)
    if case['out'] is not None:
        made, view = array(case['out'])
        np.copyto(view, result(case['op'], [array(layout)[1].copy() for layout in case['inputs']], case['args'], case['dtype']), casting='unsafe')
    return {'shape': shape, 'values': [plain(x) for x in made.ravel().tolist()]}


with np.errstate(all='ignore'):
    json.dump([run(case) for case in json.load(sys.stdin)], sys.stdout)
