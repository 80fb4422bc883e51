// RUN: tile-opt %s -split-input-file -tile-amd-llir | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // One access of 16 bytes; where the mask is false, behind the end.
  // CHECK-LABEL: @masked
  // CHECK-DAG: %[[END:.*]] = llvm.mlir.constant(-2147483648 : i32)
  // CHECK-DAG: %[[FLAGS:.*]] = llvm.mlir.constant(159744 : i32)
  // CHECK-NOT: llvm.cond_br
  // CHECK: %[[RSRC:.*]] = llvm.call_intrinsic "llvm.amdgcn.make.buffer.rsrc"(%arg0, %{{.*}}, %{{.*}}, %[[FLAGS]])
  // CHECK: %[[AT:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[END]]
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"(%[[RSRC]], %[[AT]], %{{.*}}, %{{.*}}) : {{.*}} -> vector<4xi32>
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.store"(%{{.*}}) : (vector<4xi32>, !llvm.ptr<8>, i32, i32, i32) -> ()
  tt.func public @masked(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %sn = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi slt, %range, %sn : tensor<1024xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %v = amdg.buffer_load %x[%range], %mask, %zero : tensor<1024xf32, #blocked>
    amdg.buffer_store %v, %y[%range], %mask : tensor<1024xf32, #blocked>
    tt.return
  }

  // A base that a lane loaded is made the same for all; others take the place of what is not read.
  // CHECK-LABEL: @loaded_base
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"(%{{.*}}) : (!llvm.ptr<1>) -> !llvm.ptr<1>
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.make.buffer.rsrc"(%[[P]]
  // CHECK: %[[V:.*]] = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"
  // CHECK: llvm.select %{{.*}}, %[[V]], %{{.*}}
  tt.func public @loaded_base(%x: !tt.ptr<f32>, %at: !tt.ptr<i32>, %out: !tt.ptr<f32>, %n: i32, %value: f32) {
    %start = tt.load %at : !tt.ptr<i32>
    %base = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %sn = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi slt, %range, %sn : tensor<1024xi32, #blocked>
    %other = tt.splat %value : f32 -> tensor<1024xf32, #blocked>
    %v = amdg.buffer_load %base[%range], %mask, %other : tensor<1024xf32, #blocked>
    amdg.buffer_store %v, %out[%range] : tensor<1024xf32, #blocked>
    tt.return
  }

  // The descriptor is that of the argument, and what is added to it an offset in a scalar register, which
  // stays inside the buffer where lanes are outside. A mask that is one scalar empties the buffer.
  // CHECK-LABEL: @scalar_offset
  // CHECK-SAME: (%[[X:[a-z0-9]+]]:
  // CHECK-DAG: %[[SIZE:.*]] = llvm.mlir.constant(2147483648 : i64)
  // CHECK-DAG: %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[RECORDS:.*]] = llvm.select %{{.*}}, %[[SIZE]], %[[NONE]] : i1, i64
  // CHECK: %[[RSRC:.*]] = llvm.call_intrinsic "llvm.amdgcn.make.buffer.rsrc"(%[[X]], %{{.*}}, %[[RECORDS]], %{{.*}})
  // CHECK: %[[BYTES:.*]] = llvm.mul %arg1, %{{.*}} : i32
  // CHECK: %[[SHARED:.*]] = llvm.select %{{.*}}, %[[BYTES]], %{{.*}} : i1, i32
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"(%[[RSRC]], %{{.*}}, %[[SHARED]], %{{.*}})
  // CHECK: %[[INSIDE:.*]] = llvm.intr.umin(%[[BYTES]]
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"(%{{.*}}, %{{.*}}, %[[INSIDE]], %{{.*}})
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"(%{{.*}}, %{{.*}}, %[[BYTES]], %{{.*}})
  tt.func public @scalar_offset(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %start: i32 {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32) {
    %base = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %any = arith.cmpi slt, %start, %n : i32
    %mask = tt.splat %any : i1 -> tensor<1024xi1, #blocked>
    %v = amdg.buffer_load %base[%range], %mask {amdg.scalar_offset} : tensor<1024xf32, #blocked>
    %sn = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %some = arith.cmpi slt, %range, %sn : tensor<1024xi32, #blocked>
    %w = amdg.buffer_load %base[%range], %some {amdg.scalar_offset} : tensor<1024xf32, #blocked>
    %u = amdg.buffer_load %base[%range] {amdg.scalar_offset} : tensor<1024xf32, #blocked>
    amdg.buffer_store %v, %out[%range] : tensor<1024xf32, #blocked>
    amdg.buffer_store %w, %out[%range] : tensor<1024xf32, #blocked>
    amdg.buffer_store %u, %out[%range] : tensor<1024xf32, #blocked>
    tt.return
  }

  // CHECK-LABEL: @atomics
  // CHECK: llvm.fence syncscope("agent") release
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"
  // CHECK: llvm.fence syncscope("agent") acquire
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap"
  tt.func public @atomics(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %value: f32) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %v = tt.splat %value : f32 -> tensor<1024xf32, #blocked>
    %0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %x[%range] : tensor<1024xf32, #blocked>
    %1 = amdg.buffer_atomic_cas relaxed, gpu, %range, %range, %y[%range] : tensor<1024xi32, #blocked>
    tt.return
  }
}

// -----

// On gfx12 the instruction says who sees an atomic operation: 2 << 3 is the GPU, 3 << 3 the host, too.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1200", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scopes
  // CHECK-DAG: %[[GPU:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK-DAG: %[[HOST:.*]] = llvm.mlir.constant(24 : i32)
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"({{.*}}, %[[GPU]])
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap"({{.*}}, %[[HOST]])
  tt.func public @scopes(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %value: f32) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %v = tt.splat %value : f32 -> tensor<512xf32, #blocked>
    %0 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %v, %x[%range] : tensor<512xf32, #blocked>
    %1 = amdg.buffer_atomic_cas relaxed, sys, %range, %range, %y[%range] : tensor<512xi32, #blocked>
    tt.return
  }
}
