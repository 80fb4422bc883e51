// RUN: tile-opt %s -tile-nvidia-llir -tile-nvidia-ptx -o %t.mlir 2>&1 | filecheck %s

// Marks of parameters that LLVM IR has no place for are not warned of.

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-NOT: warning
// CHECK: .visible .entry clear(
// CHECK-NOT: warning
tt.func public @clear(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, ttnvgpu.tensor_map_base = 0 : i32}) {
  %zero = arith.constant 0.0 : f32
  tt.store %p, %zero : !tt.ptr<f32>
  tt.return
}
}
