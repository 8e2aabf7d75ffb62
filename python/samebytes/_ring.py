"""SharedRing: frames that one process writes and others read. docs/ring-protocol.md has the protocol."""

from __future__ import annotations

import ctypes as C
import os
import threading
import time
import weakref
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library
from ._errors import Error
from ._segments import Segment, dtype_of, integer, name_of, path_of, shape_of
from ._shared_tensor import flags_of, made_or_opened, nanoseconds

_MOST_NAME = 247
_MAGIC = 0x33676e69722d6273  # 'sb-ring3'
_SLOTS, _BYTES, _READERS, _COUNT, _FIRST = 1, 2, 5, 8, 16
_SLOT, _PLACE = 2, 4  # words of a slot, of a reader
_MOST_READERS = 1024
_MOST_FRAME = 2 ** 53 - 1  # of all indices
_MOST_TAG = 2 ** 64 - 1
_LOOK = 100_000_000  # nanoseconds between looks for signals of the system, and for a `close` just before the wait, which wakes nobody
_TRIES = 100
_POLL = 0.001  # seconds, without the library


class Frame(NamedTuple):
    """What a reader gets."""

    array: Any
    """of the frame's slot, read-only, which the writer comes back to after `slots` frames"""
    index: int
    """from 0 on"""
    lost: int
    """frames since the last one that were overwritten before they were read"""
    tag: int
    """as its writer gave it to `commit`; 0: none"""


class _Reader(C.Structure):
    """C's sb_ring_reader."""

    _fields_ = [('next', C.c_int64), ('lost', C.c_int64), ('is_started', C.c_bool), ('tag', C.c_uint64)]


class _Words:
    """The control words by libsamebytes."""

    def __init__(self, library: _library.Library, segment: Segment, slots: int, frame_bytes: int) -> None:
        self.library = library
        self.memory = (C.c_char * segment.nbytes).from_buffer(segment.map, segment.begin)  # holds the mapping
        self.handle = C.c_void_p()
        library.call('ring_attach', C.addressof(self.memory), segment.nbytes, slots, frame_bytes, C.byref(self.handle))
        self.again = lambda: _Words(library, segment, slots, frame_bytes)

    def room(self, timeout: int) -> bool:
        is_free = C.c_bool()
        self.library.call('ring_room', self.handle, timeout, C.byref(is_free))
        return is_free.value

    def read(self, reader: _Reader) -> int:
        return self.library.integer('ring_read', self.handle, C.byref(reader), 0)

    def count(self) -> int:
        return self.library.integer('ring_count', self.handle)

    def tag(self, index: int) -> Optional[int]:
        """None: the frame is not in its slot."""
        found, tag = C.c_bool(), C.c_uint64()
        self.library.call('ring_has', self.handle, index, C.byref(found), C.byref(tag))
        return tag.value if found.value else None

    def wait(self, count: int, timeout: int) -> None:
        self.library.integer('ring_wait', self.handle, count, timeout)

    def wake(self) -> None:
        self.library.integer('word_wake', C.addressof(self.memory) + 8 * _COUNT, 2 ** 31)

    def begin(self) -> int:
        return self.library.integer('ring_begin', self.handle)

    def commit(self, tag: int) -> None:
        self.library.call('ring_commit', self.handle, tag)

    def close(self) -> None:
        self.library.close_ring(self.handle)


class _PlainWords:
    """The same without the library, for readers on x86-64, whose loads stay in order."""

    def __init__(self, segment: Segment, slots: int, frame_bytes: int) -> None:
        if not _library.can_read_alone():
            _library.need('a ring on this processor')
        self.words = memoryview(segment.map)[segment.begin:].cast('Q')
        self.slots = slots
        if self.words[_SLOTS] != slots or self.words[_BYTES] != frame_bytes:
            raise Error('ERR_FORMAT', f'{segment.path} has no control words of such a ring')
        if self.words[_READERS]:
            _library.need('a ring whose writer waits for readers')

    def count(self) -> int:
        count = int(self.words[_COUNT])
        if count > _MOST_FRAME:
            raise Error('ERR_FORMAT', f'byte 64: the count of frames is {count}')
        return count

    def tag(self, index: int) -> Optional[int]:
        slot = _FIRST + _SLOT * (index % self.slots)
        if self.words[slot] != 2 * index + 2:
            return None
        tag = int(self.words[slot + 1])
        return tag if self.words[slot] == 2 * index + 2 else None

    def wait(self, count: int, timeout: int) -> None:
        time.sleep(min(_POLL, timeout / 1e9))

    def wake(self) -> None:
        pass

    def begin(self) -> int:
        _library.need('writing to a ring')
        raise AssertionError

    def commit(self, tag: int) -> None:
        self.begin()

    def close(self) -> None:
        self.words.release()


