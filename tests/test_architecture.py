"""Imports point one way, importing is cheap, and the library does not print."""

import ast
import subprocess
import sys
from pathlib import Path

import protoset

from conftest import ROOT

PACKAGE = Path(protoset.__file__).parent
COMPILERS = ("_compile", "_lanes")
"""Files beside the kernels that use the compiler: how functions are compiled, and vector code that they call."""
KERNELS = [path for path in (PACKAGE / "kernels").glob("*.py") if path.stem not in ("__init__", *COMPILERS)]

# Lower floors first. A module may import from its own floor's room and from the floors below.
FLOORS = [
    {"_bars", "_display", "_extras", "_frames"},
    {"_progress"},
    {
        "exceptions",
        "_version",
        "_estimators",
        "_validation",
        "_arrays",
        "_blocks",
        "_cluster",
        "_files",
    },
    {"kernels"},
    {"_memory", "_image_shapes"},
    {"_storage"},
    {"evaluation", "datasets"},
    {"spaces"},
    {"neighbors"},
    {"features"},
    {"solvers"},
    {"selectors"},
    {"adaptation"},
    {"decisions"},
    {"_streamed_classifier"},
    {"classifier"},
    {"_suspects"},
    {"models"},
    {"_step_values"},
    {"_step_kinds"},
    {"_pipelines"},
    {"persistence"},
    {"_export", "_standalone"},
    {"plots"},
    {"_report"},
    {"experiments"},
    {"paper"},
    {"demo", "_warmup"},
    {"cli"},
    {"__main__", "__init__"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "protoset":
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("protoset."))


def test_imports_point_one_way():
    for path in sorted(PACKAGE.rglob("*.py")):
        room = room_of(path)
        assert room in FLOOR_OF, f"{path.name} has no floor in this test"
        for other in imported_rooms(path):
            assert other in FLOOR_OF, f"{path.name} imports {other}, which has no floor in this test"
            assert other == room or FLOOR_OF[other] < FLOOR_OF[room], f"{path.name} ({room}) imports {other}"


def test_the_map_shows_every_file():
    architecture = (ROOT / "docs" / "architecture.md").read_text()
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name not in ("__init__.py", "__main__.py", "_version.py") and path.parent.name != "kernels":
            assert f"`{path.name}`" in architecture, f"{path.relative_to(PACKAGE)} is not in docs/architecture.md"


def test_solvers_know_nothing_of_the_method():
    """Pure functions on arrays: no spaces, lists or features."""
    for path in (PACKAGE / "solvers").glob("*.py"):
        assert not set(imported_rooms(path)) & {"spaces", "neighbors", "features"}


def test_kernels_import_nothing_but_numpy_and_each_other():
    for path in KERNELS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                others = (*COMPILERS, *(kernel.stem for kernel in KERNELS))
                assert set(names) <= {"numpy", "typing", *(f"protoset.kernels.{name}" for name in others)}, path.name


def test_kernels_are_compiled_in_one_way():
    for path in KERNELS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                decorator = node.decorator_list[0]
                name = decorator.func if isinstance(decorator, ast.Call) else decorator
                assert ast.unparse(name) in ("compiled", "part", "plain"), f"{path.name}: {node.name}"


def test_importing_compiles_nothing():
    """Numba is not even imported before a kernel is needed."""
    program = "import sys, protoset; print('numba' in sys.modules, 'matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]


def test_every_public_name_is_documented():
    for name in protoset.__all__:
        if name != "__version__":
            assert getattr(protoset, name).__doc__, name
