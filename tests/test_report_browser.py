"""The report in a real browser, from a file and without a network; skipped where there is no browser."""

import os
import re
import shutil
import subprocess
import tarfile

import numpy as np
import pytest

from map_in_browser import apart, colours_at, drawn_as_kept, is_close, page_colours, picture, positions, settle
from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset
from protoset.selectors import FCNN

from conftest import overlapping
from report_pages import write_report

webdriver = pytest.importorskip("selenium.webdriver", reason="no Selenium: pip install 'protoset[dev]'")

from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</script><script>window.hacked = 1</script>",
    'it\'s "quoted" `${window.hacked = 1}`',
    "שלום \u202e reversed",
    "😀 & <b>bold</b> {{model}}",
    "javascript:window.hacked=1",
]


def lacking(reason):
    """Skip; or fail, where .ci/run has made sure that there is a browser."""
    if os.environ.get("PROTOSET_NEEDS_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None or DRIVER is None:
        lacking("no browser: Chromium and its driver are not installed (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in [*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    nothing = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", nothing)
    yield driver
    driver.quit()


def vector_report(folder):
    X, y = overlapping(90, d=3, seed=1)
    X_test, y_test = overlapping(90, d=3, seed=1)
    X_test = X_test + 0.4
    columns = tuple(Attribute(name, "real") for name in ("length", "width", "height"))
    names = np.array(["ash", "birch", "cedar"])
    return write_report(
        folder / "vectors.html",
        Dataset("trees", "vectors", X, names[y], columns),
        PrototypeClassifier(Refined(), adapt=False).fit(X, names[y]),
        test=Dataset("trees", "vectors", X_test, names[y_test], columns),
        created="2026-01-31",
    )


def validated_report(folder):
    """Without test objects and with ids: the errors are cross-validated, and guessing is as good."""
    X, y = overlapping(80, d=2, seed=1)
    y = np.random.default_rng(3).permutation(np.where(np.arange(80) % 4 == 0, "rare", "frequent"))
    ids = np.array([f"{HOSTILE[row % len(HOSTILE)]} no {row}" for row in range(80)])
    dataset = Dataset("noise", "vectors", X, y, ids=ids)
    return write_report(folder / "validated.html", dataset, REPS().fit(X, y), created="2026-01-31")


def fixed_report(folder):
    X, y = overlapping(90, d=3, seed=1)
    selector = Refined(REPS(n_prototypes=12)).fit(X, y)
    return write_report(folder / "fixed.html", Dataset("trees", "vectors", X, y), selector, created="2026-01-31")


def large_report(folder):
    """A curve with sets that are too large for the page."""
    X, y = overlapping(700, d=2, seed=1)
    return write_report(folder / "large.html", Dataset("many", "vectors", X, y), REPS().fit(X, y), most_objects=150)


def series_report(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = [np.sin((3 + 3 * label) * np.linspace(0, 1, 40)) + rng.normal(scale=0.2, size=40) for label in y]
    selector = REPS(n_prototypes=9, metric="series_euclidean").fit(X[:40], y[:40])
    return write_report(
        folder / "series.html", Dataset("waves", "series", X, y, n_train=40), selector, created="2026-01-31"
    )


def hostile_report(folder):
    texts = [f"{HOSTILE[place % len(HOSTILE)]} {place}" for place in range(35)]
    labels = np.array(HOSTILE[:3])[np.arange(35) % 3]
    train = Dataset(HOSTILE[0], "strings", texts, labels)
    test = Dataset("t", "strings", HOSTILE, np.array(HOSTILE))
    selector = FCNN(metric="levenshtein").fit(texts, labels)
    ids = [f"{HOSTILE[place % len(HOSTILE)]}#{place}" for place in range(35)]
    return write_report(
        folder / 'hostile "name" & <b>.html',
        train,
        selector,
        test=test,
        ids=ids,
        test_ids=HOSTILE,
        title=" ".join(HOSTILE),
        created=HOSTILE[1],
    )


def moved_report(folder, selector=None):
    """Moved vectors with an automatic size; without test objects."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 6)) + 1.6 * np.eye(6)[y]
    classifier = PrototypeClassifier(selector, adapt=True).fit(X, y)
    assert classifier.adaptation_.has_moved
    path = folder / f"moved {type(selector).__name__}.html"
    return write_report(path, Dataset("bells", "vectors", X, y), classifier, created="2026-01-31")


def moved_ranking_report(folder):
    """A curve of sets that did not move."""
    return moved_report(folder, REPS())


def moved_mixed_report(folder):
    """Moved categories with relevances; names and categories are hostile."""
    rng = np.random.default_rng(0)
    categories = np.array(HOSTILE[:3])
    size, colour = rng.normal(5, 2, 200), rng.integers(0, 3, 200)
    y = np.where((size - 5) * 0.6 + (colour != 1) + rng.normal(scale=0.4, size=200) > 0.8, HOSTILE[0], HOSTILE[4])
    others = rng.choice(["a", "b"], (200, 18))
    rows = np.array(
        [[a, str(categories[b]), *map(str, c)] for a, b, c in zip(size, colour, others, strict=True)], object
    )
    names = [HOSTILE[1], HOSTILE[2], *(f"other {position}" for position in range(18))]
    kinds = ["real", *["nominal"] * 19]
    columns = tuple(Attribute(name, kind) for name, kind in zip(names, kinds, strict=True))
    selector = REPS(8, metric="heom", metric_params={"categorical": list(range(1, 20))})
    classifier = PrototypeClassifier(selector, adapt={"relevances": True}).fit(rows[:150], y[:150])
    assert classifier.adaptation_.has_moved
    ids = np.array([f"{HOSTILE[row % len(HOSTILE)]} no {row}" for row in range(200)])
    dataset = Dataset("mixed", "mixed", rows, y, columns, n_train=150, ids=ids)
    return write_report(folder / "moved mixed.html", dataset, classifier, created="2026-01-31")


def moved_series_report(folder):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = [np.sin((3 + label) * np.linspace(0, 2, 40)) + rng.normal(scale=0.6, size=40) for label in y]
    classifier = PrototypeClassifier(REPS(6, metric="dtw", metric_params={"window": 4}), adapt=True)
    classifier.fit(X[:60], y[:60])
    assert classifier.adaptation_.has_moved
    return write_report(
        folder / "moved series.html", Dataset("waves", "series", X, y, n_train=60), classifier, created="2026-01-31"
    )


def decided_report(folder, name="decided", **options):
    """Scores decide among moved prototypes; two test objects are unlike anything seen; labels are hostile."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 6)) + 1.6 * np.eye(6)[y]
    X[-2:] = [[60.0], [-40.0]]
    labels = np.array(HOSTILE)[y]
    classifier = PrototypeClassifier(REPS(9), **{"rule": "scores", "adapt": True} | options).fit(X[:150], labels[:150])
    suspects = [
        {"row": row, "given": labels[row], "suggested": HOSTILE[5], "probability": 0.9, "evidence": [0, 1, 2]}
        for row in range(0, 90, 3)
    ]
    ids = np.array([f"{HOSTILE[row % len(HOSTILE)]} no {row}" for row in range(240)])
    dataset = Dataset("decided", "vectors", X, labels, n_train=150, ids=ids)
    return write_report(folder / f"{name}.html", dataset, classifier, created="2026-01-31", suspects=suspects)


def adjusted_report(folder):
    """Learned degradations decide."""
    return decided_report(folder, "adjusted", rule="adjusted", adapt=False)


MAKERS = (
    vector_report,
    validated_report,
    fixed_report,
    large_report,
    series_report,
    hostile_report,
    moved_report,
    moved_ranking_report,
    moved_mixed_report,
    moved_series_report,
    decided_report,
    adjusted_report,
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {make.__name__: make(folder).as_uri() for make in MAKERS}


def open_page(browser, address, width=1280, height=900):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(address)
    WebDriverWait(browser, 10).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#fact-lists dl"))


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def click(browser, selector):
    """Click an element in the middle of the window, where the row of links does not cover it.

    The page may draw the element anew at that moment: then click the new one.
    """

    def try_to_click(browser):
        element = find(browser, selector)
        browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)
        element.click()
        return True

    WebDriverWait(browser, 10, ignored_exceptions=[StaleElementReferenceException]).until(try_to_click)


def count(browser, selector):
    return len(browser.find_elements(By.CSS_SELECTOR, selector))


def text_of(browser, selector):
    return find(browser, selector).text.replace("\u00a0", " ")


def model_of(browser):
    return browser.execute_script("return JSON.parse(document.getElementById('model').textContent)")


def column(browser, place):
    return [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, f"#table tbody tr > :nth-child({place})")]


def show_all(browser):
    """Show all prototypes in the table."""
    if find(browser, "#show-all").is_displayed():
        click(browser, "#show-all")


@pytest.mark.parametrize("name", [make.__name__ for make in MAKERS])
def test_a_page_opens_without_network_requests_or_errors(browser, pages, name):
    open_page(browser, pages[name])
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    log = "\n".join(
        entry["message"] for entry in browser.get_log("performance") if "requestWillBeSent" in entry["message"]
    )
    requested = re.findall(r'"request":\{.*?"url":"(\w+):', log)
    assert "file" in requested
    assert set(requested) <= {"file", "data"}


def percent(share):
    """A share as the page writes it; halves are rounded up, as in JavaScript."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share + 1e-9:.{2 if share < 0.01 else 1}f} %"


def test_the_slider_changes_prototypes_and_error(browser, pages):
    open_page(browser, pages["vector_report"])
    model = model_of(browser)
    chosen = model["summary"]["chosen_stop"]
    size = f"{model['summary']['n_prototypes']} prototypes"
    assert text_of(browser, "#now-size") == size
    alone = apart(positions(browser, model), 9)
    assert len(alone) > 20
    assert drawn_as_kept(browser, model) & alone == set(model["stops"][chosen]["kept"]) & alone
    assert f"error {percent(model['summary']['error']['error'])} on the test objects" in text_of(browser, "#now")
    slider = find(browser, "#slider")
    assert int(slider.get_attribute("max")) == len(model["stops"]) - 1 == count(browser, "#curve .curve-dot") - 1
    seen = set()
    for key, stop in ((Keys.HOME, 0), (Keys.ARROW_RIGHT, 1), (Keys.END, len(model["stops"]) - 1)):
        slider.send_keys(key)
        expected = model["stops"][stop]
        assert text_of(browser, "#now-size") == f"{expected['n_kept']} prototypes"
        error = text_of(browser, "#now-error")
        assert error == percent(expected["error"])
        assert f"± {percent(expected['standard_error'])} by cross-validation" in text_of(browser, "#now")
        assert drawn_as_kept(browser, model) & alone == set(expected["kept"]) & alone
        assert sorted(map(int, column(browser, 1)))[:5] == expected["kept"][:5]
        assert f"error {error}" in slider.get_attribute("aria-valuetext").replace("\u00a0", " ")
        show_all(browser)
        assert sum(map(int, column(browser, 3))) == 90
        seen.add(error)
    assert len(seen) > 1
    click(browser, "#to-chosen")
    assert int(slider.get_attribute("value")) == chosen
    assert text_of(browser, "#now-size") == size


def tiles(browser):
    return {
        tile.find_element(By.CSS_SELECTOR, ".name").text: tile.text.replace("\u00a0", " ").split("\n")[1:]
        for tile in browser.find_elements(By.CSS_SELECTOR, "#tiles .tile")
    }


def test_the_summary_says_which_errors_are_shown(browser, pages):
    open_page(browser, pages["vector_report"])
    summary = model_of(browser)["summary"]
    shown, references = tiles(browser), summary["references"]["test"]
    assert shown["Error with the prototypes"][0] == percent(summary["error"]["error"])
    assert shown["Error with the prototypes"][1].endswith("on the test objects")
    assert shown["Error of always guessing"][0] == percent(references["guess"])
    assert shown["Error of 1-NN on all objects"] == [percent(references["nearest"]), "on the test objects"]
    assert shown["Error of k-NN on all objects"] == [
        percent(references["knn"]),
        f"k = {references['k']}, on the test objects",
    ]
    assert not find(browser, "#verdict").is_displayed()

    open_page(browser, pages["validated_report"])
    summary = model_of(browser)["summary"]
    shown, references = tiles(browser), summary["references"]["leave_one_out"]
    error = summary["error"]
    assert shown["Error with the prototypes"] == [
        percent(error["error"]),
        f"± {percent(error['standard_error'])}, by cross-validation",
    ]
    assert shown["Error of always guessing"] == ["25.0 %", "the most frequent class, frequent"]
    assert shown["Error of 1-NN on all objects"] == [percent(references["nearest"]), "by leave-one-out"]
    assert text_of(browser, "#verdict").startswith(
        "No better than guessing: always answering frequent has an error of 25.0 %"
    )
    assert "cross-validated" in text_of(browser, "#measured")


def test_a_fixed_size_has_no_curve(browser, pages):
    open_page(browser, pages["fixed_report"])
    model = model_of(browser)
    assert not find(browser, "#slider").is_displayed()
    assert not find(browser, "#curve").is_displayed()
    assert text_of(browser, "#budget-heading") == "The set"
    assert text_of(browser, "#now-size") == "12 prototypes"
    assert text_of(browser, "#now-error") == percent(model["stops"][0]["error"])
    assert "by cross-validation; the chosen set, refined" in text_of(browser, "#now")
    assert ", method refined REPS; made" in text_of(browser, "#subtitle")


def test_sets_that_are_too_large_for_the_page(browser, pages):
    open_page(browser, pages["large_report"])
    model = model_of(browser)
    chosen, last = model["stops"][model["summary"]["chosen_stop"]], model["stops"][-1]
    assert (last["size"], last["kept"]) == (700, None)
    find(browser, "#slider").send_keys(Keys.END)
    assert text_of(browser, "#now-size") == "700 prototypes"
    assert text_of(browser, "#now-error") == percent(last["error"])
    assert "those below are of the chosen set" in text_of(browser, "#now")
    alone = apart(positions(browser, model), 9)
    assert drawn_as_kept(browser, model) & alone == set(chosen["kept"]) & alone != set()
    # All training objects are counted, not only those on the page.
    click(browser, "#to-chosen")
    show_all(browser)
    assert sum(map(int, column(browser, 3))) == 700
    assert "The page holds 150 of 700 training objects" in text_of(browser, "#notes")


def test_ids_name_the_objects_and_are_found(browser, pages):
    open_page(browser, pages["validated_report"])
    model = model_of(browser)
    kept = model["stops"][model["summary"]["chosen_stop"]]["kept"]
    assert sorted(column(browser, 1)) == sorted(model["objects"]["ids"][index] for index in kept)
    find(browser, "#find").send_keys(model["objects"]["ids"][33][:20])
    assert "Object" in text_of(browser, "#details h3")
    find(browser, "#find").clear()
    find(browser, "#find").send_keys("no 33")
    assert text_of(browser, "#match-count") == "1 of 80 objects match"
    assert text_of(browser, "#details h3") == " ".join(f"Object {model['objects']['ids'][33]}".split())
    assert "row\n33" in text_of(browser, "#details dl")
    find(browser, "#find").clear()
    find(browser, "#find").send_keys("33")
    assert text_of(browser, "#match-list") == model["objects"]["ids"][33]
    assert browser.execute_script("return window.hacked") is None
    assert count(browser, "img, iframe, b, object, main script") == 0


def hover(browser, point):
    """Move the mouse to a pixel of the map."""
    drawing = find(browser, "#map .marks")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", drawing)
    box = drawing.rect
    x, y = point[0] - box["width"] / 2, point[1] - box["height"] / 2
    ActionChains(browser).move_to_element_with_offset(drawing, round(x), round(y)).perform()
    settle(browser)


def test_hovering_shows_the_object(browser, pages):
    open_page(browser, pages["vector_report"])
    model = model_of(browser)
    kept = model["stops"][model["summary"]["chosen_stop"]]["kept"]
    assert "Point at an object" in text_of(browser, "#details")
    points, shown = positions(browser, model), set()
    for index in (kept[0], kept[len(kept) // 2], kept[-1]):
        hover(browser, points[index])
        heading = text_of(browser, "#details h3")
        shown.add(heading)
        row = int(heading.removeprefix("Object "))
        details = text_of(browser, "#details")
        assert row in kept
        assert "stands for" in details
        assert model["classes"][model["objects"]["codes"][row]] in details
        assert [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#details tbody th")] == [
            "length",
            "width",
            "height",
        ]
        values = [float(cell.text) for cell in browser.find_elements(By.CSS_SELECTOR, "#details tbody td")]
        assert values == pytest.approx(model["objects"]["values"]["values"][row], rel=1e-3)
    assert len(shown) == 3


def test_what_a_prototype_stands_for(browser, pages):
    open_page(browser, pages["vector_report"])
    model = model_of(browser)
    chosen = model["summary"]["chosen_stop"]
    kept, nearest, codes = (
        model["stops"][chosen]["kept"],
        model["objects"]["winners"][chosen],
        model["objects"]["codes"],
    )
    for number, row in enumerate(kept):
        members = [index for index in range(90) if index == row or (nearest[index] == row and index not in kept)]
        of_others = sum(codes[index] != codes[row] for index in members)
        cells = [
            cell.text for cell in browser.find_elements(By.CSS_SELECTOR, f"#table tbody tr:nth-child({number + 1}) > *")
        ]
        assert cells[0] == str(row)
        assert cells[-2:] == [str(len(members)), str(of_others)]
        click(browser, f"#table tbody tr:nth-child({number + 1}) button")
        sentence = f"{len(members)} training object{'s' * (len(members) > 1)}, itself included"
        assert sentence in text_of(browser, "#details dl")
        assert count(browser, "#details .members button") == min(24, len(members) - 1)


def test_the_keyboard_reaches_objects_on_the_map(browser, pages):
    open_page(browser, pages["vector_report"])
    area = find(browser, "#map")
    seen = set()
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT):
        area.send_keys(key)
        seen.add(text_of(browser, "#details h3"))
    assert len(seen) >= 3
    area.send_keys(Keys.ESCAPE)
    assert "Point at an object" in text_of(browser, "#details")


def test_filter_search_and_sort(browser, pages):
    open_page(browser, pages["vector_report"])
    model = model_of(browser)
    ash = [place for place in range(90) if model["objects"]["codes"][place] == 0]
    click(browser, "input[data-class='0']")
    points, paper = positions(browser, model), page_colours(browser)["paper"]
    kept = model["stops"][model["summary"]["chosen_stop"]]["kept"]
    hidden = [points[index] for index in apart(points, 9) & set(ash) & set(kept)]
    assert len(hidden) > 0
    assert all(is_close(colour, paper) for colour in colours_at(browser, hidden))
    assert "ash" not in column(browser, 2)
    click(browser, "input[data-class='0']")
    assert "ash" in column(browser, 2)
    assert not any(is_close(colour, paper) for colour in colours_at(browser, hidden))

    whole = picture(browser)
    find(browser, "#find").send_keys("17")
    assert text_of(browser, "#match-count") == "1 of 90 objects match"
    assert text_of(browser, "#details h3") == "Object 17"
    assert drawn_as_kept(browser, model) <= {17}
    find(browser, "#find").send_keys(Keys.BACKSPACE, Keys.BACKSPACE)
    assert picture(browser) == whole

    click(browser, "#table-method summary")
    for key, place, falling in (("stands", 5, True), ("degradation", 4, True), ("id", 1, False)):
        for descending in (falling, not falling):
            click(browser, f"[data-key={key}]")
            values = [float(text.replace("∞", "inf")) for text in column(browser, place)]
            assert values == sorted(values, reverse=descending)
            sorted_by = find(browser, f"th:has([data-key={key}])").get_attribute("aria-sort")
            assert sorted_by == ("descending" if descending else "ascending")
            assert browser.switch_to.active_element.get_attribute("data-key") == key


def test_a_query_is_explained(browser, pages):
    open_page(browser, pages["vector_report"])
    model = model_of(browser)
    stop = model["stops"][model["summary"]["chosen_stop"]]
    options = browser.find_elements(By.CSS_SELECTOR, "#query option")
    assert len(options) == 90
    n_errors = model["summary"]["error"]["n_errors"]
    assert sum("✗" in option.text for option in options) == n_errors > 0
    click(browser, "#query-wrong")
    assert count(browser, "#query option") == n_errors
    click(browser, "#query-wrong")
    find(browser, "#query option[value='33']").click()
    listed = [place for place in model["queries"]["nearest"][33] if place in stop["kept"]][:5]
    rows = browser.find_elements(By.CSS_SELECTOR, "#answer div:not(.values) > table tbody tr")
    assert [row.find_element(By.TAG_NAME, "button").text for row in rows] == [str(place) for place in listed]
    assert [row.find_element(By.TAG_NAME, "td").text for row in rows] == [str(rank + 1) for rank in range(len(listed))]
    assert rows[0].text.endswith("decided")
    codes = model["objects"]["codes"]
    verdict = text_of(browser, "#answer .verdict")
    assert f"predicted {model['classes'][codes[listed[0]]]}" in " ".join(verdict.split())
    assert verdict.startswith("Right" if codes[listed[0]] == model["queries"]["codes"][33] else "Wrong")


def chance(share):
    """A probability as the page writes it."""
    if share > 0.99:
        return "> 99.9 %" if share > 0.999 else f"{100 * share:.1f} %"
    return f"{int(100 * share + 0.5)} %"


def test_a_decision_has_its_probability_and_possible_labels(browser, pages):
    open_page(browser, pages["decided_report"])
    queries, classes = model_of(browser)["queries"], model_of(browser)["classes"]
    certainty = queries["certainty"]
    options = [option.text.replace("\u00a0", " ") for option in browser.find_elements(By.CSS_SELECTOR, "#query option")]
    for text, share, novel in zip(options, certainty["probabilities"], certainty["novel"], strict=True):
        assert text.endswith(f" · {chance(share)}" + (" ?" if novel else ""))
    assert np.flatnonzero(certainty["novel"]).tolist()[-2:] == [88, 89]
    assert "? is unlike anything seen" in text_of(browser, "#query-count")
    several = next(query for query, labels in enumerate(certainty["possible"]) if len(labels) > 1)
    for query in (several, 88):
        find(browser, f"#query option[value='{query}']").click()
        assert f"probability\n{chance(certainty['probabilities'][query])}" in text_of(browser, "#answer .certainty")
        shown = [label.text for label in browser.find_elements(By.CSS_SELECTOR, "#answer .labels li")]
        expected = [classes[code] for code in certainty["possible"][query]]
        assert [" ".join(label.split()) for label in shown] == [" ".join(label.split()) for label in expected]
        assert count(browser, "#answer .warning") == certainty["novel"][query]
        predicted = " ".join(classes[queries["predicted"][query]].split())
        assert f"predicted {predicted}" in " ".join(text_of(browser, "#answer .verdict").split())
        assert "adds most to the score of this class" in text_of(browser, "#answer")
    assert text_of(browser, "#answer .warning").startswith("Unlike anything seen: ")
    click(browser, "#query-doubtful")
    first = find(browser, "#query option")
    assert int(first.get_attribute("value")) == int(np.argmin(certainty["probabilities"]))
    assert first.is_selected()
    assert "training objects, held out in folds" in text_of(browser, "#facts")


def test_only_the_chosen_set_is_calibrated(browser, pages):
    open_page(browser, pages["vector_report"])
    assert find(browser, "#query-doubtful").is_displayed()
    assert count(browser, "#answer .certainty") == 1
    find(browser, "#slider").send_keys(Keys.HOME)
    assert not find(browser, "#query-doubtful").is_displayed()
    assert count(browser, "#answer .certainty") == 0
    click(browser, "#to-chosen")
    assert count(browser, "#answer .certainty") == 1


def test_a_page_without_calibration_has_no_such_parts(browser, pages):
    open_page(browser, pages["series_report"])
    assert not find(browser, "#query-doubtful").is_displayed()
    assert count(browser, "#answer .certainty") == 0
    assert "%" not in find(browser, "#query option").text
    assert "Calibration" not in text_of(browser, "#facts")
    assert not find(browser, "#suspects").is_displayed()


def test_learned_degradations_are_those_that_decide(browser, pages):
    open_page(browser, pages["adjusted_report"])
    model = model_of(browser)
    stop = model["stops"][0]
    find(browser, "#query option[value='5']").click()
    assert "degradation" not in text_of(browser, "#answer")
    click(browser, "#answer .method summary")
    row = find(browser, "#answer .method tr.deciding")
    winner = model["queries"]["winners"][0][5]
    cells = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
    degradation = stop["degradations"][stop["kept"].index(winner)]
    assert float(cells[1]) == pytest.approx(degradation, rel=1e-3)
    assert float(cells[2]) == pytest.approx(int(cells[0]) + degradation, rel=1e-3)


def test_labels_to_check_lead_to_their_objects(browser, pages):
    open_page(browser, pages["decided_report"])
    assert count(browser, "#suspect-table tbody tr") == 25
    assert "25 of 30 labels shown" in text_of(browser, "#suspect-note")
    click(browser, "#more-suspects")
    rows = browser.find_elements(By.CSS_SELECTOR, "#suspect-table tbody tr")
    assert len(rows) == 30
    assert not find(browser, "#more-suspects").is_displayed()
    assert " ".join(HOSTILE[5].split()) in " ".join(rows[0].text.split())
    assert "90 %" in rows[0].text.replace("\u00a0", " ")
    link = rows[2].find_element(By.TAG_NAME, "button")
    name = link.text
    # The bar of sections may cover it.
    browser.execute_script("arguments[0].click()", link)
    assert text_of(browser, "#details h3") == f"Object {name}"
    assert browser.execute_script("return window.hacked") is None


def test_series_are_drawn(browser, pages):
    open_page(browser, pages["series_report"])
    assert count(browser, "#gallery .proto svg.series path.line") == 9
    click(browser, "#gallery .proto")
    assert count(browser, "#details svg.series path.line") == 1
    assert count(browser, "#answer svg.axes path.line") == 2
    path = find(browser, "#details svg.series path.line").get_attribute("d")
    assert len(re.findall("[ML]", path)) == 40


def test_a_moved_set_is_shown_by_its_real_cases(browser, pages):
    open_page(browser, pages["moved_report"])
    model = model_of(browser)
    chosen, moved, n = model["summary"]["chosen_stop"], model["moved"], len(model["objects"]["ids"])
    winners, codes = model["objects"]["winners"][chosen], model["objects"]["codes"]
    assert "the chosen set, refined and moved" in text_of(browser, "#now")
    alone = apart(positions(browser, model), 9)
    assert drawn_as_kept(browser, model) & alone == set(moved["exemplars"]) & alone != set()
    assert "nearest real case of a prototype" in text_of(browser, "#map-legend")
    assert text_of(browser, "#table thead").startswith("nearest real case")
    assert sorted(map(int, column(browser, 1))) == sorted(moved["exemplars"])
    assert [int(text) for text in column(browser, 3)] == [
        moved["starts"][slot] for slot in np.argsort(moved["exemplars"], kind="stable")
    ]
    assert sum(map(int, column(browser, 5))) == n
    assert "The prototypes have moved, so they are no real cases." in text_of(browser, "#table-note")
    for number, slot in enumerate(np.argsort(moved["exemplars"], kind="stable").tolist()):
        members = [index for index in range(n) if winners[index] == n + slot]
        cells = [
            cell.text for cell in browser.find_elements(By.CSS_SELECTOR, f"#table tbody tr:nth-child({number + 1}) > *")
        ]
        of_others = sum(codes[index] != codes[moved["exemplars"][slot]] for index in members)
        assert cells[-2:] == [str(len(members)), str(of_others)]
        click(browser, f"#table tbody tr:nth-child({number + 1}) button")
        details = text_of(browser, "#details")
        assert text_of(browser, "#details h3") == f"Object {moved['exemplars'][slot]}"
        assert "moved; its nearest real case is this object at distance" in details
        assert f"{len(members)} training object{'s' * (len(members) != 1)}\n" in details + "\n"
        assert "itself included" not in details
        heads = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#details thead th")]
        assert heads == ["real case", "prototype"]
        values = [float(cell.text) for cell in browser.find_elements(By.CSS_SELECTOR, "#details tbody td")]
        assert values[1::2] == pytest.approx(moved["values"]["values"][slot], rel=1e-3, abs=1e-3)
    dropped = next(index for index in range(n) if index not in moved["exemplars"])
    find(browser, "#find").send_keys(str(dropped))
    prototype = winners[dropped] - n
    assert f"moved; its nearest real case is object {moved['exemplars'][prototype]}" in text_of(browser, "#details")


def test_other_sizes_are_shown_before_the_moves(browser, pages):
    open_page(browser, pages["moved_report"])
    model = model_of(browser)
    click(browser, "#table tbody button")
    other = 0 if model["summary"]["chosen_stop"] else 1
    find(browser, "#slider").send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * other)
    stop = model["stops"][other]
    assert "shown before its moves; the error is that after them" in text_of(browser, "#now")
    assert text_of(browser, "#now-error") == percent(stop["error"])
    assert sorted(map(int, column(browser, 1))) == stop["kept"]
    assert text_of(browser, "#table thead").startswith("id")
    assert text_of(browser, "#map-legend").startswith("kept")
    assert "moved" not in text_of(browser, "#details")
    click(browser, "#to-chosen")
    assert text_of(browser, "#table thead").startswith("nearest real case")
    assert ", with moves, at each size" in text_of(browser, "#curve-legend")
    facts = text_of(browser, "#fact-lists")
    assert "Moves\nprototypes\nmoved" in facts
    assert "held-out error after the moves" in facts
    assert browser.get_log("browser") == []


def test_a_moved_set_has_its_own_error_beside_a_curve_of_other_sets(browser, pages):
    open_page(browser, pages["moved_ranking_report"])
    model = model_of(browser)
    error, stop = model["summary"]["error"], model["stops"][model["summary"]["chosen_stop"]]
    assert text_of(browser, "#now-error") == percent(error["error"])
    assert text_of(browser, "#now").endswith(
        f"the chosen set, moved; the curve, {percent(stop['error'])} here, is about sets before any moves"
    )
    assert "selects and moves a set of this size" in text_of(browser, "#measured")
    assert "cross-validated error of REPS, before any moves, at each size" in text_of(browser, "#curve-legend")
    other = 0 if model["summary"]["chosen_stop"] else 1
    find(browser, "#slider").send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * other)
    assert text_of(browser, "#now-error") == percent(model["stops"][other]["error"])
    assert text_of(browser, "#now").endswith("a cut of the ranking, before any moves")


def test_moved_categories_and_relevances_stay_texts(browser, pages):
    open_page(browser, pages["moved_mixed_report"])
    model = model_of(browser)
    n, moved, relevances = len(model["objects"]["ids"]), model["moved"], model["relevances"]
    assert text_of(browser, "#relevances-heading") == "Which attributes matter"
    names = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#relevance-table tbody th")]
    assert names == [" ".join(name.split()) for name in relevances["names"][:15]]
    assert count(browser, "#relevance-table svg.bar rect") == 15
    widths = [
        float(bar.get_attribute("width")) for bar in browser.find_elements(By.CSS_SELECTOR, "#relevance-table rect")
    ]
    assert widths == pytest.approx(
        [100 * value / relevances["values"][0] for value in relevances["values"][:15]], abs=0.01
    )
    click(browser, "#more-relevances")
    assert count(browser, "#relevance-table tbody tr") == 20
    assert not find(browser, "#more-relevances").is_displayed()
    find(browser, "#query option[value='3']").click()
    slot = model["queries"]["winners"][0][3] - n
    exemplar = model["objects"]["ids"][moved["exemplars"][slot]]
    answer = " ".join(text_of(browser, "#answer").split())
    assert f"The prototype whose nearest real case is object {' '.join(exemplar.split())} has moved; it is" in answer
    attributes = browser.find_elements(By.CSS_SELECTOR, "#answer .values tbody tr")
    colour = " ".join(model["objects"]["values"]["names"][1].split())
    row = next(row for row in attributes if row.find_element(By.TAG_NAME, "th").text == colour)
    shown = [" ".join(cell.text.split()) for cell in row.find_elements(By.CSS_SELECTOR, "td:not(.share)")]
    rows = (
        model["queries"]["values"]["values"][3],
        moved["values"]["values"][slot],
        model["objects"]["values"]["values"][moved["exemplars"][slot]],
    )
    assert shown == [" ".join(row[1].split()) for row in rows]
    assert any("%" in row[1] for row in moved["values"]["values"])
    verdict = text_of(browser, "#answer .verdict")
    right = model["objects"]["codes"][moved["exemplars"][slot]] == model["queries"]["codes"][3]
    assert verdict.startswith("Right" if right else "Wrong")
    assert browser.execute_script("return window.hacked") is None
    assert count(browser, "img, iframe, b, object, main script") == 0
    assert browser.get_log("browser") == []


def test_moved_series_are_drawn_beside_the_real_ones(browser, pages):
    open_page(browser, pages["moved_series_report"])
    assert count(browser, "#gallery .proto svg.series path.line") == 12
    assert count(browser, "#gallery .proto svg.series path.line.thin") == 6
    click(browser, "#gallery .proto")
    assert count(browser, "#details svg.series path.line") == 2
    assert count(browser, "#answer svg.axes path.line") == 3
    assert "the prototype that decided (dashed), and its nearest real case (dotted)" in text_of(browser, "#answer")
    assert not find(browser, "#relevances").is_displayed()


def test_hostile_texts_stay_texts(browser, pages):
    open_page(browser, pages["hostile_report"])
    model = model_of(browser)
    assert text_of(browser, "#title") == " ".join(" ".join(HOSTILE).split())
    kept = model["stops"][0]["kept"]
    show_all(browser)
    assert sorted(column(browser, 1)) == sorted(model["objects"]["ids"][place] for place in kept)
    find(browser, "#find").send_keys("onerror")
    assert text_of(browser, "#details .string") == HOSTILE[1] + " 1"
    for query in range(len(HOSTILE)):
        find(browser, f"#query option[value='{query}']").click()
        assert text_of(browser, "#answer h3") == f"Test object {HOSTILE[query]}"
    assert browser.execute_script("return window.hacked") is None
    assert count(browser, "img, iframe, b, object, main script") == 0
    assert browser.execute_script("return document.scripts.length") == 2
    assert browser.get_log("browser") == []
    # Even what finds its way into the page cannot run: the policy forbids it.
    browser.execute_script(
        """const script = document.createElement('script');
        script.textContent = 'window.hacked = 1';
        document.body.append(script);"""
    )
    assert browser.execute_script("return window.hacked") is None


@pytest.mark.parametrize("name", [make.__name__ for make in MAKERS])
def test_no_sideways_scrolling_on_a_phone(browser, pages, name):
    open_page(browser, pages[name], width=375, height=700)
    browser.execute_script("document.querySelector('#table tbody button').click()")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 375
    wide = """return [...document.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, svg')
        && node.getBoundingClientRect().right > 375.5).map((node) => node.id || node.className || node.tagName)"""
    assert browser.execute_script(wide) == []


def test_light_and_dark(browser, pages):
    def background():
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    seen = {}
    for scheme in ("light", "dark"):
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        open_page(browser, pages["vector_report"])
        seen[scheme] = background()
        click(browser, "#theme")
        seen["not " + scheme] = background()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert seen["light"] == seen["not dark"] != seen["dark"] == seen["not light"]


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    npm = shutil.which("npm")
    if npm is None:
        lacking("no npm, from which axe-core comes")
    folder = tmp_path_factory.mktemp("axe")
    result = subprocess.run(
        [npm, "pack", "axe-core@4", "--silent"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    found = list(folder.glob("*.tgz"))
    if not found:
        lacking(f"axe-core cannot be fetched: {result.stderr.strip()[:200]}")
    with tarfile.open(found[0]) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()


@pytest.mark.parametrize(
    ("name", "theme", "width"),
    [
        ("vector_report", "light", 1280),
        ("vector_report", "dark", 375),
        ("series_report", "dark", 1280),
        ("series_report", "light", 375),
        ("hostile_report", "light", 375),
        ("validated_report", "light", 1280),
        ("validated_report", "dark", 375),
        ("fixed_report", "dark", 1280),
        ("moved_report", "light", 1280),
        ("moved_mixed_report", "light", 1280),
        ("moved_mixed_report", "dark", 375),
        ("moved_series_report", "dark", 1280),
        ("decided_report", "light", 1280),
        ("decided_report", "dark", 375),
        ("adjusted_report", "light", 375),
    ],
)
def test_no_serious_barrier(browser, pages, axe, name, theme, width):
    open_page(browser, pages[name], width=width)
    if browser.execute_script("return document.documentElement.dataset.theme") != theme:
        click(browser, "#theme")
    browser.execute_script("document.querySelector('#table tbody button').click()")
    browser.execute_script(axe)
    assert browser.execute_script("return axe.getRules().length") > 50
    result = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((found) => done("
        "found.violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 200))])))"
    )
    assert [one for one in result if one[0] in ("serious", "critical")] == []
