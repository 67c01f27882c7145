"""`headrace bench peers`: the grid, the file of results, what they are judged to say, and what is
made of them."""

import json
import os
import sys
from pathlib import Path

import pytest
from peers_support import IDENTITY, RATES, SIZE, job_of, made_attempt, made_results

from headrace.bench.jobs import HEADRACE, LIMIT, PLAIN
from headrace.bench.peers import document, figure, grid, tables, targets
from headrace.bench.peers import results as storage
from headrace.bench.peers.grid import CASES, Point, per_rank, select
from headrace.bench.peers.holding import held
from headrace.bench.peers.judgement import judge, losses, mean_ratio, problems, strongest_of_all
from headrace.errors import HeadraceError

TILE = Point("tile-1000", 2, "mpich", "/memory")
SMALL = Point("tile-8", 2, "mpich", "/memory")
OPEN = Point("open", 8, "mpich", "/memory")
IOR = Point("ior-100000", 2, "openmpi", "/disk")


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_has_its_job(case: grid.Case, ranks: int) -> None:
    job = case.make(ranks, SIZE)
    keys = [way.key for way in job.ways]
    assert keys[0] == PLAIN and keys[-1] == HEADRACE
    assert not case.reference or case.reference in keys
    assert 0 < job.largest_file <= 6 * SIZE  # irregular pieces may be half as long again
    assert len(job.files(Path("f"))) == (ranks if case.group == "self" else 1)


def test_sizes_are_whole_pieces() -> None:
    assert per_rank("c", 100, 3, 8) == 32
    with pytest.raises(HeadraceError, match=r"tile-1000000 does not fit into 1999999 bytes"):
        grid.tile(1_000_000, 2, 1_999_999)
    with pytest.raises(HeadraceError, match="cannot be divided among 3 ranks"):
        grid.BY_NAME["lattice"].make(3, SIZE)


def test_loops_of_small_calls_are_shorter_on_many_ranks() -> None:
    for name, sizes in (("ior-100000", [256e6, 16e6, 4e6]), ("ior-1000000", [256e6] * 3)):
        case = grid.BY_NAME[name]
        assert [case.make(ranks, SIZE).largest_file for ranks in (2, 4, 8)] == sizes
    assert grid.BY_NAME["checkpoint-20k"].make(8, SIZE).largest_file == 8 * 80_000 * 6


def test_larger_pieces_move_more() -> None:
    for name, times in (("tile-8", 1), ("tile-64", 4), ("self-65536", 4), ("checkpoint-1m", 4)):
        make = grid.BY_NAME[name].make
        for ranks in (2, 16):
            assert make(ranks, SIZE).largest_file == pytest.approx(times * SIZE, rel=0.05)


def test_cells_are_chosen_by_name_or_kind() -> None:
    assert [case.name for case in select(["open", "checkpoint-1m"])] == ["checkpoint-1m", "open"]
    assert [case.name for case in select(["self"])] == ["self-65536", "self-1048576"]
    assert select([]) == list(CASES)
    for word in ("tile-9", ""):
        with pytest.raises(HeadraceError, match=f"no cell '{word}'"):
            select([word])


