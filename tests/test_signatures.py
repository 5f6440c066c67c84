"""Functions take few positional arguments: longer lists are keyword-only, or grouped."""

import ast
from pathlib import Path

import protoset

PACKAGE = Path(protoset.__file__).parent
MOST_POSITIONAL = 12


def functions(path):
    """All functions and methods of a file, with the number of arguments that may be passed by position."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            yield node, len(names) - (names[:1] in (["self"], ["cls"]))


def test_positional_arguments_are_few():
    """Kernels are exempt: Numba takes arrays by position."""
    too_many = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} has {count}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name != "kernels"
        for node, count in functions(path)
        if count > MOST_POSITIONAL
    ]
    assert not too_many


def test_the_count_sees_positional_arguments_alone(tmp_path):
    path = tmp_path / "example.py"
    path.write_text("class A:\n    def f(self, a, /, b, *c, d=1, **e): pass\ng = lambda x, y: x\n")
    assert [count for _, count in functions(path)] == [2, 2]
