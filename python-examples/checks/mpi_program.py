# SPDX-License-Identifier: BSD-3-Clause
"""plenum.mpi under mpiexec: data of all types between all ranks, collectives, errors, sessions again and again."""
import ctypes
import sys
import threading
from array import array

from plenum import mpi

ERR_RANK, ERR_TRUNCATE = 6, 15


def messages(comm: mpi.Comm) -> None:
    """Every item type once around the ring, buffers of several kinds, a probe, PROC_NULL."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for code in "bBhHiIlLqQfd":
        into = array(code, [0] * 5)
        status = comm.sendrecv(array(code, [comm.rank, 1, 2]), right, into, left, tag=7)
        assert (status.source, status.tag, status.count) == (left, 7, 3)
        assert into.tolist() == [left, 1, 2, 0, 0]
    into = bytearray(8)
    assert comm.sendrecv(b"bytes", right, memoryview(into)[2:7], left).count == 5
    assert into == b"\0\0bytes\0"
    numbers = (ctypes.c_double * 2)()
    comm.sendrecv((ctypes.c_double * 2)(comm.rank, 0.5), right, numbers, left)
    assert list(numbers) == [left, 0.5]
    assert comm.sendrecv(b"x", mpi.PROC_NULL, bytearray(1), mpi.PROC_NULL).count == 0
    if comm.size > 1 and comm.rank == 0:
        comm.send(b"a" * 100000, 1, tag=3)
    elif comm.rank == 1:
        room = bytearray(comm.probe(0, 3).count)
        assert comm.recv(room, 0, 3).count == 100000 and room == b"a" * 100000


def requests(comm: mpi.Comm) -> None:
    """Everything to everyone without waiting; requests that are tested, and one that is lost."""
    into = [array("d", [0.0] * 3) for _ in range(comm.size)]
    receives = [comm.irecv(into[rank], rank, tag=4) for rank in range(comm.size)]
    sends = [comm.isend(array("d", [comm.rank, rank, 0.5]), rank, tag=4) for rank in range(comm.size)]
    while not all(request.test() for request in receives):
        pass
    assert [(r.wait().source, r.wait().tag, r.wait().count) for r in receives] == [(n, 4, 3) for n in range(comm.size)]
    assert [one.tolist() for one in into] == [[n, comm.rank, 0.5] for n in range(comm.size)]
    assert all(status.count == 3 for status in mpi.wait_all(sends))
    comm.isend(b"lost", comm.rank, tag=5)
    assert comm.recv(bytearray(4), comm.rank, 5).count == 4


def objects(comm: mpi.Comm) -> None:
    """Objects of any kind and size, also those that are empty when pickled buffers would be."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for thing in (None, {"rank": comm.rank, "text": "ä" * comm.rank}, b"x" * 300000, [1, (2.5, {3})]):
        request = comm.isend_object(thing, right, tag=6)
        got = comm.recv_object(left, tag=6)
        assert got == ({"rank": left, "text": "ä" * left} if isinstance(thing, dict) else thing)
        request.wait()
    assert comm.bcast_object({"from": comm.rank} if comm.rank == comm.size - 1 else None, comm.size - 1) == \
        {"from": comm.size - 1}
    assert comm.allgather_objects("x" * comm.rank * 1000) == ["x" * n * 1000 for n in range(comm.size)]
    if comm.size > 1 and comm.rank == 0:
        comm.send_object(mpi.Op.SUM, 1)
    elif comm.rank == 1:
        assert comm.recv_object() is mpi.Op.SUM


