// RUN: tile-opt %s -tile-amd-gluon | filecheck %s
// RUN: tile-opt %s -tile-amd-gluon -tile-amd-llir | filecheck %s --check-prefix=LLIR
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-amd-gluon{insert=loops-start:print-ir{label=b},copies-start:print-ir{label=c},copies-end:print-ir{label=d}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=POINTS

// Explicit programs enter the middle at `copies`; nothing there chooses a layout or an order.
// POINTS: gluon-resolve-auto-encodings
// POINTS-NEXT: print-ir{label=c}
// POINTS-NEXT: gluon-canonicalize
// POINTS-NOT: tritonamdgpu
// POINTS: print-ir{label=d}
// POINTS-NEXT: )

// Open layouts of buffer accesses are decided by what they are stored with.

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK: tt.func public @kernel
  // LLIR: llvm.func @kernel
  // LLIR-NOT: amdg.
  tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    // CHECK: %[[R:.+]] = tt.make_range {{.*}} : tensor<512xi32, #blocked>
    // CHECK: amdg.buffer_load %{{.+}}[%[[R]]] : tensor<512xi32, #blocked>
    // CHECK: amdg.buffer_store %{{.+}}, %{{.+}}[%[[R]]] : tensor<512xi32, #blocked>
    // CHECK: amdg.buffer_atomic_rmw {{.*}} : tensor<512xi32, #blocked>
    %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
    %v = amdg.buffer_load %x[%i] : tensor<512xi32, #gluon.auto_encoding>
    %w = gluon.set_auto_layout %v : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #blocked>
    %j = gluon.set_auto_layout %i : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #blocked>
    amdg.buffer_store %w, %y[%j] : tensor<512xi32, #blocked>
    %old = amdg.buffer_atomic_rmw add, relaxed, gpu, %v, %y[%i] : tensor<512xi32, #gluon.auto_encoding>
    tt.return
  }
}
