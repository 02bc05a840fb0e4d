# C types of `genalpha.schemes.native.newton`.

cimport numpy as cnp
from genalpha.kernels.memory cimport Size
from genalpha.schemes.native.callbacks cimport Callback, Callbacks
from genalpha.schemes.native.linear cimport LU

cdef enum:
    #: Steps that are remembered, and those that a polynomial goes through, see `prediction`.
    LENGTH = 9
    SMOOTH = 6
    #: Groups of unknowns that converge at rates of their own, at most.
    GROUPS = 2


cdef struct Scales:
    #: See `genalpha.numerics.accuracy.Scales`.
    double noise, multiplier_noise, mass_over_gradient


cdef class Steps(Callbacks):
    cdef readonly object scheme, o
    cdef readonly Size size, count
    cdef readonly long nfcns, njacs, nlus, nniters
    cdef readonly double t, h
    # the state, the unknowns of the step, and the guess that they started from
    cdef double* q
    cdef double* v
    cdef double* a
    cdef double* a_old
    cdef double* x
    cdef double* guess
    # the mechanism
    cdef Callback mass, force, g, G, rate, k, K, k_q, Kt, Ct
    cdef bint differenced
    cdef double rounding, relative
    cdef double* signs
    # the largest entry of each row of the constraints
    cdef double* gradients
    # the scheme
    cdef double alpha_m, alpha_f, beta, gamma, alpha
    # Newton's iteration, see `genalpha.numerics.newton`
    cdef bint has_matrix
    cdef double rate_of_steps, life, left
    cdef int fewest, extra, age, max_iterations, setup_cost, moves
    cdef double* moved
    cdef Scales scales
    # unknowns of the last steps, the newest last; sums of them and their backward differences
    cdef double* past
    cdef double* differences
    cdef double relation[3]
    cdef int known, more, rows
    # room for what is needed for a moment
    cdef double* r
    cdef double* shifted_q
    cdef double* shifted_v
    cdef double* base
    cdef double* column

    cdef cnp.ndarray copy(self, double* x, Size n)
    cdef void put_back(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void correct(self, double* sizes) noexcept nogil
    cdef bint setup(self) noexcept nogil
    cdef void restored(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef double* kept(self) noexcept nogil
    cdef double* multipliers(self) noexcept nogil

    cdef Size take(self, double* row, Size width, Size count, double origin, Size done,
                   double end) noexcept nogil
    cdef bint newton(self) noexcept nogil
    cdef bint renew(self) noexcept nogil
    cdef bint iterate(self, bint renew) noexcept nogil
    cdef bint hopeless(self, int iteration, double size, double rate) noexcept nogil
    cdef void remember(self, int iteration, double worst) noexcept nogil
    cdef void accelerate(self, double* d) noexcept nogil
    cdef double size_of(self, double* d, double* x, double* at, double displacement) noexcept nogil
    cdef void note_rows(self, Size first, double c, double* A, Size count) noexcept nogil
    cdef bint find_scales(self, LU* lu, double mass, double tangent, double displacement, double* q,
                          double* d) noexcept nogil

    cdef void tabulate(self) noexcept nogil
    cdef void append(self) noexcept nogil
    cdef void predict(self) noexcept nogil

    cdef void imbalance(self, double* r, double c, double t, double* q, double* v,
                        double* x) noexcept nogil
    cdef double put_tangent(self, LU* lu, double t, double* q, double* v, double* x, double* vdot,
                            double cq, double cv) noexcept nogil
