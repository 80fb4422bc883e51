"""What a type checker must mark, and nothing else: the lines that end with `# error`."""

import tile
import tile.language as tl
from tile.language.extra import libdevice


@tile.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, tl.relu(x))  # error
    y = tl.sum(x, axes=0)  # error
    z = tl.zeros([BLOCK], tl.float31)  # error
    w = offsets.astype(tl.float32)  # error
    v = offsets.to("float32")  # error
    tl.dot(x)  # error
    for i in tl.range(0, n, stages=3):  # error
        x += i
    tl.store(x_ptr, x, evict="evict_first")  # error
    tl.program_id("x")  # error
    libdevice.acos(x, x)  # error
    libdevice.arc_cosine(x)  # error
    x += libdevice.acos(x) + libdevice.pow(x, 2)
