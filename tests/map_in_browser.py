"""Where objects are on the canvas of a report, and what is drawn there."""

import numpy as np

EDGE = 14  # pixels around the marks


def settle(browser):
    """Wait until the browser has drawn twice."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )


def positions(browser, model, zoom=1.0, pan=(0.0, 0.0)):
    """Pixels of all objects on the canvas: the whole map is centred and as large as fits."""
    names = ("x", "y") if model["layouts"]["start"] == "distances" else ("neighbor_x", "neighbor_y")
    x, y = (np.array(model["objects"][name], float) for name in names)
    width, height = browser.execute_script(
        "const box = document.querySelector('#map .marks').getBoundingClientRect(); return [box.width, box.height]"
    )
    spread_x, spread_y = max(x.max(), 1), max(y.max(), 1)
    scale = min((width - 2 * EDGE) / spread_x, (height - 2 * EDGE) / spread_y)
    home = np.column_stack(
        [(width - spread_x * scale) / 2 + x * scale, height - (height - spread_y * scale) / 2 - y * scale]
    )
    return home * zoom + pan


def colours_at(browser, points):
    """Colours of pixels of the canvas, as texts like "#0a5bc4"."""
    settle(browser)
    script = """const canvas = document.querySelector('#map .marks'), ratio = canvas.width / canvas.clientWidth;
        const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return arguments[0].map(([x, y]) => {
          const at = 4 * (Math.round(y * ratio) * width + Math.round(x * ratio));
          return '#' + [...data.slice(at, at + 3)].map((part) => part.toString(16).padStart(2, '0')).join('');
        });"""
    return browser.execute_script(script, [list(map(float, point)) for point in points])


def page_colours(browser):
    """Colours of the page by their names in style.css."""
    names = ["paper", "ink", "other", *(f"c{number}" for number in range(10))]
    script = (
        "const style = getComputedStyle(document.documentElement);"
        "return arguments[0].map((name) => style.getPropertyValue('--' + name).trim())"
    )
    return dict(zip(names, browser.execute_script(script, names), strict=True))


def picture(browser):
    """The pixels of the canvas as one text, to see whether anything changed."""
    settle(browser)
    return browser.execute_script("return document.querySelector('#map .marks').toDataURL()")


def drawn_as_kept(browser, model, points=None):
    """Objects whose mark is filled: their middle has the very colour of their class."""
    points = positions(browser, model) if points is None else points
    colours = page_colours(browser)
    own = [colours[f"c{code % 10}"] for code in model["objects"]["codes"]]
    return {index for index, colour in enumerate(colours_at(browser, points)) if is_close(colour, own[index])}


def is_close(colour, other, tolerance=6):
    """Whether two colours are the same up to rounding."""
    channels = [[int(text[start : start + 2], 16) for start in (1, 3, 5)] for text in (colour, other)]
    return max(abs(a - b) for a, b in zip(*channels, strict=True)) <= tolerance


def apart(points, distance):
    """Indices of points that have no other point within a distance."""
    gaps = np.abs(points[:, None] - points[None]).max(axis=2) + np.diag(np.full(len(points), np.inf))
    return set(np.flatnonzero(gaps.min(axis=1) > distance).tolist())
