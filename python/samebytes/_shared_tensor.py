"""SharedTensor: a tensor in memory that other processes share."""

from __future__ import annotations

import ctypes as C
import numbers
import time
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from . import _library
from ._errors import Error
from ._segments import DTYPES, Segment, dtype_of, integer, name_of, path_of, shape_of

REPLACE, PERSIST, OPEN = 1, 2, 4  # SB_SEGMENT_
_ANSWERS = ('ok', 'not-equal', 'timed-out')  # by sb_wait_result
_ALL = 2 ** 63 - 1
_TRIES = 100  # while other processes make or remove what 'open' is to open; they take a second together
Made = TypeVar('Made')


def nanoseconds(timeout: Optional[float]) -> int:
    """-1: without an end."""
    if timeout is None:
        return -1
    if not isinstance(timeout, numbers.Real):
        raise Error('ERR_ARGUMENT', f'timeout is {timeout!r}; seconds, or None, were expected')
    if not timeout >= 0:
        raise Error('ERR_BOUNDS', f'timeout is {timeout!r}; seconds from 0 on, or None, were expected')
    return min(int(timeout * 1e9), _ALL) if timeout < 1e9 else -1


def flags_of(if_exists: str, persist: bool) -> int:
    if if_exists not in ('error', 'open', 'replace'):
        raise Error('ERR_ARGUMENT', f"if_exists is {if_exists!r}; 'error', 'open' or 'replace' was expected")
    return {'error': 0, 'open': OPEN, 'replace': REPLACE}[if_exists] | (PERSIST if persist else 0)


def made_or_opened(make: Callable[[], None], find: Callable[[], Made], if_exists: str) -> Made:
    """What is there once it was made; for 'open' also what others make meanwhile, whose second segment may be missing yet."""
    for tries in range(_TRIES + 1):
        exists = None
        try:
            make()
        except Error as error:
            if error.code != 'ERR_EXISTS' or if_exists != 'open':
                raise
            exists = error
        try:
            return find()
        except Error as error:
            if error.code != 'ERR_NOT_FOUND' or if_exists != 'open':
                raise
            if tries == _TRIES:
                raise (exists or error) from None
        time.sleep(tries * 2e-4)
    raise AssertionError


