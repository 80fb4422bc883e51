// RUN: tile-opt %s -allow-unregistered-dialect -triton-nvidia-gpu-cluster-barrier-at-end -split-input-file | filecheck %s

#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<2xi64, #barrier, #smem, mutable>
!buf = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
// The barrier lives until all have come here.
// CHECK-LABEL: @arrives
// CHECK: %[[BAR:.*]] = ttg.local_alloc
// CHECK: scf.for
// CHECK: "epilogue"
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttg.local_dealloc %[[BAR]]
// CHECK-NEXT: tt.return
tt.func public @arrives(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %bar = ttg.local_alloc : () -> !bar
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32} : !bar
  }
  ttg.local_dealloc %bar : !bar
  "epilogue"() : () -> ()
  tt.return
}

// The program has one.
// CHECK-LABEL: @has_one
// CHECK-COUNT-1: ttnvgpu.cluster_barrier
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @has_one(%bar: !bar) {
  ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32} : !bar
  ttnvgpu.cluster_barrier
  tt.return
}

// A barrier in front of the last signal does not help.
// CHECK-LABEL: @has_one_before
// CHECK-COUNT-2: ttnvgpu.cluster_barrier
// CHECK-NEXT: tt.return
tt.func public @has_one_before(%bar: !bar) {
  ttnvgpu.cluster_barrier
  ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}

// Each block waits for what comes to it.
// CHECK-LABEL: @copies
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @copies(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %buf: !buf, %bar: !bar) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  ttnvgpu.async_tma_copy_global_to_local %desc[%c0, %c0] %buf, %bar, %true {multicast} : !tt.tensordesc<tensor<64x64xf16, #shared>>, !bar -> !buf
  ttnvgpu.wait_barrier %bar, %c0 : !bar
  tt.return
}
}

// -----

#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0]], twoCTAs = true>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttng.two-ctas" = true, ttg.target = "cuda:100"} {
// Pairs meet where they give tensor memory back.
// CHECK-LABEL: @pairs
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @pairs(%a: !ttg.memdesc<256x32xf16, #a, #smem, mutable>, %b: !ttg.memdesc<32x128xf16, #b, #smem, mutable>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %p: i1) {
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p, %bar[%p] {is_async, two_ctas} : !ttg.memdesc<256x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x128xf16, #b, #smem, mutable>, !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}
}
