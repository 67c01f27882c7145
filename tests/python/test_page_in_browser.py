"""The page in a browser: Chromium, driven by playwright. Skipped where there is no Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from record_support import Job, large_job, small_job

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.record.reader import read
from headrace.report.page import page
from headrace.symbols.resolver import resolve

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
RANKS = 1024
VIEWS = {"desktop": (1280, 900), "phone": (375, 800)}
MOST_TABS = 60
READABLE = 4.5  # contrast of text that WCAG 2.2 asks for, criterion 1.4.3

# Contrast of the text of elements with what lies behind them, as WCAG defines it; the least.
CONTRAST = """(selector) => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const ratios = [...document.querySelectorAll(selector)].map((element) => {
    const both = [light(getComputedStyle(element).color), light(behind(element))].sort();
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  });
  return Math.min(...ratios);
}"""


@dataclass
class View:
    """A page that is shown, and what the browser said and asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser was found ({', '.join(BROWSERS)})")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {
        "small": written(small_job(), folder / "small"),
        "large": written(large_job(RANKS, 64, 6), folder / "large"),
    }


def written(job: Job, folder: Path) -> Path:
    folder.mkdir()
    found = analyse(read(job.write(folder)))
    symbols = resolve(site.frames for site in found.sites)
    target = folder / "page.html"
    target.write_text(page(found, symbols, judge(collect(()), found.metrics)))
    return target


def shown(browser: Any, file: Path, size: str, scheme: str) -> View:
    width, height = VIEWS[size]
    view = View(browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme))
    view.page.on(
        "console",
        lambda one: view.complaints.append(one.text) if one.type in ("error", "warning") else None,
    )
    view.page.on("pageerror", lambda error: view.complaints.append(str(error)))
    view.page.on("request", lambda one: view.requests.append(one.url))
    view.page.goto(file.as_uri())
    return view


@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("size", VIEWS)
@pytest.mark.parametrize("name", ("small", "large"))
def test_the_page_shows(
    browser: Any, pages: dict[str, Path], name: str, size: str, scheme: str
) -> None:
    view = shown(browser, pages[name], size, scheme)
    assert not view.complaints
    assert [one for one in view.requests if not one.startswith("data:")] == [pages[name].as_uri()]
    # Wide tables scroll within themselves.
    assert view.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert view.page.locator("h1").is_visible()
    assert view.page.locator(".tiles").bounding_box()["y"] < VIEWS[size][1]  # on the first screen
    for part in ("body", "h1", ".soft", ".note", ".tiles b", "summary", "td", "th"):
        assert view.page.evaluate(CONTRAST, part) >= READABLE, part
    dark = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, dark[4:-1].split(","))) < 3 * 128) == (scheme == "dark")
    view.page.close()


def test_the_keyboard_opens_and_closes(browser: Any, pages: dict[str, Path]) -> None:
    view = shown(browser, pages["small"], "desktop", "light")
    every = view.page.locator("details").count()
    toggled = set()
    for _ in range(MOST_TABS):
        view.page.keyboard.press("Tab")
        if not view.page.evaluate("document.activeElement.matches('summary')"):
            continue
        text = view.page.evaluate("document.activeElement.textContent")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert view.page.evaluate(outline) != "none"
        is_open = "document.activeElement.parentElement.open"
        before = view.page.evaluate(is_open)
        view.page.keyboard.press("Enter")
        assert view.page.evaluate(is_open) != before
        view.page.keyboard.press("Space")
        assert view.page.evaluate(is_open) == before
        toggled.add(text)
    assert len(toggled) == every > 5
    assert not view.complaints
    view.page.close()


def test_paper_has_what_is_folded(browser: Any, pages: dict[str, Path]) -> None:
    view = shown(browser, pages["small"], "desktop", "dark")
    words = view.page.locator("dl").last
    assert not words.is_visible()
    view.page.emulate_media(media="print")
    assert words.bounding_box()["height"] > 0
    for part in ("body", ".tiles b", ".soft"):
        assert view.page.evaluate(CONTRAST, part) >= READABLE, part
    view.page.close()


def spoken(view: View) -> list[dict[str, Any]]:
    """What the browser tells screen readers, without what it leaves out."""
    session = view.page.context.new_cdp_session(view.page)
    found = session.send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": one["role"]["value"],
            "name": one.get("name", {}).get("value", ""),
            **{own["name"]: own["value"].get("value") for own in one.get("properties", ())},
        }
        for one in found
        if not one["ignored"]
    ]


@pytest.mark.parametrize("name", ("small", "large"))
def test_screen_readers_get_all(browser: Any, pages: dict[str, Path], name: str) -> None:
    view = shown(browser, pages[name], "desktop", "light")
    view.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    nodes = spoken(view)
    roles = [one["role"] for one in nodes]
    for landmark in ("banner", "main", "contentinfo"):
        assert roles.count(landmark) == 1
    levels = [one["level"] for one in nodes if one["role"] == "heading"]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), "a level is left out"
    named = [one for one in nodes if one["role"] in ("image", "img", "heading", "region")]
    assert named and all(one["name"] for one in named)
    assert roles.count("columnheader") > 10 and roles.count("rowheader") > 5
    folded = [one for one in nodes if one["role"] == "DisclosureTriangle"]
    assert folded and all(one["name"] and one["expanded"] for one in folded)
    view.page.close()
