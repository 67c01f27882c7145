"""`headrace bench recorder`: what it reads, and what it makes of it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_support import Marker
from click.testing import CliRunner
from rich.console import Console

from headrace.bench import recorder
from headrace.bench.recorder import Cell, measure_line, read_calls, read_imb
from headrace.bench.runner import RunFailed
from headrace.commands.bench.recorder import _table
from headrace.commands.bench.recorder import recorder as command

CALLS = """\
MPI_Comm_rank 1 2.50
MPI_Irecv+Isend+Waitall 3 901.00
"""

IMB = """\
# Sendrecv
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         2000         0.51         0.00
            8         2000         0.52        15.31

#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         2000         1.03         1.13         1.08        15.31
            16 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         2000         0.00         0.00         0.00
            4         2000         0.90         1.10         1.00

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 2
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         2000         0.60         0.80         0.70
"""


def test_our_own_program() -> None:
    assert read_calls(CALLS) == {
        "MPI_Comm_rank": (1, 2.5),
        "MPI_Irecv+Isend+Waitall": (3, 901.0),
    }


def test_intels_program() -> None:
    times = {kind: round(time, 6) for kind, (_, time) in read_imb(IMB).items()}
    assert times == {
        "IMB PingPong 0 B": 510,
        "IMB PingPong 8 B": 520,
        "IMB Sendrecv 8 B": 1080,
        "IMB Allreduce 4 B": 1000,
        "IMB Barrier": 700,
    }


def test_a_barrier_that_is_told_as_nothing_has_no_time() -> None:
    assert "IMB Barrier" not in read_imb(IMB.replace("0.70", "0.00"))


def test_only_pairs_with_both_times_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the recorder all takes twice as long. Pair 3 has no time of Sendrecv with it, and only
    pair 0 has both of Allreduce."""
    jobs = 0

    def output(*_: object) -> str:
        nonlocal jobs
        pair, recorded = jobs // 2, (jobs % 2 == 0) == (jobs // 2 % 2 == 0)
        jobs += 1
        sendrecv = 0.0 if pair == 3 and recorded else (1 + pair) * (1 + recorded)
        allreduce = 1.0 if pair == 0 or recorded else 0.0
        return IMB.replace("1.08", f"{sendrecv:.2f}").replace("1.00\n", f"{allreduce:.2f}\n")

    programs = [recorder.Program(("IMB",), read_imb)]
    monkeypatch.setattr(recorder, "programs", lambda *_: programs)
    monkeypatch.setattr(recorder, "_run", output)
    told: list[str] = []
    host = SimpleNamespace(title="MPI")
    cells = recorder.measure(host, 2, 8, tmp_path, {}, told.append)
    found = {cell.kind: cell for cell in cells}
    sendrecv = found["IMB Sendrecv 8 B"]
    assert sendrecv.off == [1000 * (1 + pair) for pair in range(8) if pair != 3]
    assert sendrecv.ratio.low == sendrecv.ratio.high == 2 and cells[0] is sendrecv
    assert "IMB Allreduce 4 B" not in found and "IMB Barrier" in found
    assert told[-1] == "MPI: IMB Allreduce 4 B is left out: too few pairs of jobs told its time"


def test_a_cell_compares_pairs() -> None:
    """The machine became twice as slow in between, which concerns both jobs of a pair."""
    off = [300.0] * 10 + [600.0] * 10
    cell = Cell("MPI", "kind", 3, off, [1.1 * time for time in off])
    assert cell.ratio.median == pytest.approx(1.1)
    assert cell.ratio.low == pytest.approx(1.1) and cell.ratio.is_confident
    assert cell.added.low == pytest.approx(10) and cell.added.high == pytest.approx(20)
    assert cell.plain.median == pytest.approx(150)


def test_the_table_says_what_its_numbers_are() -> None:
    out = Console(width=200)
    with out.capture() as text:
        out.print(_table([Cell("MPI", "kind", 1, [10.0] * 6, [11.0] * 6)]))
    assert "1 [1, 1]" in text.get() and "; [low, high]: 95% interval" in text.get()


def test_a_line_is_run_with_and_without_in_turn(marker: Marker, tmp_path: Path) -> None:
    """The launcher is a script that tells what it got."""
    told: list[str] = []
    launcher = tmp_path / "mpiexec.hydra"
    launcher.write_text(
        '#!/bin/sh\ncase "$*" in *app) echo "$HEADRACE_RECORD" >> "$TOLD" ;; esac\n'
    )
    launcher.chmod(0o755)
    environ = {
        **os.environ,
        "TOLD": str(tmp_path / "told"),
        "HEADRACE_LIBRARY": str(marker.library),
    }
    line = [str(launcher), "-n", "2", "app"]
    cell = measure_line(line, 2, tmp_path, environ, told.append)
    assert (tmp_path / "told").read_text().split() == ["1", "0", "0", "1"]
    assert len(cell.on) == len(cell.off) == 2 and min(cell.on + cell.off) > 0
    assert len(told) == 2
    launcher.write_text("#!/bin/sh\necho no such node >&2\nexit 3\n")
    with pytest.raises(RunFailed, match=r"mpiexec\.hydra failed.*no such node"):
        measure_line(line, 1, tmp_path, environ, told.append)


def test_each_run_of_a_line_reads_the_whole_input(marker: Marker, tmp_path: Path) -> None:
    """What is on stderr need not be text."""
    launcher = tmp_path / "mpiexec.hydra"
    launcher.write_text(
        '#!/bin/sh\nprintf "\\377" >&2\n'
        'case "$*" in *app) wc -c >> "$TOLD"; exit "${FAILS:-0}" ;; esac\n'
    )
    launcher.chmod(0o755)
    environ = {
        **os.environ,
        "TOLD": str(tmp_path / "told"),
        "HEADRACE_LIBRARY": str(marker.library),
    }
    line = [str(launcher), "-n", "2", "app"]
    (tmp_path / "input").write_bytes(b"skipped12345")
    with (tmp_path / "input").open("rb", buffering=0) as file:
        file.seek(7)
        measure_line(line, 2, tmp_path, environ, lambda _: None, file.fileno())
    assert (tmp_path / "told").read_text().split() == ["5"] * 4
    reading, writing = os.pipe()
    os.close(writing)
    measure_line(line, 1, tmp_path, environ, lambda _: None, reading)
    assert (tmp_path / "told").read_text().split()[4:] == ["0"] * 2
    os.close(reading)
    environ["FAILS"] = "3"
    with pytest.raises(RunFailed, match="exit code 3: \ufffd"):
        measure_line(line, 1, tmp_path, environ, lambda _: None)


@pytest.mark.parametrize("option", [("-n", "2"), ("--mpi", "mpich")])
def test_a_line_has_ranks_and_an_mpi_of_its_own(option: tuple[str, str]) -> None:
    result = CliRunner().invoke(command, [*option, "--", "mpiexec", "app"])
    assert result.exit_code == 2
    assert f"{option[0]} has no meaning here, the line says it" in result.output
