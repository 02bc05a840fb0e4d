"""Numerics that know nothing of each other's insides: linear systems, initial values, Newton."""
