"""Whatever text of a record is hostile: none gets to the terminal, or into the page, as it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from record_support import MILLISECOND, Job, small_job
from rich.console import Console
from test_last_calls import hanging
from test_profile import sampled_job
from test_record_report import job_with_accesses
from test_regions import region_job
from test_traced_functions import traced_job

from headrace.commands._findings import job_of, judged
from headrace.report.page import page
from headrace.report.terminal import show
from headrace.symbols.resolver import resolve

EVIL = "\x1b]0;title\x07\u202e\r\n"


def with_types() -> Job:
    """Advised of, with its place; and with counters."""
    job = small_job()
    job.facts.update(processor="GenuineIntel 6 85", left_out="rank-7", complete="0")
    job.nodes[0].add("settings", name="HEADRACE_COUNTERS", value="summary", origin="default")
    for rank, node in enumerate(job.nodes):
        time = 700 * MILLISECOND
        node.call(rank, "MPI_Type_commit", 4, calls=5000, time=time, greatest=time)
        for event, error in (("cycles", 0), ("other", 0), ("flops", 61)):
            node.add(
                "counters", rank=rank, event=event, error=error, count=5, enabled=5, running=5,
                wall=1000 * MILLISECOND,
            )  # fmt: skip
    return job


JOBS = (hanging, job_with_accesses, region_job, sampled_job, traced_job, with_types)


def shown(folder: Path, job: Job) -> tuple[str, str]:
    """As a text, and as a page."""
    whole = job_of([job.write(folder)])
    found, judgement = whole.findings, judged(whole.findings)
    parts = (whole.profile, whole.listing, whole.counted, whole.traced)
    symbols = resolve(found.paths())
    out = Console(width=200)
    with out.capture() as text:
        show(out, found, symbols, judgement, *parts)
    return text.get(), page(found, symbols, judgement, *parts)


@pytest.mark.parametrize("made", JOBS)
def test_no_text_is_shown_as_it_is(made: Callable[[], Job], tmp_path: Path) -> None:
    names = [text for node in made().nodes for text in node.texts]
    for name in dict.fromkeys((*names, *made().facts.values())):
        job = made()
        job.facts = {one: text + EVIL * (text == name) for one, text in job.facts.items()}
        for node in job.nodes:
            node.texts = {one + EVIL * (one == name): at for one, at in node.texts.items()}
        for text in shown(tmp_path, job):
            bad = {one for one in text if not one.isprintable()} - {"\n"}
            assert not bad, (name, next(line for line in text.split("\n") if bad & set(line)))


def test_a_place_of_advice_is_one_of_these(tmp_path: Path) -> None:
    text, _ = shown(tmp_path, with_types())
    assert "  at MPI_Type_commit" in text
