"""Objects as themselves on the page, in a real browser: images, series, rows, strings, and the gallery of prototypes.

Screenshots go to the folder in PROTOSET_SCREENSHOTS, else to a temporary one.
"""

import base64
import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from protoset import REPS, PrototypeClassifier
from protoset._report.render import render
from protoset.datasets import Attribute, Dataset
from protoset.selectors import FCNN

from report_pages import write_report

pytest.importorskip("selenium.webdriver", reason="no Selenium: pip install 'protoset[dev]'")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from test_report_browser import (
    HOSTILE,
    axe,  # noqa: F401
    browser,  # noqa: F401
    click,
    count,
    find,
    model_of,
    open_page,
    text_of,
)

DAY = "2026-01-31"


def digits_report(folder, **options):
    """Digits whose shape is guessed; the prototypes move."""
    X, y = load_digits(return_X_y=True)
    classifier = PrototypeClassifier(REPS(40), adapt=True).fit(X[:900], y[:900])
    assert classifier.adaptation_.has_moved
    train, test = Dataset("digits", "vectors", X[:900], y[:900]), Dataset("digits", "vectors", X[900:1100], y[900:1100])
    path = folder / f"digits{len(options)}.html"
    return write_report(path, train, classifier, test=test, created=DAY, **options)


def digit_rows_report(folder):
    """The same as rows of numbers."""
    return digits_report(folder, image_shape=False)


