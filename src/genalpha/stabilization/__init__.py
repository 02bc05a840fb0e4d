"""Mukharlyamov's stabilization: explicit steps that are pulled back to the constraints.

- `equations`: the right-hand side (3.1) and the two methods (5.1), (5.4) to (5.7),
- `gains`, `automatic`: the matrices of the pull, given or chosen,
- `deviation`: Theorems 6 and 7, measured and guaranteed deviations,
- `options`, `system`, `march`, `run`: a run of `integrate`.

Assimulo's part is in `genalpha.assimulo`.
"""