def _open_both(name: str, dtype: Optional[str], writes: bool, owns: bool = False) -> Tuple[Segment, Segment]:
    """Frames and control words of one ring, also where it is replaced meanwhile."""
    path = path_of(name)
    for left in range(_TRIES, 0, -1):
        frames, control = Segment(path, dtype, writes, owns), Segment(f'{path}.control', None, writes, owns)
        try:
            if os.stat(path).st_ino == frames.inode:
                return frames, control
        except FileNotFoundError:
            pass
    raise Error('ERR_STALE', f'{path} is replaced all the time')


def _readers_of(name: str, control: Segment, slots: int) -> int:
    """How many readers the control words have places for, once they are those of a ring with so many slots."""
    if slots < 1 or control.dtype != 'uint64' or len(control.shape) != 1 or control.shape[0] < _FIRST:
        raise Error('ERR_FORMAT', f'{name} is no ring: its words do not fit its frames')
    with memoryview(control.map)[control.begin:].cast('Q') as words:
        magic, readers = int(words[0]), int(words[_READERS])
    if magic != _MAGIC:
        is_old = not (magic ^ _MAGIC) & (2 ** 56 - 1) and chr(magic >> 56).isdecimal()
        other = f'another protocol, number {chr(magic >> 56)}; {chr(_MAGIC >> 56)} was expected' if is_old else 'no control words of a ring'
        raise Error('ERR_FORMAT', f'{control.path} has {other}')
    if readers > _MOST_READERS or control.shape[0] != _FIRST + _SLOT * slots + _PLACE * readers:
        raise Error('ERR_FORMAT', f'{name} is no ring: its words do not fit its frames')
    return readers


