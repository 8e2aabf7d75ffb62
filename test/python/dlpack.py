"""Tensors of libsamebytes in NumPy and PyTorch, and theirs in it.

    dlpack.py LIBRARY PEER   prints { title: null, or what went wrong } as JSON; PEER is numpy, torch or interface
"""
import ctypes
import gc
import json
import sys
import threading
import traceback

import numpy as np

import libsamebytes as sb
from libsamebytes import DTYPES, Deleter, Failed, Tensor, int64s

lib = sb.load(sys.argv[1])
PEER = sys.argv[2]
if PEER != 'numpy':
    import torch

NUMPY = [name for name in DTYPES if name != 'bool' and name in sb.TYPESTRS]
TORCH = ['uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128']
cases = {}


def case(title, *peers):
    def note(function):
        if PEER in peers:
            cases[title] = function
        return function
    return note


class Counted:
    """Six float32 of C's, 0 to 5, and how often their deleter ran."""

    def __init__(self, shape=(2, 3)):
        self.bytes = (ctypes.c_float * 6)(*range(6))
        self.calls = []
        self.deleter = Deleter(lambda data, context: self.calls.append(threading.get_ident()))
        self.tensor = Tensor.over(lib, ctypes.addressof(self.bytes), 24, 'float32', shape, self.deleter)


def taken(t):
    return np.from_dlpack(t) if PEER == 'numpy' else torch.from_dlpack(t)


def address_of(x):
    return x.__array_interface__['data'][0] if isinstance(x, np.ndarray) else x.data_ptr()


