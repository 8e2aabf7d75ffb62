"""A process of the tests of GPU memory between processes, as vram-peer.js. PyTorch or CuPy make and read the elements where the first
argument names them; else bytes are copied."""
import array
import ctypes
import gc
import json
import os
import sys

import samebytes_cuda as first_name
from samebytes import cuda as samebytes_cuda

assert first_name.open is samebytes_cuda.open and first_name.__all__ == samebytes_cuda.__all__

TYPES = {'float32': 'f', 'float64': 'd', 'int32': 'i', 'uint8': 'B', 'int64': 'q'}
LIBRARY = sys.argv[1] if len(sys.argv) > 1 else 'none'
if LIBRARY == 'torch':
    import torch
elif LIBRARY == 'cupy':
    import cupy

tensors = {}


class Foreign:
    """What somebody else allocated."""

    def __init__(self, shape, dtype):
        self.driver, address = samebytes_cuda._driver(), ctypes.c_uint64()
        self.nbytes = samebytes_cuda._DTYPES[dtype][1]
        for extent in shape:
            self.nbytes *= extent
        allocate = self.driver.library.cuMemAlloc_v2
        with self.driver.on(0):
            assert allocate(ctypes.byref(address), ctypes.c_size_t(self.nbytes)) == 0
        self.dtype, self.shape, self.address = dtype, shape, address.value
        self.__cuda_array_interface__ = {'shape': tuple(shape), 'typestr': samebytes_cuda._DTYPES[dtype][0],
                                         'data': (self.address, False), 'strides': None, 'stream': None, 'version': 3}

    def __del__(self):
        free = self.driver.library.cuMemFree_v2
        with self.driver.on(0):
            free(ctypes.c_uint64(self.address))

    def get_bytes(self):
        data = (ctypes.c_ubyte * self.nbytes)()
        with self.driver.on(0):
            self.driver.call('cuMemcpyDtoH_v2', data, self.address, self.nbytes)
        return bytes(data)

    def set_bytes(self, data):
        with self.driver.on(0):
            self.driver.call('cuMemcpyHtoD_v2', self.address, bytes(data), self.nbytes)
            self.driver.call('cuCtxSynchronize')


def as_array(v):
    return torch.as_tensor(v, device='cuda') if LIBRARY == 'torch' else cupy.asarray(v)


def has_library(v):
    return LIBRARY != 'none' and isinstance(v, samebytes_cuda.Memory) or type(v).__module__.split('.')[0] in ('torch', 'cupy')


def nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def flat(values):
    return [x for each in values for x in flat(each)] if isinstance(values, list) else [values]


def told(v):
    if isinstance(v, samebytes_cuda.Memory):
        return {'shape': list(v.shape), 'dtype': v.dtype, 'device': f'cuda:{v.device}', 'strides': list(v.strides),
                'readOnly': v.read_only}
    return None


def synchronize():
    if LIBRARY == 'torch':
        torch.cuda.synchronize()
    elif LIBRARY == 'cupy':
        cupy.cuda.Device().synchronize()


def make(q):
    dtype, shape = q.get('dtype', 'float32'), q['shape']
    if q.get('shared', True):
        v = samebytes_cuda.empty(shape, dtype, int(q.get('device', 'cuda:0').split(':')[1]))
    elif LIBRARY == 'torch':
        v = torch.empty(shape, dtype=getattr(torch, dtype), device='cuda')
    elif LIBRARY == 'cupy':
        v = cupy.empty(shape, dtype)
    else:
        v = Foreign(shape, dtype)
    tensors[q['as']] = v
    if 'values' in q:
        write({'of': q['as'], 'values': q['values']})
    return told(v)


def read(q):
    v = tensors[q['of']]
    if has_library(v):
        a = as_array(v) if isinstance(v, samebytes_cuda.Memory) else v
        return a.tolist()
    values = array.array(TYPES[v.dtype])
    values.frombytes(v.get_bytes())
    return nested(values.tolist(), list(v.shape))


def write(q):
    v = tensors[q['of']]
    if has_library(v):
        a = as_array(v) if isinstance(v, samebytes_cuda.Memory) else v
        a[...] = (torch.tensor if LIBRARY == 'torch' else cupy.asarray)(q['values'], dtype=a.dtype)
        synchronize()
    else:
        v.set_bytes(array.array(TYPES[v.dtype], flat(q['values'])).tobytes())


def open_it(q):
    tensors[q['as']] = samebytes_cuda.open(q['d'])
    return told(tensors[q['as']])


def dispose(q):
    v = tensors.pop(q['of'])
    if isinstance(v, samebytes_cuda.Memory):
        v.close()
    del v
    gc.collect()


class Managed(ctypes.Structure):
    """DLPack's structs, read by what a consumer reads."""
    _fields_ = [('data', ctypes.c_void_p), ('device', ctypes.c_int32 * 2), ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8),
                ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64), ('context', ctypes.c_void_p),
                ('deleter', ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


def capsule(q):
    """As a consumer takes one: what it says, whether the memory stays while it is held, and goes with the deleter."""
    v = tensors.pop(q['of'])
    held = v.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = ctypes.c_char_p(b'used_dltensor')
    address = pointer(held, b'dltensor')
    rename(held, name)
    m = Managed.from_address(address)
    said = {'device': list(m.device), 'shape': m.shape[:m.ndim], 'strides': m.strides[:m.ndim], 'code': m.code, 'bits': m.bits,
            'same': m.data == v.__cuda_array_interface__['data'][0]}
    mapping, data, first = v._mapping, m.data, ctypes.c_float()
    del held
    v.close()
    del v
    gc.collect()
    said['stays'] = len(mapping.steps) > 0
    with samebytes_cuda._driver().on(0):
        samebytes_cuda._driver().call('cuMemcpyDtoH_v2', ctypes.byref(first), data, 4)
    said['first'] = first.value
    m.deleter(address)
    gc.collect()
    said['goes'] = len(mapping.steps) == 0
    return said


def held(_):
    return {'exports': len(samebytes_cuda._exports), 'entries': len(samebytes_cuda._the_office.entries) if samebytes_cuda._the_office else 0,
            'files': len(os.listdir('/proc/self/fd'))}


def interface(q):
    return {key: list(value) if isinstance(value, tuple) else value for key, value in tensors[q['of']].__cuda_array_interface__.items()}


operations = {
    'make': make, 'read': read, 'write': write, 'open': open_it, 'dispose': dispose, 'held': held, 'capsule': capsule,
    'interface': interface,
    'share': lambda q: samebytes_cuda.share(tensors[q['of']], q.get('uses', 1)),
    'unshare': lambda q: samebytes_cuda.unshare(q['d']),
}

for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = {'value': operations[question['op']](question)}
    except samebytes_cuda.Error as error:
        answer = {'error': {'code': error.code, 'message': str(error)}}
    except Exception as error:
        answer = {'error': {'code': type(error).__name__, 'message': repr(error)}}
    print(json.dumps(answer), flush=True)
