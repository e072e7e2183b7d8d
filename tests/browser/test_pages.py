"""Reports in a real browser: they ask for nothing, fit any screen, and can be read in light and in dark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Look = Callable[..., Any]

NAMES = ("run", "download", "evaluation", "large", "large-evaluation")

OVERFLOWING = """() => [...document.querySelectorAll('main *')].filter(one => {
  const place = one.getBoundingClientRect()
  const clipped = one.closest('thead') && getComputedStyle(one.closest('thead')).position === 'absolute'
  return place.width > 0 && !clipped && (place.right > innerWidth + 1 || place.left < -1)
}).map(one => one.outerHTML.slice(0, 200))"""

COVERED = """() => [...document.querySelectorAll('td, .tile *, summary, .tree span, .remarks li')].filter(one =>
  one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
  && !one.matches('.bar, .gutter') && !one.querySelector('svg')
).map(one => one.outerHTML.slice(0, 200))"""

FAINT = """() => {
  const read = color => color.match(/[\\d.]+/g).map(Number)
  const linear = c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  const light = ([r, g, b]) => [r, g, b].map(c => linear(c / 255))
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0)
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const color = read(getComputedStyle(at).backgroundColor)
      if (color.length === 3 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  const found = []
  for (const one of document.querySelectorAll('main *')) {
    const own = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
    if (!own || !one.getClientRects().length) continue
    const style = getComputedStyle(one), text = one instanceof SVGElement ? style.fill : style.color
    const [a, b] = [light(read(text)), light(behind(one))].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    if (ratio < 4.5) found.push([ratio.toFixed(2), one.outerHTML.slice(0, 120)])
    if (parseFloat(style.fontSize) < 11.5) found.push([style.fontSize, one.outerHTML.slice(0, 120)])
  }
  return found
}"""


@pytest.mark.parametrize("name", NAMES)
def test_page__opened_from_the_disk__asks_for_nothing(name: str, look: Look, pages: dict[str, Path]) -> None:
    """The file is all there is: no request, no script, no dialog, no complaint; every part of it can be opened."""
    seen = look(pages[name])
    seen.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    seen.page.wait_for_load_state("networkidle")
    assert seen.requests == [pages[name].as_uri()]
    assert seen.said == []
    assert seen.page.evaluate("document.scripts.length + document.images.length + document.styleSheets.length") == 1
    assert seen.page.title().startswith("Beaker ")


@pytest.mark.parametrize("name", NAMES)
def test_page__any_screen__shows_all_of_it(name: str, look: Look, pages: dict[str, Path]) -> None:
    """Nothing lies beside the screen or is cut off, from a wide one to a small phone, everything opened included."""
    page = look(pages[name]).page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for width in (1280, 700, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERFLOWING) == []
        assert page.evaluate(COVERED) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_page__text__stands_out_from_what_is_behind_it(
    name: str, scheme: str, look: Look, pages: dict[str, Path]
) -> None:
    """A contrast of at least 4.5 to 1 (WCAG 2, AA) and no letters below 11.5 pixels, in light and in dark."""
    page = look(pages[name], scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(FAINT) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, dark[4:-1].split(","))) < 200) is (scheme == "dark")


def test_page__without_scripts__can_be_read_and_opened(look: Look, pages: dict[str, Path]) -> None:
    """What is folded opens by itself; the links at the top lead to their places."""
    page = look(pages["run"], scripts=False).page
    assert "The winner is better than the baseline on held-out cases" in page.inner_text("main")
    proposals = page.locator("#costs summary", has_text="proposals")
    assert not page.locator("#costs table").last.is_visible()
    proposals.click()
    assert page.locator("#costs table").last.is_visible()
    page.locator("nav a", has_text="Changes").click()
    assert page.url.endswith("#changes")
    assert page.locator("#changes h2").is_visible()


def test_page__of_the_demo__shows_every_part(look: Look, pages: dict[str, Path]) -> None:
    """Curve, tree, cases, changes and costs of a real run are there to be seen."""
    page = look(pages["run"]).page
    for part in ("result", "scores", "candidates", "test", "train", "changes", "costs", "settings"):
        assert page.locator(f"#{part}").bounding_box()["height"] > 80, part
    dots = page.locator("#scores circle").count()
    assert dots == page.locator("#candidates > .tree li").count() >= 2
    box, plot = (page.locator(f"#scores {one}").first.bounding_box() for one in ("circle.best", "svg"))
    assert plot["x"] <= box["x"] <= plot["x"] + plot["width"]
    assert page.locator("#changes .add").count() > 10
