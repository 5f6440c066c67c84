"""Adaptation: prototypes that move to where they classify the training objects better."""

from protoset.adaptation.adapting import Adaptation, adapt
from protoset.adaptation.selected import adapt_selected, moved_before_predicting
from protoset.adaptation.settings import AdaptSettings

__all__ = ["AdaptSettings", "Adaptation", "adapt", "adapt_selected", "moved_before_predicting"]
