"""Files that are not read: each is refused by its name, with the way out."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

from protoset.datasets._errors import error_at
from protoset.exceptions import DataError


@dataclass(frozen=True)
class RefusedFormat:
    """A format that is not read: what it is, the way out, endings of its files, and how their content begins."""

    what: str
    way_out: str
    endings: tuple[str, ...]
    begins: re.Pattern[bytes] | None = None


def _by_pandas(reader: str) -> str:
    return f"read it with pandas.{reader} and write it with to_csv('NAME.csv', index=False)"


UNPACK_IT = "unpack it, and pass a file that was in it; of compressed files, .gz is read as it is"
"""Way out for compressed files and archives."""

EXCEL = RefusedFormat(
    "an Excel file",
    f"save the sheet as CSV, or {_by_pandas('read_excel')}",
    (".xlsx", ".xlsm", ".xlsb", ".xls"),
    re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
)
OPEN_DOCUMENT = RefusedFormat(
    "an OpenDocument file", f"save the sheet as CSV, or {_by_pandas('read_excel')}", (".ods", ".fods")
)
ZIP = RefusedFormat("a zip archive", UNPACK_IT, (".zip",))
TAR = RefusedFormat("a tar archive", UNPACK_IT, (".tar", ".tgz", ".tbz2", ".txz"))

REFUSED_FORMATS: tuple[RefusedFormat, ...] = (
    EXCEL,
    OPEN_DOCUMENT,
    RefusedFormat(
        "a file of JSON lines",
        _by_pandas("read_json(..., lines=True)"),
        (".jsonl", ".ndjson"),
        re.compile(rb'\s*\{\s*"([^"\\\n]|\\.)*"\s*:[^\n]*\}[ \t]*\r?\n\s*\{'),
    ),
    RefusedFormat(
        "a JSON file",
        _by_pandas("read_json"),
        (".json", ".geojson"),
        re.compile(rb'\s*(\[\s*)?\{\s*"([^"\\\n]|\\.)*"\s*:|\s*\[\s*\['),
    ),
    RefusedFormat(
        "a Feather or Arrow file",
        "write it as a Parquet file, for example with pandas.read_feather(...).to_parquet('NAME.parquet')",
        (".feather", ".arrow", ".ipc", ".arrows"),
        re.compile(rb"ARROW1|FEA1"),
    ),
    RefusedFormat(
        "an HDF5 file",
        _by_pandas("read_hdf") + ", or write its arrays with numpy.savez",
        (".h5", ".hdf5", ".hdf", ".he5"),
        re.compile(rb"\x89HDF\r\n\x1a\n"),
    ),
    RefusedFormat(
        "a pickle file",
        f"a pickle can run code when it is opened; if you trust it, {_by_pandas('read_pickle')}",
        (".pkl", ".pickle", ".joblib"),
        re.compile(rb"\x80[\x02-\x05]"),
    ),
    RefusedFormat("an SPSS file", _by_pandas("read_spss"), (".sav", ".zsav"), re.compile(rb"\$FL[23]")),
    RefusedFormat(
        "a Stata file", _by_pandas("read_stata"), (".dta",), re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00")
    ),
    RefusedFormat(
        "a SAS file",
        _by_pandas("read_sas"),
        (".sas7bdat", ".xpt"),
        re.compile(rb"\x00{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf|HEADER RECORD\*{7}LIB"),
    ),
    RefusedFormat(
        "an R file",
        "write the table in R with write.csv(x, 'NAME.csv', row.names = FALSE)",
        (".rds", ".rdata", ".rda"),
        re.compile(rb"RDX[23]\n|X\n\x00\x00\x00"),
    ),
    RefusedFormat(
        "an SQLite database",
        _by_pandas("read_sql"),
        (".sqlite", ".sqlite3", ".db"),
        re.compile(rb"SQLite format 3\x00"),
    ),
    RefusedFormat(
        "an HTML page",
        _by_pandas("read_html"),
        (".html", ".htm", ".xhtml"),
        re.compile(rb"(\xef\xbb\xbf)?\s*<(!doctype\s+html|html|table)\b", re.IGNORECASE),
    ),
    RefusedFormat(
        "an XML file", _by_pandas("read_xml"), (".xml",), re.compile(rb"(\xef\xbb\xbf)?\s*<\?xml\b", re.IGNORECASE)
    ),
    RefusedFormat("a bzip2 file", UNPACK_IT, (".bz2",), re.compile(rb"BZh[1-9]")),
    RefusedFormat("an xz file", UNPACK_IT, (".xz", ".lzma"), re.compile(rb"\xfd7zXZ\x00")),
    RefusedFormat("a Zstandard file", UNPACK_IT, (".zst",), re.compile(rb"\x28\xb5\x2f\xfd")),
    RefusedFormat("a 7z archive", UNPACK_IT, (".7z",), re.compile(rb"7z\xbc\xaf\x27\x1c")),
    RefusedFormat("a RAR archive", UNPACK_IT, (".rar",), re.compile(rb"Rar!\x1a\x07")),
    ZIP,
    TAR,
)
"""The formats that are refused by name; where two fit a content, the first counts."""

REFUSED_BY_ENDING = {extension: record for record in REFUSED_FORMATS for extension in record.endings}
"""Refused formats by the ending of a file name."""


def refuse_content(file: str, content: bytes) -> None:
    """Raise an error that names the format, if the content is of a format that is not read."""
    record = _of_content(content)
    if record is not None:
        raise _refusal(file, f"is {record.what}", record)


def refuse_ending(file: str, extension: str) -> None:
    """Raise an error that names the format, if files with this ending are of a format that is not read."""
    record = REFUSED_BY_ENDING.get(extension)
    if record is not None:
        raise _refusal(
            file,
            f"is {record.what} by its name",
            record,
            "; if it is a text table under this name, pass format='csv'",
        )


def _refusal(file: str, what: str, record: RefusedFormat, more: str = "") -> DataError:
    return error_at(file, f"{what}, which protoset does not read; {record.way_out}{more}")


def _of_content(content: bytes) -> RefusedFormat | None:
    if content.startswith(b"PK\x03\x04"):
        return _of_zip(content)
    if content[257:262] == b"ustar":
        return TAR
    return next((record for record in REFUSED_FORMATS if record.begins and record.begins.match(content)), None)


def _of_zip(content: bytes) -> RefusedFormat | None:
    """Return what a zip archive is; None for arrays of NumPy, which are read, and for a damaged archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    # The module does not document all errors that a damaged archive raises.
    except Exception:
        return None
    if names and all(name.endswith(".npy") for name in names):
        return None
    if any(name.startswith("xl/") for name in names):
        return EXCEL
    return OPEN_DOCUMENT if "mimetype" in names and "content.xml" in names else ZIP
