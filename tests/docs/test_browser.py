"""Documentation and report in a real browser: desktop and phone, light and dark.

Chromium from the system's packages (Debian: ``apt-get install chromium``) opens every page; without
it these tests are skipped, loudly. ``GENALPHA_SCREENSHOTS=folder`` keeps what it shows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from comparisons.cli import main

from .browser import Browser, executable

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pages"
WINDOWS = {"desktop": (1280, 800), "phone": (390, 844)}
LOOKS = [(window, dark) for window in WINDOWS for dark in (False, True)]

pytestmark = [
    pytest.mark.skipif(
        executable() is None,
        reason="NO BROWSER: install Chromium (Debian: apt-get install chromium) to have the pages "
        "looked at",
    ),
]

#: Images that are on the page; lazy ones are asked to come.
IMAGES = """
(async () => {
  const images = [...document.images];
  images.forEach(i => { i.loading = "eager"; });
  const loaded = i => i.complete || new Promise(f => { i.onload = i.onerror = f; });
  await Promise.all(images.map(loaded));
  return images.filter(i => !i.naturalWidth).map(i => i.src.slice(0, 200));
})()
"""
#: What is wider than the window, outside of frames that scroll by themselves.
TOO_WIDE = """
(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const ways = ["auto", "scroll", "hidden"];
  const scrolls = e => e && e !== document.body &&
    (ways.includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.body.querySelectorAll("*")]
    .filter(e => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement))
    .slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40))
    .concat("page " + document.documentElement.scrollWidth + " > " + width);
})()
"""
BACKGROUND = """
(getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g) || []).slice(0, 3).map(Number)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built; GENALPHA_SITE names one that is built already."""
    if "GENALPHA_SITE" in os.environ:
        return Path(os.environ["GENALPHA_SITE"]).resolve()
    folder = tmp_path_factory.getbasetemp().parent / "site"  # shared by the processes of xdist
    try:
        folder.mkdir()
    except FileExistsError:
        wait_for(folder / "sitemap.xml.gz")
        return folder
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "--quiet", "build", "--config-file",
         ROOT / "docs" / "mkdocs.yml", "--site-dir", folder],
        check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, timeout=900,
    )  # fmt: skip
    return folder


def wait_for(last: Path) -> None:
    """Another process builds the site; this is the last file that it writes."""
    end = time.monotonic() + 900.0
    while not last.exists():
        if time.monotonic() > end:
            pytest.fail(f"nobody has written {last}")
        time.sleep(0.5)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small comparison."""
    output = tmp_path_factory.mktemp("output")
    choice = ["--mechanism", "simple_pendulum", "--solver", "GenAlphaSOI2 (adaptive)"]
    values = ["SciPy DOP853", "--values", "tol=1e-4,1e-5"]
    assert main(["run", *choice, *values, "--repeats", "0", "--output", str(output)]) == 0
    return output / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def look(browser: Browser, page: Path, window: str, dark: bool) -> None:
    """Open a page and say what is wrong with it."""
    browser.show(page, *WINDOWS[window], dark)
    missing = browser.evaluate(IMAGES)
    keep = os.environ.get("GENALPHA_SCREENSHOTS")
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        parent = "" if page.parent.name not in ("how-to", "theory") else f"{page.parent.name}-"
        name = f"{parent}{page.stem}-{window}-{'dark' if dark else 'light'}.png"
        browser.screenshot(Path(keep) / name, whole=True)
    assert missing == []
    assert browser.evaluate(TOO_WIDE) == []
    assert browser.complaints == []
    bright = sum(browser.evaluate(BACKGROUND)) / 3.0
    assert (bright < 100.0) == dark, f"background {bright}"


@pytest.mark.parametrize(("window", "dark"), LOOKS)
def test_documentation(browser: Browser, site: Path, window: str, dark: bool) -> None:
    pages = sorted(path.relative_to(PAGES).with_suffix(".html") for path in PAGES.rglob("*.md"))
    assert len(pages) > 20
    wrong = {}
    for page in pages:
        try:
            look(browser, site / page, window, dark)
        except AssertionError as error:
            wrong[str(page)] = str(error)
    assert wrong == {}


def test_a_mechanism_moves_above_the_fold(browser: Browser, site: Path) -> None:
    browser.show(site / "index.html", *WINDOWS["desktop"], dark=False)
    top = "document.querySelector('.hero img').getBoundingClientRect().bottom"
    assert browser.evaluate(top) < WINDOWS["desktop"][1]
    source = browser.evaluate("document.querySelector('.hero img').getAttribute('src')")
    assert "<animate" in (site / source).read_text(encoding="utf-8")


def test_plots_are_dark_in_the_dark(browser: Browser, site: Path) -> None:
    look = "getComputedStyle(document.querySelector('.md-content img')).filter"
    for dark in (False, True):
        browser.show(site / "results.html", *WINDOWS["desktop"], dark)
        assert ("invert" in browser.evaluate(look)) == dark


def test_figures_are_stacked_on_a_phone(browser: Browser, site: Path) -> None:
    pair = "[...document.querySelector('.pair:has(img+img)').querySelectorAll('img')]"
    tops = f"{pair}.map(i => i.getBoundingClientRect().top)"
    browser.show(site / "mechanisms.html", *WINDOWS["desktop"], dark=False)
    browser.evaluate(IMAGES)
    film, curves = browser.evaluate(tops.replace(".top", ".left"))
    assert curves > film + 100.0
    browser.show(site / "mechanisms.html", *WINDOWS["phone"], dark=False)
    browser.evaluate(IMAGES)
    film, curves = browser.evaluate(tops)
    assert curves > film + 50.0


@pytest.mark.parametrize(("window", "dark"), LOOKS)
def test_report(browser: Browser, report: Path, window: str, dark: bool) -> None:
    look(browser, report, window, dark)


def test_a_broken_page_is_noticed(browser: Browser, tmp_path: Path) -> None:
    """The judge itself: an image that is missing, a script that fails, a line too wide."""
    page = tmp_path / "broken.html"
    page.write_text(
        "<body style='background: white'><img src='none.png'><script>missing()</script>"
        "<div style='width: 3000px'>wide</div>",
        encoding="utf-8",
    )
    browser.show(page, *WINDOWS["desktop"], dark=False)
    assert len(browser.evaluate(IMAGES)) == 1
    assert browser.evaluate(TOO_WIDE)
    assert any("missing" in text for text in browser.complaints)