def strides_of(x):
    return tuple(n // x.itemsize for n in x.strides) if isinstance(x, np.ndarray) else x.stride()


def raises(kind, function):
    try:
        result = function()
    except kind as error:
        return str(error)
    raise AssertionError(f'nothing was raised; the result is {result!r}')


@case('takes every dtype that it knows, over the same bytes', 'numpy', 'torch')
def every_dtype():
    for dtype in NUMPY if PEER == 'numpy' else TORCH:
        raw = bytes(range(1, 1 + 6 * lib.sb_dtype_itemsize(DTYPES.index(dtype)))) # of no dtype a NaN's
        t = Tensor.of_bytes(lib, raw, dtype, (2, 3))
        x = taken(t)
        assert str(x.dtype).replace('torch.', '') == dtype, (x.dtype, dtype)
        assert tuple(x.shape) == (2, 3) and strides_of(x) == (3, 1)
        assert address_of(x) == t.address
        assert ctypes.string_at(address_of(x), len(raw)) == raw
        if PEER == 'numpy':
            assert x.tobytes() == raw


@case('reads strided views, and sees what C writes', 'numpy', 'torch')
def views():
    c = Counted()
    view = c.tensor.view('sb_permute', 2, int64s([1, 0])).view('sb_narrow', 0, 1, 2)
    x = taken(view)
    assert x.tolist() == [[1, 4], [2, 5]]
    assert strides_of(x) == (1, 3)
    assert address_of(x) == c.tensor.address + 4
    view.fill(7)
    assert x.tolist() == [[7, 7], [7, 7]]
    assert list(c.bytes) == [0, 7, 7, 3, 7, 7]


@case('writes what C sees', 'torch')
def writes():
    c = Counted()
    x = taken(c.tensor)
    x.mul_(10)
    assert list(c.bytes) == [0, 10, 20, 30, 40, 50]


@case('holds the bytes until its last array is gone; the deleter runs once', 'numpy', 'torch')
def lifetimes():
    c = Counted()
    x = taken(c.tensor)
    c.tensor = None
    part = x[1]
    x = None
    gc.collect()
    assert c.calls == []
    assert part.tolist() == [3, 4, 5]
    part = None
    gc.collect()
    assert len(c.calls) == 1


@case('frees on another thread', 'numpy', 'torch')
def threads():
    c = Counted()
    held = [taken(c.tensor)]
    c.tensor = None
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert len(c.calls) == 1 and c.calls[0] != threading.get_ident(), c.calls


@case('leaves a capsule that nobody used to its destructor', 'numpy', 'torch')
def unused():
    c = Counted()
    capsule = c.tensor.__dlpack__()
    c.tensor = None
    assert c.calls == []
    capsule = None
    assert len(c.calls) == 1


@case('takes tensors without elements and without axes, and holds nothing of the former', 'numpy', 'torch')
def empty():
    c = Counted()
    none = taken(c.tensor.view('sb_narrow', 0, 1, 0))
    assert tuple(none.shape) == (0, 3)
    c.tensor = None
    gc.collect()
    assert len(c.calls) == 1
    one = Tensor.of_bytes(lib, b'\0\0\x40\x40', 'float32', ())
    assert taken(one).item() == 3 and tuple(taken(one).shape) == ()


@case('is refused what it would read wrongly', 'numpy', 'torch')
def refused():
    c = Counted()
    assert 'negative' in raises(BufferError, lambda: taken(c.tensor.view('sb_flip', 1, int64s([1]))))
    for dtype in ['bool', 'float8_e4m3fn', 'float8_e5m2']:
        assert 'uint8' in raises(BufferError, lambda: taken(Tensor.of_bytes(lib, b'\1\0', dtype, (2,))))
    c.tensor.c.flags = sb.READ_ONLY
    assert 'read-only' in raises(BufferError, lambda: taken(c.tensor))
    c.tensor.c.flags = 0
    c.tensor = None
    assert len(c.calls) == 1


@case('refuses dtypes that it lacks, and the deleter runs once', 'numpy', 'torch')
def lacking():
    for dtype in ['bfloat16'] if PEER == 'numpy' else ['uint16', 'uint32', 'uint64']:
        c = Counted()
        c.tensor.c.dtype = DTYPES.index(dtype)
        raises(RuntimeError, lambda: taken(c.tensor))
        c.tensor.c.dtype = DTYPES.index('float32')
        c.tensor = None
        gc.collect()
        assert len(c.calls) == 1, (dtype, c.calls)


def given(x):
    return Tensor.from_capsule(lib, x.__dlpack__())


def array(dtype, values, shape):
    if PEER == 'numpy':
        return np.array(values).astype(dtype).reshape(shape)
    return torch.tensor(values).to(getattr(torch, dtype)).reshape(shape)


@case('gives every dtype that it exports, over the same bytes', 'numpy', 'torch')
def given_dtypes():
    for dtype in NUMPY if PEER == 'numpy' else TORCH:
        x = array(dtype, [1, 2, 3, 4, 5, 6], (2, 3))
        t = given(x)
        assert (t.dtype, t.shape, t.strides, t.address) == (dtype, (2, 3), (3, 1), address_of(x)), dtype
        assert lib.sb_storage_nbytes(t.c.storage) == 6 * lib.sb_dtype_itemsize(t.c.dtype)
        t.fill(1)
        assert x.tolist() == [[1, 1, 1], [1, 1, 1]], dtype


@case('gives views with any strides', 'numpy', 'torch')
def given_views():
    x = array('float32', list(range(12)), (3, 4))
    views = [(x.T, (1, 4)), (x[:, 1:3], (4, 1)), (x[::2], (8, 1))]
    if PEER == 'numpy':
        views += [(x[::-1, ::-1], (-4, -1)), (np.asfortranarray(x), (1, 3))]
    else:
        views += [(x[0].expand(5, 4), (0, 1))]
    for view, strides in views:
        t = given(view)
        assert (t.shape, t.strides, t.address) == (tuple(view.shape), strides, address_of(view))
    t = None
    if PEER == 'numpy':
        back = given(x[::-1])
        back.view('sb_narrow', 0, 0, 1).fill(-1)
        assert x[2].tolist() == [-1, -1, -1, -1] and x[1].tolist() == [4, 5, 6, 7]


@case('is kept alive by what it gave, and let go of', 'numpy', 'torch')
def given_lifetimes():
    x = array('float32', [1, 2, 3], (3,))
    t = given(x)
    address = address_of(x)
    if PEER == 'numpy':
        count = sys.getrefcount(x)
        view = t.view('sb_narrow', 0, 1, 2)
        t = None
        assert sys.getrefcount(x) == count
        view = None
        assert sys.getrefcount(x) == count - 1
        t = given(x)
    x = None
    gc.collect()
    others = [array('float32', [9, 9, 9], (3,)) for _ in range(100)]
    assert all(address_of(other) != address for other in others)
    assert np.frombuffer(ctypes.string_at(t.address, 12), '<f4').tolist() == [1, 2, 3]


@case('gives what is empty, and what has no axes', 'numpy', 'torch')
def given_empty():
    assert given(array('float32', [1, 2], (2,))[:0]).shape == (0,)
    one = given(array('float32', [5], ()))
    assert one.shape == () and ctypes.c_float.from_address(one.address).value == 5


@case('gives a capsule that can be used once', 'numpy', 'torch')
def given_once():
    capsule = array('float32', [1, 2], (2,)).__dlpack__()
    t = Tensor.from_capsule(lib, capsule)
    raises(ValueError, lambda: Tensor.from_capsule(lib, capsule))
    assert t.shape == (2,)


@case('refuses what cannot be shared', 'numpy', 'torch')
def given_refused():
    if PEER == 'numpy':
        raises(BufferError, lambda: given(np.array([True])))
        raises(BufferError, lambda: given(np.zeros(2, '>f4')))
    else:
        raises(RuntimeError, lambda: given(torch.zeros(2, requires_grad=True)))


@case('goes there and back over one block, 20,000 times', 'numpy', 'torch')
def cycles():
    c = Counted()
    for _ in range(20000):
        x = taken(c.tensor)
        if PEER == 'torch': # NumPy gives no read-only array, which all that it took are
            t = given(x)
            assert t.address == c.tensor.address
            t = None
    x = None
    assert c.calls == []
    c.tensor = None
    gc.collect()
    assert len(c.calls) == 1


@case('NumPy and PyTorch are two more views of one block of C\'s', 'torch')
def three():
    x = array('float32', [1, 2, 3, 4, 5, 6], (2, 3))
    t = given(x) # PyTorch's bytes
    y = np.asarray(t)
    y[1, 2] = 60
    t.view('sb_narrow', 0, 0, 1).fill(0)
    assert x.tolist() == [[0, 0, 0], [4, 5, 60]]
    assert address_of(x) == address_of(y) == t.address


# ---- __array_interface__, by which NumPy 1 gets arrays that it may write to ----

@case('is a writable array over the same bytes, of every dtype that NumPy has', 'interface')
def interface_dtypes():
    for dtype in sb.TYPESTRS:
        itemsize = lib.sb_dtype_itemsize(DTYPES.index(dtype))
        t = Tensor.of_bytes(lib, bytes(6 * itemsize), dtype, (2, 3))
        x = np.asarray(t)
        assert (str(x.dtype), x.shape, address_of(x)) == (dtype, (2, 3), t.address)
        assert x.flags.writeable
        x[1, 2] = 1
        assert ctypes.string_at(t.address + 5 * itemsize, itemsize) == np.array(1, x.dtype).tobytes()
        t.fill(0)
        assert x.any() == False # noqa: E712


@case('reads and writes views, also those that walk back', 'interface')
def interface_views():
    c = Counted()
    x = np.asarray(c.tensor.view('sb_flip', 2, int64s([0, 1])).view('sb_permute', 2, int64s([1, 0])))
    assert x.tolist() == [[5, 2], [4, 1], [3, 0]]
    x[0, 0] = -5
    assert list(c.bytes) == [0, 1, 2, 3, 4, -5]


@case('keeps the tensor alive, through torch.from_numpy as well', 'interface')
def interface_lifetimes():
    c = Counted()
    x = np.asarray(c.tensor)
    c.tensor = None
    y = torch.from_numpy(x)
    x = None
    gc.collect()
    assert c.calls == []
    y += 1
    assert list(c.bytes) == [1, 2, 3, 4, 5, 6]
    y = None
    gc.collect()
    assert len(c.calls) == 1


@case('of a read-only tensor is a read-only array', 'interface')
def interface_read_only():
    c = Counted()
    c.tensor.c.flags = sb.READ_ONLY
    x = np.asarray(c.tensor)
    assert not x.flags.writeable
    assert 'read-only' in raises(ValueError, lambda: x.fill(1))


@case('is not there where NumPy has no such dtype', 'interface')
def interface_none():
    t = Tensor.of_bytes(lib, b'\0\0', 'bfloat16', (1,))
    assert not hasattr(t, '__array_interface__')
    assert 'bfloat16' in raises(AttributeError, lambda: t.__array_interface__)


results = {}
for title, function in cases.items():
    try:
        function()
        results[title] = None
    except Exception:
        results[title] = traceback.format_exc()
print(json.dumps(results))
