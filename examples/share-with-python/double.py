"""The Python side: a segment is a .npy file, so np.load is all it takes."""
import os
import sys
import time

import numpy as np

what, path = sys.argv[1:]


def at(array):
    return f'address {hex(array.ctypes.data)}'


if what == 'make':
    array = np.lib.format.open_memmap(path, 'w+', 'f8', (1024, 1024))
    array[...] = np.arange(array.size).reshape(array.shape)
    print(f'Python, process {os.getpid()}: made {array.dtype} {list(array.shape)} in {path}, {at(array)}')
else:
    start = time.perf_counter()
    array = np.load(path, mmap_mode='r+')
    opened = (time.perf_counter() - start) * 1000
    if what == 'double':
        import torch
        tensor = torch.from_numpy(array)
        half = len(array) // 2
        start = time.perf_counter()
        array[:half] *= 2  # half of it by NumPy
        tensor[half:].mul_(2)  # and half by PyTorch
        spent = (time.perf_counter() - start) * 1000
        print(f'Python, process {os.getpid()}: opened in {opened:.1f} ms, {at(array)}, PyTorch has {hex(tensor.data_ptr())}; doubled in {spent:.1f} ms')
    else:
        print(f'Python sees {array.flat[0]}, {array.flat[1]} … {array.flat[-1]}')
