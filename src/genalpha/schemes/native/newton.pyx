# cython: boundscheck=False, wraparound=False, cdivision=True
"""Equal steps without Python: Newton's iteration and the first guess, in machine code.

For mechanisms whose callbacks are C functions; a run of many steps is one call that does not hold
the GIL. The rules are those of `genalpha.numerics.newton`, `accuracy` and `prediction`, and so are
their constants; steps agree up to what Newton's iteration may leave. What a scheme adds is in a
file of its own (`i3`, `soi2`), as in `genalpha.schemes`.

A step that does not succeed here is not taken: `genalpha.driver` takes it by the general way, which
says what is wrong.
"""

cimport numpy as cnp
from libc.math cimport HUGE_VAL, fabs, fmax, fmin, pow, sqrt
from libc.string cimport memcpy, memmove, memset

from genalpha.kernels.memory cimport Size, length
from genalpha.schemes.native.callbacks cimport Callbacks, value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, add_product, add_transposed, largest, put, solve,
)

import numpy as np

from genalpha.numerics import accuracy, newton, prediction

cnp.import_array()

cdef double EPS = accuracy.EPS, TINY = accuracy.TINY
cdef double REMAINING = newton.REMAINING, ROUNDING = newton.ROUNDING
cdef double SMALLEST_RATE = newton.SMALLEST_RATE, LIFE_GROWTH = newton.LIFE_GROWTH

if (LENGTH, SMOOTH) != (prediction.LENGTH, prediction.SMOOTH):
    raise ImportError("the constants of genalpha.numerics.prediction have changed")


