"""Kernels that reduce rows, in the forms in which libraries write them."""

import tile
import tile.language as tl


@tile.jit
def combine_moments(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    """Moments of two parts of a row (Chan, Golub, LeVeque 1979)."""
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return (
        mean_a + delta * share,
        m2_a + m2_b + delta * delta * weight_a * share,
        weight,
    )


@tile.jit
def var_mean(x, mean_out, var_out, cols, BLOCK: tl.constexpr):
    """One row in one tile; three values are reduced together."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    value = tl.load(x + row * cols + col, mask=mask, other=0.0).to(tl.float32)
    weight = tl.where(mask, 1.0, 0.0)
    mean, m2, count = tl.reduce((value, tl.zeros_like(value), weight), 0, combine_moments)
    tl.store(mean_out + row, mean)
    tl.store(var_out + row, m2 / (count - 1))


@tile.jit
def var_mean_in_steps(x, mean_out, var_out, cols, BLOCK: tl.constexpr):
    """One row in steps of a tile: each lane keeps its own moments."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    weight = tl.zeros([BLOCK], tl.float32)
    for first in range(0, cols, BLOCK):
        mask = first + col < cols
        value = tl.load(x + row * cols + first + col, mask=mask, other=0.0).to(tl.float32)
        delta = value - mean
        more = weight + 1
        next_mean = mean + delta / more
        m2 = tl.where(mask, m2 + delta * (value - next_mean), m2)
        mean = tl.where(mask, next_mean, mean)
        weight = tl.where(mask, more, weight)
    mean_all, m2_all, count = tl.reduce((mean, m2, weight), 0, combine_moments)
    tl.store(mean_out + row, mean_all)
    tl.store(var_out + row, m2_all / (count - 1))


@tile.jit
def layer_norm(x, residual, weight, bias, out, cols, eps, BLOCK: tl.constexpr):
    """Adds a residual and normalises; the moments are reduced together."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    value = tl.load(x + row * cols + col, mask=mask, other=0.0).to(tl.float32)
    value += tl.load(residual + row * cols + col, mask=mask, other=0.0).to(tl.float32)
    ones = tl.where(mask, 1.0, 0.0)
    mean, m2, count = tl.reduce((value, tl.zeros_like(value), ones), 0, combine_moments)
    scale = tl.rsqrt(m2 / count + eps)
    w = tl.load(weight + col, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias + col, mask=mask, other=0.0).to(tl.float32)
    result = (value - mean) * scale * w + b
    tl.store(out + row * cols + col, result.to(out.dtype.element_ty), mask=mask)


@tile.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    """One row in one tile: the place of its largest element."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + col, mask=col < cols, other=-float("inf"))
    tl.store(out + row, tl.argmax(value, 0).to(tl.int64))


@tile.jit
def cross_entropy(x, labels, loss, cols, BLOCK: tl.constexpr):
    """The loss of one row, and its gradient in place of the row: two passes in steps."""
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    label = tl.load(labels + row)
    of_label = tl.load(x + label).to(tl.float32)
    most = -float("inf")
    total = 0.0
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        value = tl.load(x + col, mask=col < cols, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(most, tl.max(value, 0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(value - larger), 0)
        most = larger
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        value = tl.load(x + col, mask=col < cols, other=-float("inf")).to(tl.float32)
        share = tl.exp(value - most) / total
        gradient = tl.where(col == label, share - 1.0, share)
        tl.store(x + col, gradient.to(x.dtype.element_ty), mask=col < cols)
    tl.store(loss + row, most + tl.log(total) - of_label)


@tile.jit
def kl_div(predicted, target, loss, cols, BLOCK: tl.constexpr):
    """The sum over a row of target * (log(target) - predicted), in steps."""
    row = tl.program_id(0).to(tl.int64)
    predicted += row * cols
    target += row * cols
    total = 0.0
    for first in range(0, cols, BLOCK):
        col = first + tl.arange(0, BLOCK)
        mask = col < cols
        log_p = tl.load(predicted + col, mask=mask, other=0.0).to(tl.float32)
        t = tl.load(target + col, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(t * (tl.log(tl.maximum(t, 1e-10)) - log_p), 0)
    tl.store(loss + row, total)


@tile.jit
def column_moments(x, mean_out, m2_out, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Moments of columns over a part of the rows (the first pass of batch_norm)."""
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    part = tl.program_id(1)
    mean = tl.zeros([ROWS, COLS], tl.float32)
    m2 = tl.zeros([ROWS, COLS], tl.float32)
    weight = tl.zeros([ROWS, COLS], tl.float32)
    first = part * rows
    for step in range(0, rows, ROWS):
        row = first + step + tl.arange(0, ROWS)
        mask = (step + tl.arange(0, ROWS) < rows)[:, None] & (col < cols)[None, :]
        place = row.to(tl.int64)[:, None] * cols + col[None, :]
        value = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        delta = value - mean
        more = weight + 1
        next_mean = mean + delta / more
        m2 = tl.where(mask, m2 + delta * (value - next_mean), m2)
        mean = tl.where(mask, next_mean, mean)
        weight = tl.where(mask, more, weight)
    mean_all, m2_all, _ = tl.reduce((mean, m2, weight), 0, combine_moments)
    tl.store(mean_out + part * cols + col, mean_all, mask=col < cols)
    tl.store(m2_out + part * cols + col, m2_all, mask=col < cols)
