"""`headrace report --since`: what has changed since a run before, in text, JSON and page."""

import json
from pathlib import Path

from cli_support import ROOT, Command
from record_support import Job, large_job, small_job
from schema_support import check
from test_report_page import Checked

SCHEMA = json.loads((ROOT / "docs" / "reference" / "compare.schema.json").read_text())


def runs(folder: Path, after: Job | None = None) -> tuple[Path, Path]:
    """One before a change, and one after it, of which a setting and a time have changed."""
    changed = after or small_job()
    if after is None:
        for node in changed.nodes:
            node.add("settings", name="HEADRACE_COLLECTIVES", value="1", origin="environment")
            for row in node.rows["ranks"]:
                row["run"] //= 2
    return (
        small_job().write(folder, "before.hrc"),
        changed.write(folder, "after.hrc"),
    )


def test_text_and_json(headrace: Command, tmp_path: Path) -> None:
    before, after = runs(tmp_path)
    text = headrace("report", after, "--since", before).stdout
    assert "Changes since a baseline" in text
    assert "After the change the run is 2.000 times as fast" in text
    assert "HEADRACE_COLLECTIVES" in text and "Where the difference lies" in text
    since = json.loads(headrace("report", after, "--since", before, "--json").stdout)["since"]
    check(since, SCHEMA)
    assert since["speed_up"]["ratio"] == 2.0
    assert json.loads(headrace("report", after, "--json").stdout)["since"] is None


def test_page(headrace: Command, tmp_path: Path) -> None:
    before, after = runs(tmp_path)
    page = tmp_path / "page.html"
    headrace("report", after, "--since", before, "-o", page)
    shown = Checked(page.read_text()).text
    assert "Changes since a baseline" in shown and "2.000 times as fast" in shown
    assert shown.index("What to change first") < shown.index("Changes since") < shown.index("Words")
    headrace("report", after, "-o", page)
    assert "Changes since a baseline" not in page.read_text()


def test_runs_that_are_not_alike(headrace: Command, tmp_path: Path) -> None:
    before, after = runs(tmp_path, large_job(8, 4, 2))
    text = headrace("report", after, "--since", before).stdout
    assert "NOT COMPARABLE" in text