class SharedTensor:
    """A tensor in shared memory, which Node has as `SharedTensor`, C by `sb_segment_open` and NumPy alone by `np.load(path, mmap_mode='r+')`.

    >>> with SharedTensor.open('prices') as prices:
    ...     prices.array[...] *= 2

    Arrays that were taken of it keep the memory, also after `close`. If a process makes the segment shorter, use of what is missing ends
    this one (SIGBUS), as with every mapped file.
    """

    def __init__(self, segment: Segment, name: Optional[str]) -> None:
        self._segment: Optional[Segment] = segment
        self._known = segment
        self._name = name

    @classmethod
    def create(cls, name: str, shape: Union[int, Sequence[int]], dtype: Any = 'float32', *, mode: int = 0o600, if_exists: str = 'error',
               persist: bool = False) -> 'SharedTensor':
        """Creates a segment of zeros; the name appears when it is complete, and stays until `unlink`.

        shape: extents, in elements. dtype: samebytes' name of one ('bfloat16' as well), or NumPy's dtype. mode: permissions.
        if_exists: 'error'; 'open': an existing one of this dtype and shape is opened, and `samebytes sweep` leaves it as long as this process has it;
        'replace': who has the old one keeps it.
        persist: `samebytes sweep` leaves it. Raises Error: ERR_EXISTS, ERR_MEMORY, ERR_ARGUMENT, ERR_BOUNDS, ERR_DTYPE,
        ERR_SHAPE, ERR_UNSUPPORTED.
        """
        called, extents, kind, mode = name_of(name), shape_of(shape), dtype_of(dtype), integer('mode', mode, 0, 0o777)
        flags = flags_of(if_exists, persist)
        library = _library.need('SharedTensor.create')
        t = library.tensor()

        def make() -> None:
            library.call('segment_create', called.encode(), library.dtypes[kind], len(extents), library.shape(extents), mode, flags, t)
            library.release_tensor(t)

        made = made_or_opened(make, lambda: cls(Segment(path_of(called), kind, owns=True), called), if_exists)
        if made.shape != extents:
            raise Error('ERR_SHAPE', f'{made.path} has shape {list(made.shape)}, not {list(extents)}')
        return made

    @classmethod
    def open(cls, where: Union[str, int, Mapping[str, Any]], dtype: Any = None) -> 'SharedTensor':
        """Maps an existing segment for reading and writing: a name, a path (with a slash after its first character), an open file's
        number, or the `descriptor` that Node sent.

        dtype: what it has to be, or what the raw bytes are that NumPy makes of bfloat16 and float8. Raises Error: ERR_NOT_FOUND,
        ERR_FORMAT, ERR_DTYPE, ERR_IO, ERR_ARGUMENT, ERR_STALE the descriptor's path is another segment now.
        """
        kind = None if dtype is None else dtype_of(dtype)
        if isinstance(where, Mapping):
            if not isinstance(where.get('path'), str):
                raise Error('ERR_ARGUMENT', f'path is {where.get("path")!r}; a descriptor of a SharedTensor with a name was expected')
            segment = Segment(where['path'], kind or where.get('dtype'))
            if 'id' in where and str(where['id']).split('-')[-1] != str(segment.inode):
                raise Error('ERR_STALE', f'{where["path"]} is another segment now')
            return cls(segment, where.get('name'))
        if isinstance(where, int):
            return cls(Segment(where, kind), None)
        if isinstance(where, str) and '/' in where[1:]:
            return cls(Segment(where, kind), None)
        name = name_of(where)
        return cls(Segment(path_of(name), kind), name)

    @staticmethod
    def unlink(name: str) -> None:
        """Removes a name; processes that have the segment open keep it. Raises Error: ERR_NOT_FOUND, ERR_IO."""
        _library.need('SharedTensor.unlink').call('segment_unlink', name_of(name).encode())

    def _open(self) -> Segment:
        if self._segment is None:
            raise Error('ERR_DISPOSED', 'the shared tensor was closed')
        return self._segment

    @property
    def name(self) -> Optional[str]:
        """Without a slash; None: it was opened by other means."""
        return self._name

    @property
    def path(self) -> str:
        return self._known.path

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._known.shape

    @property
    def dtype(self) -> str:
        """samebytes' name."""
        return self._known.dtype

    @property
    def nbytes(self) -> int:
        return self._known.nbytes

    @property
    def array(self) -> Any:
        """The bytes as a NumPy array, nothing copied; without NumPy as a memoryview (raw bytes for dtypes that it has not)."""
        return self._open().view(self.shape)

    def _word(self, index: int) -> Any:
        """The element's word; of 64 bits the lower half. Holds the mapping."""
        segment = self._open()
        itemsize = DTYPES[segment.dtype][1]
        if segment.dtype not in ('int32', 'uint32', 'int64', 'uint64'):
            raise Error('ERR_DTYPE', f'a {segment.dtype} is no word to wait on; int32, uint32, int64 and uint64 are')
        i = integer('index', index, 0, segment.nbytes // itemsize - 1)
        return C.c_uint32.from_buffer(segment.map, segment.begin + i * itemsize)

    def wait(self, index: int, expected: int, timeout: Optional[float] = None) -> str:
        """Sleeps until `notify` is called for an element by any process, if it still has the expected value; other threads run meanwhile.

        index: of an element in row-major order. expected: of the element's dtype. timeout: seconds. Gives 'ok' (look at the element again,
        as after any futex), 'not-equal' or 'timed-out'. Signals are handled, and end it as 'ok'. Raises Error: ERR_ARGUMENT, ERR_BOUNDS, ERR_CAST,
        ERR_DTYPE.

        >>> while state.array[0] == 0:
        ...     state.wait(0, 0)
        """
        library = _library.need('wait')
        word, how = self._word(index), C.c_int()
        bits = 8 * DTYPES[self.dtype][1]
        least = 0 if self.dtype.startswith('u') else -2 ** (bits - 1)
        value = integer('expected', expected, least, least + 2 ** bits - 1, 'ERR_CAST')
        library.call('word_wait', C.byref(word), value & 0xffffffff, nanoseconds(timeout), C.byref(how))
        return _ANSWERS[how.value]

    def notify(self, index: int, n: Optional[int] = None) -> int:
        """Wakes those that wait on an element, of any process: at most n. Change it first. Gives how many were woken."""
        return _library.need('notify').integer('word_wake', C.byref(self._word(index)), _ALL if n is None else integer('n', n, 0, _ALL))

    def close(self) -> None:
        """Lets the mapping go; arrays that were taken keep it, and the name stays."""
        self._segment = None

    def __enter__(self) -> 'SharedTensor':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'SharedTensor({self.path!r}, {list(self.shape)}, {self.dtype})'
