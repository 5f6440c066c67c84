"""One row of cells of ``LANES`` pairs at once, written in vector instructions.

Arrays of lanes have one lane for each pair in their last axis. The functions here build the code of a row themselves:
the running values of a row, its left and its diagonal cell, stay in registers, which a compiler does not manage for
loops over arrays that may overlap. They work on some of the lanes, from an offset on: on all lanes in single
precision, and on at most ``VECTOR_BYTES`` of them in double precision.

    above       . d a . .     d, a: diagonal cell and cell above, of the row before
    this row    . l c         c: the cell; l: the cell to its left

All costs are at least 0. Single-precision numbers of at least 0 have the order of their bits, and minima of whole
numbers are cheaper on many processors. Sums and their order are those of the kernels for one pair, so that distances in
double precision are the same to the last bit.
"""

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from protoset.kernels._compile import part

LANES = 64 if binding.get_host_cpu_features().get("avx512f") else 32
"""Pairs of series that are compared together. Their running values fill the registers of the processor, and a row of
cells of 128 points fits its first-level cache, which is often smaller where registers are narrower."""

VECTOR_BYTES = 256
"""Largest number of bytes of the lanes that the functions for rows work on."""

N_VECTORS = 4
"""Number of vectors that ``VECTOR_BYTES`` are divided into; their additions do not wait for each other."""

STEP_BYTES_PER_CELL = 2 * LANES // 8
"""Bytes of the steps that led to a cell in double precision: a bit for each lane whose path took a point of x alone,
then one for each whose path took a point of y alone. Of equal costs, a step that takes both is kept, then one of x."""

ALIGNMENT = 64
"""Bytes of a cache line, where arrays of lanes start."""

_INDEX = ir.IntType(64)


@intrinsic
def vector_lanes(typing, array):
    """Lanes of the bytes that the functions for rows work on, known when the code is compiled."""
    del typing
    lanes = _lanes_of_row(array.dtype)
    return types.intp(array), lambda context, builder, signature, values: ir.Constant(_INDEX, lanes)


