"""
Prototypes of images
====================

The objects are digits of 8 x 8 pixels. 30 prototypes replace 1,347 images.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_confusion, plot_prototypes

digits = load_digits()
X, X_test, y, y_test = train_test_split(digits.data, digits.target, random_state=0)
classifier = PrototypeClassifier(Refined(REPS(n_prototypes=30))).fit(X, y)
everything = KNeighborsClassifier(1).fit(X, y)
print(f"30 prototypes: {classifier.score(X_test, y_test):.3f}")
print(f"{len(X)} images:  {everything.score(X_test, y_test):.3f}")

# %%
# The prototypes moved: each is drawn beside the nearest real image of its class, with the
# number of images that it stands for.

plot_prototypes(classifier, X, y, image_shape=(8, 8), max_classes=5)

# %%
# Which digits are confused?

plot_confusion(classifier, X_test, y_test)
