"""The Python side: one JSON object a line on stdin, one on stdout."""
import json
import os
import struct
import sys

import samebytes_cuda


def library():
    """PyTorch with CUDA, else CuPy, else neither."""
    try:
        import torch
        if torch.cuda.is_available():
            return torch
    except ImportError:
        pass
    try:
        import cupy
        if cupy.cuda.is_available():
            return cupy
    except ImportError:
        pass
    return None


def as_array(v):
    return lib.as_tensor(v, device='cuda') if lib.__name__ == 'torch' else lib.asarray(v)


def synchronize():
    """The other process does not wait for this one's streams."""
    lib.cuda.synchronize() if lib.__name__ == 'torch' else lib.cuda.Device().synchronize()


def double(v):
    if lib is None:  # by way of the CPU
        values = struct.unpack(f'{v.nbytes // 4}f', v.get_bytes())
        v.set_bytes(struct.pack(f'{len(values)}f', *(2 * value for value in values)))
        return 'without PyTorch and CuPy, by a copy'
    array = as_array(v)
    array *= 2
    synchronize()
    return f'{lib.__name__} {lib.__version__}, in place'


def make(shape):
    """A tensor of PyTorch's or CuPy's, or memory of samebytes_cuda, all 3."""
    if lib is None:
        v = samebytes_cuda.empty(shape)
        v.set_bytes(struct.pack('f', 3) * (v.nbytes // 4))
        return v
    return lib.full(shape, 3.0, device='cuda') if lib.__name__ == 'torch' else lib.full(shape, 3.0, 'float32')


def first(x):
    return struct.unpack('f', x.get_bytes()[:4])[0] if lib is None else float(x.ravel()[0])


lib = library()
kept = None
for line in sys.stdin:
    question = json.loads(line)
    if 'double' in question:
        with samebytes_cuda.open(question['double']) as v:
            how = double(v)
            where = f'cuda:{v.device}, address {hex(v.ptr)}'
        answer = {'text': f'Python, process {os.getpid()}: doubled, {how}; {where}'}
    elif 'make' in question:
        kept = make(question['make'])
        answer = {'text': f'Python, process {os.getpid()}: made {question["make"]}, all {first(kept)}',
                  'descriptor': samebytes_cuda.share(kept)}
    else:
        answer = {'text': f'Python sees {first(kept)}'}
    print(json.dumps(answer), flush=True)
