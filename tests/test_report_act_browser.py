"""The parts of the report to act on, in a real browser: filters, tables as CSV, links that keep the state."""

import csv
import io
import os
import re

import numpy as np
import pytest

import test_report_browser
from map_in_browser import picture
from protoset import REPS, PrototypeClassifier
from protoset.datasets import Attribute, Dataset
from test_report_browser import click, count, find, model_of, open_page, text_of

from report_pages import write_report

webdriver = pytest.importorskip("selenium.webdriver", reason="no Selenium: pip install 'protoset[dev]'")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

browser, axe = test_report_browser.browser, test_report_browser.axe

CLASSES = ['=HYPERLINK("http://x")', "-3", '@sum, "quoted"\nline', '<img src=x onerror="window.hacked=1">']
COLUMNS = tuple(Attribute(name, "real") for name in ("+length", "width", "height", "depth"))


def clouds(n, n_classes, seed, spread=1.2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 4)) + spread * rng.normal(size=(n_classes, 4), scale=1.5)[y], y


def hostile_page(folder):
    """Hostile classes, test objects of which some are unlike anything, a calibrated classifier."""
    X, y = clouds(400, 4, seed=0)
    X[-3:] = [[50.0], [-60.0], [80.0]]
    labels = np.array(CLASSES)[y]
    labels[[20, 61, 102]] = labels[[21, 62, 103]]
    classifier = PrototypeClassifier(REPS(), adapt=False, rule="nearest").fit(X[:240], labels[:240])
    ids = np.array([f"=no {row}" for row in range(400)])
    dataset = Dataset("clouds", "vectors", X, labels, COLUMNS, n_train=240, ids=ids)
    return write_report(folder / "tested.html", dataset, classifier, created="2026-01-31")


def validated_page(folder):
    """Ten classes without test objects: classifiers of the folds say which classes are confused."""
    X, y = clouds(200, 10, seed=1)
    classifier = PrototypeClassifier(REPS(20), adapt=False).fit(X, y)
    return write_report(folder / "judged.html", Dataset("ten", "vectors", X, y), classifier, created="2026-01-31")


def page_of_classes(folder, n_classes):
    X, y = clouds(8 * n_classes, n_classes, seed=2)
    labels = np.array([f"class of a long name {code:02d}" for code in range(n_classes)])[y]
    selector = REPS(2 * n_classes).fit(X[: 4 * n_classes], labels[: 4 * n_classes])
    dataset = Dataset("many", "vectors", X, labels, n_train=4 * n_classes)
    return write_report(folder / f"many {n_classes}.html", dataset, selector, created="2026-01-31")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("act")
    made = {
        "tested": hostile_page(folder),
        "judged": validated_page(folder),
        "many": page_of_classes(folder, 32),
        "more": page_of_classes(folder, 33),
    }
    return {name: path.as_uri() for name, path in made.items()}


@pytest.fixture
def keep(browser, tmp_path, request):
    """Write a picture of the window, to be looked at: to the folder PROTOSET_SHOTS if there is one."""
    folder = os.environ.get("PROTOSET_SHOTS", tmp_path)

    def save(name, section=None):
        if section is not None:
            browser.execute_script("document.querySelector(arguments[0]).scrollIntoView()", section)
        assert browser.save_screenshot(os.path.join(folder, f"{name}.png"))

    return save


def wait_for(browser, condition):
    WebDriverWait(browser, 5).until(lambda _: condition())


def texts(browser, selector):
    return [node.text for node in browser.find_elements(By.CSS_SELECTOR, selector)]


def cells_of(model):
    return {(actual, predicted): size for actual, predicted, size in model["confusion"]["cells"]}


def worst_confusion(model):
    wrong = {cell: size for cell, size in cells_of(model).items() if cell[0] != cell[1]}
    return max(wrong, key=wrong.get)


