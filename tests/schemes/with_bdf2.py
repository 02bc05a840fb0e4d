"""A pytest plugin that adds `bdf2` to the schemes: the one line of CONTRIBUTING's recipe."""

from genalpha.schemes import SCHEMES
from tests.schemes.bdf2 import BDF2

SCHEMES["BDF2"] = BDF2
