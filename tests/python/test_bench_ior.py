"""`headrace bench ior`: files against an independent account of IOR's layout, options, checks."""

import json
import subprocess
from pathlib import Path

import pytest
from bench_support import bench_command, error_line, ior_file, ior_transfer
from cli_support import Command

STAMP = 77
SEED_FLAGS = "-w -C -g -s 5 -b 100000 -t 10000 -i 2 -o myfile"


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def ior(
    bench: Command, flags: str, *options: str, np: int = 2, **variables: str
) -> subprocess.CompletedProcess[str]:
    return bench("bench", "ior", "-n", np, *options, "--", *flags.split(), **variables)


def check(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("options", [(), ("--plain",)], ids=["headrace", "plain"])
@pytest.mark.parametrize(
    "way", ["-a MPIIO -c", "-a POSIX", "-a MPIIO", "-a MPIIO -V", "-a MPIIO -c -V"]
)
def test_shared_file_has_the_layout(bench: Command, way: str, options: tuple[str, ...]) -> None:
    # 1003 is no multiple of 8: the last word of a transfer is cut.
    check(ior(bench, f"{way} -w -W -k -G {STAMP} -s 3 -b 4012 -t 1003 -o f", *options, np=3))
    assert (bench.directory / "f").read_bytes() == ior_file(3, 3, 4012, 1003, STAMP)


def test_offset_packets_are_those_of_the_user_guide(bench: Command) -> None:
    check(ior(bench, f"-a MPIIO -c -w -W -k -l offset -G {STAMP} -s 2 -b 64 -t 32 -o f"))
    expected = ior_file(2, 2, 64, 32, STAMP, by_offset=True)
    assert (bench.directory / "f").read_bytes() == expected


def test_file_per_process(bench: Command) -> None:
    check(ior(bench, f"-a MPIIO -w -r -R -C -k -F -G {STAMP} -s 2 -b 2000 -t 1000 -o f"))
    for task in range(2):
        expected = b"".join(ior_transfer(task, STAMP, i, 1000) for i in range(4))
        assert (bench.directory / f"f.{task:08}").read_bytes() == expected


def test_a_file_for_each_repetition(bench: Command) -> None:
    check(ior(bench, f"-w -k -m -i 2 -G {STAMP} -b 1k -t 512 -o f"))
    expected = ior_file(2, 1, 1024, 512, STAMP)
    assert {path.name for path in bench.directory.iterdir()} >= {"f.0", "f.1"}
    assert all((bench.directory / name).read_bytes() == expected for name in ("f.0", "f.1"))


@pytest.mark.parametrize("way", ["-a MPIIO -c -H", "-a POSIX -e"])
def test_the_seeds_lines_work_as_they_stand(bench: Command, way: str) -> None:
    output = check(ior(bench, f"{way} {SEED_FLAGS}", np=4))
    last = [line for line in output.splitlines() if line.startswith("Max Write:")]
    assert len(last) == 1
    words = last[0].split()
    assert words[3] == "MiB/sec" and words[5] == "MB/sec)"
    assert float(words[4].strip("(")) == pytest.approx(float(words[2]) * 1.048576, abs=0.02)
    assert "Max Read" not in output
    assert not (bench.directory / "myfile").exists()


@pytest.mark.parametrize("position", [4011, 0, 20_000, 24_071])
def test_a_wrong_byte_is_found(bench: Command, position: int) -> None:
    check(ior(bench, f"-w -k -G {STAMP} -s 3 -b 4012 -t 1003 -o f"))
    again = f"-a MPIIO -c -W -E -k -G {STAMP} -s 3 -b 4012 -t 1003 -o f"
    check(ior(bench, again))
    with open(bench.directory / "f", "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 1]))
    result = ior(bench, again)
    assert result.returncode == 1
    assert f"1 wrong bytes in 'f', the first at byte {position} " in error_line(result, "ior")


def test_transfers_in_each_others_place_are_found(bench: Command) -> None:
    check(ior(bench, f"-w -k -G {STAMP} -s 1 -b 2000 -t 1000 -o f"))
    file = bench.directory / "f"
    data = file.read_bytes()
    file.write_bytes(data[1000:2000] + data[:1000] + data[2000:])
    assert ior(bench, f"-R -k -G {STAMP} -s 1 -b 2000 -t 1000 -o f").returncode == 1


def test_a_neighbour_reads_back(bench: Command) -> None:
    # With files of their own the rank that fails tells whose file it had been given.
    check(ior(bench, f"-w -k -F -G {STAMP} -b 1k -t 1k -o f", np=3))
    (bench.directory / "f.00000002").unlink()
    result = ior(bench, f"-r -k -F -C -G {STAMP} -b 1k -t 1k -o f", np=3)
    assert result.returncode == 1
    line = error_line(result, "ior")
    assert "f.00000002" in line and "[rank 1]" in line


def test_summary_in_json(bench: Command) -> None:
    flags = "-a MPIIO -c -w -r -R -i 2 -s 2 -b 2k -t 1k -o f -O summaryFormat=JSON,summaryFile=s"
    check(ior(bench, flags))
    document = json.loads((bench.directory / "s").read_text())
    results = document["tests"][0]["Results"]
    assert [row["access"] for row in results] == ["write", "read"] * 2
    assert all(row["bytes"] == 8192 for row in results)
    bandwidths = [row["bytes"] / row["totalTime"] / 2**20 for row in results]
    assert [row["bwMiB"] for row in results] == pytest.approx(bandwidths)
    summary = {entry["operation"]: entry for entry in document["summary"]}
    assert summary["write"]["bwMaxMIB"] == pytest.approx(max(bandwidths[0::2]))
    assert document["tests"][0]["wrongBytes"] == 0


def shown_hints(output: str) -> dict[str, str]:
    _, _, rest = output.partition("hints returned from opened file {\n")
    body, closed, _ = rest.partition("\n}\n")
    assert closed
    assert all(line.startswith("\t") for line in body.splitlines())
    return dict(line.strip().split(" = ", 1) for line in body.splitlines())


def test_hints_by_environment_and_file(bench: Command) -> None:
    (bench.directory / "hints").write_text("# comment\n\nIOR_HINT__MPI__cb_nodes=1\n")
    variables = {"IOR_HINT__MPI__cb_buffer_size": "2097152", "IOR_HINT__MPI__cb_nodes": "2"}
    flags = "-a MPIIO -c -w --mpiio.showHints -b 1k -t 1k -o f"
    by_environment = shown_hints(check(ior(bench, flags, "--plain", **variables)))
    assert by_environment["cb_buffer_size"] == "2097152"
    with_file = shown_hints(check(ior(bench, flags + " -U hints", "--plain", **variables)))
    assert with_file["cb_nodes"] == "1"
    (bench.directory / "hints").write_text("cb_nodes 1\n")
    result = ior(bench, flags + " -U hints", "--plain")
    assert result.returncode != 0
    assert "bad line 1 of the hints file 'hints'" in error_line(result, "ior")


@pytest.mark.parametrize(
    ("flags", "code", "text"),
    [
        ("-a HDF5", 2, "unknown api 'HDF5'"),
        ("-y", 2, "unknown option '-y'"),
        ("--nothing=1", 2, "unknown option '--nothing'"),
        ("-b 10 -t 3", 2, "not a multiple of transfer size 3"),
        ("-t 2m", 2, "larger than block size"),
        ("-b 0", 2, "at least 1"),
        ("-s -1", 2, "at least 1"),
        ("-b 1x", 2, "must be a size"),
        ("-b 99999999999999999999", 2, "must be a size"),
        ("-i", 2, "missing value for -i"),
        ("-B", 2, "not supported"),
        ("-O api", 2, "must be name=value"),
        ("-O bogus=1", 2, "unknown option 'bogus'"),
        ("-a POSIX -c", 2, "needs -a MPIIO"),
        ("-W", 2, "needs -G"),
        ("-N 9", 2, "there are 2"),
        ("-C -Q 9223372036854775807", 2, "task offset beyond 2^31"),
        ("word", 2, "unexpected argument 'word'"),
        ("-w -o missing/f", 1, "cannot open 'missing/f' (No such file or directory)"),
        ("-a MPIIO -w -o missing/f", 1, "cannot open 'missing/f'"),
        ("-r -o f", 1, "cannot open 'f' (No such file or directory)"),
        ("-w -o .", 1, "Is a directory"),
        ("-w -s 4 -b 1t -o f", 1, "not enough space"),
    ],
)
def test_bad_input_is_one_clear_line(bench: Command, flags: str, code: int, text: str) -> None:
    result = ior(bench, flags, "--plain")
    assert result.returncode == code, result.stderr
    line = error_line(result, "ior")
    assert line.startswith("ior: error: ") and text in line
    assert not any(path.name.startswith("f") for path in bench.directory.iterdir())


def test_a_file_that_ends_early_is_an_error(bench: Command) -> None:
    (bench.directory / "f").write_bytes(b"x" * 1500)
    for api in ("POSIX", "MPIIO"):
        result = ior(bench, f"-a {api} -r -k -b 1k -t 1k -o f", "--plain")
        assert result.returncode == 1
        assert "'f'" in error_line(result, "ior")


@pytest.mark.parametrize("way", ["-a POSIX", "-a MPIIO"])
@pytest.mark.parametrize("options", [(), ("--plain",)], ids=["headrace", "plain"])
def test_a_full_disk_is_an_error(bench: Command, way: str, options: tuple[str, ...]) -> None:
    (bench.directory / "f").symlink_to("/dev/full")
    result = ior(bench, f"{way} -w -E -k -b 64k -t 64k -o f", *options)
    assert result.returncode == 1
    assert "cannot write to 'f'" in error_line(result, "ior")


def test_random_order_and_fewer_tasks(bench: Command) -> None:
    check(ior(bench, f"-a MPIIO -c -w -r -R -Z -X 5 -k -N 3 -G {STAMP} -b 2k -t 1k -o f", np=4))
    assert (bench.directory / "f").read_bytes() == ior_file(3, 1, 2048, 1024, STAMP)


def test_flags_together_and_attached_values(bench: Command) -> None:
    check(ior(bench, f"-wk -G{STAMP} -b=2k -t1K -o f"))
    assert (bench.directory / "f").read_bytes() == ior_file(2, 1, 2048, 1024, STAMP)