def _lanes_of_row(number):
    """Lanes that the functions for rows work on, for a type of numbers."""
    return min(LANES, VECTOR_BYTES * 8 // number.bitwidth)


@part
def lane_rows(n_rows, like):
    """Rows of lanes of the type of ``like``, from the start of a cache line on."""
    spare = ALIGNMENT // like.itemsize
    raw = np.empty(n_rows * LANES + spare, like.dtype)
    skipped = (-raw.ctypes.data % ALIGNMENT) // like.itemsize
    return raw[skipped : skipped + n_rows * LANES].reshape(n_rows, LANES)


class _Vectors:
    """Operations on vectors of lanes; ``number`` is the type of a lane."""

    def __init__(self, context, builder, number):
        self.context, self.builder, self.bits = context, builder, number.bitwidth
        self.item = context.get_data_type(number)
        self.width = _lanes_of_row(number) // N_VECTORS
        self.type = ir.VectorType(self.item, self.width)

    def pointer(self, array_type, array):
        """Address of the first item of an array."""
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def offset(self, start, items):
        """Offset ``items`` after another one."""
        return self.builder.add(start, items if isinstance(items, ir.Value) else ir.Constant(_INDEX, items))

    def _at(self, pointer, offset):
        return self.builder.bitcast(self.builder.gep(pointer, [offset]), self.type.as_pointer())

    def load_one(self, pointer, offset):
        """A vector at an offset."""
        loaded = self.builder.load(self._at(pointer, offset))
        loaded.align = self.bits // 8
        return loaded

    def load(self, pointer, offset):
        """All vectors from an offset on."""
        return [self.load_one(pointer, self.offset(offset, vector * self.width)) for vector in range(N_VECTORS)]

    def store_one(self, values, pointer, offset):
        """Write a vector at an offset."""
        self.builder.store(values, self._at(pointer, offset)).align = self.bits // 8

    def store(self, vectors, pointer, offset):
        """Write all vectors from an offset on."""
        for vector, values in enumerate(vectors):
            self.store_one(values, pointer, self.offset(offset, vector * self.width))

    def sum(self, values):
        """Sum of the lanes of a vector."""
        number, half = ir.IntType(32), self.width // 2
        while half:
            upper = ir.Constant(ir.VectorType(number, half), list(range(half, 2 * half)))
            lower = ir.Constant(ir.VectorType(number, half), list(range(half)))
            halves = (self.builder.shuffle_vector(values, values, mask) for mask in (lower, upper))
            values, half = self.builder.fadd(*halves), half // 2
        return self.builder.extract_element(values, ir.Constant(number, 0))

    def number(self, pointer, offset):
        """One number of an array, in all lanes of a vector."""
        return self.spread(self.builder.load(self.builder.gep(pointer, [offset])))

    def spread(self, number):
        """A number in all lanes of a vector."""
        nothing = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.width), [0] * self.width)
        return self.builder.shuffle_vector(first, nothing, zeros)

    def constant(self, number):
        """A constant in all lanes of a vector."""
        return ir.Constant(self.type, [number] * self.width)

    def add(self, a, b):
        """Sum."""
        return self.builder.fadd(a, b)

    def smaller(self, a, b):
        """Smaller of numbers of any sign."""
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def larger(self, a, b):
        """Larger of numbers of any sign."""
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def least(self, a, b):
        """Smaller of costs, which are at least 0."""
        if self.bits == 64:
            return self.smaller(a, b)
        whole = ir.VectorType(ir.IntType(self.bits), self.width)
        a, b = self.builder.bitcast(a, whole), self.builder.bitcast(b, whole)
        return self.builder.bitcast(self.builder.select(self.builder.icmp_signed("<", a, b), a, b), self.type)

    def square(self, a, b):
        """Squared difference."""
        difference = self.builder.fsub(a, b)
        return self.builder.fmul(difference, difference)

    def apart(self, a, b):
        """Absolute difference."""
        whole = ir.VectorType(ir.IntType(self.bits), self.width)
        without_sign = ir.Constant(whole, [2 ** (self.bits - 1) - 1] * self.width)
        difference = self.builder.bitcast(self.builder.fsub(a, b), whole)
        return self.builder.bitcast(self.builder.and_(difference, without_sign), self.type)

    def loop(self, count, carried, body):
        """Run ``body(step, carried)`` for each step below ``count``, which is at least 1; return what it carried last.

        ``carried`` are lists of vectors; the body returns their next values.
        """
        builder, before = self.builder, self.builder.block
        block, after = builder.append_basic_block("steps"), builder.append_basic_block("after")
        builder.branch(block)
        builder.position_at_end(block)
        step = builder.phi(_INDEX)
        current = [[builder.phi(self.type) for _ in vectors] for vectors in carried]
        following = body(step, current)
        last, next_step = builder.block, self.offset(step, 1)
        step.add_incoming(ir.Constant(_INDEX, 0), before)
        step.add_incoming(next_step, last)
        for phis, first, then in zip(current, carried, following, strict=True):
            for phi, start, value in zip(phis, first, then, strict=True):
                phi.add_incoming(start, before)
                phi.add_incoming(value, last)
        builder.cbranch(builder.icmp_signed("<", next_step, count), block, after)
        builder.position_at_end(after)
        return following


def _row_of_cells(vectors, cells_of, above, above_at, cells, cells_at, count, diagonal=None, left=None):
    """Build the loop over the columns of a row; ``cells_of(column, diagonal, above, left)`` has the new cells.

    Without ``diagonal`` and ``left`` the cell before the first one is both: a step from either costs the same.
    """
    if diagonal is None:
        diagonal = left = vectors.load(above, vectors.offset(above_at, -LANES))

    def next_cells(column, carried):
        shift = vectors.builder.mul(column, ir.Constant(_INDEX, LANES))
        over = vectors.load(above, vectors.offset(above_at, shift))
        values = cells_of(column, carried[0], over, carried[1])
        vectors.store(values, cells, vectors.offset(cells_at, shift))
        return over, values

    vectors.loop(count, [diagonal, left], next_cells)


@intrinsic
def fill_rows(typing, values, starts, first, at, lanes):
    """Write a square of items to rows of lanes: of as many series and items as a vector has lanes.

    The series are those of the lanes from ``first`` on; ``starts`` has the offset of the series of each lane in
    ``values``. The items are those from ``at`` on.
    """
    del typing, first, at
    signature = types.void(values, starts, types.intp, types.intp, lanes)

    def build(context, builder, signature, arguments):
        vectors = _Vectors(context, builder, values.dtype)
        data, starts_data, lanes_data = (vectors.pointer(signature.args[k], arguments[k]) for k in (0, 1, 4))
        first, at = arguments[2], arguments[3]
        rows = []
        for lane in range(vectors.width):
            start = builder.load(builder.gep(starts_data, [vectors.offset(first, lane)]))
            rows.append(vectors.load_one(data, builder.add(start, at)))
        for row, items in enumerate(_transposed(vectors, rows)):
            here = builder.mul(vectors.offset(at, row), ir.Constant(_INDEX, LANES))
            vectors.store_one(items, lanes_data, builder.add(here, first))
        return context.get_dummy_value()

    return signature, build


