"""`tile compile`"""

from __future__ import annotations

import click

from ..aot import compile_kernel
from .complete import targets as known_targets
from .progress import working


@click.command("compile")
@click.argument("path", type=click.Path())
@click.option("-n", "--kernel-name", required=True, help="The kernel in the file.")
@click.option("-s", "--signature", required=True, help='As in "*fp32:16, i32, i32:1, 1024".')
@click.option("-g", "--grid", required=True, help='In C, as in "(n + 1023) / 1024, 1, 1".')
@click.option(
    "-o", "--out-path", type=click.Path(),
    help="Files begin with this; the kernel's name if left out.",
)  # fmt: skip
@click.option("-on", "--out-name", help="What the C functions are called.")
@click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    shell_complete=known_targets,
    help="As in cuda:90; several may be.",
)
@click.option("-w", "--num-warps", default=4, show_default=True, help="Warps of a program.")
@click.option(
    "-ns", "--num-stages", default=3, show_default=True, help="Stages of pipelined loops."
)
@click.option("--num-ctas", default=1, show_default=True, help="CTAs of a cluster.")
@click.option("--ptx/--no-ptx", default=True, help="PTX for devices that no target fits.")
@click.option("-gnc", "native", is_flag=True, hidden=True, help="As --no-ptx, for old scripts.")
def command(
    path: str, kernel_name: str, signature: str, grid: str, out_path: str | None,
    out_name: str | None, targets: tuple[str, ...], num_warps: int, num_stages: int, num_ctas: int,
    ptx: bool, native: bool,
) -> None:  # fmt: skip
    """Compile a kernel of the Python file PATH to C.

    The signature has an entry for each parameter: a type, or the value of a constant. *fp32 is a
    pointer, tensordesc<fp16[64, 64]> a descriptor. Behind a type, :16 means a multiple of 16, and
    :1 the number 1.
    """
    with working(f"Compiling {kernel_name}"):
        files = compile_kernel(
            path, kernel_name, signature, grid, out_path or out_name or kernel_name,
            targets=targets, out_name=out_name, num_warps=num_warps, num_stages=num_stages,
            num_ctas=num_ctas, ptx=ptx and not native,
        )  # fmt: skip
    for file in files:
        print(file)
