"""Errors and warnings of the library.

Every error class here is a :class:`ProtosetError`, every warning class a :class:`ProtosetWarning`. Each is also a
builtin error or warning, so that ``except ValueError`` and the usual filters work. To silence one kind of warning::

    warnings.simplefilter("ignore", protoset.exceptions.LowRecallWarning)

Other errors are builtin: ``ValueError`` or ``TypeError`` for a wrong argument, ``MemoryError`` for a fit that is too
large, ``ImportError`` for a missing extra, ``RuntimeError`` for a lost Dask cluster or a metric function that failed.
"""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CompilationCacheWarning",
    "DataError",
    "DoubtfulDataWarning",
    "FileFormatError",
    "HopelessClassWarning",
    "JournalError",
    "LowRecallWarning",
    "ManyTiesWarning",
    "NotMovableError",
    "PlanError",
    "ProtosetError",
    "ProtosetWarning",
    "ReferenceFailedError",
    "SearchInterruptedWarning",
    "SearchStoppedWarning",
    "SlowSearchWarning",
    "SolverConvergenceWarning",
    "WorkerDiedError",
]


class ProtosetError(Exception):
    """Base class of the library's errors."""


class DataError(ProtosetError, ValueError):
    """A data set cannot be read, found or written.

    The message names the file, the line, what was expected and what was found. Correct the file, or pass an option.
    """


class FileFormatError(ProtosetError, ValueError):
    """A file to load is damaged, or is not a classifier or model of protoset.

    Check the path. If the file was written by a newer version of protoset, install that version.
    """


class NotMovableError(ProtosetError, ValueError, AttributeError):
    """``partial_fit`` was called on a classifier whose prototypes cannot move, or whose parameters forbid moves.

    The message gives the reason. The error is also an ``AttributeError``, so that ``hasattr(classifier,
    "partial_fit")`` is False.
    """


class PlanError(ProtosetError, ValueError):
    """A plan of experiments cannot be read, or does not fit its journal.

    The message names the file, the key and the expected value. Correct the plan.
    """


class JournalError(ProtosetError, RuntimeError):
    """A journal of experiments cannot be read or written.

    The journal is missing, locked by another run, read-only, or not a journal. The message gives the reason and the
    way out.
    """


class ReferenceFailedError(ProtosetError, RuntimeError):
    """A method takes its number of prototypes from another method, which failed on the same fold.

    This is the recorded failure of one cell of an experiment. Fix the failure of the other method, and run again.
    """


class WorkerDiedError(ProtosetError, RuntimeError):
    """The process that computed a cell of an experiment ended before the cell was done.

    This is the recorded failure of one cell. The usual reason is lack of memory: use fewer workers, and run again.
    """


class ProtosetWarning(UserWarning):
    """Base class of the library's warnings."""


class CompilationCacheWarning(ProtosetWarning):
    """Compiled code cannot be cached on disk, so that every process compiles it again.

    Set the environment variable ``NUMBA_CACHE_DIR`` to a folder that can be written to, before Python starts.
    """


class DoubtfulDataWarning(ProtosetWarning):
    """A column or the labels make nearest neighbours nearly useless.

    Either ``metric="auto"`` found a column of categories in which nearly every object has a category of its own; or
    there are very many classes, or classes with very few objects. The message describes the problem and the way out.
    """


class LowRecallWarning(ProtosetWarning):
    """The approximate search missed many true neighbours, so the prototypes may differ from those of an exact search.

    Search exactly, or reduce the number of features.
    """


class SlowSearchWarning(ProtosetWarning):
    """Neighbours of very many objects are searched exactly, because no library for an approximate search is installed.

    Install the extra ``approximate``, or fit a sample of the objects. ``search="exact"`` searches without the warning.
    """


class ManyTiesWarning(ProtosetWarning):
    """Many neighbours are at equal distances, so that the row order decides which of them are used.

    The neighbour lists cannot hold all ties, or a graph has connections instead of distances. Remove duplicates, or
    pass distances with fewer ties.
    """


class HopelessClassWarning(ProtosetWarning):
    """The rule "adjusted" cannot predict some of the classes for any query.

    Use ``rule="nearest"``.
    """


class SolverConvergenceWarning(ProtosetWarning, ConvergenceWarning):
    """The solver ended before it reached the tolerance, or before it could bound the error of the weights.

    Raise ``tol``, lower ``C``, or use ``solver="auto"``.
    """


class SearchStoppedWarning(ProtosetWarning, ConvergenceWarning):
    """A search for prototypes was ended early by ``max_time`` or by its callback. The prototypes so far are kept.

    Allow more time if the set is not good enough.
    """


class SearchInterruptedWarning(SearchStoppedWarning):
    """A search for prototypes was ended early by Ctrl-C. The prototypes so far are kept."""
