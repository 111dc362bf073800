# SPDX-License-Identifier: BSD-3-Clause
"""The enumerations of plenum.h; test_module compares them with the header."""
import enum


class ErrorCode(enum.IntEnum):
    """enum plenum_error."""
    OK = 0
    ARGUMENT = 1
    STATE = 2
    NOT_FOUND = 3
    NOT_EXECUTABLE = 4
    WDIR = 5
    LIMIT = 6
    MEMORY = 7
    TIMEOUT = 8
    SYSTEM = 9
    CLOSED = 10


class EventKind(enum.IntEnum):
    """enum plenum_event_kind."""
    STARTED = 1
    UNSTARTED = 2
    OUTPUT = 3
    EXITED = 4
    LOST = 5
    ABORTED = 6
    TIMEOUT = 7
    FINISHED = 8
    QUEUED = 9
    PSETS = 10
    REPORT = 11
    ERROR = 12
    HOST = 13


class EventFlag(enum.IntFlag):
    """enum plenum_event_flag."""
    EXPECTED = 1
    UNFINALIZED = 2
    PARTIAL = 4
    CORE = 8
    CANCELLED = 16


class JobOption(enum.IntEnum):
    """enum plenum_job_option."""
    TIME_LIMIT = 1
    GRACE = 2
    KEEP_GOING = 3
    PMIX = 4
    SLOTS = 5
    BIND = 6
    UNIVERSE = 7
    MAP = 8
    TERMINAL = 9
    REPORT = 10
    BIND_COUNT = 11
    PRIORITY = 12
    RANK = 13
    STOPPED = 14


class RuntimeOption(enum.IntEnum):
    """enum plenum_runtime_option."""
    SLOTS = 1
    POLICY = 2
    HEARTBEAT = 3


class HostState(enum.IntEnum):
    """enum plenum_host_state."""
    STARTING = 0
    READY = 1
    LEAVING = 2
    LOST = 3


class ProcessState(enum.IntEnum):
    """enum plenum_process_state."""
    NONE = 0
    STOPPED = 1
    RUNNING = 2
    ENDED = 3


class Policy(enum.IntEnum):
    """enum plenum_policy: values of RuntimeOption.POLICY."""
    FIFO = 0
    BACKFILL = 1


class Scope(enum.IntEnum):
    """enum plenum_scope: whether Job.resource() asks for each rank or for the job."""
    EACH_RANK = 0
    WHOLE_JOB = 1


class Bind(enum.IntEnum):
    """enum plenum_bind: values of JobOption.BIND."""
    NONE = 0
    CORE = 1
    SOCKET = 2
    NUMA = 3
    THREAD = 4
    L3CACHE = 5


class Pmix(enum.IntEnum):
    """enum plenum_pmix: values of JobOption.PMIX."""
    OFF = 0
    ON = 1
    AUTO = 2


class Map(enum.IntEnum):
    """enum plenum_map: values of JobOption.MAP."""
    SLOT = 0
    SOCKET = 1
    NUMA = 2
    NODE = 3
    L3CACHE = 4


class Rank(enum.IntEnum):
    """enum plenum_rank: values of JobOption.RANK."""
    MAPPED = 0
    SLOT = 1
    NODE = 2
    FILL = 3
    SPAN = 4
