"""Pages of data sets, for the tests of what is on them; users call ``protoset.report``."""

from protoset._report.building import build_report


def write_report(path, dataset, selector, **options):
    """Make a page and write it."""
    return build_report(dataset, selector, **options).write(path)
