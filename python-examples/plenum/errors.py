# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the module."""


class PlenumError(Exception):
    """A function of libplenum failed. `code` is the kind of error, the text is the library's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> tuple[type, tuple[int, str]]:
        return type(self), (self.code, str(self))


class PlenumTimeout(PlenumError, TimeoutError):
    """The time limit has passed; nothing was changed."""


class PlenumClosed(PlenumError):
    """The runtime or the job was closed, perhaps by another thread, or belongs to the process that forked this one."""
