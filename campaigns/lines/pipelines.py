"""Lines of the part "pipelines": steps with any parameters, and files that were changed by bytes and by structure."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.model_files import HEADER, JSON_VALUE
from campaigns.lines.text import SMALL_ODD, Text, arguments, fill, mostly, pick, some
from campaigns.model_files import ARRAY_CHANGES

BOOLEAN = mostly(pick("True", "False"), SMALL_ODD, 15)
PARAMETERS: dict[str, dict[str, Text]] = {
    "StandardScaler": {"with_mean": BOOLEAN, "with_std": BOOLEAN, "copy": BOOLEAN},
    "MinMaxScaler": {
        "feature_range": mostly(pick("(0, 1)", "(-2, 5.5)", "(np.float32(0), 1)"), SMALL_ODD, 8),
        "clip": BOOLEAN,
    },
    "RobustScaler": {
        "quantile_range": mostly(pick("(25, 75)", "(0.0, 100.0)", "(5, 5)"), SMALL_ODD, 8),
        "unit_variance": BOOLEAN,
        "with_centering": BOOLEAN,
        "with_scaling": BOOLEAN,
    },
    "OneHotEncoder": {
        "handle_unknown": pick("'ignore'", "'error'", "'infrequent_if_exist'", "'warn'"),
        "min_frequency": mostly(pick("2", "0.2", "None", "100"), SMALL_ODD, 8),
        "max_categories": mostly(pick("2", "1", "None"), SMALL_ODD, 8),
        "drop": mostly(pick("'first'", "'if_binary'", "None", "['red']"), SMALL_ODD, 8),
        "sparse_output": BOOLEAN,
        "dtype": pick("np.float32", "int", "bool", "np.dtype('>f8')", "object", "np.float16", "'float32'"),
        "categories": mostly(pick("'auto'"), SMALL_ODD, 8),
    },
    "SimpleImputer": {
        "strategy": pick("'mean'", "'median'", "'most_frequent'", "'constant'", "'x'"),
        "fill_value": mostly(pick("0", "'none'", "None", "-1.5"), SMALL_ODD, 8),
        "missing_values": mostly(pick("nan", "None", "0", "'red'"), SMALL_ODD, 8),
        "add_indicator": BOOLEAN,
        "keep_empty_features": BOOLEAN,
    },
}
"""Parameters of each class of steps."""


def _step(name: str) -> Text:
    made = some(PARAMETERS[name], 3).map(lambda given: f"{name}({arguments(given)})")
    return st.builds(lambda step, more: step + more, made, mostly(pick(""), OUTPUT, 4))


OUTPUT = pick(".set_output(transform='pandas')", ".set_output(transform='polars')", ".set_output(transform='default')")
SCALER = pick("StandardScaler", "MinMaxScaler", "RobustScaler", "SimpleImputer").flatmap(_step)
ENCODER = pick("OneHotEncoder", "OneHotEncoder", "SimpleImputer").flatmap(_step)
COLUMNS = pick("['a', 'b']", "[0, 1]", "slice(0, 2)", "slice('a', 'b')", "['b']", "[-4, 1]", "[]", "'a'", "[True] * 4")
TEXTS = pick("['colour']", "[2]", "['colour', 'level']", "[-2]", "slice(2, 4)", "np.array(['colour'])", "lambda X: [2]")
TRANSFORMER = fill(
    "ColumnTransformer([('n', {scaler}, {columns}), ('c', {encoder}, {texts})]{more}){output}",
    scaler=SCALER | pick("'passthrough'", "'drop'"),
    columns=COLUMNS,
    encoder=ENCODER,
    texts=TEXTS,
    more=pick("", "", ", remainder='passthrough'", ", remainder=StandardScaler()", ", sparse_threshold=1.0")
    | pick(", verbose_feature_names_out=False", ", transformer_weights={'n': 2.0}", ", n_jobs=1"),
    output=mostly(pick(""), OUTPUT, 4),
)
KEPT = st.one_of(
    fill("keep_pipeline(pipeline({t}, {s}), rows({n}))", t=TRANSFORMER, s=SCALER, n=pick("24", "8", "60")),
    fill("keep_pipeline(pipeline({t}), rows())", t=TRANSFORMER),
    fill("keep_pipeline(pipeline({s}, {t}), rows()[['a', 'b']])", s=SCALER, t=SCALER),
    fill("keep_pipeline(pipeline({s}), {X})", s=SCALER, X=pick("vectors(24)", "grid(24)", "vectors(24) * 1e200")),
)

FILE, NUMBER, CHANGE = "saved_pipeline()", st.integers(0, 12).map(str), pick(*map(repr, ARRAY_CHANGES))
VALUE = mostly(JSON_VALUE, pick("'os.system'", "{'class': 'eval'}", "{'array': ['f8', 0, [10**12]]}", "[[]] * 4"), 4)
LEAF = st.integers(0, 400).map(str)
CHANGED = st.one_of(
    fill("load_pipeline(with_json({f}, {leaf}, {value}))", f=pick(FILE), leaf=LEAF, value=VALUE),
    fill(
        "load_pipeline(with_json(with_json({f}, {leaf}, {value}), {other}, {second}))",
        f=pick(FILE),
        leaf=LEAF,
        value=VALUE,
        other=LEAF,
        second=VALUE,
    ),
    fill("load_pipeline(with_array({f}, {number}, {change}))", f=pick(FILE), number=NUMBER, change=CHANGE),
    fill("load_pipeline(damaged({f}, {seed}))", f=pick(FILE), seed=st.integers(0, 9999).map(str)),
    fill("load_pipeline(with_header({f}, {number}, {header}))", f=pick(FILE), number=NUMBER, header=HEADER),
    fill("load_pipeline(without_member({f}, {number}))", f=pick(FILE), number=NUMBER),
    fill("load_pipeline(swapped({f}, {number}, {other}))", f=pick(FILE), number=NUMBER, other=NUMBER),
)

LINES = KEPT | CHANGED
