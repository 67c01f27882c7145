"""The files that commands are given -> findings: records, or a Darshan log."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headrace.advice.judging import Judgement, judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import MOST_SITES, Findings, analyse
from headrace.analysis.darshan.analyse import analyse as analyse_log
from headrace.analysis.paths import Frame
from headrace.compare.profile import MOST_SITES as MOST_COMPARED
from headrace.compare.profile import Profile as RunProfile
from headrace.compare.profile import profile as run_profile
from headrace.compare.profile import record_facts
from headrace.counters.summary import Counters, counters
from headrace.darshan import reader as logs
from headrace.errors import HeadraceError
from headrace.launch.gather import gather
from headrace.place.gain import order_metrics
from headrace.profile.costs import costs
from headrace.profile.loopmark import Listing, listing
from headrace.profile.profile import Profile, profile
from headrace.profile.samples import Samples
from headrace.profile.stacks import all_places
from headrace.profile.traced import Calls, Traced, traced
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.symbols.kept import NONE_KEPT, KeptFiles
from headrace.symbols.optimisation import optimised
from headrace.symbols.resolver import resolve, resolve_frames

ENDED_EARLY = "the job ended early, and what it did after it was last heard of is not known"


@dataclass(frozen=True)
class Job:
    """profile, listing, counted, traced: None where nothing was sampled, no remarks were asked for,
    nothing was to be counted, or traced."""

    findings: Findings
    profile: Profile | None = None
    listing: Listing | None = None
    counted: Counters | None = None
    traced: Traced | None = None


def findings_of(files: Sequence[Path], most_sites: int = MOST_SITES) -> Findings:
    """Without what samples show."""
    found = _of_log(files)
    return found or _analysed(_record_of_all(files), most_sites)


def _analysed(record: Record, most_sites: int = MOST_SITES) -> Findings:
    found = analyse(record, most_sites)
    return replace(found, metrics=found.metrics | order_metrics(record))


def profile_of(files: Sequence[Path], kept: KeptFiles = NONE_KEPT) -> RunProfile:
    """What runs are compared by: of a Darshan log, or of the parts of one record."""
    name = str(files[0])
    found = _of_log(files)
    if found is not None:
        return run_profile(name, found, resolve(()))
    record = _record_of_all(files)
    findings = analyse(record, MOST_COMPARED)
    symbols = resolve(findings.paths(), kept)
    return run_profile(name, findings, symbols, record_facts(record))


def job_of(
    files: Sequence[Path], feedback: Sequence[Path] = (), kept: KeptFiles = NONE_KEPT
) -> Job:
    """From its record, its nodes' records, directories of a job that was killed, or a Darshan
    log. feedback: files of compilers' remarks, or folders."""
    log = _of_log(files)
    if log is not None:
        return Job(log)
    record = _record_of_all(files)
    found, samples = _analysed(record), Samples(record)
    innermost = {path: samples.frames(path)[:1] for path in samples.path_numbers()}
    calls = Calls(record)
    symbols = resolve_frames(
        {frame for path in samples.paths() for frame in path} | {*calls.frames()}, kept
    )
    stacks = all_places(samples, symbols)
    followed = traced(calls, symbols, found.run.count)
    sampled = profile(samples, symbols, found.run.count, stacks)
    if sampled is None:
        return Job(found, counted=counters(record), traced=followed)
    remarks = listing(sampled, feedback, _built(innermost.values())) if feedback else None
    known = optimised({frame for own in innermost.values() for frame in own}, kept)
    spent = costs(
        record,
        found.run,
        samples,
        sampled,
        stacks,
        {path: known[own[0]] for path, own in innermost.items() if own and own[0] in known},
        remarks,
    )
    found = replace(found, metrics=found.metrics | spent.metrics, spots=spent.spots)
    return Job(found, sampled, remarks, counters(record), followed)


def _built(innermost: Iterable[Sequence[Frame]]) -> float | None:
    """When the youngest file of sampled code with a build-id was written."""
    files = {own[0].module for own in innermost if own and own[0].build_id}
    times = []
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            times.append(Path(file).stat().st_mtime)
    return max(times, default=None)


def _of_log(files: Sequence[Path]) -> Findings | None:
    """None if no file is a Darshan log."""
    found = [file for file in files if logs.is_log(file)]
    if not found:
        return None
    if len(files) > 1:
        raise HeadraceError(
            f"'{found[0]}' is not read with other files",
            "a Darshan log is of a whole job",
            "give it alone",
            1,
        )
    return analyse_log(logs.read(found[0]))


def _record_of_all(files: Sequence[Path]) -> Record:
    return merge([record_of(file) for file in files])


def judged(found: Findings, rules: Sequence[Path] = ()) -> Judgement:
    """By our rules and those of more files."""
    if not found.run.is_end_known:
        unknown: dict[str, float | None] = dict.fromkeys(found.metrics)
        return judge(collect(rules), unknown, dict.fromkeys(unknown, ENDED_EARLY))
    return judge(collect(rules), found.metrics, found.source.absent)


def record_of(file: Path) -> Record:
    """A record, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return read(file)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        record = read(gather(file, Path(folder), os.environ))
    # Its file is gone: no command can name it.
    return replace(record, path=file)
