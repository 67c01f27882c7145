"""What looked_up.c does, by ctypes or cffi, which look functions up in a library's handle.

Usage: looked_up.py ctypes|cffi LIBRARY FILE WORLD BYTE NO_INFO MODE, the last four as
handle_numbers.c prints them.
"""

import ctypes
import os
import sys

PIECE, PIECES = 100, 1000
# Handles are ints or pointers: both fit, and a place for one is cleared.
DECLARATIONS = """
    int MPI_Init(void*, void*);
    int MPI_Finalize(void);
    int MPI_Comm_rank(intptr_t, void*);
    int MPI_Comm_size(intptr_t, void*);
    int MPI_Barrier(intptr_t);
    int MPI_Type_contiguous(int, intptr_t, void*);
    int MPI_Type_create_resized(intptr_t, long, long, void*);
    int MPI_Type_commit(void*);
    int MPI_File_open(intptr_t, const char*, int, intptr_t, void*);
    int MPI_File_set_view(intptr_t, long, intptr_t, intptr_t, const char*, intptr_t);
    int MPI_File_write_all(intptr_t, const char*, int, intptr_t, void*);
    int MPI_File_get_info(intptr_t, void*);
    int MPI_Info_get(intptr_t, const char*, int, void*, void*);
    int MPI_File_close(void*);
"""


class Ctypes:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)

    def call(self, name, *arguments):
        wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        code = getattr(self.library, name)(*wide)
        assert code == 0, (name, code)

    def object(self, name):
        return ctypes.addressof(ctypes.c_char.in_dll(self.library, name))

    def place(self):
        return (ctypes.c_long * 8)()

    def text(self, len):
        return ctypes.create_string_buffer(len)


class Cffi:
    def __init__(self, library):
        import cffi

        self.ffi = cffi.FFI()
        self.ffi.cdef(DECLARATIONS)
        for name in sys.argv[4:7]:
            if name.startswith("ompi_"):
                self.ffi.cdef(f"extern char {name}[];")
        self.library = self.ffi.dlopen(library)

    def call(self, name, *arguments):
        null = [self.ffi.NULL if one is None else one for one in arguments]
        code = getattr(self.library, name)(*null)
        assert code == 0, (name, code)

    def object(self, name):
        return int(self.ffi.cast("intptr_t", getattr(self.library, name)))

    def place(self):
        return self.ffi.new("long[8]")

    def text(self, len):
        return self.ffi.new(f"char[{len}]")


def value(rank, i):
    return (1 + rank * 101 + i * 7 + i // 251) % 256


def main():
    way, library, path = sys.argv[1:4]
    mpi = {"ctypes": Ctypes, "cffi": Cffi}[way](library)
    mpi.call("MPI_Init", None, None)
    world, byte, no_info = (
        mpi.object(one) if one.startswith("ompi_") else int(one) for one in sys.argv[4:7]
    )
    rank, size, part, spread, file, info, there, status = (mpi.place() for _ in range(8))
    mpi.call("MPI_Comm_rank", world, rank)
    mpi.call("MPI_Comm_size", world, size)
    mpi.call("MPI_Type_contiguous", PIECE, byte, part)
    mpi.call("MPI_Type_create_resized", part[0], 0, PIECE * size[0], spread)
    mpi.call("MPI_Type_commit", spread)
    name = os.fsencode(path)
    mpi.call("MPI_File_open", world, name, int(sys.argv[7]), no_info, file)
    place = PIECE * rank[0]
    mpi.call("MPI_File_set_view", file[0], place, byte, spread[0], b"native", no_info)
    data = bytes(value(rank[0], i) for i in range(PIECE * PIECES))
    mpi.call("MPI_File_write_all", file[0], data, PIECE * PIECES, byte, status)
    taken = mpi.text(256)
    mpi.call("MPI_File_get_info", file[0], info)
    mpi.call("MPI_Info_get", info[0], b"headrace_write_taken", 255, taken, there)
    mpi.call("MPI_File_close", file)
    mpi.call("MPI_Barrier", world)
    if rank[0] == 0:
        how = taken.value if way == "ctypes" else mpi.ffi.string(taken)
        print("taken:", how.decode() if there[0] else "none")
        look_at_file(path, size[0])
    mpi.call("MPI_Finalize")


def look_at_file(path, size):
    with open(path, "rb") as stream:
        found = stream.read()
    pieces = [[value(rank, i) for i in range(PIECE * PIECES)] for rank in range(size)]
    wanted = bytes(
        byte
        for i in range(0, PIECE * PIECES, PIECE)
        for piece in pieces
        for byte in piece[i : i + PIECE]
    )
    wrong = sum(is_one != other for is_one, other in zip(found, wanted, strict=False))
    print(wrong + abs(len(found) - len(wanted)), "bytes wrong")


main()
