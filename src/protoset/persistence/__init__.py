"""Fitted classifiers as files: a zip archive with plain arrays and JSON, never code.

metadata.json    format and version, metric, rule, labels, parameters, dtype and shape of every array; for a DataModel
                 also the preparation, the ids of the prototypes, and their values where there are categories; for a
                 Pipeline also its steps
NAME.npy         one per array, readable with ``numpy.load``

A file with a preparation or with steps has a format name of its own: its classifier must not be used on objects without
them.

A file may come from a stranger. Before anything is unpacked, the size of every array is compared with the metadata, and
the size of the content with a limit. ``from_state`` of the space and of the preparation check the content, and so does
``restore_pipeline``. ``save`` restores the classifier from the content before it writes the file, so that ``load``
accepts every file of ``save``.
"""

from protoset.persistence.classifier import encode_classes
from protoset.persistence.files import load, save

__all__ = ["encode_classes", "load", "save"]