def _transposed(vectors, rows):
    """Exchange rows and lanes of a square, halves of blocks at a time."""
    half, number = vectors.width // 2, ir.IntType(32)
    while half:
        following = list(rows)
        for row in range(vectors.width):
            if row & half:
                continue
            a, b = rows[row], rows[row + half]
            for target, shift in ((row, 0), (row + half, half)):
                chosen = [
                    vectors.width + lane - half + shift if lane & half else lane + shift
                    for lane in range(vectors.width)
                ]
                mask = ir.Constant(ir.VectorType(number, vectors.width), chosen)
                following[target] = vectors.builder.shuffle_vector(a, b, mask)
        rows, half = following, half // 2
    return rows


@intrinsic
def sum_outside(typing, values, at, upper, lower, envelope_at, count):
    """Sum of the squared distances of values from their envelopes, of ``count * vector_lanes(values)`` values."""
    del typing, at, envelope_at, count
    signature = values.dtype(values, types.intp, upper, lower, types.intp, types.intp)

    def build(context, builder, signature, arguments):
        vectors = _Vectors(context, builder, values.dtype)
        data, upper_data, lower_data = (vectors.pointer(signature.args[k], arguments[k]) for k in (0, 2, 3))
        zeros = [vectors.constant(0.0)] * N_VECTORS

        def add_terms(step, carried):
            shift = builder.mul(step, ir.Constant(_INDEX, N_VECTORS * vectors.width))
            here, there = vectors.offset(arguments[1], shift), vectors.offset(arguments[4], shift)
            points, high, low = (
                vectors.load(data, here),
                vectors.load(upper_data, there),
                vectors.load(lower_data, there),
            )
            totals = []
            for total, point, most, least in zip(carried[0], points, high, low, strict=True):
                beyond = builder.fsub(point, vectors.smaller(vectors.larger(point, least), most))
                square = builder.fmul(beyond, beyond, flags=("contract",))
                totals.append(builder.fadd(total, square, flags=("contract",)))
            return [totals]

        totals = vectors.loop(arguments[5], [zeros], add_terms)[0]
        return vectors.sum(vectors.add(vectors.add(totals[0], totals[1]), vectors.add(totals[2], totals[3])))

    return signature, build


@intrinsic
def sum_floors(typing, values, skips, at, upper, lower, envelope_at, count):
    """Sum of the smaller of the distance of a value from its envelope and of its skip; sizes as in ``sum_outside``."""
    del typing, at, envelope_at, count
    signature = values.dtype(values, skips, types.intp, upper, lower, types.intp, types.intp)

    def build(context, builder, signature, arguments):
        vectors = _Vectors(context, builder, values.dtype)
        data, skips_data, upper_data, lower_data = (
            vectors.pointer(signature.args[k], arguments[k]) for k in (0, 1, 3, 4)
        )

        def add_terms(step, carried):
            shift = builder.mul(step, ir.Constant(_INDEX, N_VECTORS * vectors.width))
            here, there = vectors.offset(arguments[2], shift), vectors.offset(arguments[5], shift)
            columns = (vectors.load(data, here), vectors.load(skips_data, here))
            ranges = (vectors.load(upper_data, there), vectors.load(lower_data, there))
            totals = []
            for total, point, skip, most, least in zip(carried[0], *columns, *ranges, strict=True):
                outside = vectors.apart(point, vectors.smaller(vectors.larger(point, least), most))
                totals.append(vectors.add(total, vectors.least(outside, skip)))
            return [totals]

        totals = vectors.loop(arguments[6], [[vectors.constant(0.0)] * N_VECTORS], add_terms)[0]
        return vectors.sum(vectors.add(vectors.add(totals[0], totals[1]), vectors.add(totals[2], totals[3])))

    return signature, build


