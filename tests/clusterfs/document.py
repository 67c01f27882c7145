"""The results as a Markdown page: what holds, what is lost first."""

from __future__ import annotations

from pathlib import Path

from headrace.bench.peers import document
from headrace.bench.peers.tables import markdown_rows, ratio_text
from headrace.statistics import Interval, paired_ratio

BEGIN, END = "<!-- clusterfs begin -->", "<!-- clusterfs end -->"


def write_document(path: Path, results: dict) -> None:
    """Puts the results between the two marks of a page, or into a new one."""
    document.write(str(path), page(results), BEGIN, END)


def page(results: dict) -> str:
    machine = results["machine"]
    cells = {key: cell for key, cell in results.items() if key != "machine"}
    lines = [
        f"Measured by `./dev clusterfs` on {machine['cores']} cores with "
        f"{machine['GiB']} GiB, on which clients and servers run together; Ceph "
        f"{machine['ceph']}, GlusterFS {machine['glusterfs']}. Each rank moves "
        f"{machine['segments']} pieces of {machine['piece']:,} B in one collective call, those of "
        "all ranks in turn.",
        "",
    ]
    lines += _data(cells) + _counts(cells) + _times(cells)
    return "\n".join(lines) + "\n"


def _title(key: str, cell: dict) -> str:
    shape = key.split()[1].replace("x", " nodes, ") + " ranks each"
    return f"{cell['what']}; {shape}"


def _data(cells: dict) -> list[str]:
    rows = []
    for key, cell in cells.items():
        for host, row in cell.get("data", {}).items():
            read = "right" if not row["wrong"] else f"{row['wrong']} bytes wrong"
            rows.append(
                [key, host, row["layout"], f"{row['way']} / {row['read']}", read, row["serial"]]
            )
    if not rows:
        return []
    head = ["file system, nodes x ranks", "MPI", "recognised", "path of write / read"]
    head += ["read by other nodes' ranks", "read by one process on another node"]
    return ["## Data", "", *markdown_rows(head, rows), ""]


def _counts(cells: dict) -> list[str]:
    lines = ["## Server operations for each MB written", ""]
    for key, cell in cells.items():
        counts = cell.get("counts")
        if not counts:
            continue
        megabytes = cell["bytes"] / 1e6
        names = list(next(iter(counts.values())))
        rows = [
            [way, *(f"{one[name] / megabytes:.2f}" for name in names)]
            for way, one in counts.items()
        ]
        lines += [f"**{_title(key, cell)}**", "", *markdown_rows(["writer", *names], rows), ""]
    return lines if len(lines) > 2 else []


def _times(cells: dict) -> list[str]:
    rows: list[tuple[float, list[str]]] = []
    for key, cell in cells.items():
        for host, timed in cell.get("times", {}).items():
            ways = dict.fromkeys(name for one in timed["rounds"] for name in one)
            for way in ways:
                for direction in ("write", "read"):
                    ratio = _ratio(timed["rounds"], way, direction)
                    if way != "Headrace" and ratio:
                        rows.append((ratio.high, [key, host, direction, way, *_told(ratio)]))
    if not rows:
        return []
    rows.sort(key=lambda row: (row[0] >= 1, row[0]))
    lost = sum(high < 1 for high, _ in rows)
    unsettled = sum("not settled" in row[-2] for _, row in rows)
    head = [
        "file system, nodes x ranks",
        "MPI",
        "access",
        "against",
        "ratio",
        "Headrace is",
        "pairs",
    ]
    return [
        "## Times",
        "",
        "Ratios of times of jobs that alternate, as medians with 95 % intervals; above 1 Headrace "
        f"is faster. Lost: {lost} of {len(rows)} (the interval lies below 1); they stand first. "
        f"Not settled, by too few pairs for an interval of 95 %: {unsettled}; the range is shown. "
        "Ranks are told to yield while they wait.",
        "",
        *markdown_rows(head, [row for _, row in rows]),
        "",
    ]


def _ratio(rounds: list[dict], way: str, direction: str) -> Interval | None:
    pairs = [
        (one[way][direction], one["Headrace"][direction])
        for one in rounds
        if direction in one.get(way, {}) and direction in one.get("Headrace", {})
    ]
    if len(pairs) < 2:
        return None
    return paired_ratio(*zip(*pairs, strict=True))


def _told(ratio: Interval) -> list[str]:
    """In other words than report.verdict, which says of few rounds no more than that they are few.
    Here they are the rule, since a job takes seconds, so the page says where their range lies."""
    verdict = "slower" if ratio.high < 1 else "faster" if ratio.low > 1 else "level"
    if not ratio.is_confident:
        verdict = f"not settled ({verdict})"
    return [ratio_text(ratio), verdict, str(ratio.count)]
