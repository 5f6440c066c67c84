"""Lines of the part "weights": weights of objects and classes, and functions that score."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.objects import SEED
from campaigns.lines.text import ODD, SMALL_ODD, arguments, fill, mostly, pick, some

SIZE = pick("'auto'", "'auto'", "0.3", "5")
CLASS_WEIGHT = mostly(
    pick("'balanced'", "{0: 2}", "{0: 1e-12, 1: 1e12}", "{0: 0.5, 1: 3}", "{}", "{1.0: 2}", "{True: 2}"),
    pick("{0: 0}", "{0: nan}", "{7: 1}", "{'0': 1}", "{0: 1e13}", "{0: 1e-13}", "{0: None}", "{0: 10**400}", "{0: 3j}")
    | SMALL_ODD,
    4,
)
SCORING = mostly(
    pick("'accuracy'", "'balanced_accuracy'", "lambda a, b: float((a == b).mean())")
    | pick("lambda a, b, sample_weight: float(sample_weight[a == b].sum())"),
    pick("lambda a, b: nan", "lambda a, b: None", "lambda a, b: 'x'", "lambda a, b: 10**400", "lambda a, b: 3j")
    | SMALL_ODD.filter(lambda text: text != "len"),
    8,
)
OPTIONS = some({"class_weight": CLASS_WEIGHT, "scoring": SCORING, "size_rule": pick("'lowest_error'")}, 2)
SELECTOR = st.builds(
    lambda size, own, is_refined: (
        f"Refined({reps}, n_starts=1)"
        if (reps := f"REPS({', '.join([size, *filter(None, [arguments(own)])])})") and is_refined
        else reps
    ),
    SIZE,
    OPTIONS,
    pick("", "", "yes"),
)
OBJECTS = pick("vectors({n}, 2, {seed})", "grid({n}, 2, {seed})", "np.round(vectors({n}, 2, {seed}))")
WEIGHTS = mostly(
    pick("np.ones({n})", "np.arange({n}) % 3", "np.full({n}, 0.1)", "10.0 ** (np.arange({n}) % 25 - 12)")
    | pick("np.full({n}, 1e12)", "np.full({n}, 1e-12)", "vectors({n}, 1)[:, 0] ** 2 + 0.01", "[True] * {n}")
    | pick("np.r_[0.9, np.ones({n} - 1)]", "np.r_[1e-12, np.ones({n} - 1)]", "np.r_[1e12, np.ones({n} - 1)]"),
    pick("np.zeros({n})", "-np.ones({n})", "np.ones({n} - 1)", "np.full({n}, nan)", "np.full({n}, 1e308)", "3")
    | pick("np.full({n}, 5e-324)", "[None] * {n}", "['1'] * {n}", "np.full({n}, 1j)", "labels({n})", "[10**400] * {n}")
    | pick("pd.Series(np.ones({n}))", "np.ones(({n}, 1))", "np.eye({n})[0]", "np.full({n}, np.float16(0.5))")
    | ODD,
    3,
)


@st.composite
def weight_lines(draw: st.DrawFn) -> str:
    """Draw a fit with weights, or one with weights that are counts."""
    n, seed = draw(st.sampled_from((4, 8, 20, 40))), draw(SEED)
    X, y = draw(OBJECTS).format(n=n, seed=seed), f"labels({n}, {draw(pick('2', '3'))})"
    if draw(st.booleans()):
        return f"weighted({draw(SELECTOR)}, {X}, {y}, {draw(WEIGHTS).replace('{n}', str(n))})"
    size = draw(mostly(SIZE, pick("0.5"), 3))
    made = draw(pick(f"REPS({size})", f"REPS({size}, class_weight='balanced')", f"Refined(REPS({size}), n_starts=1)"))
    counts = draw(
        fill("1 + np.arange({n}) * {step} % {most}", n=pick(str(n)), step=pick("1", "5"), most=pick("2", "4"))
    )
    return f"counted({made}, {X}, {y}, {counts}, {seed})"


LINES = weight_lines()