def test_results_survive_the_disk(tmp_path: Path) -> None:
    results = made_results((TILE, [made_attempt(TILE)]), (IOR, [made_attempt(IOR, rounds=2)]))
    storage.save(results, tmp_path / "out")
    assert storage.load(tmp_path / "out") == results
    storage.check_identity(storage.load(tmp_path / "out"), IDENTITY, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_results_are_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    storage.save(made_results(), path)
    before = path.read_text()

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(HeadraceError, match=r"cannot be written \(No space left on device\)"):
        storage.save(made_results((TILE, [made_attempt(TILE)])), path)
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(HeadraceError, match="cannot be written"):
        storage.save(made_results(), tmp_path / "missing" / "out")


def damaged(change: object) -> str:
    results = made_results((TILE, [made_attempt(TILE, rounds=1)]))
    content = storage.to_document(results)
    content = json.loads(json.dumps(content))
    change(content)
    return json.dumps(content)


def first_round(content: dict) -> dict:
    return content["points"][0]["attempts"][0]["rounds"][0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ('{"format": "headrace be', "Unterminated string"),
        ("[1, 2]", "not of the format"),
        ('[{"job": "ior", "rounds": 7}]', "not of the format"),
        (damaged(lambda content: content.update(format="else")), "not of the format"),
        (damaged(lambda content: content.pop("points")), "damaged: 'points'"),
        (damaged(lambda content: content.pop("machine")), "damaged: 'machine'"),
        (damaged(lambda content: content.update(points=[7])), "damaged"),
        (damaged(lambda content: content["points"][0].update(more=1)), "damaged.*more"),
        (damaged(lambda content: first_round(content).update(seconds=-1)), "no positive numbers"),
        (damaged(lambda content: first_round(content).update(rates={})), "no positive numbers"),
        (damaged(lambda content: first_round(content).update(rates=7)), "damaged"),
        (
            damaged(lambda content: first_round(content)["rates"].update(none={"write": 1})),
            "a way without a name",
        ),
        (
            damaged(lambda content: first_round(content)["rates"].update(plain={"write": "x"})),
            "damaged",
        ),
        (
            damaged(lambda content: first_round(content)["rates"].pop("headrace")),
            "a way is missing",
        ),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "out").write_text(text)
    with pytest.raises(HeadraceError, match=rf"'.*out' cannot be read \(.*{why}"):
        storage.load(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("machine", {"name": "there"}, "on another machine .*name here.*name there"),
        ("headrace", "0.2.0", "another version of Headrace .there 0.1.0, here 0.2.0"),
        ("library", "fedcba", "another build of libheadrace.so"),
        ("size", 7, f"another --size .there {SIZE}, here 7"),
        ("settings", {"HEADRACE_X": "1"}, "other settings.*there none, here HEADRACE_X 1"),
    ],
)
def test_results_of_elsewhere_are_refused(key: str, value: object, why: str) -> None:
    with pytest.raises(HeadraceError, match=f"'out' was measured .*{why}"):
        storage.check_identity(made_results(), {**IDENTITY, key: value}, Path("out"))


def test_shares_and_ratios_are_paired() -> None:
    # Rounds differ by a factor of seven; the ratios do not.
    attempt = made_attempt(TILE, rate=lambda way, _, i: (1 + i) * RATES.get(way, 200.0))
    one, other = judge(made_results((TILE, [attempt])))
    assert (one.access, other.access) == ("write", "read")
    assert one.share.low == one.share.high == pytest.approx(0.8)
    assert (one.default.ratio.median, one.best.ratio.median) == (8, 2)
    assert one.best.label == "plain (no buffering)" and one.strongest is one.best
    assert one.best.share.median == pytest.approx(0.4)


def test_defaults_may_be_the_best_setting() -> None:
    attempt = made_attempt(TILE, rate=lambda way, *_: 900.0 if way == PLAIN else RATES.get(way, 9))
    one, _ = judge(made_results((TILE, [attempt])))
    assert one.strongest is one.default and one.best.label == "plain (no buffering)"


def test_sure_losses_come_first() -> None:
    fine = made_attempt(TILE)
    lost = made_attempt(SMALL, rate=lambda way, *_: {HEADRACE: 50.0}.get(way, 100.0))
    unsure = made_attempt(
        IOR, rate=lambda way, _, i: {HEADRACE: 90.0 + 40 * (i == 3)}.get(way, 100.0)
    )
    results = made_results((TILE, [fine]), (SMALL, [lost]), (IOR, [unsure]))
    found = losses(judge(results))
    assert {one.point for one, _ in found} == {SMALL}
    assert {peer.label for _, peer in found} == {"plain MPI", "plain (no buffering)"}
    table = tables.loss_table(judge(results))
    assert table.rows[0][:5] == ("tile, pieces of 8 B", "write", "2", "tmpfs", "MPICH 5.0.2")
    assert table.note.startswith("2 of 6 cells are lost") and "too few" not in table.note
    assert targets.no_sure_loss(judge(results)).value == -2
    short = made_attempt(SMALL, 5, rate=lambda way, *_: {HEADRACE: 50.0}.get(way, 100.0))
    verdicts = judge(made_results((SMALL, [short])))
    assert "2 of them with too few rounds" in tables.loss_table(verdicts).note
    assert targets.no_sure_loss(verdicts).is_met is None


def test_ways_that_failed_are_not_judged() -> None:
    attempt = made_attempt(TILE, failed={"no-cb": "slow", PLAIN: "crash", LIMIT: "crash"})
    one, _ = judge(made_results((TILE, [attempt])))
    assert one.default is None and one.share is None
    assert one.best.label == "plain (sieving)"
    assert "left out" in tables.cell_table([one]).rows[0]


