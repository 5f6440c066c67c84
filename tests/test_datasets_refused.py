"""Files that are not read are refused by the name of their format, with the way out; by ending and by content."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile

import numpy as np
import pytest

from protoset.datasets import read, read_queries
from protoset.datasets.refused_formats import REFUSED_BY_ENDING, REFUSED_FORMATS
from protoset.exceptions import DataError

pandas = pytest.importorskip("pandas", reason="no pandas: pip install pandas")

TABLE = pandas.DataFrame({"length": [1.5, 2.5, 3.5], "colour": ["red", "blue", "red"], "kind": ["a", "b", "a"]})
CSV = TABLE.to_csv(index=False).encode()


def written(write):
    target = io.BytesIO()
    write(target)
    return target.getvalue()


def zipped(**members):
    def write(target):
        with zipfile.ZipFile(target, "w") as archive:
            for name, content in members.items():
                archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)

    return written(write)


def tarred():
    def write(target):
        with tarfile.open(fileobj=target, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("table.csv"), io.BytesIO())

    return written(write)


def database(folder):
    with sqlite3.connect(folder / "made.sqlite") as connection:
        connection.execute("create table t (a, b)")
    connection.close()
    return (folder / "made.sqlite").read_bytes()


def contents(folder):
    """Return the content of a file of each format, by its ending; made by the usual programs where they are here."""
    pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'protoset[parquet]'")
    made = {
        ".xlsx": zipped(**{"[Content_Types]_dot_xml": "", "xl__workbook_dot_xml": "", "xl__worksheets__sheet1": ""}),
        ".xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
        ".ods": zipped(mimetype="application/vnd.oasis.opendocument.spreadsheet", content_dot_xml="<x/>"),
        ".json": TABLE.to_json(orient="records").encode(),
        ".jsonl": TABLE.to_json(orient="records", lines=True).encode(),
        ".feather": written(TABLE.to_feather),
        ".h5": b"\x89HDF\r\n\x1a\n" + bytes(100),
        ".pkl": pickle.dumps(TABLE),
        ".sav": b"$FL2@(#) SPSS DATA FILE" + bytes(100),
        ".dta": written(lambda target: TABLE.to_stata(target, write_index=False)),
        ".sas7bdat": bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92" + bytes(100),
        ".xpt": b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!",
        ".rds": b"X\n\x00\x00\x00\x03" + bytes(20),
        ".sqlite": database(folder),
        ".html": TABLE.to_html().encode(),
        ".xml": b'<?xml version="1.0"?>\n<data/>\n',
        ".bz2": bz2.compress(CSV),
        ".xz": lzma.compress(CSV),
        ".zst": b"\x28\xb5\x2f\xfd" + bytes(20),
        ".7z": b"7z\xbc\xaf\x27\x1c" + bytes(20),
        ".rar": b"Rar!\x1a\x07\x01\x00" + bytes(20),
        ".zip": zipped(table_dot_csv=CSV),
        ".tar": tarred(),
    }
    made["old.dta"] = written(lambda target: TABLE.to_stata(target, write_index=False, version=114))
    made["nested.json"] = json.dumps({"data": TABLE.to_dict("records")}, indent=1).encode()
    made["rows.json"] = json.dumps([[1, 2, "a"], [2, 3, "b"]]).encode()
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return contents(tmp_path_factory.mktemp("made"))


def refusal(path, **options):
    with pytest.raises(DataError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: is a")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_every_format_has_an_example(made):
    of_examples = {REFUSED_BY_ENDING["." + name.rpartition(".")[2]] for name in made}
    assert of_examples == set(REFUSED_FORMATS)


def test_a_file_is_refused_by_its_content_under_any_name(tmp_path, made):
    for name, content in made.items():
        record = REFUSED_BY_ENDING["." + name.rpartition(".")[2]]
        for ending in (name, ".csv", ".dat", ".tsv", "", ".csv.gz"):
            path = tmp_path / f"x{ending}"
            path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
            assert refusal(path) == f"is {record.what}, which protoset does not read; {record.way_out}"
            with pytest.raises(DataError, match=record.what):
                read(path, format="csv")
            for kind in ("vectors", "series", "strings", "matrix"):
                with pytest.raises(DataError, match=record.what):
                    read_queries(path, kind=kind)


def test_a_file_is_refused_by_its_ending_and_can_be_read_by_the_name_of_its_format(tmp_path):
    for ending, record in REFUSED_BY_ENDING.items():
        path = tmp_path / f"x{ending.upper()}"
        path.write_bytes(CSV)
        message = refusal(path)
        assert message.startswith(f"is {record.what} by its name, which protoset does not read; {record.way_out}")
        assert message.endswith("; if it is a text table under this name, pass format='csv'")
        assert read(path, format="csv", target="kind").labels.tolist() == ["a", "b", "a"]
        for kind in ("vectors", "series", "strings", "matrix"):
            with pytest.raises(DataError, match=record.what):
                read_queries(path, kind=kind)


def test_messages_say_what_to_do(tmp_path, made):
    path = tmp_path / "penguins.xlsx"
    path.write_bytes(made[".xlsx"])
    assert refusal(path) == (
        "is an Excel file, which protoset does not read; save the sheet as CSV, or read it with pandas.read_excel and "
        "write it with to_csv('NAME.csv', index=False)"
    )


def test_what_is_read_stays_read(tmp_path):
    D = np.array([[0.0, 1], [1, 0]])
    np.savez(tmp_path / "x.npz", D=D, labels=["a", "b"])
    (tmp_path / "x.npz").rename(tmp_path / "arrays.zip")
    assert read(tmp_path / "arrays.zip").objects.tolist() == D.tolist()
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(CSV))
    assert read(tmp_path / "x.csv.gz", target="kind").n_objects == 3
    # Strings that look like the beginning of other files.
    (tmp_path / "smiles.txt").write_text("[2H]C\n[Na+]\n{x}\nBZ\nPK\n<x>\n")
    assert len(read_queries(tmp_path / "smiles.txt", kind="strings")) == 6


def test_a_format_by_name(tmp_path):
    path = tmp_path / "table.of_mine"
    path.write_text("1;2;a\n2;3;b\n")
    for message, name in ((r"format='cvs' is not known \(did you mean 'csv'", "cvs"), ("format=3 is not known", 3)):
        with pytest.raises(DataError, match=message):
            read(path, format=name)
    assert read(path, format="csv").labels.tolist() == ["a", "b"]
    with pytest.raises(DataError, match=r"expected a Parquet file"):
        read(path, format="parquet")
    with pytest.raises(DataError, match=r"format='csv' is for a file, and this is a folder"):
        read(tmp_path, format="csv")
    with pytest.raises(DataError, match=r"takes no target="):
        read(path, format="strings", target=0)
