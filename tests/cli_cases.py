"""Files for the tests of the command, and how it is run."""

import atexit
import csv
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

SPECIES = np.array(["setosa", "versicolor", "virginica"])
COLUMNS = ["length", "width", "petal length", "petal width", "colour", "species"]

SERVER = """
import contextlib, io, json, os, sys
from protoset.cli import main
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    arguments, folder = json.loads(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), file=answers, flush=True)
"""


@functools.cache
def server():
    """A process that runs one command after the other, so that everything is imported once."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def run(*arguments, cwd=None):
    """Run the command, in the process that all these commands share."""
    process = server()
    process.stdin.write(json.dumps([[str(word) for word in arguments], str(cwd or os.getcwd())]) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, f"the process of the commands has ended with {process.wait()}"
    code, out, err = json.loads(answer)
    return subprocess.CompletedProcess(arguments, code, out, err)


def run_alone(*arguments, cwd=None, env=None):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "protoset", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=None if env is None else os.environ | env,
        check=False,
    )


FORKER = """
import json, os, select, signal, socket, sys
import protoset.experiments, protoset.paper, protoset.persistence, protoset._report
from protoset.cli import main
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while 0 not in select.select([0, listener], [], [])[0]:
    connection, _ = listener.accept()
    if os.fork():
        connection.close()
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    words, streams, _, _ = socket.recv_fds(connection, 2**16, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    code = 1
    try:
        folder, *arguments = json.loads(words)
        os.chdir(folder)
        code = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        connection.send(bytes([code]))
        os._exit(code)
"""
ASKER = """#!{python} -IS
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
socket.send_fds(connection, [json.dumps([os.getcwd(), *sys.argv[1:]]).encode()], [0, 1, 2])
sys.exit(connection.recv(1)[0])
"""


@functools.cache
def quick_command():
    """A file ``protoset`` that runs the command in a fork of a process that has everything imported."""
    folder = Path(tempfile.mkdtemp())
    address, file = str(folder / "address"), folder / "protoset"
    process = subprocess.Popen(
        [sys.executable, "-c", FORKER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(shutil.rmtree, folder)
    atexit.register(process.communicate)
    assert process.stdout.readline() == "ready\n"
    file.write_text(ASKER.format(python=sys.executable, address=address))
    file.chmod(0o755)
    return file


def run_json(*arguments, cwd=None):
    """Run the command with --json and return its document; nothing else may be on the standard output."""
    result = run(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def run_many(commands, cwd):
    """Run several commands; (code, out, err) of each."""
    results = [run(*command, cwd=cwd) for command in commands]
    return [[result.returncode, result.stdout, result.stderr] for result in results]


def write_files(folder):
    """Write a table with categories and labels that are texts, a UCR folder, a matrix with labels, strings."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    colours = np.where(y == 0, "red", rng.choice(["blue", "white"], len(y)))
    with open(folder / "flowers.csv", "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *zip(*X.T.tolist(), colours.tolist(), SPECIES[y].tolist(), strict=True)])
    # Other order, no labels, a colour that nobody has seen.
    with open(folder / "unlabelled.csv", "w", newline="") as file:
        rows = zip(["green"] * 15, *X[::10].T.tolist(), strict=True)
        csv.writer(file).writerows([["colour", *COLUMNS[:4]], *rows])
    np.savetxt(folder / "distances.csv", cdist(X, X), delimiter=",")
    (folder / "kinds.txt").write_text("\n".join(SPECIES[y]) + "\n")
    np.savetxt(folder / "rows.csv", cdist(X[::7], X), delimiter=",")
    (folder / "Bumps").mkdir()
    for part, n in (("TRAIN", 20), ("TEST", 30)):
        kind, t = np.arange(n) % 2, np.linspace(0, 1, 40)
        width = np.where(kind == 0, 0.05, 0.1)[:, None]
        series = np.exp(-(((t - rng.uniform(0.3, 0.7, (n, 1))) / width) ** 2))
        np.savetxt(folder / "Bumps" / f"Bumps_{part}.tsv", np.column_stack([kind + 1, series]), delimiter="\t")
    japanese = ["Sato", "Suzuki", "Takahashi", "Tanaka", "Watanabe", "Ito", "Yamamoto", "Nakamura", "Kobayashi", "Kato"]
    italian = ["Rossi", "Russo", "Ferrari", "Esposito", "Bianchi", "Romano", "Colombo", "Ricci", "Marino", "Greco"]
    lines = [f"Japan\t{name}" for name in japanese] + [f"Italy\t{name}" for name in italian]
    (folder / "names.txt").write_text("\n".join(lines) + "\n")
    (folder / "strangers.txt").write_text("Yamada\nRizzo\n")
    (folder / "empty.csv").write_text("")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    return folder