def colour_report(folder):
    """Wide colour images of flags: three stripes, of which one is wider in each class."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    images = np.zeros((120, 10, 16, 3))
    for image, label in zip(images, y, strict=True):
        image[:, :, label] = 0.7
        image[2 + label : 5 + label, :, (label + 1) % 3] = 1.0
    X = np.clip(images + rng.normal(scale=0.2, size=images.shape), 0, 1).reshape(120, -1)
    X[100, :30] = 1.0
    dataset = Dataset("flags", "vectors", X, np.array(["reds", "greens", "blues"])[y], n_train=90)
    selector = REPS(6).fit(X[:90], dataset.labels[:90])
    return write_report(folder / "colours.html", dataset, selector, created=DAY, image_shape=(10, 16, 3))


def warped(n, rng, n_points=60):
    """Bumps at times that vary, of three shapes."""
    y = np.arange(n) % 3
    times = np.linspace(0, 1, n_points)
    series = []
    for label in y:
        at = rng.uniform(0.3, 0.6)
        bump = np.exp(-(((times - at) / 0.08) ** 2))
        second = np.exp(-(((times - at - 0.22) / 0.05) ** 2))
        series.append(
            2 * bump + (label == 1) * 1.4 * second - (label == 2) * 1.2 * second + rng.normal(0, 0.12, n_points)
        )
    return series, np.array(["single", "double", "dip"])[y]


def warped_report(folder):
    series, labels = warped(150, np.random.default_rng(0))
    selector = REPS(9, metric="dtw", metric_params={"window": 12}).fit(series[:110], labels[:110])
    dataset = Dataset("bumps", "series", series, labels, n_train=110)
    return write_report(folder / "warped.html", dataset, selector, created=DAY)


def moved_series_report(folder):
    series, labels = warped(150, np.random.default_rng(1))
    selector = REPS(6, metric="dtw", metric_params={"window": 8})
    classifier = PrototypeClassifier(selector, adapt=True).fit(series[:110], labels[:110])
    assert classifier.adaptation_.has_moved
    dataset = Dataset("bumps", "series", series, labels, n_train=110)
    return write_report(folder / "moved series.html", dataset, classifier, created=DAY)


def as_channels(series):
    """Channels as rows, as the metrics take them."""
    return [np.asarray(one).T for one in series]


def channels_report(folder):
    """Two channels and long series, of which some points are drawn."""
    rng = np.random.default_rng(2)
    first, labels = warped(60, rng, 200)
    series = [np.column_stack([one, np.cumsum(rng.normal(0, 0.1, 200))]) for one in first]
    selector = REPS(6, metric="dtw").fit(as_channels(series[:45]), labels[:45])
    dataset = Dataset("gestures", "series", series, labels, n_train=45)
    return write_report(folder / "channels.html", dataset, selector, created=DAY, transform=as_channels)


def euclidean_series_report(folder):
    series, labels = warped(90, np.random.default_rng(3))
    selector = REPS(6, metric="series_euclidean").fit(series[:60], labels[:60])
    dataset = Dataset("bumps", "series", series, labels, n_train=60)
    return write_report(folder / "pointwise.html", dataset, selector, created=DAY)


def words(n, rng):
    """Words of three stems, with a few random edits."""
    stems = np.array(["prototype selection", "nearest neighbour", "time series"])
    y = np.arange(n) % 3
    texts = []
    for label in y:
        symbols = list(stems[label])
        for _ in range(rng.integers(1, 5)):
            at = int(rng.integers(len(symbols)))
            edit = rng.integers(3)
            if edit == 0:
                symbols[at] = "aeiou xz"[rng.integers(8)]
            elif edit == 1:
                del symbols[at]
            else:
                symbols.insert(at, "aeiou xz"[rng.integers(8)])
        texts.append("".join(symbols))
    return texts, stems[y]


def strings_report(folder):
    texts, labels = words(150, np.random.default_rng(0))
    selector = REPS(9, metric="levenshtein").fit(texts[:110], labels[:110])
    return write_report(
        folder / "strings.html", Dataset("words", "strings", texts, labels, n_train=110), selector, created=DAY
    )


def tokens_report(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    pools = (["login", "read", "write", "logout"], ["login", "fail", "fail", "lock", "logout"])
    lists = [[word for word in pools[label] if rng.random() > 0.2] + ["end"] * int(rng.integers(0, 2)) for label in y]
    lists = [one or ["end"] for one in lists]
    labels = np.array(["normal", "attack"])[y]
    selector = REPS(4, metric="levenshtein").fit(lists[:40], labels[:40])
    return write_report(
        folder / "tokens.html", Dataset("logs", "strings", lists, labels, n_train=40), selector, created=DAY
    )


def mixed_data(n, seed):
    rng = np.random.default_rng(seed)
    job, town = rng.choice(["nurse", "engineer", "teacher"], n), rng.choice(["Aachen", "Basel", "Chur"], n)
    age, income = rng.integers(18, 80, n), np.exp(rng.normal(8, 0.5, n)).round()
    default = (income < 2800) ^ ((job == "engineer") & (age < 40)) ^ (rng.random(n) < 0.05)
    columns = zip(age.tolist(), income.tolist(), map(str, job), map(str, town), rng.random(n).tolist(), strict=True)
    rows = np.array([list(values) for values in columns], object)
    rows[3, 1] = None
    return rows, np.where(default, "refused", "granted")


MIXED_ATTRIBUTES = (
    Attribute("age", "integer"),
    Attribute("monthly income", "real"),
    Attribute("job", "nominal", ("nurse", "engineer", "teacher")),
    Attribute("town", "nominal", ("Aachen", "Basel", "Chur")),
    Attribute("noise", "real"),
)


def mixed_report(folder, **options):
    rows, labels = mixed_data(300, 0)
    selector = REPS(12, metric="gower", metric_params={"categorical": [2, 3]}).fit(rows[:220], labels[:220])
    dataset = Dataset("credit", "mixed", rows, labels, MIXED_ATTRIBUTES, n_train=220)
    return write_report(folder / "mixed.html", dataset, selector, created=DAY)


def moved_mixed_report(folder):
    rows, labels = mixed_data(300, 1)
    selector = REPS(8, metric="heom", metric_params={"categorical": [2, 3]})
    classifier = PrototypeClassifier(selector, adapt=True).fit(rows[:220], labels[:220])
    assert classifier.adaptation_.has_moved
    dataset = Dataset("credit", "mixed", rows, labels, MIXED_ATTRIBUTES, n_train=220)
    return write_report(folder / "moved mixed.html", dataset, classifier, created=DAY)


def many_classes_report(folder):
    """Three hundred classes with hostile names."""
    rng = np.random.default_rng(0)
    y = np.arange(900) % 300
    X = rng.normal(size=(300, 4))[y] * 5 + rng.normal(size=(900, 4))
    labels = np.array([f"{HOSTILE[label % len(HOSTILE)]} {label}" for label in range(300)])[y]
    return write_report(
        folder / "classes.html", Dataset("many", "vectors", X, labels), FCNN().fit(X, labels), created=DAY
    )


def matrix_report(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    points = rng.normal(size=(60, 2)) + 2 * y[:, None]
    matrix = np.abs(points[:, None] - points[None]).sum(axis=2)
    selector = REPS(6, metric="precomputed").fit(matrix, y)
    return write_report(folder / "matrix.html", Dataset("given", "matrix", matrix, y), selector, created=DAY)


MAKERS = (
    digits_report,
    digit_rows_report,
    colour_report,
    warped_report,
    moved_series_report,
    channels_report,
    euclidean_series_report,
    strings_report,
    tokens_report,
    mixed_report,
    moved_mixed_report,
    many_classes_report,
    matrix_report,
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    return {make.__name__: make(folder).as_uri() for make in MAKERS}


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory):
    folder = Path(os.environ.get("PROTOSET_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shoot(browser, screenshots, name, selector):  # noqa: F811
    """Write a picture of an element, as high as it is."""
    x, y, width, height = browser.execute_script(
        """const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left + scrollX, box.top + scrollY, box.width, box.height]""",
        selector,
    )
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    (screenshots / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


def pixels_of(browser, selector):  # noqa: F811
    """Colours of the first canvas that fits, as an array of height, width, channels."""
    return np.array(
        browser.execute_script(
            """const canvas = document.querySelector(arguments[0]);
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return [canvas.height, canvas.width, ...data]""",
            selector,
        )
    )


def show_all_cards(browser):  # noqa: F811
    """Show the cards behind every "Show more"."""
    while count(browser, "#gallery .more button"):
        browser.execute_script("document.querySelector('#gallery .more button').click()")


def open_card(browser, prototype):  # noqa: F811
    browser.execute_script(f"document.querySelector('[data-prototype=\"{prototype}\"]').click()")


def rows_of(browser, selector):  # noqa: F811
    return [
        [cell.text.replace("\u00a0", " ") for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
        for row in browser.find_elements(By.CSS_SELECTOR, selector)
    ]


@pytest.mark.parametrize("name", [make.__name__ for make in MAKERS])
def test_a_page_opens_without_errors_and_its_numbers_stay_in_the_open(browser, pages, name):  # noqa: F811
    open_page(browser, pages[name])
    assert browser.get_log("browser") == []
    assert browser.execute_script("return window.hacked") is None
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    # The gallery is the first section after the summary.
    sections = browser.execute_script("return [...document.querySelectorAll('main > section')].map((one) => one.id)")
    assert sections[:2] == ["summary", "gallery"]
    click(browser, "#gallery .proto")
    visible = browser.execute_script("return document.querySelector('main').innerText")
    assert not re.search(r"\b(weight|degradation)\b", visible.split("How it was made")[0])


def test_digits_are_images_in_every_part(browser, pages, screenshots):  # noqa: F811
    X, _ = load_digits(return_X_y=True)
    open_page(browser, pages["digits_report"])
    model = model_of(browser)
    assert model["objects"]["values"]["shape"] == [8, 8, 1]
    n, moved = len(model["objects"]["ids"]), model["moved"]
    kept, members = model["stops"][0]["kept"], model["stops"][0]["members"]
    stands = {index: sum(size for _, size in counts) for index, counts in zip(kept, members, strict=True)}
    # Groups by class, the largest first; each card has the moved prototype and its real case.
    cards = browser.find_elements(By.CSS_SELECTOR, "#gallery .proto")
    shown = [int(card.get_attribute("data-prototype")) for card in cards]
    assert sorted(shown) == sorted(kept)
    codes = [model["objects"]["codes"][moved["exemplars"][index - n]] for index in shown]
    assert [(code, -stands[index]) for code, index in zip(codes, shown, strict=True)] == sorted(
        (code, -stands[index]) for code, index in zip(codes, shown, strict=True)
    )
    assert all(f"stands for {stands[index]:,}" in card.text for index, card in zip(shown, cards, strict=True))
    assert count(browser, "#gallery .proto canvas.beside") == len(kept)
    # The real case has the pixels of the data.
    real = pixels_of(browser, f'[data-prototype="{shown[0]}"] canvas.beside')
    assert real[:2].tolist() == [8, 8]
    expected = X[int(model["objects"]["ids"][moved["exemplars"][shown[0] - n]])] / 16 * 255
    assert np.abs(real[2:].reshape(64, 4)[:, 0] - expected).max() <= 2
    open_card(browser, shown[0])
    assert find(browser, f'[data-prototype="{shown[0]}"]').get_attribute("aria-expanded") == "true"
    assert 0 < count(browser, "#spread .frame canvas") <= 18 * 2 + 1
    assert "seen from its real case" in text_of(browser, "#spread")
    shoot(browser, screenshots, "digits-gallery", "#gallery")
    assert count(browser, "#details canvas.face") == 2
    assert count(browser, "#table tbody canvas.thumb") == 20
    assert count(browser, "#answer .faces canvas") == 4
    assert "Difference: orange where the test object is brighter" in text_of(browser, "#answer")
    shoot(browser, screenshots, "digits-query", "#explain")
    shoot(browser, screenshots, "digits-map", "#objects")


def test_images_can_be_switched_off(browser, pages):  # noqa: F811
    open_page(browser, pages["digit_rows_report"])
    assert model_of(browser)["objects"]["values"]["kind"] == "rows"
    assert count(browser, "#gallery canvas, #answer canvas, #table canvas") == 0
    n_cards = count(browser, "#gallery .mains")
    show_all_cards(browser)
    assert n_cards < count(browser, "#gallery .mains") == 40


def test_colours(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["colour_report"])
    model = model_of(browser)
    assert model["objects"]["values"]["shape"] == [10, 16, 3]
    first = int(find(browser, "#gallery .proto").get_attribute("data-prototype"))
    values = pixels_of(browser, "#gallery .proto canvas")
    assert values[:2].tolist() == [10, 16]
    colour = values[2:].reshape(10, 16, 4)
    # The class "blues" is blue, with a stripe that has red.
    assert model["classes"][model["objects"]["codes"][first]] == "blues"
    assert colour[..., 2].mean() > 120
    assert colour[5, :, 0].mean() > 200 > 100 > colour[0, :, 0].mean()
    assert (colour[..., 3] == 255).all()
    open_card(browser, first)
    click(browser, "#theme")
    shoot(browser, screenshots, "colours-dark", "#gallery")


def test_matched_points_of_a_series_are_joined(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["warped_report"])
    model = model_of(browser)
    comparison = model["queries"]["comparisons"]["values"][0]
    assert comparison["prototype"] == model["queries"]["winners"][0][0]
    rungs = find(browser, "#answer svg.warping path.rung").get_attribute("d")
    assert rungs.count("M") == len(comparison["pairs"][0]) == comparison["n_pairs"] > 60
    assert f"all {comparison['n_pairs']} pairs" in text_of(browser, "#answer .path-note")
    assert "of the squared distance" in text_of(browser, "#answer .path-note")
    assert count(browser, "#answer svg.warping path.line") == 2
    ticks = [tick.text for tick in browser.find_elements(By.CSS_SELECTOR, "#answer svg.warping .tick")]
    assert {"0", "20", "time (points)", "test object", "prototype"} <= set(ticks)
    shoot(browser, screenshots, "series-query", "#explain")
    click(browser, "#gallery .proto")
    assert count(browser, "#details svg.axes path.line") == 1
    assert count(browser, "#gallery .proto svg.series") == 9
    assert "Nearest rival" in text_of(browser, "#spread")
    shoot(browser, screenshots, "series-gallery", "#gallery")


def test_channels_and_long_series(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["channels_report"])
    note = text_of(browser, "#answer .path-note")
    assert "100 of" in note
    assert "Curves are drawn with 80 of 200 points; the matching is that of all points." in note
    assert count(browser, "#answer svg.warping path.line") == 4
    assert count(browser, "#answer svg.warping path.rung") == 2
    click(browser, "#gallery .proto")
    assert count(browser, "#details svg.axes path.line") == 2
    shoot(browser, screenshots, "channels-query", "#explain")


def test_points_are_compared_one_by_one_without_warping(browser, pages):  # noqa: F811
    open_page(browser, pages["euclidean_series_report"])
    assert count(browser, "#answer svg.warping") == 0
    rungs = find(browser, "#answer svg.axes path.rung").get_attribute("d")
    ends = [[float(part) for part in re.findall(r"[\d.]+", rung)] for rung in rungs.split("M")[1:]]
    assert len(ends) == 60
    assert {len(one) for one in ends} == {3}
    assert "points at the same time" in text_of(browser, "#answer .path-note")


def test_a_moved_series_has_its_path_and_its_real_case(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["moved_series_report"])
    assert count(browser, "#answer svg.warping path.line") == 3
    assert count(browser, "#answer svg.warping path.line.thin") == 1
    assert "the prototype that decided (dashed), and its nearest real case (dotted)" in text_of(browser, "#answer")
    assert count(browser, "#gallery .proto path.line.thin") == 6
    shoot(browser, screenshots, "moved-series-query", "#explain")


@pytest.mark.parametrize("name", ["strings_report", "tokens_report"])
def test_strings_are_aligned(browser, pages, screenshots, name):  # noqa: F811
    open_page(browser, pages[name])
    model = model_of(browser)
    marks = {"equal": "|", "replace": "≠", "delete": "−", "insert": "+", "transpose": "⇄"}
    for query in range(8):
        find(browser, f"#query option[value='{query}']").click()
        comparison = model["queries"]["comparisons"]["values"][query]
        shown = {
            kind: sum(
                len(mark.text) for mark in browser.find_elements(By.CSS_SELECTOR, f"#answer .piece.{kind} .edit-mark")
            )
            for kind in marks
        }
        assert {kind: shown[kind] for kind in comparison["counts"]} == comparison["counts"]
        distance = float(rows_of(browser, "#answer tr.deciding")[0][3])
        assert sum(comparison["counts"].values()) == distance
        label = find(browser, "#answer .alignment").get_attribute("aria-label")
        assert "The test object" in label
        for kind, mark in marks.items():
            if shown[kind]:
                assert find(browser, f"#answer .piece.{kind} .edit-mark").text[0] == mark
    shoot(browser, screenshots, name, "#explain")


def test_rows_have_categories_by_name_and_shares_that_add_up(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["mixed_report"])
    model = model_of(browser)
    assert "job, town" in text_of(browser, "#facts")
    assert "[2, 3]" not in text_of(browser, "#facts")
    for query in range(6):
        find(browser, f"#query option[value='{query}']").click()
        shares = [
            float(cell.get_attribute("data-share"))
            for cell in browser.find_elements(By.CSS_SELECTOR, "#answer td.share")
        ]
        assert sum(shares) == pytest.approx(1, abs=1e-3)
        assert shares == sorted(shares, reverse=True)
        rows = rows_of(browser, "#answer .shares tbody tr")
        values, other = model["queries"]["values"]["values"][query], model["queries"]["winners"][0][query]
        by_name = {row[0]: row for row in rows}
        assert by_name["job"][1:3] == [values[2], model["objects"]["values"]["values"][other][2]]
    shoot(browser, screenshots, "mixed-query", "#explain")
    click(browser, "#gallery .proto")
    assert {"nurse", "engineer", "teacher"} & set(text_of(browser, "#gallery .proto").split())
    shoot(browser, screenshots, "mixed-gallery", "#gallery")


def test_moved_rows_stand_beside_their_real_cases(browser, pages, screenshots):  # noqa: F811
    open_page(browser, pages["moved_mixed_report"])
    model = model_of(browser)
    n, moved = len(model["objects"]["ids"]), model["moved"]
    index = int(find(browser, "#gallery .proto").get_attribute("data-prototype"))
    assert text_of(browser, "#gallery .proto").startswith("prototype\nreal case")
    real = model["objects"]["values"]["values"][moved["exemplars"][index - n]]
    shown = [
        cell.text for cell in browser.find_elements(By.CSS_SELECTOR, f"[data-prototype='{index}'] .main-value.quiet")
    ]
    columns = model["objects"]["values"]["main"]["columns"]
    assert len(shown) == len(columns) == 4
    assert shown[columns.index(2)] == real[2]
    heads = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#answer .shares thead th")]
    assert heads == ["test object", "prototype", "real case", "share"]
    shoot(browser, screenshots, "moved-mixed-gallery", "#gallery")


def test_a_prototype_shows_its_members_its_errors_and_its_rival(browser, pages):  # noqa: F811
    open_page(browser, pages["mixed_report"])
    model = model_of(browser)
    kept, winners, codes = model["stops"][0]["kept"], model["objects"]["winners"][0], model["objects"]["codes"]
    erring = next(
        index
        for index in kept
        if any(winners[one] == index and codes[one] != codes[index] and one not in kept for one in range(220))
    )
    show_all_cards(browser)
    open_card(browser, erring)
    members = [one for one in range(220) if winners[one] == erring and one not in kept]
    wrong = [one for one in members if codes[one] != codes[erring]]
    parts = browser.find_elements(By.CSS_SELECTOR, "#spread .spread-part")
    assert [part.find_element(By.TAG_NAME, "h4").text for part in parts] == [
        "Stands for",
        "Where it errs",
        "Nearest rival",
    ]
    listed = [{link.text for link in part.find_elements(By.CSS_SELECTOR, "button.link")} for part in parts]
    assert listed[0] <= {model["objects"]["ids"][one] for one in members if one not in wrong}
    assert listed[1] <= {model["objects"]["ids"][one] for one in wrong}
    assert len(listed[1]) == min(6, len(wrong))
    rival, distance = model["objects"]["rivals"][kept.index(erring)]
    assert listed[2] == {model["objects"]["ids"][rival]}
    assert codes[rival] != codes[erring]
    assert f"at distance {float(f'{distance:.4g}'):g}" in parts[2].text


def test_three_hundred_classes_stay_quick_and_texts(browser, pages):  # noqa: F811
    open_page(browser, pages["many_classes_report"])
    assert count(browser, "#gallery .group") == 12
    began = browser.execute_script("return performance.now()")
    click(browser, "#all-groups")
    assert browser.execute_script("return performance.now()") - began < 2000
    assert count(browser, "#gallery .group") == 300
    assert not find(browser, "#all-groups").is_displayed()
    assert browser.execute_script("return window.hacked") is None
    assert count(browser, "img, iframe, b, object, main script") == 0


def test_a_matrix_has_names_alone(browser, pages):  # noqa: F811
    open_page(browser, pages["matrix_report"])
    assert count(browser, "#gallery .proto") == 6
    click(browser, "#gallery .proto")
    assert count(browser, "#spread .spread-part") == 3
    assert count(browser, "#gallery canvas, #gallery .proto svg") == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits_report", "warped_report", "mixed_report", "moved_mixed_report"])
def test_values_that_the_page_does_not_hold_are_said_to_be_missing(browser, pages, tmp_path, name):  # noqa: F811
    open_page(browser, pages[name])
    model = model_of(browser)
    for group in (model["objects"], model["queries"]):
        values = group["values"]["values"]
        group["values"]["values"] = [value if row % 3 else None for row, value in enumerate(values)]
    path = tmp_path / "page.html"
    path.write_text(render(model), "utf-8")
    open_page(browser, path.as_uri())
    for card in range(count(browser, "#gallery .proto")):
        browser.find_elements(By.CSS_SELECTOR, "#gallery .proto")[card].click()
    for query in range(6):
        find(browser, f"#query option[value='{query}']").click()
        is_held = query % 3 and "values of the two are not on this page" not in text_of(browser, "#answer")
        assert is_held or "not on this page" in text_of(browser, "#answer")
    find(browser, "#find").send_keys(model["objects"]["ids"][3])
    assert "not on this page" in text_of(browser, "#details")
    assert browser.get_log("browser") == []


def test_the_keyboard_opens_and_closes_a_card(browser, pages):  # noqa: F811
    open_page(browser, pages["warped_report"])
    card = find(browser, "#gallery .proto")
    card.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("aria-expanded") == "true"
    assert count(browser, "#spread") == 1
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    assert browser.switch_to.active_element.get_attribute("aria-expanded") == "false"
    assert count(browser, "#spread") == 0


def test_method_details_open_on_demand(browser, pages):  # noqa: F811
    open_page(browser, pages["warped_report"])

    def wait_for(word, selector):
        """A part is drawn again when it opens: its text is read in one step, until it has the word."""
        read = "return document.querySelector(arguments[0]).innerText"
        WebDriverWait(browser, 5).until(lambda _: word in browser.execute_script(read, selector))

    assert "weight" not in text_of(browser, "#table thead")
    click(browser, "#table-method summary")
    wait_for("weight", "#table thead")
    wait_for("degradation", "#table thead")
    click(browser, "#gallery .proto")
    assert "weight" not in text_of(browser, "#details")
    click(browser, "#details .method summary")
    wait_for("weight", "#details")
    # It stays open for the next object.
    browser.find_elements(By.CSS_SELECTOR, "#gallery .proto")[1].click()
    wait_for("weight", "#details")


@pytest.mark.parametrize("name", [make.__name__ for make in MAKERS])
def test_a_phone_needs_no_sideways_scrolling(browser, pages, screenshots, name):  # noqa: F811
    open_page(browser, pages[name], width=390, height=800)
    browser.execute_script("document.querySelector('#gallery .proto').click()")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    wide = """return [...document.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, svg, .sr')
        && node.getBoundingClientRect().right > 390.5).map((node) => node.id || node.className || node.tagName)"""
    assert browser.execute_script(wide) == []
    if name in ("digits_report", "mixed_report", "strings_report", "warped_report"):
        shoot(browser, screenshots, f"{name}-phone-gallery", "#gallery")
        shoot(browser, screenshots, f"{name}-phone-query", "#explain")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize(
    "name", ["digits_report", "warped_report", "strings_report", "tokens_report", "mixed_report", "moved_mixed_report"]
)
def test_no_barrier(browser, pages, axe, name, theme, width):  # noqa: F811
    open_page(browser, pages[name], width=width)
    if browser.execute_script("return document.documentElement.dataset.theme") != theme:
        click(browser, "#theme")
    browser.execute_script("document.querySelector('#gallery .proto').click()")
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_script(axe)
    violations = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((found) => done("
        "found.violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 200))])))"
    )
    assert violations == []


@pytest.mark.parametrize(
    "name", ["digits_report", "warped_report", "moved_mixed_report", "mixed_report", "strings_report", "matrix_report"]
)
def test_a_class_takes_one_row_of_a_wide_page(browser, pages, name):  # noqa: F811
    open_page(browser, pages[name])
    browser.set_window_size(1280, 900)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#gallery .group')].map((group) => "
        "new Set([...group.querySelectorAll('.cards > li')].map((card) => card.offsetTop)).size)"
    )
    assert rows
    assert set(rows) == {1}
