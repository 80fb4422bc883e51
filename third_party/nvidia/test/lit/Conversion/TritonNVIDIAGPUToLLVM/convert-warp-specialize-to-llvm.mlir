// RUN: tile-opt %s -tile-nvidia-llir | filecheck %s
// RUN: tile-opt %s -tritongpu-allocate-warp-groups -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm=compute-capability=90 -convert-warp-specialize-to-llvm -canonicalize -cse | filecheck %s

// The warps of partitions wait for work at the barrier of the block; those of
// the default group hand it out. Captures that are arguments of the kernel or
// constants do not go through shared memory.

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func @k
  // CHECK-SAME: %[[P:[^ ]*]]: !llvm.ptr<1>
  // CHECK-SAME: nvvm.reqntid = array<i32: 384>
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
  // CHECK: %[[DEFAULT:.*]] = llvm.icmp "slt" %[[WARP]]
  // CHECK: llvm.cond_br %[[DEFAULT]], ^[[START:.*]], ^[[GIVE:.*]]
  // CHECK: ^[[START]]:
  // CHECK: setmaxnreg.inc.sync.aligned.u32 232;
  // CHECK: %[[V:.*]] = llvm.fadd
  // CHECK: llvm.cond_br %{{.*}}, ^[[ONCE:.*]], ^[[BODY:bb[0-9]+]]
  // CHECK: ^[[BODY]]:
  // CHECK: nvvm.barrier0
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: nvvm.barrier0
  // CHECK: llvm.cond_br %{{.*}}, ^[[LAST:.*]], ^[[END:bb[0-9]+]]
  // CHECK: ^[[END]]:
  // CHECK: nvvm.barrier0
  // CHECK-NEXT: llvm.return
  // CHECK: ^[[EXIT:bb[0-9]+]]:
  // CHECK-NEXT: llvm.return
  // CHECK: ^[[WAIT:bb[0-9]+]]:
  // CHECK: nvvm.barrier0
  // CHECK: %[[WORK:.*]] = llvm.load
  // CHECK: llvm.icmp "eq" %[[WORK]]
  // CHECK: llvm.cond_br %{{.*}}, ^[[EXIT]]
  // CHECK: nvvm.barrier0
  // CHECK-NEXT: llvm.br ^[[WAIT]]
  // CHECK: setmaxnreg.dec.sync.aligned.u32 32;
  // CHECK-NEXT: llvm.br ^[[WAIT]]
  // The partition of two warps.
  // CHECK: %[[W:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: st.global{{.*}}%[[P]]
  tt.func public @k(%p: !tt.ptr<f32>, %v: f32) {
    %w = arith.addf %v, %v : f32
    ttg.warp_specialize(%p, %w) attributes {requestedRegisters = array<i32: 25>}
    default {
      ttg.barrier local
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<f32>, %x: f32) num_warps(2) {
      ttg.barrier local
      tt.store %q, %x : !tt.ptr<f32>
      ttg.warp_return
    } : (!tt.ptr<f32>, f32) -> ()
    tt.return
  }
}
