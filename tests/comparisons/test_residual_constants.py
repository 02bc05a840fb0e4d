"""Constants that are halved and doubled."""

from __future__ import annotations

import pytest

from comparisons.residual_constants import CONSTANTS, changed
from genalpha.schemes import soi2_asked, soi2_residual

EACH = [(file, name) for x in CONSTANTS.values() for file, names in x for name in names]


@pytest.mark.parametrize(("file", "name"), EACH)
def test_a_constant_is_what_it_was_afterwards(file, name):
    with changed(file, name, 2.0), changed(file, name, 0.5):
        pass
    module = __import__(f"genalpha.{file}", fromlist=[name])
    before = getattr(module, name)
    with changed(file, name, 2.0):
        assert getattr(module, name) == 2 * before
        assert type(getattr(module, name)) is type(before)
    assert getattr(module, name) is before


def test_modules_that_import_it_have_it_too():
    before = soi2_asked.NEAR
    with changed("schemes.soi2_asked", "NEAR", 2.0):
        assert soi2_residual.NEAR == soi2_asked.NEAR == 2.0 * before
    assert before == soi2_residual.NEAR
