"""The process that has PyDarshan: reads one log, and writes what it found as one line of JSON.

Darshan's library tells of damage on stderr alone, and then ends a module as if there were no more
records. So stderr is read after each step.
"""

import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from headrace.darshan.counters import INTERFACES, LUSTRE, PREFIXES, WANTED

MOST_MEMORY = 4 << 30  # bytes of address space
LONGEST_NAME = 4096


class Errors:
    """What was written to stderr since it was asked last."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._seen = 0
        os.dup2(self._file.fileno(), 2)

    def __call__(self) -> str:
        sys.stderr.flush()
        self._file.seek(self._seen)
        data = self._file.read(1 << 16)
        self._seen += len(data)
        lines = data.decode("utf-8", "backslashreplace").splitlines()
        kept = [line.removeprefix("Error: ").strip(" .") for line in lines if line.strip()]
        told = [line for line in kept if not line.startswith("darshan_log_open failed")]
        return "; ".join(dict.fromkeys(told or kept))


class Log:
    """An open log. Raises ValueError if Darshan's library refuses it."""

    def __init__(self, path: str, errors: Errors):
        from darshan.backend import cffi_backend as library

        self._library = library
        self._c = library.libdutil
        self._ffi = library.ffi
        self._errors = errors
        errors()
        self._log = library.log_open(path)
        if self._log["handle"] == self._ffi.NULL:
            raise ValueError(errors() or "Darshan's library gives no reason")

    def job(self) -> dict[str, Any]:
        job = self._ffi.new("struct darshan_job *")
        self._c.darshan_log_get_job(self._log["handle"], job)
        if why := self._errors():
            raise ValueError(why)
        seconds = self._ffi.new("double *")
        self._c.darshan_log_get_job_runtime(self._log["handle"], job[0], seconds)
        command = self._ffi.new("char[]", 2 * LONGEST_NAME)
        self._c.darshan_log_get_exe(self._log["handle"], command)
        return {
            "ranks": job.nprocs,
            "start": job.start_time_sec,
            "seconds": seconds[0],
            "command": self._text(command),
            "version": self._text(self._ffi.cast("char *", self._log["handle"]), 8),
        }

    def names(self) -> dict[str, str]:
        records = self._ffi.new("struct darshan_name_record **")
        count = self._ffi.new("int *")
        self._c.darshan_log_get_name_records(self._log["handle"], records, count)
        every = (records[0][place] for place in range(count[0]))
        return {str(one.id): self._text(one.name) for one in every}

    def _text(self, value: Any, most: int = LONGEST_NAME) -> str:
        if value == self._ffi.NULL:
            return ""
        return self._ffi.string(value, most).decode("utf-8", "backslashreplace")

    def modules(self) -> dict[str, Any]:
        found = {}
        for name, facts in self._library.log_get_modules(self._log).items():
            one: dict[str, Any] = {"partial": facts["partial_flag"], "rows": []}
            found[name] = one
            if name in INTERFACES:
                one["columns"], one["rows"] = self._counters(name)
            elif name == LUSTRE:
                one["rows"] = list(self._stripes())
            else:
                continue
            one["damage"] = self._errors() or ("" if one["rows"] else "it has no records")
        return found

    def _records(self, name: str, form: str) -> Iterator[dict[str, Any]]:
        while (record := self._library.log_get_record(self._log, name, form)) is not None:
            yield record

    def _counters(self, name: str) -> tuple[list[str], list[list[float]]]:
        """The counters that are wanted, and of each record its number, its rank and these."""
        every = [*self._library.counter_names(name), *self._library.fcounter_names(name)]
        short = [one.removeprefix(PREFIXES[name]) for one in every]
        places = [place for place, one in enumerate(short) if one in WANTED]
        rows = []
        for record in self._records(name, "numpy"):
            values = [*record["counters"].tolist(), *record["fcounters"].tolist()]
            rows.append([str(record["id"]), record["rank"], *(values[place] for place in places)])
        return [short[place] for place in places], rows

    def _stripes(self) -> Iterator[list[Any]]:
        """Of each file its number, its rank, and the storage targets of its first component."""
        for record in self._records(LUSTRE, "numpy"):
            parts = record["components"]
            targets = [int(one) for one in parts[0]["ost_ids"]] if parts else []
            yield [str(record["id"]), record["rank"], targets]


def serve(path: str) -> None:
    """Writes one line: {"refused": why}, or all that the log has. What the library writes to stdout
    is not mixed with it."""
    out = os.fdopen(os.dup(1), "w")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    errors = Errors()
    os.dup2(2, 1)
    try:
        log = Log(path, errors)
        found: dict[str, Any] = {"job": log.job(), "modules": log.modules()}
        found["names"] = log.names()
        found["damage"] = errors()
    except Exception as error:  # of a library that is not ours, on bytes that are not either
        why = [errors(), str(error) or type(error).__name__]
        found = {"refused": "; ".join(filter(None, why))}
    with out:
        json.dump(found, out)