def numpy_arrays(comm: mpi.Comm) -> None:
    """Arrays of several dimensions and types, where numpy is installed."""
    try:
        import numpy
    except ImportError:
        return
    for kind in ("int8", "uint16", "int32", "int64", "float32", "float64", "complex64", "complex128", "bool"):
        mine = numpy.full((3, 4), comm.rank + 1).astype(kind)
        theirs = numpy.zeros((comm.size, 3, 4), kind)
        comm.allgather(mine, theirs)
        assert (theirs == numpy.arange(1, comm.size + 1).reshape(-1, 1, 1).astype(kind)).all()
    total = numpy.array(complex(comm.rank, 1))
    comm.allreduce(total)
    assert total == complex(comm.size * (comm.size - 1) // 2, comm.size)
    try:
        comm.bcast(numpy.zeros((4, 4))[:, 1])
        raise AssertionError("a column is not contiguous")
    except TypeError:
        pass


def collectives(comm: mpi.Comm) -> None:
    """Data of every process, checked on every process."""
    rank, size = comm.rank, comm.size
    triangle = size * (size - 1) // 2
    values = array("i", [rank, 1])
    comm.allreduce(values)
    assert values.tolist() == [triangle, size]
    most = array("d", [rank, -rank])
    comm.allreduce(most, mpi.Op.MAX)
    assert most.tolist() == [size - 1, 0]
    values = array("q", [rank])
    comm.reduce(values, root=size - 1)
    assert values[0] == (triangle if rank == size - 1 else rank)
    word = bytearray(b"hello" if rank == 0 else b"     ")
    comm.bcast(word)
    assert word == b"hello"
    everybody = array("h", [0] * 2 * size)
    comm.allgather(array("h", [rank, -rank]), everybody)
    assert everybody.tolist() == [sign * n for n in range(size) for sign in (1, -1)]
    here = array("f", [0] * size) if rank == 0 else None
    comm.gather(array("f", [rank / 2]), here)
    assert here is None or here.tolist() == [n / 2 for n in range(size)]
    comm.barrier()


def parts(session: mpi.Session, comm: mpi.Comm) -> None:
    """Groups and communicators of some of the processes."""
    assert {"mpi://WORLD", "mpi://SELF"} <= set(session.psets())
    with session.group() as world, world.incl(list(range(comm.size - 1, -1, -1))) as backwards:
        assert (world.size, world.rank, backwards.rank) == (comm.size, comm.rank, comm.size - 1 - comm.rank)
        assert world.translate([0], backwards) == [comm.size - 1]
        with session.comm(backwards, "backwards") as other:
            assert (other.size, other.rank) == (comm.size, backwards.rank)
    half = comm.split(comm.rank % 2)
    assert half and half.size == (comm.size + 1 - comm.rank % 2) // 2
    half.close()
    assert comm.split(mpi.UNDEFINED) is None


def mistakes(comm: mpi.Comm) -> None:
    """Errors are exceptions that say what was wrong."""
    try:
        comm.send(b"", 99)
        raise AssertionError("a rank that does not exist")
    except mpi.Error as error:
        assert error.error_class == ERR_RANK and error.function == "MPI_Send_c" and "rank 99" in str(error)
    for wrong in (b"read-only", [1, 2], memoryview(bytearray(8))[::2]):
        try:
            comm.bcast(wrong)
            raise AssertionError(f"{wrong!r} is no buffer to write to")
        except TypeError:
            pass
    with_itself = comm.split(comm.rank)
    try:
        with_itself.sendrecv(b"four", 0, bytearray(2), 0)
        raise AssertionError("too little room")
    except mpi.Error as error:
        assert error.error_class == ERR_TRUNCATE
    with_itself.close()


def alone() -> None:
    """A session of a thread's own."""
    with mpi.Session() as session, session.comm("mpi://SELF", "thread") as comm:
        value = array("i", [5])
        comm.allreduce(value)
        assert (comm.size, value[0]) == (1, 5)


def main() -> None:
    assert mpi.library_version().startswith("Plenum ")
    for level in (mpi.THREAD_SINGLE, mpi.THREAD_MULTIPLE):
        threads = [threading.Thread(target=alone) for _ in range(3)]
        for thread in threads:
            thread.start()
        with mpi.Session(level) as session, session.comm("mpi://WORLD", "checks") as comm:
            assert comm.size == int(sys.argv[1])
            messages(comm)
            requests(comm)
            objects(comm)
            numpy_arrays(comm)
            collectives(comm)
            parts(session, comm)
            mistakes(comm)
        session.close()  # a second time does nothing
        for thread in threads:
            thread.join()


main()
