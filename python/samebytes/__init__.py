"""What Node and Python have together through samebytes: tensors and rings of frames in shared memory, and GPU memory (`samebytes.cuda`).

    from samebytes import SharedRing, SharedTensor

    for array, index, lost, tag in SharedRing.open('camera'):     # what SharedRing.create('camera', ...) made in Node
        SharedTensor.open('grey').array[...] = array.mean(axis=2)

Linux, Python 3.9 and newer. Nothing is compiled, and no package is needed: with NumPy arrays, without it memoryviews. Atomics, fences and
futexes come from libsamebytes.so.1, which the npm package and the wheel have; without it rings can be read, on x86-64 only."""

from ._errors import Error
from ._ring import Frame, SharedRing
from ._shared_tensor import SharedTensor

__all__ = ['cuda', 'Error', 'Frame', 'SharedRing', 'SharedTensor']
__version__ = '0.1.0'
