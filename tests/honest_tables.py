"""Tables as people have them, made here: with ids, dates, units, ties, rare classes and names.

Figures of real data (penguins, the Titanic) follow their published summaries.
"""

import csv
import datetime
import io

import numpy as np

TITANIC_COUNTS = {
    # (class, sex, age): (died, survived), from the official report of 1912 as Dawson (1995) tabulates it
    ("1st", "male", "adult"): (118, 57),
    ("1st", "male", "child"): (0, 5),
    ("1st", "female", "adult"): (4, 140),
    ("1st", "female", "child"): (0, 1),
    ("2nd", "male", "adult"): (154, 14),
    ("2nd", "male", "child"): (0, 11),
    ("2nd", "female", "adult"): (13, 80),
    ("2nd", "female", "child"): (0, 13),
    ("3rd", "male", "adult"): (387, 75),
    ("3rd", "male", "child"): (35, 13),
    ("3rd", "female", "adult"): (89, 76),
    ("3rd", "female", "child"): (17, 14),
    ("crew", "male", "adult"): (670, 192),
    ("crew", "female", "adult"): (3, 20),
}

PENGUINS = {
    # species: (birds, islands, (mean, deviation) of bill length, bill depth, flipper length and body mass), Horst 2020
    "Adelie": (152, ("Biscoe", "Dream", "Torgersen"), ((38.8, 2.7), (18.3, 1.2), (190, 6.5), (3701, 459))),
    "Chinstrap": (68, ("Dream",), ((48.8, 3.3), (18.4, 1.1), (196, 7.1), (3733, 384))),
    "Gentoo": (124, ("Biscoe",), ((47.5, 3.1), (15.0, 1.0), (217, 6.5), (5076, 504))),
}

NAME_ENDINGS = {
    "Italian": ("ini", "elli", "etti", "ucci"),
    "Russian": ("ov", "enko", "sky", "evich"),
    "Japanese": ("moto", "yama", "mura", "shita"),
}


def as_csv(header, rows):
    """Return a table as the text of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue()


def titanic():
    """2,201 people, sorted by their cells: three categories, many identical rows, and ties everywhere."""
    header = ["class", "sex", "age", "survived"]
    rows = [
        [*cell, label]
        for cell, counts in TITANIC_COUNTS.items()
        for label, count in zip(("no", "yes"), counts, strict=True)
        for _ in range(count)
    ]
    return header, rows


def penguins(seed=0):
    """344 penguins, sorted by species, with the row index that pandas writes, and a few missing values."""
    rng = np.random.default_rng(seed)
    header = ["", "island", "bill_length", "bill_depth", "flipper_length", "body_mass", "sex", "year", "species"]
    rows = []
    for species, (n_birds, islands, sizes) in PENGUINS.items():
        for bird in range(n_birds):
            bill_length, bill_depth, flipper, mass = (rng.normal(mean, deviation) for mean, deviation in sizes)
            sex = "NA" if bird % 40 == 7 else rng.choice(["female", "male"])
            row = [
                rng.choice(islands),
                f"{bill_length:.1f}",
                f"{bill_depth:.1f}",
                round(flipper),
                round(mass / 25) * 25,
            ]
            rows.append([len(rows), *row, sex, 2007 + bird % 3, species])
    return header, rows


def weather(seed=0):
    """A year of days: a date, thousands with commas, per cent, a constant station, a note that is never the same."""
    rng = np.random.default_rng(seed)
    header = ["date", "station", "pressure", "humidity", "wind", "note", "rain"]
    rows = []
    for day in range(365):
        date = datetime.date(2023, 1, 1) + datetime.timedelta(day)
        humidity = rng.uniform(20, 100)
        rain = "yes" if humidity + rng.normal(0, 8) > 70 else "no"
        pressure = f"{round(103_000 - 20 * humidity + rng.normal(0, 300)):,}"
        note = f"{rng.choice(['grey', 'blue', 'low'])} sky over gauge {rng.integers(10**9)}"
        rows.append(
            [date.isoformat(), "north", pressure, f"{humidity:.1f} %", rng.choice(["N", "E", "S", "W"]), note, rain]
        )
    return header, rows


def names(seed=0):
    """Surnames that were put together, with their language."""
    rng = np.random.default_rng(seed)
    stems = ["ban", "cor", "dal", "fer", "gor", "kam", "lan", "mar", "nak", "pet", "rom", "san", "tak", "vol", "zan"]
    rows = []
    for language, endings in NAME_ENDINGS.items():
        made = {f"{a}{b}{ending}" for a in stems for b in ("", "a", "o") for ending in endings}
        rows += [[name.capitalize(), language] for name in rng.permutation(sorted(made))[:60]]
    return ["name", "language"], rows


def patients(seed=0):
    """An ``id`` of letters and digits, a doctor's note, two numbers and a diagnosis that is not the last column."""
    rng = np.random.default_rng(seed)
    rows = []
    for patient in range(120):
        label = "ill" if patient % 3 == 0 else "well"
        shift = 2.0 if label == "ill" else 0.0
        note = f"visit {rng.integers(10**9)} of the patient"
        rows.append([f"P{patient:04d}", label, f"{rng.normal(shift):.3f}", f"{rng.normal(-shift):.3f}", note])
    return ["id", "class", "marker_a", "marker_b", "note"], rows


def rare_class(n=2000, seed=0):
    """Two attributes, 96 : 4, with classes that overlap."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in range(n):
        label = "rare" if row % 25 == 0 else "usual"
        centre = 1.6 if label == "rare" else 0.0
        rows.append([f"{rng.normal(centre):.4f}", f"{rng.normal(centre):.4f}", label])
    return ["a", "b", "label"], rows


def coin_flips(seed=0):
    """Four attributes that say nothing about the label."""
    rng = np.random.default_rng(seed)
    return ["a", "b", "c", "d", "y"], [
        [*(f"{value:.3f}" for value in rng.normal(size=4)), rng.choice(["heads", "tails"])] for _ in range(200)
    ]
