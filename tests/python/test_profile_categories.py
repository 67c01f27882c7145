"""What a sampled path says of its time."""

from headrace.profile.categories import category
from headrace.profile.stacks import Place


def test_categories_begin_inside() -> None:
    places = [Place("memcpy", "libc.so.6"), Place("work", "app"), Place("malloc", "libc.so.6")]
    assert category(places) == ""
    assert category([Place("_int_free", "libc.so.6"), Place("free", "libc.so.6"), *places]) == (
        "allocation"
    )
    assert category([Place("(libheadrace.so)", "libheadrace.so")]) == "layer"
    assert category([Place("mpi_of_mine", "app")]) == ""


def test_python_is_told_by_its_frames_not_by_names_of_files() -> None:
    step = Place("MPI_like_step", "libmpi_tools.py", is_python=True)
    assert category([step]) == "python"
    assert category([Place("malloc", "libc.so.6"), step]) == "python"
    assert category([Place("quicksort", "numpy.so"), step]) == ""
    assert category([Place("MPI_Recv", "libmpi.so.12"), step]) == "mpi"
