// RUN: tile-opt %s -convert-proton-nvidia-gpu-to-llvm | filecheck %s
// RUN: tile-opt %s -convert-proton-nvidia-gpu-to-llvm='granularity=warp_2 sampling-strategy=selective sampling-options=1' | filecheck %s --check-prefix=CHOSEN
// RUN: tile-opt %s -convert-proton-nvidia-gpu-to-llvm='buffer-type=global' | filecheck %s --check-prefix=GLOBAL

// Rings are behind the shared memory of the kernel.
// CHECK: proton.records = {capacity = 256 : i64, {{.*}}name = "load", start = true{{.*}}name = "load", start = false{{.*}}units = 4 : i64}
// CHECK-SAME: ttg.profile_scratch_memory_size = 16640 : i32
// CHECK-SAME: ttg.shared = 16496 : i32
// CHOSEN: units = 1 : i64
// GLOBAL: ttg.shared = 100 : i32
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 100 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: llvm.func @kernel(%{{.*}}: i32, %[[MEMORY:.*]]: !llvm.ptr<1>)
  llvm.func @kernel(%n: i32) attributes {nvvm.kernel} {
    // Unit 1 is warps 2 and 3.
    // CHOSEN: llvm.mlir.constant(4 : i32)
    // CHECK-COUNT-3: clock64
    // CHECK-NOT: proton.record
    proton.record start "load"
    proton.record end "load"
    llvm.return
  }
}