@intrinsic
def warp_row(typing, x, x_at, y, y_at, above, above_at, cells, cells_at, count, steps, steps_at):
    """Compute ``count`` cells of a row under dynamic time warping; offsets are in items, ``count`` is at least 1.

    x has lanes of one channel. y has one series, or lanes where it has three axes. ``above`` and ``cells`` may be the
    same array: then the cell before the first one may be of this row or of the row above, whichever paths may come
    from. ``steps`` is None, or gets the steps that led to the cells, see ``STEP_BYTES_PER_CELL``.
    """
    del typing, x_at, y_at, above_at, cells_at, count, steps_at
    whole = types.intp
    signature = types.void(x, whole, y, whole, above, whole, cells, whole, whole, steps, whole)

    def build(context, builder, signature, values):
        vectors = _Vectors(context, builder, x.dtype)
        warped = _WarpedRow(vectors, signature.args, values)
        points = vectors.load(warped.x, values[1])

        def costs_of(column):
            others = warped.other_points(column)
            return [vectors.square(point, other) for point, other in zip(points, others, strict=True)]

        warped.build_cells(costs_of)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def warp_row_channels(typing, x, x_at, y, y_at, above, above_at, cells, cells_at, count, steps, steps_at, channels):
    """As ``warp_row``, for several channels."""
    del typing, x_at, y_at, above_at, cells_at, count, steps_at, channels
    whole = types.intp
    signature = types.void(x, whole, y, whole, above, whole, cells, whole, whole, steps, whole, whole)

    def build(context, builder, signature, values):
        vectors = _Vectors(context, builder, x.dtype)
        warped, channels = _WarpedRow(vectors, signature.args, values), values[11]

        def costs_of(column):
            first = builder.mul(column, channels)

            def add_channel(channel, carried):
                lanes = vectors.load(
                    warped.x, vectors.offset(values[1], builder.mul(channel, ir.Constant(_INDEX, LANES)))
                )
                others = warped.other_points(vectors.offset(first, channel))
                squares = [vectors.square(point, other) for point, other in zip(lanes, others, strict=True)]
                return [[vectors.add(total, square) for total, square in zip(carried[0], squares, strict=True)]]

            return vectors.loop(channels, [[vectors.constant(0.0)] * N_VECTORS], add_channel)[0]

        warped.build_cells(costs_of)
        return context.get_dummy_value()

    return signature, build


