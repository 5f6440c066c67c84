"""How prototypes are to move: the arguments of an adaptation, and the courses that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from protoset._validation import check_choice, check_count, check_flag, check_real, check_seed, check_verbose
from protoset.adaptation.descent import Course
from protoset.adaptation.validation import FEW_OBJECTS
from protoset.selectors._limits import Callback, check_limits
from protoset.spaces.movable import MovableObjects

Loss = Literal["auto", "relative", "softmax"]
LOSSES: tuple[Loss, ...] = ("auto", "relative", "softmax")

MANY_OBJECTS = 50_000
"""Number of objects above which there are fewer passes, but at least ``FEWEST_PASSES``."""

FEWEST_PASSES = 5
"""Smallest default number of passes."""

MANY_STEEPNESS = (10.0, 80.0)
"""First and last steepness of the relative loss beyond ``FEW_OBJECTS``."""

MANY_STEP = 0.2
"""Smallest default length of the first step of the relative loss beyond ``FEW_OBJECTS``."""

FEW_NOISE = 0.5
"""Noise of the softmax among few objects, see ``Course``."""

MANY_NOISE = 0.25
"""Noise of the softmax beyond ``FEW_OBJECTS``."""

RELATIVE_NOISE = 1.0
"""Noise of the relative loss in a course among few objects; it has none in the others."""

SHORT_PASSES = 0.25
"""Passes of a short course, as a part of those of a long one."""

SHORT_STEP = 0.5
"""First step of a short course, as a part of that of a long one."""

SHORT_SPREAD = 0.3
"""Spread of the starting points of a short course, see ``Course``."""

SHORT_ADVANTAGE = 0.03
"""Advantage of the short course in the choice, see ``Course``: it overfits least, and the choice itself overfits."""

LONG_SOFTMAX = 2.5
"""Passes of the softmax among many objects, as a multiple of those of the relative loss: the softmax still improves
after so many passes."""

MOST_CLASSES_WITHOUT_SOFTMAX = 2
"""Largest number of classes for which the softmax is not tried among few objects: with so few classes it is rarely the
best course."""

TRIAL_PASSES = 20
"""Largest default number of passes of a trial among many objects: enough to find the better loss."""


@dataclass(frozen=True)
class AdaptSettings:
    """Arguments of an adaptation; see :func:`adapt`."""

    loss: Loss = "auto"
    relevances: bool = False
    n_passes: int | None = None
    step: float | None = None
    max_time: float | None = None
    callback: Callback | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    @classmethod
    def of(cls, adapt: Any, rule: str) -> AdaptSettings | None:
        """Settings for the parameters of a classifier, checked; None where the prototypes stay where they are."""
        if isinstance(adapt, dict):
            names = [field.name for field in fields(cls)]
            unknown = [name for name in adapt if name not in names]
            if unknown:
                raise ValueError(
                    f"adapt has {unknown[0]!r}, but may have only the arguments {names} of protoset.adapt; the "
                    "classifier and its selector have the others"
                )
        elif not isinstance(adapt, (bool, np.bool_)) and not (isinstance(adapt, str) and adapt == "auto"):
            raise ValueError(f"adapt={adapt!r} must be 'auto', True, False, or a dict of arguments of protoset.adapt")
        if isinstance(adapt, (bool, np.bool_)) and not adapt:
            return None
        if rule == "adjusted" and isinstance(adapt, str):
            # The paper's rule, for the paper's prototypes.
            return None
        return cls(**(adapt if isinstance(adapt, dict) else {})).checked()

    def checked(self) -> AdaptSettings:
        """Return the settings as plain values; refuse wrong ones."""
        n_passes, step = self.n_passes, self.step
        if step is not None:
            step = check_real("step", step, above=0, most=10, remedy="0.1 of the typical distance is usual")
        if n_passes is not None:
            n_passes = check_count("n_passes", n_passes, least=1, remedy="pass how often to go through the objects")
        return AdaptSettings(
            check_choice("loss", self.loss, LOSSES),
            check_flag("relevances", self.relevances),
            n_passes,
            step,
            **check_limits(self.max_time, self.callback),
            random_state=check_seed(self.random_state),
            verbose=check_verbose(self.verbose),
        )

    def courses(self, movable: MovableObjects, n_objects: int, n_classes: int) -> list[Course]:
        """Courses to choose among, the most usual one first."""
        passes = self.n_passes
        if passes is None:
            passes = max(FEWEST_PASSES, min(movable.n_passes, movable.n_passes * MANY_OBJECTS // n_objects))
        step, is_above_few = movable.step if self.step is None else self.step, n_objects > FEW_OBJECTS
        relative = Course("relative", passes, step, movable.steepness, relevances=self.relevances)
        softmax = replace(relative, loss="softmax", noise=FEW_NOISE)
        if is_above_few:
            longer = max(step, MANY_STEP) if self.step is None else step
            of_trial = passes if self.n_passes is not None else min(passes, TRIAL_PASSES)
            relative = replace(relative, step=longer, steepness=MANY_STEEPNESS, trial_passes=of_trial)
            longer_course = passes if self.n_passes is not None else round(LONG_SOFTMAX * passes)
            softmax = replace(softmax, noise=MANY_NOISE, n_passes=longer_course, trial_passes=of_trial)
        if movable.is_costly:
            course = softmax if self.loss == "softmax" else relative
            shorter = max(1, round(movable.trial_share * course.n_passes))
            return [replace(course, noise=0.0, trial_passes=shorter)]
        courses = [relative]
        if is_above_few or n_classes > MOST_CLASSES_WITHOUT_SOFTMAX or self.loss == "softmax":
            courses.append(softmax)
        if not is_above_few:
            courses.append(replace(relative, noise=RELATIVE_NOISE))
            courses.append(replace(relative, from_means=True))
            if self.step is None and self.n_passes is None:
                short = replace(relative, n_passes=round(SHORT_PASSES * passes), step=SHORT_STEP * step)
                courses.append(replace(short, spread=SHORT_SPREAD, advantage=SHORT_ADVANTAGE))
        return [course for course in courses if self.loss in ("auto", course.loss)]


def check_adapt(adapt: Any, rule: str) -> Any:
    """Return the parameter ``adapt`` of a classifier; refuse wrong ones."""
    AdaptSettings.of(adapt, rule)
    return adapt
