"""The map of the report in a real browser: many objects, many classes, zoom, errors, stacks, phones, dark.

Screenshots go to the folder in PROTOSET_SCREENSHOTS, else to a temporary one.
"""
# ruff: noqa: F811, the fixture of the browser has the name of the import

import base64
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import uniform_filter
from sklearn.datasets import load_digits

from map_in_browser import apart, colours_at, drawn_as_kept, is_close, page_colours, picture, positions, settle
from protoset import REPS
from protoset.datasets import Dataset
from protoset.models import ReferenceErrors

pytest.importorskip("selenium.webdriver", reason="no Selenium: pip install 'protoset[dev]'")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from test_report_browser import browser, click, count, find, hover, model_of, open_page, text_of  # noqa: F401

from report_pages import write_report

# The errors of guessing, 1-NN and k-NN take most of the time of a large page, and no test here looks at them.
REFERENCES = ReferenceErrors(guess=0.9, nearest=0.1, knn=0.1, k=1, answer=0, n_objects=1)


def clusters(n, n_classes, d=2, spread=0.35, seed=0):
    """Objects around the points of a circle, one point for each class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    angle = 2 * np.pi * y / n_classes
    X = rng.normal(scale=spread, size=(n, d))
    X[:, :2] += np.sqrt(n_classes) * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.array([f"class {label:02d}" for label in range(n_classes)])[y]


def write(folder, name, X, y, n_prototypes, **options):
    selector = REPS(n_prototypes=n_prototypes).fit(X, y)
    dataset = Dataset(name, "vectors", X, y)
    return write_report(
        folder / f"{name}.html", dataset, selector, created="2026-01-31", references=REFERENCES, **options
    )


def stacked(folder):
    """Whole numbers, so that many objects coincide."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = np.round(rng.normal(size=(400, 2)) + 1.5 * np.eye(3)[y][:, :2])
    return write(folder, "stacked", X, np.array(["ash", "birch", "cedar"])[y], 12)


