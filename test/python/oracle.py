"""Runs np.copyto over the cases that test/api/numpy.test.js wrote.

Usage: oracle.py FOLDER. Reads cases.json (layouts) and cases.bin (bytes), writes results.bin: every
target buffer after the copy, one after the other. Strides and offsets count elements.
"""
import json
import os
import sys

import numpy as np


def array(buffer, dtype, shape, layout):
    dtype = np.dtype(dtype).newbyteorder('<')
    return np.ndarray(shape, dtype, buffer, layout['offset'] * dtype.itemsize,
                      [s * dtype.itemsize for s in layout['strides']])


def run(case, data):
    start, length = case['dstBytes']
    target = bytearray(data[start:start + length])
    # Without a source of its own, the source is the target's buffer as it was: NumPy 1.24 itself gets
    # some one-dimensional copies within a buffer wrong.
    start, length = case['srcBytes'] or case['dstBytes']
    source = bytearray(data[start:start + length])
    out = array(target, case['to'], case['shape'], case['dst'])
    np.copyto(out, array(source, case['from'], case['srcShape'], case['src']), casting='unsafe')
    return target


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
