// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, ttg.maxnreg = 96 : i32, ttg.target = "cuda:80"} {

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: i32)
// CHECK-SAME: nvvm.kernel, nvvm.maxnreg = 96 : i32, nvvm.reqntid = array<i32: 64>
tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  // CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @global_smem
  // CHECK: %[[R:.*]] = llvm.call @device(%{{.*}}, %[[SMEM]]) : (i32, !llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  // CHECK: llvm.extractvalue %[[R]][0]
  %0:2 = tt.call @device(%n) : (i32) -> (i32, i32)
  %f = arith.sitofp %0#0 : i32 to f32
  tt.store %p, %f : !tt.ptr<f32>
  tt.return
}

// Shared memory of a device function is its caller's: the last argument.
// CHECK-LABEL: llvm.func internal @device
// CHECK-SAME: (%[[N:.*]]: i32, %[[FRAME:.*]]: !llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
// CHECK-SAME: passthrough = ["noinline"]
// CHECK-NOT: nvvm.kernel
tt.func private @device(%n: i32) -> (i32, i32) attributes {noinline = true} {
  // CHECK: llvm.getelementptr %[[FRAME]]
  %x = arith.constant dense<1.0> : tensor<8x32xf32, #blocked>
  %a = ttg.local_alloc %x : (tensor<8x32xf32, #blocked>) -> !ttg.memdesc<8x32xf32, #shared, #smem, mutable>
  tt.return %n, %n : i32, i32
}

// Loop-carried tensors are one block argument for each element.
// CHECK-LABEL: llvm.func @control_flow
tt.func @control_flow(%c: i1, %x: tensor<8x32xf32, #blocked>) {
  // CHECK: llvm.br ^[[LOOP:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32, f32)
  // CHECK: ^[[LOOP]](%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32)
  cf.br ^loop(%x : tensor<8x32xf32, #blocked>)
^loop(%y: tensor<8x32xf32, #blocked>):
  %z = arith.addf %y, %y : tensor<8x32xf32, #blocked>
  cf.cond_br %c, ^loop(%z : tensor<8x32xf32, #blocked>), ^exit
^exit:
  tt.return
}

// CHECK-LABEL: llvm.func @program
tt.func @program() -> i32 {
  // CHECK: nvvm.read.ptx.sreg.ctaid.y
  // CHECK: nvvm.read.ptx.sreg.nctaid.z
  // CHECK: nvvm.barrier0
  %0 = tt.get_program_id y : i32
  %1 = tt.get_num_programs z : i32
  ttg.barrier local
  %2 = arith.addi %0, %1 : i32
  tt.return %2 : i32
}

// CHECK-LABEL: llvm.func @debug_barrier
tt.func @debug_barrier() {
  // CHECK: nvvm.barrier0
  gpu.barrier
  tt.return
}
}
