"""What becomes of the copies that test/copies.js makes.

Usage: oracle.py FOLDER. Reads cases.json (layouts) and cases.bin (bytes), writes results.bin: every
target buffer after the copy, one after the other. Strides and offsets count elements.

np.copyto does what NumPy can. Short floats, and numbers on their way to a float with a scale and a bias,
are rounded here: exactly, in long doubles, to the nearest entry of a table of all values.
"""
import json
import os
import sys

import numpy as np

# bits of the significand, of what comes after the largest value, and of NaN; the type that holds them
SHORT = {
    'float16': (10, 0x7c00, 0x7e00, np.uint16),
    'bfloat16': (7, 0x7f80, 0x7fc0, np.uint16),
    'float8_e4m3fn': (3, 0x7f, 0x7f, np.uint8),
    'float8_e5m2': (2, 0x7c, 0x7e, np.uint8),
}
NO_NUMPY = [name for name in SHORT if name != 'float16']
EXACT = np.longdouble


def values_of(name):
    """The values of all codes without a sign, in their order; infinity and NaN included."""
    mantissa, beyond, nan, kind = SHORT[name]
    codes = np.arange(1 << (8 * np.dtype(kind).itemsize - 1))
    exponent, fraction = codes >> mantissa, codes & ((1 << mantissa) - 1)
    bias = (1 << (8 * np.dtype(kind).itemsize - 2 - mantissa)) - 1
    normal = np.ldexp((fraction + (1 << mantissa)).astype(EXACT), exponent - bias - mantissa)
    values = np.where(exponent == 0, np.ldexp(fraction.astype(EXACT), 1 - bias - mantissa), normal)
    values[beyond:] = np.nan
    if nan != beyond:
        values[beyond] = np.inf
    return values


TABLES = {name: values_of(name) for name in SHORT}


def decoded(codes, name):
    sign = 1 << (8 * codes.dtype.itemsize - 1)
    values = TABLES[name][codes & (sign - 1)]
    return np.where(codes & sign, -values, values)


def encoded(values, name):
    """To the nearest, ties to the even code, in long doubles."""
    _, beyond, nan, kind = SHORT[name]
    table = TABLES[name][:beyond].copy()
    table = np.append(table, 2 * table[-1] - table[-2]) # where the next value would be
    magnitude = np.where(np.isnan(values), 0, np.minimum(np.abs(values), table[-1]))
    low = np.searchsorted(table, magnitude, 'right') - 1
    high = np.minimum(low + 1, beyond)
    below, above = magnitude - table[low], table[high] - magnitude
    up = (above < below) | ((above == below) & (low % 2 == 1))
    codes = np.where(up, high, low)
    sign = 1 << (8 * np.dtype(kind).itemsize - 1)
    lone = np.isnan(values) | ((codes == beyond) & (nan == beyond)) # NaN has no sign
    return np.where(lone, nan, codes | np.where(np.signbit(values), sign, 0)).astype(kind)


def to_integers(values, dtype):
    """Toward zero, to the nearest end where out of range; NaN is 0."""
    info = np.iinfo(dtype)
    low, high = (np.array(end, dtype).astype(EXACT) for end in (info.min, info.max)) # EXACT(int) rounds
    whole = np.where(np.isnan(values), 0, np.clip(np.trunc(values.astype(EXACT)), low, high))
    return whole.astype(dtype)


def cast(x, source, target):
    """x: what is stored of source; gives what is stored of target. Not for what NumPy rounds well."""
    if source == target:
        return x
    exact = np.asarray(decoded(x, source) if source in SHORT and x.dtype.kind == 'u' else x)
    if exact.dtype.kind == 'c' and target not in ('complex64', 'complex128', 'bool'):
        exact = exact.real
    if target in SHORT:
        return encoded(exact.astype(EXACT), target)
    if exact.dtype.kind == 'f' and np.dtype(target).kind in 'iu':
        return to_integers(exact, np.dtype(target))
    return canonical(exact.astype(target))


def canonical(x):
    """The NaNs that casts give: no sign, no payload."""
    x = np.asarray(x)
    if x.dtype.kind == 'c':
        canonical(x.real)
        canonical(x.imag)
    elif x.dtype.kind == 'f':
        x[np.isnan(x)] = np.nan
    return x


def scaled(x, case):
    wide = any(name in ('float64', 'int64', 'uint64') for name in (case['from'], case['to']))
    computed = np.float64 if wide else np.float32
    if case['from'] in SHORT:
        x = decoded(x.view(SHORT[case['from']][3]), case['from'])
    x = x.astype(computed)
    for name, apply in (('scale', np.multiply), ('bias', np.add)):
        factor = np.array(case[name], np.float64).astype(computed)
        if factor.ndim:
            factor = factor.reshape([-1] + [1] * (len(case['shape']) - 1 - case['axis']))
        x = apply(x, factor, dtype=computed)
    name = np.dtype(computed).name
    return canonical(x) if case['to'] == name else np.asarray(cast(x, name, case['to']))


def array(buffer, dtype, shape, layout):
    dtype = np.dtype(SHORT[dtype][3] if dtype in NO_NUMPY else dtype).newbyteorder('<')
    return np.ndarray(shape, dtype, buffer, layout['offset'] * dtype.itemsize,
                      [s * dtype.itemsize for s in layout['strides']])


def run(case, data):
    source, target = case['from'], case['to']
    start, length = case['dstBytes']
    written = bytearray(data[start:start + length])
    # Without a source of its own, the source is the target's buffer as it was: NumPy 1.24 itself gets
    # some one-dimensional copies within a buffer wrong.
    start, length = case['srcBytes'] or case['dstBytes']
    read = bytearray(data[start:start + length])
    out = array(written, target, case['shape'], case['dst'])
    x = array(read, source, case['srcShape'], case['src'])
    if case.get('scale') is not None:
        y = scaled(np.broadcast_to(x, case['shape']), case)
        np.copyto(out, y.view(SHORT[target][3]).view(out.dtype) if target in SHORT else y)
    elif source != target and ({source, target} & set(NO_NUMPY) or (target == 'float16' and x.dtype.kind in 'iu')):
        y = np.asarray(cast(np.array(x), source, target))
        np.copyto(out, y.view(out.dtype) if target in SHORT else y)
    else: # NumPy rounds twice from integers to float16, and so is not asked
        np.copyto(out, x, casting='unsafe')
    return written


def main(folder):
    with open(os.path.join(folder, 'cases.json'), encoding='utf-8') as file:
        cases = json.load(file)
    with open(os.path.join(folder, 'cases.bin'), 'rb') as file:
        data = file.read()
    with np.errstate(all='ignore'), open(os.path.join(folder, 'results.bin'), 'wb') as file:
        for case in cases:
            file.write(run(case, data))


if __name__ == '__main__':
    import warnings
    warnings.simplefilter('ignore')
    main(sys.argv[1])
