"""Small files with a large content: refused before they are unpacked, and allowed by name."""

import gzip
import io
import json
import re
import zipfile
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from protoset.datasets import read, read_queries
from protoset.exceptions import DataError

from conftest import run_measured

ZEROS = 400 * 10**6
"""Bytes of the large contents: with the libraries, more than reading may take."""


def npy_header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


def write_zeros(file, n_zeros=ZEROS):
    for _ in range(n_zeros // 10**6):
        file.write(bytes(10**6))


def write_gz(path):
    with gzip.open(path, "wb", compresslevel=1) as file:
        write_zeros(file)


def write_npz(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("D.npy", "w", force_zip64=True) as file,
    ):
        file.write(npy_header((7071, 7071)))
        write_zeros(file)


def write_npz_with_a_wrong_size(path):
    write_npz(path)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(content)


def write_mat(path):
    pack, header = zlib.compressobj(1), io.BytesIO()
    savemat(header, {"D": np.zeros((2, 2))})
    element = b"".join(pack.compress(bytes(10**6)) for _ in range(ZEROS // 10**6)) + pack.flush()
    tag = (15).to_bytes(4, "little") + len(element).to_bytes(4, "little")
    path.write_bytes(header.getvalue()[:128] + tag + element)


def write_arff(path):
    declared = "".join(f"@attribute a{at} real\n" for at in range(5000))
    path.write_text(f"@relation x\n{declared}@attribute class {{p,q}}\n@data\n" + "{}\n" * 100_000)


def write_long_label(path):
    path.write_text("a,b\n" * 600_000 + f"a,{'b' * 100_000}\n")


REFUSED = {
    "x.csv.gz": (write_gz, r"unpacks to more than the 200\.0 MB that max_bytes allows"),
    "x.npz": (write_npz, r"has a content of 400\.0 MB, but max_bytes allows only 200\.0 MB; .*pass max_bytes=400000"),
    "wrong.npz": (write_npz_with_a_wrong_size, "expected"),
    "x.mat": (write_mat, "but max_bytes allows only 200.0 MB"),
    "x.arff": (write_arff, r"has a content of 12\.0 GB, but max_bytes allows only"),
    "x.csv": (write_long_label, "expected class labels, found a text of 100000 characters, 'bbb"),
}

PROGRAM = """
import json, sys
from protoset.datasets import read
from protoset.exceptions import DataError
outcomes = {}
for path in sys.argv[1:]:
    try:
        options = {"target": -1} if path.endswith("numbers.csv") else {}
        outcomes[path.rpartition("/")[2]] = read(path, **options).n_objects
    except DataError as error:
        outcomes[path.rpartition("/")[2]] = str(error)
print(json.dumps(outcomes))
"""


def read_measured(paths):
    assert all(path.stat().st_size <= 5_000_000 for path in paths)
    output, peak = run_measured(PROGRAM, *paths)
    assert peak < 500_000_000
    return json.loads(output)


@pytest.mark.slow
def test_small_files_with_a_large_content_are_refused(tmp_path):
    for name, (write, _) in REFUSED.items():
        write(tmp_path / name)
    outcomes = read_measured([tmp_path / name for name in REFUSED])
    for name, (_, message) in REFUSED.items():
        assert re.search(message, str(outcomes[name])), outcomes[name]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'protoset[parquet]'")
    from pyarrow import parquet

    # Equal numbers take no room in the file.
    block = pyarrow.table({"a": np.zeros(10**6, np.int64), "class": np.zeros(10**6, np.int64)})
    with parquet.ParquetWriter(tmp_path / "numbers.parquet", block.schema) as writer:
        for _ in range(20):
            writer.write_table(block)
    # Nor do equal texts.
    codes = pyarrow.array(np.arange(100_000, dtype=np.int32) // 50_000)
    texts = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["long" * 2_500, "text" * 2_500]))
    table = pyarrow.table({"a": texts, "class": np.arange(100_000) % 2})
    for name, keeps_schema in (("dictionary", True), ("texts", False)):
        parquet.write_table(table, tmp_path / f"{name}.parquet", store_schema=keeps_schema)
    names = ["numbers.parquet", "dictionary.parquet", "texts.parquet"]
    outcomes = read_measured([tmp_path / name for name in names])
    assert "has a content of 2.2 GB, but max_bytes allows only 200.0 MB" in outcomes["numbers.parquet"]
    assert outcomes["dictionary.parquet"] == outcomes["texts.parquet"] == 100_000


@pytest.mark.slow
def test_a_line_of_very_many_channels(tmp_path):
    path = tmp_path / "x.ts"
    path.write_text("@classLabel true a b\n@data\n" + "".join(f"{'1:' * 1_200_000}{label}\n" for label in "ab"))
    assert read_measured([path]) == {"x.ts": 2}
    assert [series.shape for series in read(path).objects] == [(1, 1_200_000)] * 2


def test_a_larger_content_is_read_if_it_is_allowed(tmp_path):
    matrix = np.zeros((600, 600))
    np.savez_compressed(tmp_path / "x.npz", D=matrix, labels=np.arange(600) % 2)
    savemat(tmp_path / "x.mat", {"D": matrix, "labels": np.arange(600) % 2}, do_compression=True)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"1,2,a\n3,4,b\n" * 20_000))
    for name in ("x.npz", "x.mat", "x.csv.gz"):
        path = tmp_path / name
        with pytest.raises(DataError, match=rf"{name}.* max_bytes allows.* pass a? ?(larger )?max_bytes"):
            read(path, max_bytes="100KB")
        assert read(path, max_bytes="4MB").n_objects == read(path).n_objects
    with pytest.raises(DataError, match="max_bytes allows"):
        read_queries(tmp_path / "x.npz", kind="matrix", max_bytes=10_000)
    assert len(read_queries(tmp_path / "x.npz", kind="matrix", max_bytes=10_000_000)) == 600
    with pytest.raises(ValueError, match="max_bytes='lots' is not a size of memory"):
        read(tmp_path / "x.npz", max_bytes="lots")