def test_openings_have_no_share() -> None:
    one, other = judge(made_results((OPEN, [made_attempt(OPEN)])))
    assert (one.access, other.access) == ("create", "open")
    assert one.share is None and one.default.ratio.median == 8 and not one.counts_for_means


def test_the_quietest_of_the_full_attempts_counts() -> None:
    attempts = [
        made_attempt(TILE, others=0.3),
        made_attempt(TILE, others=0.1),
        made_attempt(TILE, rounds=3),
    ]
    one, _ = judge(made_results((TILE, attempts)))
    assert one.is_noisy and one.others == pytest.approx(0.1) and one.rate.count == 7
    assert "10%, noisy" in tables.cell_table([one]).rows[0]
    assert judge(made_results((TILE, []))) == []


def test_what_is_wrong_is_told() -> None:
    assert not problems(made_results((TILE, [made_attempt(TILE, damaged={PLAIN: 5})])))
    for more, text in (
        ({"damaged": {HEADRACE: 5000}}, "5,000 bytes were wrong with Headrace"),
        ({"took_part": False}, "did not carry the file"),
        ({"identical": {PLAIN: False}}, "not that of plain MPI"),
        ({"error": "it broke"}, "it broke"),
    ):
        [problem] = problems(made_results((TILE, [made_attempt(TILE, **more)])))
        assert text in problem.text
    broken = {"failed": {PLAIN: "it crashed"}, "damaged": {PLAIN: 7}}
    found = problems(made_results((TILE, [made_attempt(TILE, **broken)])), ours=(HEADRACE, PLAIN))
    assert [one.text for one in found] == [
        "left out: plain MPI: it crashed",
        "7 bytes were wrong with plain MPI",
    ]
    excused = made_attempt(TILE, identical={PLAIN: False}, damaged={PLAIN: 3})
    assert not problems(made_results((TILE, [excused])))


def many() -> storage.Results:
    points = [
        Point(case, ranks, mpi, place)
        for case in ("tile-8", "tile-100", "tile-100000", "irregular", "lattice", "open")
        for ranks in (2, 8)
        for mpi in ("mpich", "openmpi")
        for place in ("/disk", "/memory")
    ]
    return made_results(*((point, [made_attempt(point)]) for point in points))


def test_means_are_geometric_and_split_by_pieces() -> None:
    verdicts = judge(many())
    mean, count = mean_ratio(verdicts, lambda one: one.default)
    assert (mean, count) == (pytest.approx(8), len(verdicts))
    row, small, *_ = tables.mean_table(verdicts).rows
    assert row[0] == "2 ranks, pieces of 100 B and more" and row[1] == "8.00 (32)"
    assert small[0] == "2 ranks, pieces below 100 B" and small[1] == "8.00 (8)"
    # Under MPICH a setting reaches 40 % of the limit, under Open MPI none more than 20 %.
    assert strongest_of_all(verdicts) == pytest.approx([2.0] * 40)


def test_targets_tell_what_was_reached() -> None:
    verdicts = judge(many())
    found = {
        one.target.text: one
        for one in (targets.reached(target, verdicts, tables.place) for target in targets.TARGETS)
    }
    large = found["writes, pieces of 100 B and more: share of the limit"]
    assert large.is_met is False and large.value == pytest.approx(0.8)
    assert (large.reaching, large.count) == (0, 16) and ", write, 2 ranks" in large.worst
    assert found["writes, pieces below 100 B: share of the limit"].is_met
    assert found["geometric mean against the defaults"].is_met
    assert found["geometric mean against the best settings, pieces below 100 B"].is_met is False
    opening = found["opening and closing a shared file by 8 ranks: ratio to the peer"]
    assert opening.is_met and opening.count == 8
    assert found["IOR by calls of 10,000 and of 1,000,000 B: share of POSIX"].is_met is None
    assert targets.no_sure_loss(verdicts).is_met
    assert targets.no_sure_loss([]).is_met is None
    rows = tables.target_table(verdicts).rows
    assert ("90%", "80% (0 of 16 cells)") in [row[1:3] for row in rows]
    assert rows[-1][1:3] == ("0", "0 of 48")


