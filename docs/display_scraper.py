"""Pictures of the gallery: Displays of protoset, which are not known to pyplot."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the Display that the last line of a block returned."""
    display = block_vars["example_globals"].get("___")
    figure = getattr(display, "figure_", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110, bbox_inches="tight")
    return figure_rst([path], gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    return scrape