def test_a_header_of_many_terabytes(tmp_path):
    for name, content in {"x.npy": npy_header((10**6, 10**6)) + bytes(80), "x.npz": None}.items():
        path = tmp_path / name
        if content is None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("D.npy", npy_header((10**6, 10**6)) + bytes(80))
        else:
            path.write_bytes(content)
        with pytest.raises(
            DataError, match=r"expected an array of 8\.0 TB as its header says, found 80 B; the file is"
        ):
            read(path, labels=["a", "b"])


def test_a_matrix_without_objects(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0, 0)))
    with pytest.raises(DataError, match="found one without objects"):
        read(tmp_path / "x.npy", labels=[])


SHORT_ROWS = {
    "x.csv": "ab,1\ncd,2\n" * 500_000,
    "X_TRAIN.tsv": "1\t1\n2\t1\n" * 500_000,
    "x.ts": "@classLabel true a b\n@data\n" + "1:a\n2:b\n" * 500_000,
    "x.dat": "@relation x\n@attribute a real\n@attribute class {a,b}\n@data\n" + "1,a\n2,b\n" * 500_000,
    "x.arff": "@relation x\n@attribute a real\n@attribute class {a,b}\n@data\n" + "1,a\n2,b\n" * 500_000,
}


@pytest.mark.parametrize("name", ["x.csv", *(pytest.param(name, marks=pytest.mark.slow) for name in [*SHORT_ROWS][1:])])
def test_files_of_many_short_rows(name, tmp_path):
    (tmp_path / name).write_text(SHORT_ROWS[name])
    assert read_measured([tmp_path / name]) == {name: 1_000_000}


def test_many_labels_of_few_objects(tmp_path):
    header = io.BytesIO()
    about = {"descr": "<U0", "fortran_order": False, "shape": (300_000_000,)}
    np.lib.format.write_array_header_1_0(header, about)
    np.savez(tmp_path / "x.npz", D=np.zeros((2, 2)))
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr("labels.npy", header.getvalue())
    (found,) = read_measured([tmp_path / "x.npz"]).values()
    assert "expected a label for each object in 'labels', found 300,000,000 labels" in found


@pytest.mark.slow
def test_a_table_of_a_million_columns(tmp_path):
    numbers, both = tmp_path / "numbers.csv", tmp_path / "both.csv"
    numbers.write_text("".join(",".join([value] * 1_000_000) + "\n" for value in "12"))
    both.write_text("".join(",".join([value] * 999_999) + f',"{value}x"\n' for value in "12"))
    assert read_measured([numbers]) == {"numbers.csv": 2}
    assert read_measured([both]) == {"both.csv": 2}


def test_a_table_of_more_than_a_million_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1," * 1_000_000 + "2\n")
    with pytest.raises(DataError, match="has 1,000,001 columns, more than 1,000,000; transpose it"):
        read(path)