def test_every_piece_has_one_target_for_each_access() -> None:
    for case in (case for case in CASES if case.reference == LIMIT):
        point = Point(case.name, 2, "mpich", "/memory")
        for one in judge(made_results((point, [made_attempt(point)]))):
            shares = [target for target in targets.TARGETS if target.measure == "share"]
            assert sum(target.holds_for(one) for target in shares) == 1, case.name


def test_the_section_goes_between_its_markers(tmp_path: Path) -> None:
    text = document.section(many(), "shares.svg")
    assert "](shares.svg)" in text and "| 4-D lattice, runs of 9,216 B, read | 80% |" in text
    assert "40% (no buffering)" in text
    page = tmp_path / "page.md"
    document.write(str(page), text)
    assert page.read_text() == f"{document.BEGIN}\n{text}{document.END}\n"
    page.write_text(f"# Head\n\n{document.BEGIN}\nold\n{document.END}\n\nTail\n")
    for _ in range(2):
        document.write(str(page), text)
        expected = f"# Head\n\n{document.BEGIN}\n{text}{document.END}\n\nTail\n"
        assert page.read_text() == expected


@pytest.mark.parametrize(
    ("figure", "page", "link"),
    [
        (None, "docs/page.md", ""),
        ("docs/shares", "docs/page.md", "shares.svg"),
        ("docs/shares", "page.md", "docs/shares.svg"),
        ("pictures/shares", "docs/page.md", "../pictures/shares.svg"),
        ("docs/shares", "-", "docs/shares.svg"),
    ],
)
def test_the_page_finds_the_figure(figure: str | None, page: str, link: str) -> None:
    assert document.picture_link(Path(figure) if figure else None, page) == link


@pytest.mark.parametrize(
    "content",
    ["# No markers\n", f"{document.BEGIN}\n", f"{document.END}\n{document.BEGIN}\n"],
)
def test_other_files_are_left_alone(tmp_path: Path, content: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(content)
    with pytest.raises(HeadraceError, match="is left as it is"):
        document.write(str(page), "text\n")
    assert page.read_text() == content


def test_the_figure_has_a_panel_for_each_access_files_and_ranks() -> None:
    found = figure.panels(judge(many()))
    assert [(panel.row, panel.column) for panel in found[:3]] == [
        ("writes, ext4", "2 ranks"),
        ("writes, ext4", "8 ranks"),
        ("reads, ext4", "2 ranks"),
    ]
    assert len(found) == 8
    ours, mpich, openmpi = found[0].lines
    assert ours.name == figure.OURS and [piece for piece, _ in ours.values] == [8, 100, 100_000]
    assert (mpich.name, openmpi.name) == ("MPICH 5.0.2", "Open MPI 5.0.11")
    assert [round(share, 3) for _, share in mpich.values] == [0.4] * 3
    assert [round(share, 3) for _, share in openmpi.values] == [0.2] * 3
    assert [piece for piece, _ in found[0].points["lattice"][0].values] == [9216]


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first = figure.draw(judge(many()), tmp_path / "shares")
    assert [file.name for file in first] == ["shares.svg", "shares.png"]
    assert first[1].read_bytes().startswith(b"\x89PNG")
    again = figure.draw(judge(many()), tmp_path / "again")
    assert first[0].read_bytes() == again[0].read_bytes()
    with pytest.raises(HeadraceError, match="cannot be written"):
        figure.draw(judge(many()), tmp_path / "missing" / "shares")
    with pytest.raises(HeadraceError, match="no cell of tile"):
        figure.draw([], tmp_path / "none")


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HeadraceError, match=r"matplotlib is not installed\), run 'pip install"):
        figure.require()


def test_a_job_is_the_same_however_often_it_is_made() -> None:
    assert job_of(TILE) == job_of(TILE)


def test_a_file_of_results_is_of_one_measurement_at_a_time(tmp_path: Path) -> None:
    file, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(file)
    with held(file):
        for name in (file, link):
            told = rf"being measured into .by process {os.getpid()} "
            with pytest.raises(HeadraceError, match=told), held(name):
                pass
        storage.save(made_results(), link)
    assert link.is_symlink() and storage.load(file).points == {}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "link"}
    with held(file), held(tmp_path / "other"), held(None):
        pass
    with pytest.raises(HeadraceError, match="cannot be written"), held(tmp_path / "no" / "out"):
        pass
