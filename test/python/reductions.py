"""Reductions as NumPy computes them. Reads cases (JSON) from standard input: name, dtype, shape, bytes (base64), axis, keepdims, correction.
Writes for each its result's shape and values: float64 of sums in long double, or integers; null where NumPy refuses."""
import base64
import json
import sys

import numpy as np

WIDE = np.longdouble


def source(case):
    raw = base64.b64decode(case['bytes'])
    if case['dtype'] == 'bfloat16':
        bits = np.frombuffer(raw, dtype=np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(case['shape'])
    return np.frombuffer(raw, dtype=case['dtype']).reshape(case['shape'])


def axes(case):
    return tuple(case['axis']) if isinstance(case['axis'], list) else case['axis']


def log_sum_exp(x, case, keepdims=False):
    x = x.astype(WIDE)
    most = np.max(x, axis=axes(case), keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0)
    made = np.log(np.sum(np.exp(x - most), axis=axes(case), keepdims=True)) + most
    return made if keepdims or case.get('keepdims') else made.reshape(np.sum(x, axis=axes(case)).shape)


def log_softmax(x, case):
    return x.astype(WIDE) - log_sum_exp(x, case, True)


def vector_norm(x, case):
    x = np.abs(x.astype(np.clongdouble if x.dtype.kind == 'c' else WIDE))
    options = {'axis': axes(case), 'keepdims': case.get('keepdims', False)}
    ord = float(case['ord'])
    if ord == float('inf'):
        return np.max(x, **options)
    if ord == float('-inf'):
        return np.min(x, **options)
    if ord == 0:
        return np.sum(x != 0, **options).astype(WIDE)
    return np.sum(x ** WIDE(ord), **options) ** (WIDE(1) / WIDE(ord))


def normalize(x, case):
    wide = x.astype(np.clongdouble if x.dtype.kind == 'c' else WIDE)
    return wide / np.maximum(vector_norm(x, {**case, 'keepdims': True}), WIDE(1e-12))


def quantile(x, case):
    options = {'axis': axes(case), 'keepdims': case.get('keepdims', False)}
    x = x.astype(np.float64)
    if case['name'] == 'median':
        return np.median(x, **options)
    return np.quantile(x, case['q'], method=case['method'], **options)


LINES = {
    'softmax': lambda x, case: np.exp(log_softmax(x, case)),
    'logSoftmax': log_softmax,
    'logSumExp': log_sum_exp,
    'vectorNorm': vector_norm,
    'normalize': normalize,
    'median': quantile,
    'quantile': quantile,
}


def compute(case):
    x = source(case)
    name = case['name']
    if name in LINES:
        return LINES[name](x, case)
    axis = tuple(case['axis']) if isinstance(case['axis'], list) else case['axis']
    options = {'axis': axis, 'keepdims': case.get('keepdims', False)}
    if name in ('argmax', 'argmin', 'any', 'all', 'min', 'max'):
        return getattr(np, name)(x, **options)
    if name == 'countNonzero':
        return np.count_nonzero(x, **options)
    if name in ('var', 'std'):
        return getattr(np, name)(x.astype(WIDE), ddof=case['correction'], **options)
    if x.dtype.kind in 'fc' or name == 'mean':
        x = x.astype(np.clongdouble if x.dtype.kind == 'c' else WIDE)
    if name in ('cumulativeSum', 'cumulativeProd'):
        if x.dtype.kind in 'iub':
            x = x.astype(np.uint64 if x.dtype.kind == 'u' else np.int64)
        return (np.cumsum if name == 'cumulativeSum' else np.cumprod)(x, axis=axis)
    if name == 'diff':
        return np.diff(source(case), axis=axis, n=case['n'])
    return getattr(np, name)(x, **options)


def plain(value):
    if isinstance(value, (complex, np.complexfloating)):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    number = float(value)
    if number != number:
        return 'nan'
    return repr(number) if abs(number) != float('inf') else str(number)


def answer(case):
    try:
        with np.errstate(all='ignore'):
            made = np.asarray(compute(case))
    except (ValueError, TypeError):
        return None
    return {'shape': list(made.shape), 'values': [plain(value) for value in made.reshape(-1)]}


json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
