"""The notebooks of the documentation, run by a real kernel: pictures, tables and the page are in their outputs."""

import html
import os
import re
import shutil

import pytest

import protoset
from protoset import REPS

from conftest import ROOT, overlapping

nbformat = pytest.importorskip("nbformat", reason="no notebooks: pip install 'protoset[dev]'")
nbclient = pytest.importorskip("nbclient", reason="no notebooks: pip install 'protoset[dev]'")
pytest.importorskip("ipykernel", reason="no kernel: pip install 'protoset[dev]'")

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
pytestmark = [
    pytest.mark.slow,
    # Of the kernel's own libraries, not of the cells, whose warnings are in their outputs.
    pytest.mark.filterwarnings("ignore"),
]


def run(notebook, folder):
    """Run all cells; return them as pairs of their sources and outputs."""
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    return [(cell.source, cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def contents(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def streams(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["images", "tour"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_run_and_show_what_they_promise(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    cells = run(notebook, tmp_path)
    outputs = [output for _, written in cells for output in written]
    assert any(len(picture) > 5_000 for picture in contents(outputs, "image/png"))
    tables = contents(outputs, "text/html")
    assert any("sk-top-container" in table and '<td dir="auto">prototypes</td>' in table for table in tables)
    assert any("Explanation: " in table for table in tables)
    (frame,) = (table for table in tables if table.startswith("<iframe"))
    assert re.fullmatch(r'<iframe srcdoc="[^"]*" sandbox="allow-scripts" style="[^"]*" title="[^"]*"></iframe>', frame)
    page = html.unescape(re.match(r'<iframe srcdoc="([^"]*)"', frame).group(1))
    assert page.startswith("<!DOCTYPE html>")
    # Also the texts that consoles show instead are short.
    assert all(len(text) < 700 for text in contents(outputs, "text/plain"))
    warned = streams(outputs).replace("[protoset]", "")
    assert "Warning" not in warned
    assert not os.listdir(tmp_path)


def test_a_long_fit_has_a_bar(tmp_path):
    """Lines on stderr, each once, and a bar that ends full; logging may be configured."""
    setting = "import numpy as np\nfrom protoset import REPS\nX = np.random.default_rng(0).normal(size=(3000, 128))\n"
    fit = "REPS(40, metric='dtw', verbose=1).fit(list(X), np.arange(3000) % 2);"
    logging = (
        "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.getLogger('protoset').setLevel(logging.INFO)"
    )
    cells = [nbformat.v4.new_code_cell(source) for source in (setting + fit, logging, fit)]
    (_, with_bar), _, (_, with_logging) = run(nbformat.v4.new_notebook(cells=cells), tmp_path)
    bars = contents(with_bar, "text/html")
    assert len(bars) == 1
    assert re.fullmatch(
        r'<div><progress value="(\d+)" max="\1" style=".*"></progress> pairs compared: 100 % of .*</div>', bars[0]
    )
    lines = streams(with_bar).splitlines()
    assert len(lines) == len(set(lines)) > 2
    assert lines[-1] == "[protoset] kept 40 of 3000 objects"
    assert contents(with_logging, "text/html") == []
    logged = streams(with_logging).splitlines()
    assert sum("kept 40 of 3000 objects" in line for line in logged) == 1
    assert not any("[protoset]" in line for line in logged)


HOSTILE = ["</script><script>parent.hit = 1</script>", '"><img src=x onerror="parent.hit = 1">', "\u202eshalom"]


def test_the_page_works_in_its_frame_and_stays_there(tmp_path):
    """In a real browser, with labels that would be scripts; the page is drawn, and reaches nothing around it."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no Selenium: pip install 'protoset[dev]'")
    from selenium.webdriver.chrome.service import Service

    chromium, driver_path = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        pytest.skip("no browser: Chromium and its driver are not installed")
    X, y = overlapping(60, d=2, seed=1)
    labels = [HOSTILE[code] for code in y]
    report = protoset.report(REPS(9).fit(X, labels), X, labels, X_test=X[:5], y_test=labels[:5], title=HOSTILE[0])
    around = f'<!DOCTYPE html><meta charset="utf-8"><title>Notebook</title><body>{report._repr_html_()}</body>'
    (tmp_path / "notebook.html").write_text(around)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        driver.get((tmp_path / "notebook.html").as_uri())
        driver.switch_to.frame(driver.find_element("css selector", "iframe"))
        assert driver.find_element("id", "title").text == HOSTILE[0]
        assert driver.find_elements("css selector", "#prototypes-table tbody tr, #prototypes tbody tr")
        before = driver.find_element("id", "theme").text
        driver.find_element("id", "theme").click()
        assert driver.find_element("id", "theme").text != before
        assert (
            driver.execute_script("try { return parent.document.title } catch (error) { return error.name }")
            == "SecurityError"
        )
        driver.switch_to.default_content()
        assert driver.execute_script("return window.hit === undefined && document.title") == "Notebook"
        assert [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    finally:
        driver.quit()
