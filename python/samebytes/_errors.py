"""The one kind of error that the package raises, beside Python's own TimeoutError."""

from __future__ import annotations


class Error(Exception):
    """What went wrong; `code` is one of samebytes' codes, such as 'ERR_STALE'."""

    code: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f'{code}: {message}')
        self.code = code
