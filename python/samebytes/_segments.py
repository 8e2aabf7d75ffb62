"""Named segments of shared memory: .npy files in a folder, mapped by Python itself, so that whoever has an array of one keeps it."""

from __future__ import annotations

import ast
import math
import mmap
import operator
import os
import stat
import struct
from typing import Any, Optional, Sequence, Tuple, Union

from . import _library
from ._errors import Error

_MARK = '.samebytes-'
_MOST_HEADER = 10_000  # bytes, as of NumPy's load: a longer one takes Python seconds to judge

# samebytes' name: NumPy's, bytes of an element, what memoryview calls it; NumPy has no bfloat16 and no float8: raw bytes
DTYPES = {
    'bool': ('|b1', 1, '?'), 'uint8': ('|u1', 1, 'B'), 'int8': ('|i1', 1, 'b'), 'int16': ('<i2', 2, 'h'), 'uint16': ('<u2', 2, 'H'),
    'int32': ('<i4', 4, 'i'), 'uint32': ('<u4', 4, 'I'), 'int64': ('<i8', 8, 'q'), 'uint64': ('<u8', 8, 'Q'),
    'float16': ('<f2', 2, 'B'), 'bfloat16': ('<V2', 2, 'B'), 'float32': ('<f4', 4, 'f'), 'float64': ('<f8', 8, 'd'),
    'complex64': ('<c8', 8, 'B'), 'complex128': ('<c16', 16, 'B'),
    'float8_e4m3fn': ('|V1', 1, 'B'), 'float8_e5m2': ('|V1', 1, 'B'),
}
_OF_NUMPY = {numpy[1:]: name for name, (numpy, _, _) in DTYPES.items() if numpy[1] != 'V'}


def path_of(name: str) -> str:
    return f'{_library.folder()}/{name}'


def name_of(name: Any, most: int = 255) -> str:
    """A name as for shm_open, without its slash."""
    if not isinstance(name, str):
        raise Error('ERR_ARGUMENT', f'name is {name!r}; a string was expected')
    called = name[1:] if name.startswith('/') else name
    try:
        size = len(called.encode())
    except UnicodeEncodeError:
        size = most + 1  # half a character
    if called in ('', '.', '..') or '/' in called or '\0' in called or called.lower().startswith(_MARK) or size > most:
        raise Error('ERR_ARGUMENT', f'name is {name!r}; 1 to {most} bytes without a slash were expected')
    return called


def integer(what: str, value: Any, least: int, most: int, code: str = 'ERR_BOUNDS') -> int:
    """An integer of Python's or NumPy's types, checked here: ctypes would cut its upper bits off."""
    try:
        n = operator.index(value)
    except TypeError:
        n = None
    if n is None or isinstance(value, bool):
        raise Error('ERR_ARGUMENT', f'{what} is {value!r}; an integer was expected')
    if not least <= n <= most:
        raise Error(code, f'{what} is {n}; {least} to {most} were expected')
    return n


