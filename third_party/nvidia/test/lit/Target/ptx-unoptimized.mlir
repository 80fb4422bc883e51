// RUN: tile-opt %s -tile-nvidia-ptx=opt-level=0 -o %t.mlir | filecheck %s

// Nothing moves what a product in flight writes before it is waited for, with
// no optimisation either.

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK: .visible .entry waited(
// CHECK: // product
// CHECK-NOT: mov
// CHECK: // wait
llvm.func @waited(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%c0, %c0, %c1 : i32, i32, i32)
^loop(%i: i32, %a: i32, %b: i32):
  %x = llvm.inline_asm has_side_effects "// product $0 $1", "=r,=r,0,1" %a, %b : (i32, i32) -> !llvm.struct<(i32, i32)>
  %x0 = llvm.extractvalue %x[0] : !llvm.struct<(i32, i32)>
  %x1 = llvm.extractvalue %x[1] : !llvm.struct<(i32, i32)>
  %y = llvm.inline_asm has_side_effects "// wait $0 $1", "=r,=r,0,1" %x0, %x1 : (i32, i32) -> !llvm.struct<(i32, i32)>
  %y0 = llvm.extractvalue %y[0] : !llvm.struct<(i32, i32)>
  %y1 = llvm.extractvalue %y[1] : !llvm.struct<(i32, i32)>
  %next = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %y0, %y1 : i32, i32, i32), ^done
^done:
  %sum = llvm.add %y0, %y1 : i32
  llvm.store %sum, %p : i32, !llvm.ptr<1>
  llvm.return
}
}
