"""Mechanisms of the race that the comparisons do not have; a plugin of the harness."""

from comparisons.cases import add_case

#: Twice as many elements as in the comparisons: axial frequencies twice, bending ones four times.
#: (The reference of a still stiffer beam cannot be computed: its tolerance is below rounding.)
add_case("flexible_8", 0.2, 80, of="flexible_pendulum", parameters={"elements": 8}, levels=4)
