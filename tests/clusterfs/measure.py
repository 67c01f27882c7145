"""The three parts of a run: data, counts of server operations, times."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from file_system import FileSystem
from hosts import Host
from jobs import DEFAULT, HEADRACE, POSIX, JobFailed, Jobs, Setting, hand_set
from processes import CommandFailed, Processes

SERIAL = Path(__file__).resolve().parent / "serial_file.py"
# Servers go on for a moment after a client has been told that its data are safe.
QUIET_SECONDS = 1.0


class Measurement:
    """One file system with jobs of one shape. Results are added to `results`, which JSON holds."""

    def __init__(
        self, processes: Processes, file_system: FileSystem, jobs: Jobs, results: dict
    ) -> None:
        self._run = processes
        self._file_system = file_system
        self._jobs = jobs
        self._results = results
        self._number = 0

    def _new_file(self) -> Path:
        """Each job writes a file that was not there."""
        self._number += 1
        return self._file_system.mount_point / f"file{self._number}"

    def _remove(self, file: Path) -> None:
        self._run.on(self._run.nodes[0], ["rm", "-f", file])

    def _serial(self, node: str, what: str, file: Path) -> str:
        """Writes or checks a file by one process. Returns what is wrong with it."""
        try:
            words = [sys.executable, SERIAL, what, file, self._jobs.bytes]
            self._run.on(node, words)
        except CommandFailed as failed:
            return str(failed).strip().splitlines()[-1]
        return ""

    def check_data(self, host: Host) -> bool:
        """Writes and reads through Headrace; then one process of another node reads the file."""
        file = self._new_file()
        row = {"way": "", "read": "", "reason": "", "layout": "", "wrong": 0, "serial": ""}
        try:
            written = self._jobs.run(host, HEADRACE, file, "write")
            read = self._jobs.run(host, HEADRACE, file, "read")
            row |= {
                "way": written.hints.get("headrace_write_taken", ""),
                "reason": written.hints.get("headrace_write_reason", ""),
                "read": read.hints.get("headrace_read_taken", ""),
                "layout": _layout(written.hints),
                "wrong": read.wrong,
                "serial": self._serial(self._run.nodes[-1], "check", file) or "right",
            }
        except JobFailed as failed:
            row["serial"] = f"failed: {str(failed).splitlines()[-1]}"
            self._run.tell(str(failed))
        self._remove(file)
        self._results.setdefault("data", {})[host.name] = row
        self._run.tell(f"  {host.name}: {row}")
        return row["serial"] == "right" and row["wrong"] == 0

    def count(self, host: Host, setting: Setting) -> None:
        """What the servers do for a collective write."""
        file = self._new_file()
        before = self._settled_counts()
        self._jobs.run(host, replace(setting, program_way="write"), file)
        self._note_counts(f"{host.name}, {setting.name}", before, file)

    def count_serial(self) -> None:
        """What they do for one process that writes in order: alone, and while other nodes have the
        file open for writing, so that its client may not hold data back."""
        for is_shared in (False, True):
            file = self._new_file()
            before = self._settled_counts()
            with self._held_open(file) if is_shared else nullcontext():
                wrong = self._serial(self._run.nodes[0], "write", file)
            if wrong:
                raise CommandFailed(wrong)
            where = ", open on another node" if is_shared else ""
            self._note_counts(f"one process, in order{where}", before, file)

    @contextmanager
    def _held_open(self, file: Path) -> Iterator[None]:
        line = [sys.executable, SERIAL, "hold", file, 0]
        holder = subprocess.Popen(
            self._run.cluster.node_command(self._run.nodes[-1], line),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            holder.stdout.readline()
            yield
        finally:
            holder.communicate(timeout=20)

    def _note_counts(self, name: str, before: dict[str, int], file: Path) -> None:
        after = self._settled_counts()
        self._remove(file)
        counts = {key: after[key] - before[key] for key in after}
        self._results.setdefault("counts", {})[name] = counts
        megabytes = self._jobs.bytes / 1e6
        shown = ", ".join(f"{key} {value / megabytes:.2f}" for key, value in counts.items())
        self._run.tell(f"  {name}, per MB: {shown}")

    def _settled_counts(self) -> dict[str, int]:
        time.sleep(QUIET_SECONDS)
        return self._file_system.counts()

    def time_round(self, host: Host, with_posix: bool) -> None:
        """One job of each way, in turn: Headrace, the default, the best of those set by hand; in
        the first round all of those, to find it."""
        cell = self._results.setdefault("times", {}).setdefault(host.name, {"rounds": []})
        settings = [HEADRACE, DEFAULT, *self._by_hand(host, cell)]
        settings += [POSIX] if with_posix else []
        # Each way is first as often as last.
        if len(cell["rounds"]) % 2:
            settings.reverse()
        done: dict[str, dict[str, float]] = {}
        for setting in settings:
            file = self._new_file()
            try:
                told = self._jobs.run(host, setting, file)
                done[setting.name] = told.seconds | {"wrong": told.wrong}
            except JobFailed as failed:
                done[setting.name] = {"failed": str(failed).splitlines()[-1]}
                self._run.tell(f"  {host.name}, {setting.name} failed: {str(failed)[-500:]}")
            self._remove(file)
        cell["rounds"].append(done)
        shown = ", ".join(f"{name} {_seconds(one)}" for name, one in done.items())
        self._run.tell(f"  {host.name}, round {len(cell['rounds'])}: {shown}")

    def _by_hand(self, host: Host, cell: dict) -> list[Setting]:
        settings = hand_set(host, self._jobs.ranks)
        names = [setting.name for setting in settings]
        trials = [round_ for round_ in cell["rounds"] if all(name in round_ for name in names)]
        if not trials:
            return settings
        best = set(fastest(trials, names).values())
        return [setting for setting in settings if setting.name in best]


def fastest(rounds: list[dict], names: list[str]) -> dict[str, str]:
    """By direction the way with the least time in any of the rounds."""
    found = {}
    for direction in ("write", "read"):
        best = [
            (round_[name][direction], name)
            for round_ in rounds
            for name in names
            if direction in round_.get(name, {})
        ]
        if best:
            found[direction] = min(best)[1]
    return found


def _layout(hints: dict[str, str]) -> str:
    kind = hints.get("headrace_file_system", "?")
    unit, factor = hints.get("striping_unit"), hints.get("striping_factor")
    stripes = f", stripes of {unit} B" if unit else ", no stripes"
    return kind + stripes + (f" over {factor}" if factor else "")


def _seconds(one: dict) -> str:
    if "failed" in one:
        return "FAILED"
    parts = [f"{one[key]:.2f}" for key in ("write", "read") if key in one]
    return "/".join(parts) + " s" + (f" ({one['wrong']} bytes WRONG)" if one.get("wrong") else "")