cdef class Steps(Callbacks):
    """Steps of equal size; subclasses say what a step is.

    Parameters
    ----------
    scheme : Scheme
        At work on a mechanism whose callbacks are C functions or constant matrices.
    callbacks : dict of str to Native or array
        Those of the mechanism, by name.
    count : int
        The number of unknowns.
    """

    def __cinit__(self, scheme, dict callbacks, Size count):
        o, c = scheme.o, scheme.settings.coefficients
        self.scheme, self.o = scheme, o
        self.take_over(o, callbacks)
        self.size, self.count = self.n + self.m + self.l, count
        self.alpha_m, self.alpha_f, self.beta = c.alpha_m, c.alpha_f, c.beta
        self.gamma, self.alpha = c.gamma, c.alpha
        self.relative, self.rounding = scheme.relative, o.rounding
        self.signs, self.gradients = self.room(self.m + self.l), self.room(self.m + self.l)
        for i, sign in enumerate(accuracy._signs(self.m + self.l)):
            self.signs[i] = sign
        self._load_all()
        n = self.n
        self.q, self.v, self.a, self.a_old = self.room(n), self.room(n), self.room(n), self.room(n)
        self.x, self.guess = self.room(count), self.room(count)
        self.r, self.base, self.column = (
            self.room(self.size), self.room(self.size), self.room(self.size))
        self.shifted_q, self.shifted_v = self.room(n), self.room(n)
        self.max_iterations = scheme.newton.max_iterations
        self.setup_cost, self.life = scheme.newton.setup_cost, HUGE_VAL
        self.moved = self.room((self.max_iterations + 1) * self.size)
        relation = scheme.relation
        self.more = len(relation)
        for i in range(self.more):
            self.relation[i] = relation[i]
        self.past, self.differences = self.room(LENGTH * count), self.room(LENGTH * count)

    def _load_all(self):
        cdef Size n = self.n, m = self.m, l = self.l
        self.load(&self.mass, "mass", n * n)
        self.load(&self.force, "force", n)
        self.load(&self.g, "holonomic", m)
        self.load(&self.G, "holonomic_jacobian", m * n)
        self.load(&self.rate, "holonomic_rate", m)
        self.load(&self.k, "nonholonomic", l)
        self.load(&self.K, "nonholonomic_jacobian", l * n)
        self.load(&self.k_q, "nonholonomic_gradient", l * n)
        self.load(&self.Kt, "stiffness", n * n)
        self.load(&self.Ct, "damping", n * n)
        self.differenced = "stiffness" not in self._natives

    # What a scheme says of itself.

    cdef void begin(self) noexcept nogil:
        """Work out what is known before the unknowns x, which are a guess already."""

    cdef void correct(self, double* sizes) noexcept nogil:
        """Correct x, and tell by how much; see `genalpha.numerics.newton.Problem`."""

    cdef bint setup(self) noexcept nogil:
        """Evaluate and factorize the iteration matrix; false if it is singular."""
        return False

    cdef void restored(self) noexcept nogil:
        """Work out what depends on x, which has been put back to the guess."""

    cdef void finish(self) noexcept nogil:
        """Make what x says the new state."""

    cdef double* kept(self) noexcept nogil:
        """What is kept of the state beside t, q, v, a."""
        return self.x

    cdef double* multipliers(self) noexcept nogil:
        """Those among the present unknowns."""
        return self.x + self.n

    # Steps.

    def run(self, state, cnp.ndarray past not None, cnp.ndarray rows not None, double origin,
            Size done, double h, double end):
        """Take equal steps into rows (t, q, v, a, kept); return how many have succeeded.

        Parameters
        ----------
        state
            Of the scheme, where the steps begin.
        past : (known, count) array
            Unknowns of the last steps, all of this size; the newest last.
        rows : (k, width) array
            As many steps are taken.
        origin : float
            Step i ends at origin + (done + i) h, or at `end` if that is the same but for rounding.
        """
        cdef Size taken, count = cnp.PyArray_DIM(rows, 0), width = cnp.PyArray_DIM(rows, 1)
        cdef double* to = <double*> cnp.PyArray_DATA(rows)
        if not (cnp.PyArray_IS_C_CONTIGUOUS(rows) and cnp.PyArray_TYPE(rows) == cnp.NPY_DOUBLE):
            raise TypeError("rows must be contiguous doubles")
        if width != 1 + 3 * self.n + state.kept.size or past.shape[1] != self.count:
            raise ValueError(f"rows of {width} values, a past of {past.shape[1]}")
        self.h = h
        self.load_state(state)
        self.load_past(past)
        with nogil:
            taken = self.take(to, width, count, origin, done, end)
        self._note(taken)
        return taken

    def load_state(self, state):
        """Take over where the steps begin."""
        raise NotImplementedError

    def load_past(self, past):
        """Take over the unknowns of the last steps."""
        cdef cnp.ndarray values = np.ascontiguousarray(past, dtype=float)
        self.known = min(len(values), LENGTH)
        memcpy(self.past, <double*> cnp.PyArray_DATA(values) + (len(values) - self.known)
               * self.count, self.known * self.count * sizeof(double))
        self.tabulate()

    cdef cnp.ndarray copy(self, double* x, Size n):
        """A vector of Python."""
        cdef cnp.ndarray result = np.empty(n)
        memcpy(cnp.PyArray_DATA(result), x, n * sizeof(double))
        return result

    def past_rows(self):
        """Return the unknowns of the last steps, the newest last."""
        return self.copy(self.past, self.known * self.count).reshape(self.known, self.count)

    def _note(self, Size taken):
        """Count what has been done."""
        counters = self.scheme.counters
        counters.nsteps += taken
        counters.nfcns += self.nfcns
        counters.njacs += self.njacs
        counters.nfcnjacs += self.njacs * self.o.tangent_cost
        counters.nlus += self.nlus
        counters.nniters += self.nniters
        self.scheme.newton.left += self.left
        self.nfcns = self.njacs = self.nlus = self.nniters = 0
        self.left = 0.0
        if taken:
            counters.note_size(self.h)
        self.tell_calls()

    cdef Size take(self, double* row, Size width, Size count, double origin, Size done,
                   double end) noexcept nogil:
        """Take steps, each into a row; end with the first one that fails."""
        cdef Size i, n = self.n
        cdef double t
        for i in range(count):
            self.predict()
            self.begin()
            if not self.newton():
                return i
            self.finish()
            self.append()
            # times are multiples of h, so that rounding does not add up
            t = origin + (done + i + 1) * self.h
            self.t = end if fabs(end - t) <= 1e-9 * (done + i + 1) * fabs(self.h) else t
            row[0] = self.t
            memcpy(row + 1, self.q, n * sizeof(double))
            memcpy(row + 1 + n, self.v, n * sizeof(double))
            memcpy(row + 1 + 2 * n, self.a, n * sizeof(double))
            memcpy(row + 1 + 3 * n, self.kept(), (width - 1 - 3 * n) * sizeof(double))
            row += width
        return count

    # Newton's iteration, see `genalpha.numerics.newton`.

    cdef bint newton(self) noexcept nogil:
        """Correct the unknowns until they solve the equations; tell whether they do."""
        memcpy(self.guess, self.x, self.count * sizeof(double))
        if (self.has_matrix or self.renew()) and self.iterate(False):
            return True
        if self.age:  # it was an old one
            self.life = self.age - 1
            self.put_back()
            if self.renew() and self.iterate(False):
                return True
        self.put_back()
        if self.renew() and self.iterate(True):
            return True
        self.has_matrix = False
        return False

    cdef void put_back(self) noexcept nogil:
        memcpy(self.x, self.guess, self.count * sizeof(double))
        self.restored()

    cdef bint renew(self) noexcept nogil:
        """Make a new matrix."""
        self.rate_of_steps, self.fewest, self.extra, self.age = 1.0, self.max_iterations, 0, 0
        self.njacs += 1
        self.has_matrix = self.setup()
        return self.has_matrix

    cdef bint iterate(self, bint renew) noexcept nogil:
        cdef double sizes[GROUPS]
        cdef double last[GROUPS]
        cdef double worst = 0.0, before = 0.0, rate, size, left
        cdef int iteration
        self.moves = 0
        sizes[1] = last[0] = last[1] = 0.0
        for iteration in range(self.max_iterations):
            if iteration and renew:
                self.njacs += 1
                self.moves = 0
                if not self.setup():
                    return False
            self.correct(sizes)
            self.nfcns += 1
            self.nniters += 1
            rate = rate_of(sizes, last) if iteration else self.rate_of_steps
            size = sizes[0] if sizes[0] >= sizes[1] or sizes[0] != sizes[0] else sizes[1]
            # of two small ones, the second may be rounding: the rate is then this or better
            if iteration == 1 or before > ROUNDING:
                worst = fmax(worst, rate)
            left = rate / (1.0 - rate) * size if rate < 1.0 else 1.0
            if left <= REMAINING:
                self.left += left
                self.remember(iteration, worst)
                return True
            if iteration and size <= ROUNDING and before <= ROUNDING:
                self.left += size
                self.remember(iteration, worst)
                return True
            # a new matrix for every correction speeds up: no prediction then
            if not size < HUGE_VAL or (not renew and self.hopeless(iteration, size, rate)):
                return False
            last[0], last[1], before = sizes[0], sizes[1], size
        return False

    cdef bint hopeless(self, int iteration, double size, double rate) noexcept nogil:
        """Predict whether the corrections that are left will not do."""
        if iteration < 2 or size <= ROUNDING:  # too early to say, or too late
            return False
        if rate >= 1.0:
            return True
        return pow(rate, self.max_iterations - 1 - iteration) / (1.0 - rate) * size > REMAINING

    cdef void remember(self, int iteration, double worst) noexcept nogil:
        """Keep the step's worst rate for the next one, and the matrix while it pays."""
        if iteration < self.fewest:
            self.fewest = iteration
        self.extra += iteration - self.fewest
        self.age += 1
        if self.extra >= self.setup_cost:
            self.has_matrix = False
        elif self.age > self.life:  # no use in trying it: it would fail
            self.life += LIFE_GROWTH
            self.has_matrix = False
        elif iteration == 0:
            # one correction tells nothing new: the old rate fades towards 1 (Hairer and Wanner)
            self.rate_of_steps = pow(self.rate_of_steps, 0.8)
        else:
            self.rate_of_steps = fmax(worst, SMALLEST_RATE)

    cdef void accelerate(self, double* d) noexcept nogil:
        """Broyden's updates of the iteration matrix, see `genalpha.kernels.plain.broyden`."""
        cdef double unit = self.scales.mass_over_gradient
        cdef double weight = 1.0 / (unit * unit) if unit else 1.0
        cdef Size i, n = self.n, size = self.size
        cdef int j
        cdef double c, squared
        cdef double* s = self.moved
        for j in range(self.moves):
            squared = weighed(s, s, n, size, weight)
            if squared == 0.0:
                break
            c = weighed(s, d, n, size, weight) / squared
            if j == self.moves - 1:
                c = 1.0 / (1.0 - c) if c < 0.5 else 1.0
                for i in range(size):
                    d[i] *= c
            else:
                s += size
                add_multiple(d, c, s, size)
        memcpy(self.moved + self.moves * size, d, size * sizeof(double))
        self.moves += 1

    # How accurate, see `genalpha.numerics.accuracy`.

    cdef double size_of(self, double* d, double* x, double* at,
                        double displacement) noexcept nogil:
        """The size of a correction in units of what may remain."""
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double per = 1.0 / fabs(displacement)
        cdef double allowed = (self.relative * length(x, n) + self.scales.noise * per
                               + self.rounding * per * fmax(1.0, length(at, n)))
        cdef double size = length(d, n) / allowed
        cdef double least = (self.scales.mass_over_gradient * allowed
                             + self.scales.multiplier_noise * per + TINY)
        if m:
            size = worst_of(size, length(d + n, m) / (self.relative * length(x + n, m) + least))
        if l:
            size = worst_of(
                size, length(d + n + m, l) / (self.relative * length(x + n + m, l) + least))
        return size

    cdef void note_rows(self, Size first, double c, double* A, Size count) noexcept nogil:
        """Add c times the largest entries of the rows of A to those of the constraints."""
        cdef Size i
        for i in range(count):
            self.gradients[first + i] += fabs(c) * largest(A + i * self.n, self.n)

    cdef bint find_scales(self, LU* lu, double mass, double tangent, double displacement, double* q,
                          double* d) noexcept nogil:
        """Find what corrections are compared with, by what `note_rows` has been told.

        d is room for a solution.
        """
        cdef Size i, n = self.n, count = self.m + self.l
        cdef double error, reaction = 0.0, gradient = largest(self.gradients, count)
        cdef double* multipliers = self.multipliers()
        self.scales.noise = fmin(tangent / fmax(mass, TINY), 1.0) * EPS * fmax(1.0, length(q, n))
        self.scales.multiplier_noise = self.scales.mass_over_gradient = 0.0
        if not gradient:
            return True
        error = self.rounding * fmax(1.0, largest(q, n))
        memset(d, 0, n * sizeof(double))
        for i in range(count):
            d[n + i] = error * self.gradients[i] * self.signs[i]
            reaction += self.gradients[i] * fabs(multipliers[i])
        solve(lu, d)
        reaction *= self.rounding / fmax(mass, TINY) * fabs(displacement)
        self.scales.noise = fmax(fmax(self.scales.noise, length(d, n)), reaction)
        self.scales.multiplier_noise = length(d + n, count)
        self.scales.mass_over_gradient = mass / gradient
        return True

    # The first guess, see `genalpha.numerics.prediction`; steps are equal here, so that divided
    # differences are backward differences, of which each step brings one more.

    cdef void tabulate(self) noexcept nogil:
        """Work out the sums x_k + c_1 x_{k-1} + ... of the past, and their differences."""
        cdef Size count = self.count
        cdef int more = self.more if self.known >= SMOOTH else 0
        cdef int i, j, order
        cdef double* newest = self.past + (self.known - 1) * count
        self.rows = self.known - more
        if not more and self.rows > SMOOTH:
            self.rows = SMOOTH
        for j in range(self.rows):
            memcpy(self.differences + j * count, newest - j * count, count * sizeof(double))
            for i in range(more):
                add_multiple(self.differences + j * count, self.relation[i],
                             newest - (j + i + 1) * count, count)
        for order in range(1, self.rows):
            for j in range(self.rows - 1, order - 1, -1):
                subtract_from(self.differences + (j - 1) * count, self.differences + j * count,
                              count)

    cdef void append(self) noexcept nogil:
        """Add the unknowns of a step; the oldest ones are forgotten."""
        cdef Size i, count = self.count
        cdef int j
        cdef double new, old
        cdef double* newest
        if self.known < LENGTH:
            memcpy(self.past + self.known * count, self.x, count * sizeof(double))
            self.known += 1
            self.tabulate()
            return
        memmove(self.past, self.past + count, (LENGTH - 1) * count * sizeof(double))
        newest = self.past + (LENGTH - 1) * count
        memcpy(newest, self.x, count * sizeof(double))
        for i in range(count):
            new = newest[i]
            for j in range(self.more):
                new += self.relation[j] * newest[i - (j + 1) * count]
            for j in range(self.rows):
                old = self.differences[j * count + i]
                self.differences[j * count + i] = new
                new -= old

    cdef void predict(self) noexcept nogil:
        """Guess the unknowns of the next step, to the highest order that is an improvement."""
        cdef Size i, count = self.count
        cdef int order
        cdef double change, last = HUGE_VAL
        cdef double* d = self.differences
        memcpy(self.x, d, count * sizeof(double))
        for order in range(1, self.rows):
            d += count
            change = 0.0
            for i in range(count):
                change += d[i] * d[i]
            if order > 1 and not change < last:
                break
            last = change
            add_multiple(self.x, 1.0, d, count)
        if self.known >= SMOOTH:
            for order in range(self.more):
                add_multiple(self.x, -self.relation[order],
                             self.past + (self.known - 1 - order) * count, count)

    # The mechanism.

    cdef void imbalance(self, double* r, double c, double t, double* q, double* v,
                        double* x) noexcept nogil:
        """Add c (M vdot - f - reaction), where x = (vdot, lam, psi)."""
        cdef Size n = self.n, m = self.m, l = self.l
        add_product(r, c, value(&self.mass, t, q), x, n, n)
        add_multiple(r, -c, value(&self.force, t, q, v), n)
        if m:
            add_transposed(r, c, value(&self.G, t, q), x + n, m, n)
        if l:
            add_transposed(r, c, value(&self.K, t, q, v), x + n + m, l, n)

    cdef double put_tangent(self, LU* lu, double t, double* q, double* v, double* x, double* vdot,
                            double cq, double cv) noexcept nogil:
        """Add cq Kt + cv Ct to the upper left block, and return a bound of its largest entry.

        x holds (., lam, psi), vdot the accelerations. Differences are forward, along q and v
        together, see `genalpha.model.completion.tangent`.
        """
        cdef Size i, j, n = self.n, m = self.m, size = lu.size
        cdef double step, slope, most = 0.0
        if not self.differenced:
            value(&self.Kt, t, q, v, vdot, x + n, x + n + m)
            value(&self.Ct, t, q, v, vdot, x + n, x + n + m)
            put(lu, 0, 0, cq, self.Kt.out, n, n)
            put(lu, 0, 0, cv, self.Ct.out, n, n)
            return fabs(cq) * largest(self.Kt.out, n * n) + fabs(cv) * largest(self.Ct.out, n * n)
        memcpy(self.base, vdot, n * sizeof(double))
        memcpy(self.base + n, x + n, (self.size - n) * sizeof(double))
        memcpy(self.shifted_q, q, n * sizeof(double))
        memcpy(self.shifted_v, v, n * sizeof(double))
        memset(self.r, 0, n * sizeof(double))
        self.imbalance(self.r, 1.0, t, q, v, self.base)
        for j in range(n):
            step = sqrt(EPS) * fmin(fmax(1.0, fabs(q[j])) / fmax(fabs(cq), 1e-200),
                                    fmax(1.0, fabs(v[j])) / fmax(fabs(cv), 1e-200))
            self.shifted_q[j] = q[j] + cq * step
            self.shifted_v[j] = v[j] + cv * step
            memset(self.column, 0, n * sizeof(double))
            self.imbalance(self.column, 1.0, t, self.shifted_q, self.shifted_v, self.base)
            self.shifted_q[j], self.shifted_v[j] = q[j], v[j]
            for i in range(n):
                slope = (self.column[i] - self.r[i]) / step
                lu.a[j * size + i] += slope
                if not fabs(slope) <= most:
                    most = fabs(slope)
        return most


cdef inline void subtract_from(double* x, double* y, Size n) noexcept nogil:
    """y := x - y."""
    cdef Size i
    for i in range(n):
        y[i] = x[i] - y[i]


cdef inline double weighed(double* x, double* y, Size n, Size size, double weight) noexcept nogil:
    """x . y, where the entries from n on count `weight` times."""
    cdef double first = 0.0, rest = 0.0
    cdef Size i
    for i in range(n):
        first += x[i] * y[i]
    for i in range(n, size):
        rest += x[i] * y[i]
    return first + weight * rest


cdef inline double worst_of(double a, double b) noexcept nogil:
    """The larger one; NaN wins."""
    return a if a > b or a != a else b


cdef inline double rate_of(double* sizes, double* last) noexcept nogil:
    """The worst contraction of all groups; those of rounding errors do not count."""
    cdef double rate, worst = 0.0
    cdef int i
    for i in range(GROUPS):
        rate = sizes[i] / last[i] if last[i] else HUGE_VAL if sizes[i] > ROUNDING else 0.0
        if sizes[i] <= ROUNDING:
            rate = fmin(rate, 0.5)
        worst = fmax(worst, rate)
    return worst
