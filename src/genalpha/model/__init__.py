"""The mechanism: its equations, its one sign convention, and nothing of how it is solved."""

from genalpha.model.audit import Residuals
from genalpha.model.mechanism import Mechanism
from genalpha.model.reference import DrivenMotion, Motion, Reference

__all__ = ["DrivenMotion", "Mechanism", "Motion", "Reference", "Residuals"]
