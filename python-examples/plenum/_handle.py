# SPDX-License-Identifier: BSD-3-Clause
"""Pointers of the library, counted while they are used."""
from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable

from .enums import ErrorCode
from .errors import PlenumClosed


class Handle:
    """A pointer of the library that any thread may close while others use it.

    `with handle as pointer` counts a use; it raises PlenumClosed when the handle is closed. close() lets no use begin,
    calls `wake`, which makes those that wait return, waits for all uses to end, and calls `free`. A second thread that
    closes waits for the first. A forked child only forgets the pointer: what it points to is its parent's.
    """

    def __init__(self, pointer: ctypes.c_void_p, what: str, wake: Callable[[ctypes.c_void_p], None],
                 free: Callable[[ctypes.c_void_p], None]) -> None:
        self._pointer, self._what, self._wake, self._free = pointer, what, wake, free
        self._owner = os.getpid()
        self._changed = threading.Condition()
        self._uses = 0
        self._state = "open"

    @property
    def is_open(self) -> bool:
        return self._state == "open"

    @property
    def is_foreign(self) -> bool:
        return self._owner != os.getpid()

    def __enter__(self) -> ctypes.c_void_p:
        if self.is_foreign:
            raise PlenumClosed(ErrorCode.CLOSED, f"{self._what} is that of process {self._owner}, which forked this")
        with self._changed:
            if not self.is_open:
                raise PlenumClosed(ErrorCode.CLOSED, f"{self._what} is closed")
            self._uses += 1
        return self._pointer

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._uses -= 1
            if not self.is_open:
                self._changed.notify_all()

    def close(self) -> None:
        if self.is_foreign:  # a thread that was not forked may hold the lock
            self._state = "closed"
            return
        with self._changed:
            if not self.is_open:
                self._changed.wait_for(lambda: self._state == "closed")
                return
            self._state = "closing"
        self._wake(self._pointer)
        with self._changed:
            self._changed.wait_for(lambda: self._uses == 0)
        self._free(self._pointer)
        with self._changed:
            self._state = "closed"
            self._changed.notify_all()