def copied(browser, name):
    """What a button copies, as rows of CSV."""
    browser.execute_script(
        "window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    click(browser, f"[data-copy={name}]")
    wait_for(browser, lambda: browser.execute_script("return window.copied") is not None)
    text = browser.execute_script("return window.copied")
    return list(csv.reader(io.StringIO(text, newline=""))), text


def test_a_cell_filters_the_map_and_the_lists(browser, pages, keep):
    open_page(browser, pages["tested"])
    model = model_of(browser)
    for (actual, predicted), size in cells_of(model).items():
        assert text_of(browser, f'[data-cell="{actual},{predicted}"]') == str(size)
    assert count(browser, "#matrix [data-cell]") == len(cells_of(model))
    assert not find(browser, "#filter-chip").is_displayed()
    all_queries, whole_map = count(browser, "#query option"), picture(browser)
    actual, predicted = worst_confusion(model)
    button = find(browser, f'[data-cell="{actual},{predicted}"]')
    share = cells_of(model)[actual, predicted] / model["confusion"]["classes"][actual]["n_measured"]
    label = button.get_attribute("aria-label").replace("\u00a0", " ")
    assert label.endswith(f" objects, {100 * share:.1f} %")
    button.send_keys(Keys.ENTER)
    assert text_of(browser, "#cell-text") == " ".join(label.split())
    chip = " ".join(text_of(browser, "#filter-chip").split())
    assert chip.startswith(f"filter: actual {' '.join(model['classes'][actual].split())} predicted")
    wanted = [
        query
        for query, (code, answer) in enumerate(
            zip(model["queries"]["codes"], model["confusion"]["queries"], strict=True)
        )
        if (code, answer) == (actual, predicted)
    ]
    assert len(wanted) == cells_of(model)[actual, predicted]
    assert [
        int(node.get_attribute("value")) for node in browser.find_elements(By.CSS_SELECTOR, "#query option")
    ] == wanted
    assert count(browser, "#cell-objects button") == len(wanted)
    assert len(texts(browser, "#suspect-table tbody tr")) == sum(
        (one["given"][0], one["suggested"][0]) == (actual, predicted) for one in model["suspects"]
    )
    deciding = {model["queries"]["winners"][model["summary"]["chosen_stop"]][query] for query in wanted}
    assert deciding
    assert picture(browser) != whole_map
    keep("filter-confusion", "#confusion")
    keep("filter-map", "#objects")
    click(browser, "#filter-chip button")
    assert not find(browser, "#filter-chip").is_displayed()
    assert count(browser, "#query option") == all_queries
    assert picture(browser) == whole_map
    assert browser.execute_script("return window.hacked") is None
    assert browser.get_log("browser") == []


def test_a_cell_of_training_objects_filters_the_map(browser, pages, keep):
    open_page(browser, pages["judged"])
    model = model_of(browser)
    assert model["confusion"]["measured_on"] == "folds"
    assert "each classified by one of five classifiers that were fitted without it" in text_of(
        browser, "#confusion-note"
    )
    actual, predicted = worst_confusion(model)
    whole_map = picture(browser)
    click(browser, f'[data-cell="{actual},{predicted}"]')
    size = cells_of(model)[actual, predicted]
    assert picture(browser) != whole_map
    assert count(browser, "#cell-objects button") == size
    click(browser, "#cell-objects button")
    assert text_of(browser, "#details h3").startswith("Object ")
    keep("filter-training", "#objects")
    # A second click clears the filter.
    click(browser, f'[data-cell="{actual},{predicted}"]')
    find(browser, "#map").send_keys(Keys.ESCAPE)
    assert picture(browser) == whole_map


def test_the_matrix_by_keyboard(browser, pages, keep):
    open_page(browser, pages["tested"])
    model = model_of(browser)
    cells = cells_of(model)
    assert count(browser, "#matrix [tabindex='0']") == 1
    first = find(browser, "#matrix [tabindex='0']")
    first.send_keys(Keys.ARROW_RIGHT)
    focused = browser.switch_to.active_element
    expected = min(predicted for actual, predicted in cells if actual == 0 and predicted > 0)
    assert focused.get_attribute("data-cell") == f"0,{expected}"
    keep("keyboard", "#confusion")
    focused.send_keys(Keys.ENTER)
    assert find(browser, "#filter-chip").is_displayed()
    focused = browser.switch_to.active_element
    assert focused.get_attribute("data-cell") == f"0,{expected}"
    assert focused.get_attribute("aria-pressed") == "true"
    focused.send_keys(Keys.ESCAPE)
    assert not find(browser, "#filter-chip").is_displayed()
    assert browser.switch_to.active_element.get_attribute("data-cell") == f"0,{expected}"


def test_tables_as_csv(browser, pages, keep):
    open_page(browser, pages["tested"])
    model = model_of(browser)
    safe = ["'" + CLASSES[0], CLASSES[1], "'" + CLASSES[2], CLASSES[3]]
    code_of = {name: code for code, name in enumerate(model["classes"])}
    by_name = dict(zip(CLASSES, safe, strict=True))
    rows, text = copied(browser, "confusion")
    assert rows[0][1:] == [by_name[name] for name in model["classes"]]
    assert [row[0] for row in rows[1:]] == rows[0][1:]
    counts = cells_of(model)
    assert [[int(cell) for cell in row[1:]] for row in rows[1:]] == [
        [counts.get((a, b), 0) for b in range(4)] for a in range(4)
    ]
    assert text.endswith("\r\n")
    assert '"\'@sum, ""quoted""\nline"' in text
    assert text_of(browser, "#said") == "copied 4 rows"
    assert find(browser, "#said").get_attribute("role") == "status"
    keep("copied", "#confusion")
    rows, _ = copied(browser, "hardest")
    assert {row[0]: int(row[4]) for row in rows[1:]} == {
        by_name[model["classes"][one["code"]]]: one["n_wrong"] for one in model["confusion"]["classes"]
    }
    rows, _ = copied(browser, "prototypes")
    kept = model["stops"][model["summary"]["chosen_stop"]]["kept"]
    assert rows[0] == ["id", "class", "stands for", "of other classes", "'+length", "width", "height", "depth"]
    assert [row[0] for row in rows[1:]] == ["'" + model["objects"]["ids"][index] for index in kept]
    assert [float(row[4]) for row in rows[1:]] == [model["objects"]["values"]["values"][index][0] for index in kept]
    assert sum(int(row[2]) for row in rows[1:]) == 240
    rows, _ = copied(browser, "answers")
    assert rows[0][:4] == ["test object", "class", "predicted", "right"]
    assert len(rows) == 161
    assert sum(row[3] == "no" for row in rows[1:]) == model["confusion"]["n_wrong"]
    assert sum(row[8] == "yes" for row in rows[1:]) == model["unlike"]["n_novel"]
    rows, _ = copied(browser, "suspects")
    assert [row[0] for row in rows[1:]] == ["'" + one["object"][1] for one in model["suspects"]]
    assert len(rows) > 1
    rows, _ = copied(browser, "unlike")
    assert len(rows) == 1 + len(model["unlike"]["objects"])
    assert {row[2] for row in rows[1:]} <= set(safe)
    assert code_of.keys() == by_name.keys()


def test_copying_works_where_the_clipboard_refuses(browser, pages, keep):
    open_page(browser, pages["tested"])
    # The older way, which copies for real.
    browser.execute_script("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))")
    click(browser, "#copy-link")
    wait_for(browser, lambda: text_of(browser, "#said") == "copied the link to this view")
    find(browser, "#find").send_keys(Keys.CONTROL, "v")
    assert find(browser, "#find").get_attribute("value") == browser.current_url.split("#")[0]
    # Nothing is allowed: the text itself is shown.
    browser.execute_script("document.execCommand = () => false")
    click(browser, "[data-copy=hardest]")
    wait_for(browser, lambda: find(browser, "#copy-dialog").is_displayed())
    assert find(browser, "#copy-field").get_attribute("value").startswith("class,training objects,")
    keep("copy-dialog")
    click(browser, "#copy-close")
    assert not find(browser, "#copy-dialog").is_displayed()


def shown_state(browser):
    return {
        "size": text_of(browser, "#now-size"),
        "hidden": browser.execute_script(
            "return [...document.querySelectorAll('#class-boxes input')].map((box) => box.checked)"
        ),
        "object": text_of(browser, "#details"),
        "query": find(browser, "#query").get_attribute("value"),
        "answer": text_of(browser, "#answer h3"),
        "filter": text_of(browser, "#filter-chip"),
        "theme": browser.execute_script("return document.documentElement.dataset.theme"),
    }


def test_a_link_keeps_the_state(browser, pages, keep):
    open_page(browser, pages["tested"])
    model = model_of(browser)
    plain = browser.current_url
    cell = next(cell for cell, size in cells_of(model).items() if size > 1)
    find(browser, "#slider").send_keys(Keys.HOME)
    click(browser, "#class-boxes input[data-class='3']")
    click(browser, f'[data-cell="{cell[0]},{cell[1]}"]')
    click(browser, "#cell-objects button:nth-child(2)")
    click(browser, "#table tbody button")
    click(browser, "#theme")
    history = browser.execute_script("return history.length")
    wait_for(browser, lambda: "theme=" in browser.current_url)
    link, before = browser.current_url, shown_state(browser)
    assert re.search(r"#stop=0&hide=3&object=\d+&query=\d+&cell=\d,\d&theme=\w+$", link)
    assert browser.execute_script("return history.length") == history
    browser.refresh()
    assert shown_state(browser) == before
    keep("link", "#objects")
    old = browser.current_window_handle
    browser.switch_to.new_window("window")
    browser.get(link)
    assert shown_state(browser) == before
    browser.close()
    browser.switch_to.window(old)
    # Another address in the same window, then back.
    browser.execute_script("location.hash = 'cell=0,0'")
    wait_for(browser, lambda: shown_state(browser)["size"] != before["size"])
    assert all(shown_state(browser)["hidden"])
    browser.back()
    wait_for(browser, lambda: shown_state(browser) == before)
    browser.get("about:blank")
    browser.get(plain)
    assert not find(browser, "#filter-chip").is_displayed()
    assert browser.get_log("browser") == []


@pytest.mark.parametrize(
    "text",
    [
        "stop=999&object=-1&query=1e3&cell=0&hide=a&theme=red",
        "cell=0,99&hide=0,77&object=100000",
        "cell=-1,-1&stop=-1",
        "stop=__proto__&constructor=1&__proto__=1",
        "<script>window.hacked=1</script>=1&theme=<img src=x onerror=window.hacked=1>",
        "%FF%FE=%00&stop=%31&object=%",
        "stop=1,1&object=1,2&cell=1,2,3,4",
        "javascript:window.hacked=1",
        "=" * 50_000,
    ],
)
def test_wrong_links_are_ignored(browser, pages, text):
    open_page(browser, pages["tested"])
    before = text_of(browser, "main")
    browser.get("about:blank")
    open_page(browser, pages["tested"] + "#" + text)
    assert text_of(browser, "main") == before
    assert not find(browser, "#filter-chip").is_displayed()
    assert browser.execute_script("return window.hacked") is None
    assert browser.get_log("browser") == []


def test_the_hardest_classes_are_sorted(browser, pages, keep):
    open_page(browser, pages["judged"])
    classes = model_of(browser)["confusion"]["classes"]

    def shown(position):
        return texts(browser, f"#hardest-table tbody tr > :nth-child({position})")

    by_error = sorted(classes, key=lambda one: -one["error"])
    assert [int(name) for name in shown(1)] == [one["code"] for one in by_error]
    first = by_error[0]
    assert shown(2)[0].replace("\u00a0", " ").split("\n") == [
        f"{100 * first['error']:.1f} %",
        f"{100 * first['lower']:.1f} % to {100 * first['upper']:.1f} %",
    ]
    keep("hardest", "#hardest")
    click(browser, "#hardest-table [data-key=name]")
    assert [int(name) for name in shown(1)] == list(range(10))
    click(browser, "#hardest-table [data-key=n_prototypes]")
    assert [int(text) for text in shown(5)] == sorted((one["n_prototypes"] for one in classes), reverse=True)
    assert find(browser, "#hardest-table [aria-sort=descending] button").get_attribute("data-key") == "n_prototypes"
    assert browser.switch_to.active_element.get_attribute("data-key") == "n_prototypes"
    click(browser, "#hardest-table tbody .confused button")
    assert find(browser, "#filter-chip").is_displayed()


def test_objects_unlike_anything_are_linked(browser, pages, keep):
    open_page(browser, pages["tested"])
    model = model_of(browser)
    assert f"{model['unlike']['n_novel']} test objects are unlike anything seen" in text_of(browser, "#unlike-note")
    rows = texts(browser, "#unlike-table tbody tr")
    assert len(rows) == len(model["unlike"]["objects"])
    keep("unlike", "#unlike")
    click(browser, "#unlike-table tbody button")
    farthest = max(model["unlike"]["objects"], key=lambda one: one["times"])
    assert farthest["test"]
    assert text_of(browser, "#answer h3") == f"Test object {farthest['object'][1]}"
    assert "Unlike anything seen" in text_of(browser, "#answer")


def test_many_classes_have_a_matrix_that_scrolls(browser, pages, keep):
    open_page(browser, pages["many"], width=390, height=844)
    inside = "const box = document.querySelector('#matrix'); return [box.scrollWidth, box.clientWidth]"
    scrolled, visible = browser.execute_script(inside)
    assert visible < 390 < scrolled
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    assert len(texts(browser, "#matrix tbody tr")) == 32
    assert len(texts(browser, "#confusions tbody tr")) == 10
    keep("matrix-32-phone", "#confusion")
    open_page(browser, pages["many"])
    keep("matrix-32", "#confusion")


def test_more_classes_have_a_list_of_confusions(browser, pages, keep):
    open_page(browser, pages["more"])
    model = model_of(browser)
    assert not find(browser, "#matrix").is_displayed()
    confusions = sorted((size for (a, b), size in cells_of(model).items() if a != b), reverse=True)
    shown = [int(row) for row in texts(browser, "#confusions tbody tr > :nth-child(3)")]
    assert shown == confusions[:40]
    rows, _ = copied(browser, "confusion")
    assert len(rows) == 1 + len(cells_of(model))
    click(browser, "#confusions tbody button")
    assert find(browser, "#filter-chip").is_displayed()
    keep("confusions-33", "#confusion")


def test_the_sections_stay_at_hand(browser, pages, keep):
    open_page(browser, pages["tested"] + "#theme=dark")
    links = texts(browser, "#section-links a")
    assert links == [
        "Summary",
        "Prototypes",
        "Size",
        "Map",
        "Table",
        "Confusions",
        "Classes",
        "Test objects",
        "Labels to check",
        "Unlike",
        "How it was made",
    ]
    click(browser, "#section-links li:nth-child(7) a")
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert 30 < browser.execute_script(top, "#hardest") < 120
    assert browser.execute_script(top, ".sections") == 0
    wait_for(browser, lambda: texts(browser, "#section-links [aria-current]") == ["Classes"])
    assert browser.switch_to.active_element.get_attribute("id") == "hardest-heading"
    # The address keeps the state.
    assert browser.current_url.endswith("#theme=dark")
    keep("sections")


def test_guessing_and_neighbours_are_labelled_at_their_lines(browser, pages, keep):
    open_page(browser, pages["tested"])
    references = model_of(browser)["summary"]["references"]["leave_one_out"]
    labels = [text.replace("\u00a0", " ") for text in texts(browser, "#curve .line-label")]
    shown = {text.split()[0]: float(text.split()[1]) for text in labels if "%" in text}
    expected = {"1-NN": "nearest", "k-NN": "knn", "guessing": "guess"}
    assert shown == pytest.approx({name: 100 * references[value] for name, value in expected.items()}, abs=0.051)
    assert "prototypes" in labels
    tops = sorted(node.location["y"] for node in browser.find_elements(By.CSS_SELECTOR, "#curve .line-label"))
    assert min(np.diff(tops)) > 10
    keep("curve", "#budget")
    open_page(browser, pages["tested"], width=390)
    box = find(browser, "#curve svg").rect
    for node in browser.find_elements(By.CSS_SELECTOR, "#curve .line-label"):
        assert node.rect["x"] + node.rect["width"] <= box["x"] + box["width"] + 0.5
    keep("curve-phone", "#budget")


@pytest.mark.parametrize("name", ["tested", "judged", "many", "more"])
def test_nothing_is_loaded_and_nothing_is_too_wide(browser, pages, keep, name):
    open_page(browser, pages[name], width=390, height=844)
    click(browser, "#confusions tbody button")
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    wide = """return [...document.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, svg, .sr')
        && node.getBoundingClientRect().right > 390.5).map((node) => node.id || node.className || node.tagName)"""
    assert browser.execute_script(wide) == []
    keep(f"phone-{name}", "#hardest")


@pytest.mark.parametrize(
    ("name", "theme", "width"),
    [("tested", "dark", 1280), ("tested", "light", 390), ("judged", "light", 1280), ("many", "dark", 390)],
)
def test_no_barrier(browser, pages, axe, keep, name, theme, width):
    open_page(browser, pages[name] + f"#theme={theme}", width=width)
    click(browser, "#confusions tbody button")
    browser.execute_script(axe)
    result = browser.execute_async_script(
        "const done = arguments[0], others = {exclude: [['#details'], ['#answer']]};"
        "axe.run(others, {resultTypes: ['violations']}).then((found) => done("
        "found.violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 200))])))"
    )
    assert result == []
    keep(f"{name}-{theme}-{width}", "#confusion")
