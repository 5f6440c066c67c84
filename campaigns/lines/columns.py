"""Lines of the parts "columns" and "matrices": options of tables, and matrices with names."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.text import arguments, mostly, pick, some

NAMES = pick("a", "b", "id", "row", "name", "prediction", "probability", "year", "é 🦊", "名", "A", "column 2", "", "y")
ODD_NAME = pick("a", "1", "2020", "class", "target", "?", "NA", " x ", "=1+1", "*", "a b", "-1", "label")
CELLS = {
    "number": pick("0", "1", "2.5", "-3", "1e3", "7"),
    "text": pick("x", "y", "z", "é", "x y"),
    "date": pick("2020-01-31", "2021-02-01", "1999-12-31"),
    "day first": pick("31.12.2020", "01.02.2021"),
    "doubtful date": pick("01/02/2020", "03/04/2021"),
    "percent": pick("5 %", "12.5 %"),
    "constant": pick("1"),
    "empty": pick(""),
    "comma": pick("1,5", "2,25", "1.000,5"),
}
ODD_CELL = pick("", "?", "NA", "x", "1", "inf", "'", "1e999", "٣", "2020-02-30", "%")
COLUMN = mostly(NAMES, ODD_NAME, 6)
POSITION = pick("0", "1", "-1", "99", "True", "1.5", "None")
COLUMN_OR_ODD = mostly(COLUMN.map(repr), POSITION, 6)
COLUMNS = mostly(COLUMN_OR_ODD, st.lists(COLUMN_OR_ODD, max_size=3).map(lambda own: f"[{', '.join(own)}]"), 3)
OPTIONS = some(
    {
        "ignore": COLUMNS,
        "use": mostly(COLUMNS, pick("'*'", "['*', 'a']"), 4),
        "id": COLUMN_OR_ODD,
        "categorical": COLUMNS,
        "numeric": COLUMNS,
        "text": COLUMN_OR_ODD,
        "header": pick("True", "False", "None", "3"),
        "separator": pick("','", "';'", "'|'", "'\\t'", "''", "';;'", "'1'", "'a'"),
        "decimal": pick("','", "'.'", "'x'"),
        "target": mostly(pick("'class'", "-1", "False"), COLUMN.map(repr), 4),
        "kind": pick("'vectors'", "'mixed'"),
    },
    3,
)


@st.composite
def column_lines(draw: st.DrawFn) -> str:
    """Draw a table of columns of some types, and options about them."""
    width, n = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 5, 12, 25]))
    comma = draw(pick(",", ",", ";", "\t", "|"))
    kinds = [draw(pick("row", "unique", *CELLS)) for _ in range(width)]
    names = [draw(COLUMN) for _ in kinds]
    columns = []
    for kind in kinds:
        if kind in ("row", "unique"):
            columns.append([str(7 * row % n + 1) if kind == "row" else f"n{row}" for row in range(n)])
        else:
            columns.append([draw(mostly(CELLS[kind], ODD_CELL, 60)) for _ in range(n)])
    columns.append([draw(mostly(pick("u", "v"), ODD_CELL, 60)) for _ in range(n)])
    quoted = [[f'"{cell}"' if comma in cell else cell for cell in row] for row in zip(*columns, strict=True)]
    header = [[*names, draw(mostly(pick("class"), COLUMN, 5))]] if draw(st.integers(0, 4)) else []
    text = "\n".join(comma.join(row) for row in [*header, *quoted])
    own = arguments(draw(OPTIONS))
    return f"read_columns({text!r}{', ' if own else ''}{own})"


DISTANCE = mostly(pick("0", "1", "0.5", "2.25", "1e-3"), pick("-1", "nan", "", "x", "1e999", "0,5"), 40)
OBJECT = mostly(pick("Alpha", "Beta", "a b", "é", "1", "2", "t 1", "名"), pick("", "Alpha", '"q"', "0.5", "inf"), 10)


@st.composite
def matrix_lines(draw: st.DrawFn) -> str:
    """Draw a matrix with names, as pandas, R and PHYLIP write it, whole or as a triangle, here and there broken."""
    n = draw(st.integers(1, 5))
    numbers = [[draw(DISTANCE) for _ in range(n)] for _ in range(n)]
    for row in range(n):
        numbers[row][row] = "0"
        for column in range(row):
            numbers[row][column] = numbers[column][row]
    names = [f"{draw(OBJECT)}{row if draw(st.booleans()) else ''}" for row in range(n)]
    form, ending = draw(pick("pandas", "r", "across", "down", "phylip", "strict", "lower")), ".csv"
    comma = draw(pick(",", ",", ";", "\t", " "))
    rows = [[name, *row] for name, row in zip(names, numbers, strict=True)]
    if form in ("phylip", "strict", "lower"):
        ending = draw(pick(".phy", ".phylip", ".dist"))
        cut = [row[: position + 1] if form == "lower" else row for position, row in enumerate(rows)]
        lines = [f"{row[0][:10]:<10}{' '.join(row[1:])}" if form == "strict" else " ".join(row) for row in cut]
        lines = [draw(mostly(pick(str(n)), pick("0", "-1", "99999999999", "x", "", "3", "1e9"), 8)), *lines]
    else:
        head = {"pandas": ["", *names], "r": names, "across": names, "down": None}[form]
        body = numbers if form == "across" else rows
        lines = [comma.join(row) for row in [*([head] if head is not None else []), *body]]
    if draw(st.integers(0, 7)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(pick("", "x", "0", lines[-1], "\t", '"', "\ufeff", " 0 0")))
    labels = draw(
        mostly(pick(f"labels({n})"), pick("['Alpha,u', 'Beta,v']", "{'Alpha': 1}", "[]", "3", "None", "'x'"), 5)
    )
    return f"read_names({ending!r}, {chr(10).join(lines)!r}, labels={labels})"


COLUMNS_LINES, MATRIX_LINES = column_lines(), matrix_lines()