class _WarpedRow:
    """Arrays and offsets of ``warp_row``, and the code of its cells."""

    def __init__(self, vectors, array_types, values):
        self._vectors, self._values = vectors, values
        self.x, self._y, self._above, self._cells = (
            vectors.pointer(array_types[at], values[at]) for at in (0, 2, 4, 6)
        )
        self._has_lanes = array_types[2].ndim == 3
        has_steps = not isinstance(array_types[9], types.NoneType)
        self._steps = vectors.pointer(array_types[9], values[9]) if has_steps else None

    def other_points(self, item):
        """Items of y, ``item`` after the first one: a number in all lanes, or the lanes."""
        vectors, at = self._vectors, self._values[3]
        if self._has_lanes:
            return vectors.load(self._y, vectors.offset(at, vectors.builder.mul(item, ir.Constant(_INDEX, LANES))))
        return [vectors.number(self._y, vectors.offset(at, item))] * N_VECTORS

    def build_cells(self, costs_of):
        """Build the loop over the cells, whose points cost ``costs_of(column)``."""
        vectors, values = self._vectors, self._values

        def cells_of(column, diagonal, over, left):
            cells = []
            for number, (cost, d, o, before) in enumerate(zip(costs_of(column), diagonal, over, left, strict=True)):
                cells.append(vectors.add(vectors.least(vectors.least(d, o), before), cost))
                if self._steps is not None:
                    self._store_steps(column, number, d, o, before)
            return cells

        _row_of_cells(vectors, cells_of, self._above, values[5], self._cells, values[7], values[8])

    def _store_steps(self, column, number, diagonal, over, left):
        """Write a bit for each lane of a vector whose path comes from above, and one for each from the left."""
        vectors, builder = self._vectors, self._vectors.builder
        is_alone = builder.fcmp_ordered("<", vectors.least(over, left), diagonal)
        is_over = builder.fcmp_ordered("<=", over, left)
        first = vectors.offset(self._values[10], builder.mul(column, ir.Constant(_INDEX, STEP_BYTES_PER_CELL)))
        for plane, bits in enumerate((builder.and_(is_alone, is_over), builder.and_(is_alone, builder.not_(is_over)))):
            at = vectors.offset(first, plane * STEP_BYTES_PER_CELL // 2 + number)
            builder.store(builder.bitcast(bits, ir.IntType(8)), builder.gep(self._steps, [at]))


@intrinsic
def edit_row(
    typing, x, x_skips, x_at, y, y_skips, y_at, cells, cells_at, row, column, count, is_first, split, stiffness
):
    """Compute ``count`` cells of a row under an edit distance of series, from ``column`` on (see ``kernels.elastic``).

    x and its skips have lanes, y and its skips have one series, all with a zero before the first point. If
    ``is_first``, the cell before the first one is that of the row above, else that of this row.
    """
    del typing, x_at, y_at, cells_at, row, column, count, is_first
    whole = types.intp
    signature = types.void(
        x, x_skips, whole, y, y_skips, whole, cells, whole, whole, whole, whole, types.boolean, split, stiffness
    )

    def build(context, builder, signature, arguments):
        vectors = _Vectors(context, builder, x.dtype)
        x_data, x_skips_data, y_data, y_skips_data, cells_data = (
            vectors.pointer(signature.args[at], arguments[at]) for at in (0, 1, 3, 4, 6)
        )
        x_at, y_at, cells_at, row, first_column, count, is_first = (arguments[at] for at in (2, 5, 7, 8, 9, 10, 11))
        points, before_points = vectors.load(x_data, x_at), vectors.load(x_data, vectors.offset(x_at, -LANES))
        skips = vectors.load(x_skips_data, x_at)
        infinite, zero = vectors.constant(np.inf), vectors.constant(0.0)

        def split_cost(point, before, other):
            beyond = vectors.larger(
                builder.fsub(point, vectors.larger(before, other)), builder.fsub(vectors.smaller(before, other), point)
            )
            return vectors.add(vectors.spread(arguments[12]), vectors.larger(beyond, zero))

        def cells_of(column, diagonal, over, left):
            at = vectors.offset(y_at, column)
            other, other_before = vectors.number(y_data, at), vectors.number(y_data, vectors.offset(at, -1))
            other_skip = vectors.number(y_skips_data, at)
            if not isinstance(stiffness, types.NoneType):
                apart = builder.sub(row, vectors.offset(first_column, column))
                apart = builder.select(
                    builder.icmp_signed("<", apart, ir.Constant(_INDEX, 0)), builder.neg(apart), apart
                )
                delay = vectors.spread(builder.fmul(arguments[13], builder.sitofp(apart, vectors.item)))
            values = []
            for vector in range(N_VECTORS):
                point, before, alone, other_alone = points[vector], before_points[vector], skips[vector], other_skip
                both = vectors.apart(point, other)
                if not isinstance(stiffness, types.NoneType):
                    both = vectors.add(vectors.add(both, vectors.apart(before, other_before)), delay)
                if not isinstance(split, types.NoneType):
                    alone, other_alone = split_cost(point, before, other), split_cost(other, other_before, point)
                best = vectors.least(vectors.add(diagonal[vector], both), vectors.add(over[vector], alone))
                values.append(vectors.least(best, vectors.add(left[vector], other_alone)))
            return values

        edge = vectors.load(cells_data, vectors.offset(cells_at, -LANES))
        diagonal = [builder.select(is_first, values, infinite) for values in edge]
        left = [builder.select(is_first, infinite, values) for values in edge]
        _row_of_cells(vectors, cells_of, cells_data, cells_at, cells_data, cells_at, count, diagonal, left)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def is_within(typing, cells, cells_at, cutoffs, cutoffs_at):
    """Whether a cell of any lane is at most the cut-off of its lane."""
    del typing, cells_at, cutoffs_at
    signature = types.boolean(cells, types.intp, cutoffs, types.intp)

    def build(context, builder, signature, values):
        vectors = _Vectors(context, builder, cells.dtype)
        cells_data, cutoffs_data = (vectors.pointer(signature.args[at], values[at]) for at in (0, 2))
        lanes = zip(vectors.load(cells_data, values[1]), vectors.load(cutoffs_data, values[3]), strict=True)
        near = [builder.fcmp_ordered("<=", cell, cutoff) for cell, cutoff in lanes]
        together = builder.or_(builder.or_(near[0], near[1]), builder.or_(near[2], near[3]))
        bits = ir.IntType(vectors.width)
        return builder.icmp_unsigned("!=", builder.bitcast(together, bits), ir.Constant(bits, 0))

    return signature, build