def dtype_of(dtype: Any) -> str:
    """samebytes' name of a dtype, which may be NumPy's."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    name = None
    try:
        import numpy
        name = numpy.dtype(dtype).name
    except (ImportError, TypeError):
        pass
    if name not in DTYPES:
        raise Error('ERR_DTYPE', f'dtype is {dtype!r}; one of {", ".join(DTYPES)} was expected')
    return name


def shape_of(shape: Any) -> Tuple[int, ...]:
    try:
        extents: Any = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(shape)
        except TypeError:
            raise Error('ERR_SHAPE', f'shape is {shape!r}; integers were expected') from None
    for extent in (shape,) if isinstance(shape, bool) else extents:
        if isinstance(extent, bool) or not hasattr(extent, '__index__') or not 0 <= extent.__index__() < 2 ** 63:
            raise Error('ERR_SHAPE', f'shape has {extent!r}; extents are integers from 0 on')
    return tuple(extent.__index__() for extent in extents)


def _read_header(fd: int, path: str) -> Tuple[Any, int]:
    head = os.pread(fd, 12, 0)
    if len(head) < 12 or head[:6] != b'\x93NUMPY' or head[6] not in (1, 2, 3):
        raise Error('ERR_FORMAT', f'{path} is no .npy file')
    at = 10 if head[6] == 1 else 12
    length = struct.unpack('<H', head[8:10])[0] if at == 10 else struct.unpack('<I', head[8:12])[0]
    text = os.pread(fd, min(length, _MOST_HEADER), at)
    try:
        header = ast.literal_eval(text.decode('utf-8'))
        if len(text) != length or set(header) != {'descr', 'fortran_order', 'shape'}:
            raise ValueError
        shape = header['shape']
        if not isinstance(shape, tuple) or not all(type(extent) is int and extent >= 0 for extent in shape):
            raise ValueError
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise Error('ERR_FORMAT', f'{path} has a malformed header') from None
    return header, at + length


def _judge_dtype(descr: Any, wanted: Optional[str], path: str) -> str:
    known = _OF_NUMPY.get(descr[1:]) if isinstance(descr, str) else None
    if known is not None and descr[0] == '>' and DTYPES[known][1] > 1:
        raise Error('ERR_UNSUPPORTED', f'{path} has its bytes in another order')
    if known is None:
        if wanted is None or not isinstance(descr, str) or descr[1:] != f'V{DTYPES[wanted][1]}':
            raise Error('ERR_DTYPE', f'{path} is of {descr!r}; dtype says what raw bytes are')
        return wanted
    if wanted not in (None, known):
        raise Error('ERR_DTYPE', f'dtype is {wanted}; {path} is of {known}')
    return known


class Segment:
    """A mapped .npy file. Whoever has an array or memoryview of it keeps the mapping.

    owns: `samebytes sweep` leaves it as long as this process has it mapped. ERR_NOT_FOUND then also where it is being made or removed."""

    def __init__(self, where: Union[str, int], dtype: Optional[str] = None, writes: bool = True, owns: bool = False) -> None:
        path = where if isinstance(where, str) else f'file descriptor {where}'
        nofollow = os.O_NOFOLLOW if path.startswith(path_of('')) else 0
        try:
            fd = os.dup(where) if isinstance(where, int) else os.open(where, (os.O_RDWR if writes else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK | nofollow)
        except FileNotFoundError:
            raise Error('ERR_NOT_FOUND', f'{path} is not there') from None
        except OSError as error:
            raise Error('ERR_IO', f'{path}: {error.strerror}') from None
        except (OverflowError, ValueError) as error:
            raise Error('ERR_ARGUMENT', f'{path!r} is no path and no open file: {error}') from None
        try:
            if owns:
                _library.need('an owner').call('segment_own', fd, os.path.basename(path).encode())  # the mapping keeps its lock
            header, self.begin = _read_header(fd, path)
            if header['fortran_order'] and len(header['shape']) > 1:
                raise Error('ERR_UNSUPPORTED', f'{path} has its axes in another order; np.load maps it')
            self.path = path
            self.shape: Tuple[int, ...] = header['shape']
            self.dtype = _judge_dtype(header['descr'], dtype, path)
            self.nbytes = math.prod(self.shape) * DTYPES[self.dtype][1]
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or self.begin + self.nbytes > status.st_size:
                raise Error('ERR_FORMAT', f'{path} ends before its data does')
            self.inode = status.st_ino
            self.map = mmap.mmap(fd, self.begin + self.nbytes, access=mmap.ACCESS_WRITE if writes else mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise Error('ERR_IO', f'{path} cannot be mapped: {error}') from None
        finally:
            os.close(fd)

    def view(self, shape: Sequence[int], at: int = 0, writes: bool = True) -> Any:
        """Elements from byte `at` on: a NumPy array, or without NumPy a memoryview."""
        try:
            import numpy
        except ImportError:
            return self._memory(shape, at, writes)
        array = numpy.ndarray(tuple(shape), DTYPES[self.dtype][0], buffer=self.map, offset=self.begin + at)
        if not writes:
            array.flags.writeable = False
        return array

    def _memory(self, shape: Sequence[int], at: int, writes: bool) -> memoryview:
        _, itemsize, form = DTYPES[self.dtype]
        count = math.prod(shape)
        whole = memoryview(self.map) if writes else memoryview(self.map).toreadonly()
        part = whole[self.begin + at:self.begin + at + count * itemsize]
        if form == 'B' and self.dtype != 'uint8':
            return part  # raw bytes: memoryview has no such elements
        return part.cast(form, shape=tuple(shape)) if count > 0 else part.cast(form)