class SharedRing:
    """Frames in shared memory that one process writes and others read, without locks, as Node's SharedRing does.

    >>> with SharedRing.open('camera') as ring:
    ...     for array, index, lost, tag in ring.read():
    ...         copy = array.copy()
    ...         if ring.intact(index):
    ...             look_at(copy)

    Any of the processes may be killed at any moment: frames that were committed are whole, and the next writer goes on with the next index.
    """

    def __init__(self, name: str, frames: Segment, control: Segment) -> None:
        slots = frames.shape[0] if frames.shape else 0
        self._name, self._frames, self._control, self._slots = name, frames, control, slots
        self._readers = _readers_of(name, control, slots)
        self._frame_bytes = frames.nbytes // slots
        library = _library.find()
        self._words: Any = (_PlainWords(control, slots, self._frame_bytes) if library is None else
                            _Words(library, control, slots, self._frame_bytes))
        self._use = _Use(self._words)
        self._end = weakref.finalize(self, self._use.close)

    @classmethod
    def create(cls, name: str, shape: Union[int, Sequence[int]], dtype: Any = 'float32', *, slots: int, readers: int = 0,
               mode: int = 0o600, if_exists: str = 'error', persist: bool = False) -> 'SharedRing':
        """Creates a ring without frames; the first to write becomes the writer.

        shape: of a frame. slots: frames kept at a time. readers: loops over `read` at a time, of all processes, that the writer waits for, at
        most 1024; 0: it waits for none. The others, and what is raised, as of SharedTensor.create; name: at most 247 bytes.
        """
        called, extents, kind, mode = name_of(name, _MOST_NAME), shape_of(shape), dtype_of(dtype), integer('mode', mode, 0, 0o777)
        slots, readers = integer('slots', slots, 1, 2 ** 63 - 1), integer('readers', readers, 0, _MOST_READERS)
        flags = flags_of(if_exists, persist) + readers * 65536
        library = _library.need('SharedRing.create')
        handle = C.c_void_p()

        def make() -> None:
            library.call('ring_create', called.encode(), slots, library.dtypes[kind], len(extents), library.shape(extents), mode, flags,
                         C.byref(handle))
            library.close_ring(handle)

        ring = made_or_opened(make, lambda: cls(called, *_open_both(called, kind, True, True)), if_exists)
        if (ring.slots, ring.shape) != (slots, extents):
            raise Error('ERR_SHAPE', f'{ring.path} has {ring.slots} slots of shape {list(ring.shape)}')
        if ring.readers != readers:
            raise Error('ERR_ARGUMENT', f'{ring.path} has {ring.readers} readers; {readers} were expected')
        return ring

    @classmethod
    def open(cls, name: str, dtype: Any = None) -> 'SharedRing':
        """Opens an existing ring, to read or to write. dtype: as of SharedTensor.open. Raises Error: ERR_NOT_FOUND, ERR_FORMAT, ERR_DTYPE,
        ERR_IO, ERR_ARGUMENT."""
        called = name_of(name, _MOST_NAME)
        kind = None if dtype is None else dtype_of(dtype)
        return cls(called, *_open_both(called, kind, _library.find() is not None))

    @staticmethod
    def unlink(name: str) -> None:
        """Removes both names; processes that have the ring open keep it. Raises Error: ERR_NOT_FOUND, ERR_IO."""
        _library.need('SharedRing.unlink').call('ring_unlink', name_of(name, _MOST_NAME).encode())

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> str:
        """Of the frames: a .npy file of shape [slots, ...shape]."""
        return self._frames.path

    @property
    def control_path(self) -> str:
        """Of the control words: a .npy file of uint64."""
        return self._control.path

    @property
    def slots(self) -> int:
        """Frames kept at a time."""
        return self._slots

    @property
    def readers(self) -> int:
        """Loops over `read` at a time that the writer waits for; 0: for none."""
        return self._readers

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of a frame."""
        return self._frames.shape[1:]

    @property
    def dtype(self) -> str:
        """samebytes' name."""
        return self._frames.dtype

    @property
    def count(self) -> int:
        """Committed frames; also the index of the next one."""
        with self._use as words:
            return words.count()

    def _frame(self, index: int, writes: bool) -> Any:
        return self._frames.view(self.shape, index % self._slots * self._frame_bytes, writes)

    # ---- Writing ----

    def next(self, timeout: Optional[float] = None) -> Any:
        """Begins the next frame, and gives its slot to write to in place (an array, or a memoryview without NumPy); `commit` publishes it.
        The first call makes this ring the writer, until it is closed, collected, or the process ends. A second call before `commit` gives the
        same slot. Of a ring with readers it waits until none of them needs what is in the slot, and handles signals of the system meanwhile.
        timeout: seconds, after which TimeoutError is raised, which names the process that is slowest. Raises Error: ERR_BUSY there is another
        writer, whose process has not ended."""
        left = nanoseconds(timeout)
        end = None if left < 0 else time.monotonic_ns() + left
        is_late = False
        while self._readers and not is_late:
            with self._use as words:
                left = _LOOK if end is None else max(0, end - time.monotonic_ns())
                if words.room(min(left, _LOOK)):
                    break
            is_late = end is not None and time.monotonic_ns() >= end
        try:
            with self._use as words:
                return self._frame(words.begin(), True)
        except Error as error:
            if not is_late or error.code != 'ERR_BUSY':
                raise
            which = str(error).partition(': ')[2]
            raise TimeoutError(f'the ring {self._name!r} has no free slot after {timeout} s: {which}') from None

    def commit(self, tag: int = 0) -> int:
        """Publishes the frame that `next` began, wakes readers, and gives its index. tag: a number that readers get with the frame, such as a
        timestamp, 0 to 2**64 - 1. Raises Error: ERR_STALE none was begun."""
        tag = integer('tag', tag, 0, _MOST_TAG)
        with self._use as words:
            words.commit(tag)
            return words.count() - 1

    def write(self, values: Any, timeout: Optional[float] = None, tag: int = 0) -> int:
        """Writes a frame, and gives its index. values: what NumPy assigns, broadcast to a frame's shape; without NumPy bytes of a
        frame's size. timeout: as of next. tag: as of commit."""
        tag = integer('tag', tag, 0, _MOST_TAG)
        frame = self.next(timeout)
        if isinstance(frame, memoryview):
            frame.cast('B')[:] = memoryview(values).cast('B')
        else:
            frame[...] = values
        return self.commit(tag)

    # ---- Reading ----

    def intact(self, index: int) -> bool:
        """Is a frame still in its slot? If so, all that was read of it before belongs to it."""
        with self._use as words:
            return words.tag(integer('index', index, 0, _MOST_FRAME)) is not None

    def read(self, from_: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[Frame]:
        """Iterates over frames as they are published, from the oldest one in the ring unless told.

        from_: index of the first frame (`ring.count`: only new ones; after a kill: the one after the last that was seen).
        timeout: seconds without a frame, after which TimeoutError is raised, and the loop is over: go on by another one with `from_`. A writer
        that has died wakes nobody. Ends when the ring is closed. A reader that was overtaken goes on half a ring behind the writer. Signals
        are handled while it waits.
        Of a ring with readers the loop begins with the newest frame unless told, and the writer waits for it: a frame is the loop's until it
        asks for the next one. Its place is free again when the loop ends. Raises Error: ERR_BUSY all places are taken.
        """
        end = nanoseconds(timeout)
        if from_ is not None:
            from_ = integer('from_', from_, 0, _MOST_FRAME)
        return self._holding(from_, end) if self._readers else self._reading(from_, end)

    def _holding(self, at: Optional[int], timeout: int) -> Iterator[Frame]:
        reader, lost = _Reader(-1 if at is None else at, 0, False), 0
        mine = self._use.open_again()
        try:
            while True:
                try:
                    with self._use as words:
                        index = mine.read(reader)
                        if index < 0 and self._awaited(words, reader.next, timeout) is None:
                            return
                except Error as error:
                    if error.code == 'ERR_DISPOSED' and not self._use.is_open:
                        return
                    raise
                if index < 0:
                    continue
                passed = reader.lost - lost if at is not None or lost else 0
                lost, at = reader.lost, index
                yield Frame(self._frame(index, False), index, passed, reader.tag)
        finally:
            self._use.close_again(mine)

    __iter__ = read

    def _reading(self, at: Optional[int], timeout: int) -> Iterator[Frame]:
        lost, is_started = 0, False
        while True:
            try:
                with self._use as words:
                    count = self._awaited(words, at, timeout)
                    if count is None:
                        return
                    if at is None:
                        at = max(0, count - self._slots)
                    if at < count - self._slots:
                        after = count - (max(1, self._slots // 2) if is_started else self._slots)
                        lost, at = lost + after - at, after
                    is_started = True
                    index, at = at, at + 1
                    tag = words.tag(index)
            except Error as error:
                if error.code == 'ERR_DISPOSED' and not self._use.is_open:
                    return
                raise
            if tag is None:
                lost += 1
                continue
            passed, lost = lost, 0
            yield Frame(self._frame(index, False), index, passed, tag)

    def _awaited(self, words: Any, at: Optional[int], timeout: int) -> Optional[int]:
        """The count, once there is a frame to read; None: the ring was closed."""
        end = None if timeout < 0 else time.monotonic_ns() + timeout
        while True:
            count = words.count()
            if not self._use.is_open:
                return None
            if count > (at or 0):
                return count
            left = _LOOK if end is None else end - time.monotonic_ns()
            if left <= 0:
                raise TimeoutError(f'the ring {self._name!r} got no frame for {timeout / 1e9} s')
            words.wait(count, min(left, _LOOK))

    def close(self) -> None:
        """Closes the ring in this process: loops over `read` end and have no place, and another process may write. Arrays keep the memory, and
        the names stay. A second close does nothing."""
        self._end()

    def __enter__(self) -> 'SharedRing':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'SharedRing({self._name!r}, {self._slots} slots of {list(self.shape)}, {self.dtype})'


class _Use:
    """Calls in progress, of any thread: the words stay as long, also at the end of the process, where daemon threads go on. A handler of
    signals may close the ring at any place of this."""

    def __init__(self, words: Any) -> None:
        self._words = words
        self._lock = threading.RLock()
        self._calls = 0
        self._more: List[Any] = []  # of loops that have a place
        self.is_open = True

    def __enter__(self) -> Any:
        with self._lock:
            self._calls += 1
            if self.is_open:
                return self._words
        self.__exit__()
        raise Error('ERR_DISPOSED', 'the ring was closed')

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._calls -= 1
            if not self.is_open and self._calls == 0:
                self._close_all()

    def _close_all(self) -> None:
        for words in [*self._more, self._words]:
            words.close()
        self._more.clear()

    def open_again(self) -> Any:
        with self as words, self._lock:
            self._more.append(words.again())
            return self._more[-1]

    def close_again(self, words: Any) -> None:
        with self._lock:
            if words in self._more:
                self._more.remove(words)
                words.close()

    def close(self) -> None:
        with self._lock:
            self.is_open = False
            if self._calls == 0:
                self._close_all()
            else:
                self._words.wake()  # the last one that waits closes them
