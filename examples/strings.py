"""
Strings under edit distances
============================

Where does a surname come from? The Levenshtein distance counts the letters that have to be
inserted, deleted or replaced.
"""

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_map

names = {
    "Japan": """
        Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato
        Yoshida Yamada Sasaki Matsumoto Inoue Kimura Hayashi Shimizu Saito Mori
        Ikeda Hashimoto Abe Ishikawa Ogawa Okada Goto Hasegawa Murakami Kondo
    """,
    "Italy": """
        Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno
        Gallo Conti Costa Giordano Mancini Rizzo Lombardi Moretti Barbieri Fontana
        Santoro Mariani Rinaldi Caruso Ferrara Galli Martini Leone Longo
    """,
    "Poland": """
        Nowak Kowalski Wisniewski Wojcik Kowalczyk Kaminski Lewandowski Zielinski
        Szymanski Wozniak Dabrowski Kozlowski Jankowski Mazur Wojciechowski
        Kwiatkowski Krawczyk Piotrowski Grabowski Pawlowski Michalski Nowicki
    """,
}
X = [name for group in names.values() for name in group.split()]
y = [origin for origin, group in names.items() for _ in group.split()]

classifier = PrototypeClassifier(Refined(REPS(n_prototypes=12))).fit(X, y)
print("metric:", classifier.selector_.metric_)
print("prototypes:", *classifier.prototypes_)
print(classifier.predict(["Fujimoto", "Bellini", "Malinowski"]))

# %%
# The edits between a query and its nearest prototype.

classifier.compare(["Malinowski"])[0]

# %%
# The map shows similar names near each other. Prototypes are filled.

plot_map(classifier, X, y)