MAKERS = {
    "ten classes": lambda folder: write(folder, "ten", *clusters(600, 10, spread=0.9), 40),
    "32 classes": lambda folder: write(folder, "many", *clusters(1600, 32, spread=0.3), 64),
    "45 classes": lambda folder: write(folder, "most", *clusters(1800, 45, spread=0.3), 90),
    "stacked": stacked,
    "digits": lambda folder: write(folder, "digits", *load_digits(return_X_y=True), 60),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    return {name: make(folder).as_uri() for name, make in MAKERS.items()}


@pytest.fixture(scope="module")
def shoot(browser, tmp_path_factory):
    """Write a picture of an element, by default of the card with the map."""
    folder = Path(os.environ.get("PROTOSET_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)

    def take(name, selector="#objects"):
        settle(browser)
        box = browser.execute_script(
            """const box = document.querySelector(arguments[0]).getBoundingClientRect();
            return {x: box.left + scrollX, y: box.top + scrollY, width: box.width, height: box.height, scale: 1}""",
            selector,
        )
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": box})
        (folder / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))

    return take


def use_theme(browser, theme):
    if browser.execute_script("return document.documentElement.dataset.theme") != theme:
        find(browser, "#theme").click()


def markers(browser):
    """Colour and shape of each class, as the list of classes shows them."""
    return browser.execute_script(
        """return [...document.querySelectorAll('#class-boxes .glyph')].map((glyph) =>
            [glyph.classList[1], glyph.firstChild.getAttribute('d')])"""
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_32_classes_have_markers_that_differ(browser, pages, shoot, theme):
    open_page(browser, pages["32 classes"])
    use_theme(browser, theme)
    pairs = [tuple(pair) for pair in markers(browser)]
    assert len(set(pairs)) == len(pairs) == 32
    assert {colour for colour, _ in pairs} == {f"c{number}" for number in range(10)}
    colours = page_colours(browser)
    assert len(set(colours.values())) == len(colours)
    model = model_of(browser)
    kept = model["stops"][0]["kept"]
    # Prototypes are drawn over all other objects.
    alone = {kept[slot] for slot in apart(positions(browser, model)[kept], 12)}
    assert len({model["objects"]["codes"][index] for index in alone}) > 15
    assert alone <= drawn_as_kept(browser, model)
    assert not find(browser, "#class-find").is_displayed()
    shoot(f"map 32 classes {theme}")


def test_of_more_classes_the_chosen_ones_have_markers(browser, pages, shoot):
    open_page(browser, pages["45 classes"])
    grey = [code for code, (colour, _) in enumerate(markers(browser)) if colour == "other"]
    assert len(grey) == 13
    assert "smaller classes" in text_of(browser, "#map-legend")
    shoot("map 45 classes")
    before = markers(browser)
    click(browser, "#no-classes")
    assert text_of(browser, "#class-count") == "0 of 45 shown"
    for code in grey[:3]:
        find(browser, "#class-find").send_keys(Keys.CONTROL, "a")
        find(browser, "#class-find").send_keys(f"class {code:02d}")
        listed = [chip for chip in browser.find_elements(By.CSS_SELECTOR, "#class-boxes .chip") if chip.is_displayed()]
        assert len(listed) == 1
        click(browser, "#all-classes")
    assert text_of(browser, "#class-count") == "3 of 45 shown"
    after = [markers(browser)[code] for code in grey[:3]]
    assert len({tuple(pair) for pair in after}) == 3
    assert all(colour != "other" for colour, _ in after)
    assert "smaller classes" not in text_of(browser, "#map-legend")
    model = model_of(browser)
    visible = [index for index, code in enumerate(model["objects"]["codes"]) if code in grey[:3]]
    points, paper = positions(browser, model), page_colours(browser)["paper"]
    others = [
        points[index] for index in range(len(points)) if np.abs(points[visible] - points[index]).max(axis=1).min() > 9
    ]
    assert all(is_close(colour, paper) for colour in colours_at(browser, others))
    shoot("map 3 of 45 classes")
    find(browser, "#class-find").send_keys(Keys.CONTROL, "a")
    find(browser, "#class-find").send_keys(Keys.BACKSPACE)
    click(browser, "#all-classes")
    # Classes that were visible keep their markers, the others have what is left.
    assert [markers(browser)[code] for code in grey[:3]] == after
    assert sum(colour == "other" for colour, _ in markers(browser)) == 13
    assert before != markers(browser)


def test_zoom_and_pan(browser, pages, shoot):
    open_page(browser, pages["ten classes"])
    model, area = model_of(browser), find(browser, "#map")
    home = picture(browser)
    width, height = browser.execute_script(
        "const canvas = document.querySelector('#map .marks'); return [canvas.clientWidth, canvas.clientHeight]"
    )
    assert not find(browser, "#zoom-out").is_enabled()
    find(browser, "#zoom-in").click()
    find(browser, "#zoom-in").click()
    zoom = 1.6**2
    pan = np.array([width, height]) / 2 * (1 - zoom)

    def found_at(points):
        """Objects in the middle of the view that the mouse finds where they should be, of those tried."""
        middle = np.abs(points - np.array([width, height]) / 2).max(axis=1) < height * 0.4
        tried = [index for index in sorted(apart(points, 12)) if middle[index]][:6]
        assert len(tried) > 2
        for index in tried:
            hover(browser, points[index])
            assert text_of(browser, "#details h3") == f"Object {model['objects']['ids'][index]}"

    found_at(positions(browser, model, zoom, pan))
    shoot("map zoomed")
    # Drag by the mouse: the map moves along.
    ActionChains(browser).move_to_element(area).click_and_hold().move_by_offset(-60, 30).release().perform()
    pan += [-60, 30]
    found_at(positions(browser, model, zoom, pan))
    # The keyboard.
    area.send_keys(Keys.ESCAPE, "0")
    assert picture(browser) == home
    area.send_keys("+", "+", "-")
    pan = np.array([width, height]) / 2 * (1 - 1.5)
    found_at(positions(browser, model, 1.5, pan))
    area.send_keys(Keys.ESCAPE, "0")
    # The wheel scrolls the page unless the map has the focus.
    browser.execute_script("document.activeElement.blur(); arguments[0].scrollIntoView({block: 'center'})", area)
    ActionChains(browser).scroll_by_amount(0, 0).move_to_element(area).perform()
    wheel = (
        "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -300, ctrlKey: arguments[1], clientX: 300, "
        "clientY: 300, bubbles: true, cancelable: true}))"
    )
    browser.execute_script(wheel, area, False)
    assert picture(browser) == home
    browser.execute_script(wheel, area, True)
    assert picture(browser) != home
    find(browser, "#zoom-all").click()
    assert picture(browser) == home
    area.send_keys(Keys.ARROW_RIGHT)
    browser.execute_script(wheel, area, False)
    assert picture(browser) != home
    # A selected object outside of the view is brought into it.
    for _ in range(8):
        find(browser, "#zoom-in").click()
    before = picture(browser)
    far = int(np.argmax(model["objects"]["x"]))
    find(browser, "#find").send_keys(model["objects"]["ids"][far])
    find(browser, "#match-list button").click()
    assert picture(browser) != before
    assert browser.get_log("browser") == []


def touch(browser, kind, *points):
    where = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})


def test_two_fingers_zoom_and_one_scrolls_the_page(browser, pages, shoot):
    open_page(browser, pages["ten classes"], width=390, height=800)
    area = find(browser, "#map")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    box = browser.execute_script(
        "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", area
    )
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    home = picture(browser)
    assert browser.execute_script("return getComputedStyle(arguments[0]).touchAction", area) == "pan-x pan-y"
    touch(browser, "touchStart", (x - 20, y), (x + 20, y))
    for step in range(1, 6):
        touch(browser, "touchMove", (x - 20 - 10 * step, y), (x + 20 + 10 * step, y))
    touch(browser, "touchEnd")
    assert picture(browser) != home
    assert find(browser, "#zoom-out").is_enabled()
    assert browser.execute_script("return getComputedStyle(arguments[0]).touchAction", area) == "none"
    assert "Point at an object" in text_of(browser, "#details")
    shoot("map pinched on a phone")
    touch(browser, "touchStart", (x, y))
    touch(browser, "touchEnd")
    find(browser, "#zoom-all").click()
    assert picture(browser) == home


def test_errors_are_marked_on_demand(browser, pages, shoot):
    open_page(browser, pages["ten classes"])
    model = model_of(browser)
    objects, kept = model["objects"], set(model["stops"][0]["kept"])
    wrong = {
        index
        for index, prototype in enumerate(objects["winners"][0])
        if index not in kept and objects["codes"][prototype] != objects["codes"][index]
    }
    points, ink = positions(browser, model), page_colours(browser)["ink"]
    alone = sorted(apart(points, 13) - kept)
    assert 3 < len(wrong & set(alone)) < len(alone)

    def crossed():
        """Objects with the arm of a cross at their lower right, where a pixel more or less is a matter of rounding."""
        found = set()
        for offset in ((4, 4), (5, 5), (5, 4), (4, 5)):
            colours = colours_at(browser, points[alone] + offset)
            found |= {index for index, colour in zip(alone, colours, strict=True) if is_close(colour, ink, 60)}
        return found

    assert not find(browser, "#show-errors").is_selected()
    assert crossed() == set()
    assert "another class" not in text_of(browser, "#map-legend")
    home = picture(browser)
    find(browser, "#show-errors").click()
    assert crossed() == wrong & set(alone)
    # The marks of errors are filled, so that their classes can be seen.
    assert wrong & set(alone) <= drawn_as_kept(browser, model)
    assert "whose nearest prototype is of another class" in text_of(browser, "#map-legend")
    shoot("map errors")
    find(browser, "#show-errors").click()
    assert picture(browser) == home


def test_objects_that_coincide_are_counted_and_listed(browser, pages, shoot):
    open_page(browser, pages["stacked"])
    model = model_of(browser)
    points = positions(browser, model)
    places, counts = np.unique(
        np.column_stack([model["objects"]["x"], model["objects"]["y"]]), axis=0, return_counts=True
    )
    largest = places[counts.argmax()]
    at = [index for index in range(400) if [model["objects"][axis][index] for axis in "xy"] == largest.tolist()]
    assert len(at) == counts.max() > 12
    hover(browser, points[at[0]])
    assert text_of(browser, "#map-stack") == f"{len(at)} objects are at this place; tap to list them."
    ActionChains(browser).click().perform()
    listed = [button.text for button in browser.find_elements(By.CSS_SELECTOR, "#map-stack button")]
    assert sorted(map(int, listed)) == sorted(at)[: len(listed)]
    assert len(listed) == min(len(at), 40)
    shoot("map stacks")
    # A link of the list shows its object and keeps the list.
    find(browser, "#map-stack span:nth-child(3) > button").click()
    assert text_of(browser, "#details h3") == f"Object {listed[2]}"
    assert count(browser, "#map-stack button") == len(listed)
    find(browser, "#map").send_keys(Keys.ESCAPE)
    assert text_of(browser, "#map-stack") == ""
    # A class that is hidden is not counted.
    code = model["objects"]["codes"][at[0]]
    others = [index for index in at if model["objects"]["codes"][index] != code]
    find(browser, f"input[data-class='{code}']").click()
    hover(browser, points[at[0]])
    assert text_of(browser, "#map-stack").startswith(f"{len(others)} objects")


@pytest.mark.parametrize("name", ["ten classes", "32 classes", "45 classes", "stacked"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone(browser, pages, shoot, name, theme):
    open_page(browser, pages[name], width=390, height=844)
    use_theme(browser, theme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    boxes = find(browser, "#class-boxes")
    assert boxes.rect["height"] < 200
    for button in ("#all-classes", "#no-classes"):
        assert find(browser, button).is_displayed()
    click(browser, "#no-classes")
    assert text_of(browser, "#class-count").startswith("0 of")
    click(browser, "#all-classes")
    shoot(f"map phone {name} {theme}")
    last = browser.find_elements(By.CSS_SELECTOR, "#class-boxes input")[-1]
    last.click()
    assert not last.is_selected()


def test_sharp_on_fine_screens(browser, pages):
    open_page(browser, pages["ten classes"])
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 2, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.refresh()
    settle(browser)
    model = model_of(browser)
    assert browser.execute_script(
        "const canvas = document.querySelector('#map .marks'); return canvas.width / canvas.clientWidth"
    ) == pytest.approx(2, abs=0.01)
    points = positions(browser, model)
    alone = apart(points, 9)
    assert drawn_as_kept(browser, model, points) & alone == set(model["stops"][0]["kept"]) & alone != set()


def test_print_has_the_colours_of_paper(browser, pages, tmp_path):
    open_page(browser, pages["ten classes"])
    use_theme(browser, "light")
    light = page_colours(browser)
    find(browser, "#theme").click()
    dark_picture = picture(browser)
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    model = model_of(browser)
    kept = model["stops"][0]["kept"]
    shown = set(colours_at(browser, positions(browser, model)[kept]))
    expected = {light[f"c{model['objects']['codes'][index]}"] for index in kept}
    assert len(shown & expected) > 5
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert picture(browser) == dark_picture


def test_the_map_says_how_it_was_made(browser, pages):
    open_page(browser, pages["ten classes"])
    assert "made by classical scaling." in text_of(browser, "#map-note")
    assert "Distances on it and real distances have a correlation of 1.00" in text_of(browser, "#map-note")
    open_page(browser, pages["45 classes"])
    assert "classical scaling from the distances to 250 landmarks" in text_of(browser, "#map-note")


def test_two_layouts(browser, pages, shoot):
    open_page(browser, pages["digits"])
    model = model_of(browser)
    assert model["layouts"]["start"] == "neighbors"
    assert "15 nearest neighbours of each object, as UMAP does" in text_of(browser, "#map-note")
    kept = model["stops"][0]["kept"]
    for layout in ("neighbors", "distances"):
        model["layouts"]["start"] = layout
        find(browser, f"#layout option[value='{layout}']").click()
        points = positions(browser, model)
        alone = {kept[slot] for slot in apart(points[kept], 12)}
        assert len(alone) > 10
        assert alone <= drawn_as_kept(browser, model, points)
        share = 100 * model["layouts"][layout]["kept_neighbors"]
        assert f"{share:.1f} % are among its 15 nearest on the map" in text_of(browser, "#map-note")
        some = min(alone)
        hover(browser, points[some])
        assert text_of(browser, "#details h3") == f"Object {some}"
        shoot(f"map digits {layout}")
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_20000_objects_of_784_attributes(browser, tmp_path, shoot):
    rng = np.random.default_rng(0)
    n = 20_000
    y = np.arange(n + 200) % 10
    # Smooth pictures of 28 x 28 pixels: a mean for each class, 8 ways to bend it, and noise.
    shapes = uniform_filter(rng.normal(size=(10, 9, 28, 28)), (0, 0, 5, 5)).reshape(10, 9, 784)
    ways = np.column_stack([np.full(n + 200, 3.0), rng.normal(size=(n + 200, 8))])
    X = np.einsum("ij,ijk->ik", ways, shapes[y]) + rng.normal(scale=0.1, size=(n + 200, 784))
    X = np.clip(110 + 90 * X, 0, 255).round()
    path = write(tmp_path, "large", X[:n], y[:n], 300, test=Dataset("large", "vectors", X[n:], y[n:]))
    size = path.stat().st_size
    assert size < 10_000_000
    open_page(browser, path.as_uri())
    opened = browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
    redrawn = browser.execute_async_script(
        """const done = arguments[0], times = [];
        const step = () => {
          if (times.length === 15) return done(times.sort((a, b) => a - b)[7]);
          document.getElementById(times.length % 2 ? 'zoom-out' : 'zoom-in').click();
          const start = performance.now();
          requestAnimationFrame(() => { times.push(performance.now() - start); requestAnimationFrame(step); });
        };
        step();"""
    )
    sys.stdout.write(f"\n{size / 1e6:.1f} MB, opened in {opened:.0f} ms, redrawn in {redrawn:.0f} ms\n")
    assert opened < 8000
    assert redrawn < 500
    model = browser.execute_script(
        "const model = JSON.parse(document.getElementById('model').textContent);"
        "return {layouts: model.layouts, values: model.objects.values.values.filter((row) => row !== null).length}"
    )
    assert 250 <= model["values"] < 5000
    assert model["layouts"]["distances"]["n_landmarks"] == 250
    shoot("map 20000 objects")
    find(browser, "#zoom-all").click()
    area = find(browser, "#map")
    area.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert text_of(browser, "#details h3").startswith("Object ")
    for key in "++++":
        area.send_keys(key)
    shoot("map 20000 objects zoomed")
    find(browser, "#show-errors").click()
    find(browser, "#zoom-all").click()
    shoot("map 20000 objects errors")
    find(browser, "#layout option[value='distances']").click()
    shoot("map 20000 objects by distances")
    assert browser.get_log("browser") == []
