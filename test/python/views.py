"""What NumPy (and PyTorch, where NumPy has no such function) make of views.

Reads a list of cases as JSON from stdin, writes one list of results. A case has the shape of an array that
counts from 0, what is done to it first (permute, slice), and a function with its arguments. A result has shape,
strides in elements and values of each array that comes out, or null where it was refused.
"""
import json
import sys

import numpy as np

COUNT = np.int32


def torch_of(a):
    import torch
    a = np.asarray(a)
    if a.size and any(s < 0 for s in a.strides): # PyTorch has no such strides
        raise NotImplementedError
    return torch.from_numpy(a)


def squeeze(a, axis=None):
    if a.ndim == 0 and axis in (0, -1): # NumPy lets it pass
        raise ValueError
    return np.squeeze(a, tuple(axis) if isinstance(axis, list) else axis)


def split(a, sizes, axis=0):
    n = a.shape[axis]
    if isinstance(sizes, int):
        if sizes < 0 or (sizes == 0 and n):
            raise ValueError
        sizes = [min(sizes, n - at) for at in range(0, n, sizes)] if n else [0]
    if sum(sizes) != n or min(sizes, default=0) < 0:
        raise ValueError
    parts = np.split(a, np.cumsum(sizes)[:-1], axis) if sizes else []
    return parts


def expand(a, shape):
    added = len(shape) - a.ndim
    if added < 0:
        raise ValueError
    return np.broadcast_to(a, [a.shape[d - added] if e == -1 and d >= added else e for d, e in enumerate(shape)])


def as_strided(a, shape, strides, offset):
    # a is the whole array: PyTorch looks at the storage's end
    return torch_of(a).as_strided(shape, strides, offset)


def memory_format(a, name):
    import torch
    formats = {'contiguous': torch.contiguous_format, 'channels_last': torch.channels_last, 'channels_last_3d': torch.channels_last_3d}
    t = torch_of(a)
    return [t.contiguous(memory_format=formats[name]), np.array(t.is_contiguous(memory_format=formats[name]), COUNT)]


FUNCTIONS = {
    'flip': lambda a, axis=None: np.flip(a, tuple(axis) if isinstance(axis, list) else axis),
    'diagonal': lambda a, offset=0, axis1=0, axis2=1: np.diagonal(a, offset, axis1, axis2),
    'squeeze': squeeze,
    'unsqueeze': lambda a, axis: np.expand_dims(a, tuple(axis) if isinstance(axis, list) else axis),
    'moveaxis': np.moveaxis,
    'broadcastArrays': lambda a, shapes: list(np.broadcast_arrays(a, *[counting(shape) for shape in shapes])),
    'meshgrid': lambda a, lengths, indexing: list(np.meshgrid(a, *[counting([n]) for n in lengths], indexing=indexing, copy=False)),
    'mT': lambda a: np.swapaxes(a, -1, -2),
    'expand': expand,
    'split': split,
    'chunk': lambda a, n, axis=0: list(torch_of(a).chunk(n, axis)),
    'unbind': lambda a, axis=0: list(np.moveaxis(a, axis, 0)),
    'asStrided': as_strided,
    'memoryFormat': memory_format,
}


def counting(shape):
    return np.arange(int(np.prod(shape, dtype=np.int64)), dtype=COUNT).reshape(shape)


def prepared(case):
    a = counting(case['shape'])
    for kind, value in case['before']:
        a = a.transpose(value) if kind == 'permute' else a[tuple(slice(*part) for part in value)]
    return a


def described(a):
    if not isinstance(a, np.ndarray) and hasattr(a, 'stride'): # PyTorch's
        return {'shape': list(a.shape), 'strides': list(a.stride()), 'values': a.numpy().tolist()}
    a = np.asarray(a)
    return {'shape': list(a.shape), 'strides': [s // a.itemsize for s in a.strides], 'values': a.tolist()}


def run(case):
    try:
        out = FUNCTIONS[case['name']](prepared(case), *case['args'])
    except NotImplementedError:
        return 'skipped'
    except (ValueError, IndexError, RuntimeError, TypeError):
        return None
    return [described(a) for a in out] if isinstance(out, list) else described(out)


if __name__ == '__main__':
    json.dump([run(case) for case in json.load(sys.stdin)], sys.stdout)
