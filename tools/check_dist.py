"""Check a folder with a source distribution and a wheel; `make dist` calls it.

The files of the wheel are compared with those of the package. Then the wheel is installed in a fresh environment, where
nothing of the sources is on the path, and the first example of the README and the command run there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

NEEDED_IN_SOURCES = ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "Makefile", "tests/conftest.py", "docs")
"""Files and folders without which a source distribution cannot be built, tested or read."""

NEEDED_IN_WHEEL = (
    r"protoset/py\.typed",
    r"protoset/_report/page/page\.html",
    r"protoset/_report/page/\w+\.js",
    r"protoset/paper/plans/[\w-]+\.toml",
    r"protoset/paper/tables/\w+\.csv",
    r"protoset-[^/]+\.dist-info/licenses/LICENSE",
)
"""Patterns of files that a wheel has beside modules."""

TABLE = "width,height,kind\n" + "".join(
    f"{column + 5 * (row % 2)},{row % 7},{'ab'[row % 2]}\n" for row in range(20) for column in range(3)
)
"""A table with two classes that lie apart, for the command."""


def package_files() -> set[str]:
    """Return the files of the package as a wheel names them."""
    files = (path for path in (ROOT / "src" / "protoset").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in files if "__pycache__" not in path.parts}


def check_wheel(names: list[str], expected: set[str]) -> list[str]:
    """Return what is wrong with the names of the files in a wheel."""
    files = {name for name in names if ".dist-info/" not in name}
    faults = [f"the wheel lacks {name}" for name in sorted(expected - files)]
    faults += [f"the wheel has {name}, which is no file of the package" for name in sorted(files - expected)]
    for pattern in NEEDED_IN_WHEEL:
        if not any(re.fullmatch(pattern, name) for name in names):
            faults.append(f"the wheel has no file like {pattern}")
    return faults


def check_sources(names: list[str]) -> list[str]:
    """Return what is wrong with the names of the files in a source distribution."""
    files = {name.split("/", 1)[-1] for name in names}
    faults = [
        f"the source distribution lacks {needed}"
        for needed in NEEDED_IN_SOURCES
        if not any(name == needed or name.startswith(f"{needed}/") for name in files)
    ]
    unwanted = (name for name in files if "__pycache__" in name or name.startswith((".venv", ".ci/", "dist/")))
    return faults + [f"the source distribution has {name}" for name in sorted(unwanted)]


def first_example(readme: str) -> tuple[str, list[str]]:
    """Return the first Python block of a README, and the lines that it promises to print."""
    program = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[0]
    return program, re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder, without the paths of this process, and return its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))[:200]} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel in a fresh environment in a folder; run the first example of the README and the command."""
    venv.create(folder / "environment", with_pip=False)
    programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--quiet")
    run(*pip, "install", f"{wheel.resolve()}[cli]", folder=folder)
    origin = run(python, "-c", "import protoset; print(protoset.__file__)", folder=folder).strip()
    if not Path(origin).resolve().is_relative_to((folder / "environment").resolve()):
        sys.exit(f"the environment imports protoset from {origin}, not from the wheel")
    program, promised = first_example((ROOT / "README.md").read_text(encoding="utf-8"))
    printed = run(python, "-W", "error", "-c", program, folder=folder).splitlines()
    if printed != promised:
        sys.exit(f"the first example of the README prints {printed}, it promises {promised}")
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    protoset = programs / "protoset"
    run(protoset, "select", "table.csv", "--model", "table.protoset", "--report", "table.html", folder=folder)
    answers = run(protoset, "predict", "table.protoset", "table.csv", "--columns", "row,prediction", folder=folder)
    if not {"0,a", "3,b"} <= set(answers.splitlines()):
        sys.exit(f"protoset predict answers {answers[:200]!r} for a table with two classes that lie apart")
    print(run(protoset, "version", folder=folder).splitlines()[0], "works from the wheel")


def main(folder: Path) -> None:
    """Check the wheel and the source distribution in a folder."""
    (wheel,), (sources,) = list(folder.glob("*.whl")), list(folder.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        faults = check_wheel(archive.namelist(), package_files())
    with tarfile.open(sources) as archive:
        faults += check_sources(archive.getnames())
    if faults:
        sys.exit("\n".join(faults))
    with tempfile.TemporaryDirectory() as empty:
        try_wheel(wheel, Path(empty))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
