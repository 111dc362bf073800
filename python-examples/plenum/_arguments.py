# SPDX-License-Identifier: BSD-3-Clause
"""What callers pass, as the library takes it. A wrong type or number is an exception that names the argument: ctypes
would say "argument 3: wrong type", and pass on the lowest bits of a number that is too large."""
from __future__ import annotations

import enum
import operator
import os
from typing import Any

_INT = 31
_LONG = 63


def integer(name: str, value: Any) -> int:
    """An int of C."""
    return _integer(name, value, _INT)


def _integer(name: str, value: Any, bits: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}: it must be an integer") from None
    if not -(1 << bits) <= whole < 1 << bits:
        raise ValueError(f"{name} is {whole}: it must be from {-(1 << bits)} to {(1 << bits) - 1}")
    return whole


def setting(kind: type[enum.IntEnum], option: Any, value: Any) -> tuple[int, int]:
    """An option and its value, a long of C. Plain numbers may be options of a library that is newer than the module."""
    if not isinstance(option, kind) and (isinstance(option, enum.Enum) or not isinstance(option, int)):
        raise TypeError(f"option is {option!r}: it must be one of {kind.__name__}, such as "
                        f"{kind.__name__}.{next(iter(kind)).name}")
    named = f"the value of {kind.__name__}.{option.name}" if isinstance(option, kind) else f"the value of {option}"
    return _integer("option", option, _INT), _integer(named, value, _LONG)


def text(name: str, value: Any) -> bytes:
    """A text of C."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: it must be a string")
    return _whole(name, value, os.fsencode(value))


def text_or_none(name: str, value: Any) -> bytes | None:
    return None if value is None else text(name, value)


def word(name: str, value: Any) -> bytes:
    """A path, or a word for a program, which is passed on as it is."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is {value!r}: it must be a string or a path")
    return _whole(name, value, os.fsencode(value))


def words(name: str, value: Any) -> list[bytes]:
    """The words of a command."""
    if isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is {value!r}: it must be a list of words, such as ['ls', '-l']; shlex.split() makes "
                        "one from a line of a shell")
    try:
        each = list(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}: it must be a list of words, such as ['ls', '-l']") from None
    return [word(f"{name}[{place}]", one) for place, one in enumerate(each)]


def _whole(name: str, value: Any, coded: bytes) -> bytes:
    if b"\0" in coded:
        raise ValueError(f"{name} is {value!r}: it must not contain a NUL")
    return coded


def at_least_one(name: str, value: Any) -> int:
    count = integer(name, value)
    if count < 1:
        raise ValueError(f"{name} is {count}: it must be at least 1")
    return count


def function(name: str, value: Any) -> Any:
    """Something to call, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {value!r}: it must be a function, or None")
    return value
