"""libsamebytes: atomics, fences and futexes, which Python has not. It is part of the npm package and of the wheel."""

from __future__ import annotations

import ctypes as C
import os
import platform
import sys
from typing import Any, Iterator, Optional

from ._errors import Error

_NAME = 'libsamebytes.dylib' if sys.platform == 'darwin' else 'libsamebytes.so.1'
_TENSOR_ROOM = 2048  # bytes: more than sizeof(sb_tensor)
_i64, _u32, _size, _at, _text = C.c_int64, C.c_uint32, C.c_size_t, C.c_void_p, C.c_char_p
_shape = C.POINTER(C.c_int64)
_SIGNATURES = {  # those that give a status
    'sb_segment_create': [_text, C.c_int, C.c_int32, _shape, _u32, _u32, _at],
    'sb_segment_own': [C.c_int, _text],
    'sb_segment_unlink': [_text],
    'sb_word_wait': [_at, _u32, _i64, _at],
    'sb_word_wake': [_at, _i64, _at],
    'sb_ring_create': [_text, _i64, C.c_int, C.c_int32, _shape, _u32, _u32, _at],
    'sb_ring_attach': [_at, _size, _i64, _i64, _at],
    'sb_ring_unlink': [_text],
    'sb_ring_begin': [_at, _at],
    'sb_ring_commit': [_at, C.c_uint64],
    'sb_ring_count': [_at, _at],
    'sb_ring_has': [_at, _i64, _at, _at],
    'sb_ring_wait': [_at, _i64, _i64, _at],
    'sb_ring_room': [_at, _i64, _at],
    'sb_ring_read': [_at, _at, _i64, _at],
}


class Library:
    """The functions by name, without their prefix; they raise Error."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._c = C.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._c, name)
            function.argtypes, function.restype = arguments, C.c_int
        self._c.sb_error_message.restype = self._c.sb_status_name.restype = _text
        self._c.sb_ring_close.argtypes = self._c.sb_tensor_release.argtypes = [_at]
        self._c.sb_ring_close.restype = self._c.sb_tensor_release.restype = None
        self._c.sb_dtype_name.restype = self._c.sb_segment_folder.restype = _text
        self.folder = (self._c.sb_segment_folder() or b'').decode()
        self.dtypes = {}
        while True:
            name = self._c.sb_dtype_name(len(self.dtypes)).decode()
            if name == '?':
                break
            self.dtypes[name] = len(self.dtypes)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._c, 'sb_' + name)(*arguments)
        if status:
            message = self._c.sb_error_message().decode('utf-8', 'replace')
            raise Error('ERR_' + self._c.sb_status_name(status).decode(), message)

    def integer(self, name: str, *arguments: Any) -> int:
        """The int64 that a function's last argument points to."""
        result = _i64()
        self.call(name, *arguments, C.byref(result))
        return result.value

    def release_tensor(self, t: Any) -> None:
        self._c.sb_tensor_release(t)

    def close_ring(self, handle: C.c_void_p) -> None:
        self._c.sb_ring_close(C.byref(handle))

    @staticmethod
    def tensor() -> Any:
        return C.create_string_buffer(_TENSOR_ROOM)

    @staticmethod
    def shape(extents: Any) -> Any:
        return (C.c_int64 * len(extents))(*extents)


def _places() -> Iterator[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    named = os.environ.get('SAMEBYTES_LIBRARY')
    if named:
        yield named
        return
    yield os.path.join(here, _NAME)
    yield os.path.join(root, 'build', 'Release', _NAME)
    machine = {'x86_64': 'x64', 'aarch64': 'arm64'}.get(platform.machine(), platform.machine())
    for libc in ('', '-musl'):
        yield os.path.join(root, 'prebuilds', f'{sys.platform}-{machine}{libc}', _NAME)


_found: Optional[Library] = None
_why: Optional[str] = None


def find() -> Optional[Library]:
    """None: there is none that can be loaded."""
    global _found, _why
    if _found is None and _why is None:
        reasons = []
        for place in _places():
            if not os.path.exists(place):
                reasons.append(f'{place} is not there')
                continue
            try:
                _found = Library(place)
                return _found
            except (OSError, AttributeError) as error:  # of another C library, or an older one
                reasons.append(f'{place}: {error}')
        _why = '; '.join(reasons)
    return _found


def need(what: str) -> Library:
    library = find()
    if library is None:
        raise Error('ERR_UNSUPPORTED', f'{what} needs {_NAME} ({_why}); SAMEBYTES_LIBRARY names one')
    return library


def folder() -> str:
    """Of named segments."""
    library = find()
    return '/dev/shm' if library is None else library.folder


def can_read_alone() -> bool:
    """Is the order of loads, without fences, that of the program?"""
    return platform.machine() in ('x86_64', 'AMD64')
