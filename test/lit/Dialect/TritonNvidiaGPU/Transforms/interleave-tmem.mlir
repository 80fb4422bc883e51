// RUN: tile-opt %s -allow-unregistered-dialect -triton-nvidia-interleave-tmem | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#other = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
!all = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!buffer = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!part = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 128x64>
!rows = tensor<128x32xf32, #rows>
!other = tensor<128x32xf32, #other>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // One part after the other goes through the registers.
  // CHECK-LABEL: @parts
  tt.func @parts(%d: !all, %f: !rows) {
    %true = arith.constant true
    // CHECK: [[S0:%.*]] = ttnvgpu.tmem_subslice %{{.*}} {offset = 0 : i32}
    // CHECK: [[S1:%.*]] = ttnvgpu.tmem_subslice %{{.*}} {offset = 32 : i32}
    %s0 = ttnvgpu.tmem_subslice %d {offset = 0 : i32} : !all -> !part
    %s1 = ttnvgpu.tmem_subslice %d {offset = 32 : i32} : !all -> !part
    // CHECK: [[A:%.*]] = ttnvgpu.tmem_load [[S0]]
    // CHECK-NEXT: [[X:%.*]] = arith.mulf [[A]]
    // CHECK-NEXT: ttnvgpu.tmem_store [[X]], [[S0]]
    // CHECK-NEXT: [[B:%.*]] = ttnvgpu.tmem_load [[S1]]
    // CHECK-NEXT: [[Y:%.*]] = arith.mulf [[B]]
    // CHECK-NEXT: ttnvgpu.tmem_store [[Y]], [[S1]]
    %a = ttnvgpu.tmem_load %s0 : !part -> !rows
    %b = ttnvgpu.tmem_load %s1 : !part -> !rows
    %x = arith.mulf %a, %f : !rows
    %y = arith.mulf %b, %f : !rows
    ttnvgpu.tmem_store %x, %s0, %true : !rows -> !part
    ttnvgpu.tmem_store %y, %s1, %true : !rows -> !part
    tt.return
  }

  // The conversion comes along, as far as nobody writes to the buffer.
  // CHECK-LABEL: @written
  tt.func @written(%d: !buffer, %v: !rows) {
    %true = arith.constant true
    %e = ttnvgpu.tmem_alloc : () -> !buffer
    // CHECK: ttnvgpu.tmem_store %arg1, %{{[^,]*}}, %{{.*}}
    // CHECK-NEXT: [[A:%.*]] = ttnvgpu.tmem_load %arg0
    // CHECK-NEXT: ttg.convert_layout [[A]]
    // CHECK-NEXT: ttnvgpu.tmem_store %arg1, %arg0
    // CHECK-NEXT: "use"
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    %x = ttg.convert_layout %a : !rows -> !other
    ttnvgpu.tmem_store %v, %e, %true : !rows -> !buffer
    ttnvgpu.tmem_store %v, %d, %true : !rows -> !buffer
    "use"(%x) : (!other) -> ()
    tt.return
  }

  // Two arguments may be one buffer.
  // CHECK-LABEL: @arguments
  tt.func @arguments(%d: !buffer, %e: !buffer, %v: !rows) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tmem_load
    // CHECK: ttnvgpu.tmem_store
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    ttnvgpu.tmem_store %v, %e, %true : !rows -> !buffer
    "use"(%a) : (!rows) -> ()
    tt.return
  }

  // Behind the barrier others may write, and before it they may still do.
  // CHECK-LABEL: @barriers
  tt.func @barriers(%bar: !bar, %phase: i32) {
    %d = ttnvgpu.tmem_alloc : () -> !buffer
    // CHECK: ttnvgpu.wait_barrier
    // CHECK: ttnvgpu.tmem_load
    // CHECK: ttnvgpu.arrive_barrier
    // CHECK: ttnvgpu.tmem_load
    // CHECK-NEXT: "foreign"
    ttnvgpu.wait_barrier %bar, %phase : !bar
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    ttnvgpu.arrive_barrier %bar, 1 : !bar
    %b = ttnvgpu.tmem_load %d : !buffer -> !rows
    "foreign"() : () -> ()
    "use"(%a, %b) : (!rows, !rows) -> ()
    tt.return
  }

  // What follows the load may be behind the barrier, where its operand is made. It stays.
  // CHECK-LABEL: @behind_a_barrier
  tt.func @behind_a_barrier(%d: !buffer, %bar: !bar) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tmem_load
    // CHECK-NEXT: ttnvgpu.arrive_barrier
    // CHECK-NEXT: [[F:%.*]] = "foreign"
    // CHECK-NEXT: arith.mulf %{{.*}}, [[F]]
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    ttnvgpu.arrive_barrier %bar, 1 : !bar
    %f = "foreign"() : () -> !rows
    %x = arith.mulf %a, %f : !rows
    ttnvgpu.tmem_store %x, %d, %true : !rows -> !buffer
    tt.return
  }

  // A buffer need not be there before it is used.
  // CHECK-LABEL: @buffers
  tt.func @buffers(%v: !rows, %c: i1) {
    %true = arith.constant true
    // CHECK: [[E:%.*]] = ttnvgpu.tmem_alloc
    // CHECK-NEXT: ttnvgpu.tmem_store %arg0, [[E]]
    // CHECK-NEXT: [[D:%.*]] = ttnvgpu.tmem_alloc
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: [[S:%.*]] = ttnvgpu.tmem_subslice [[D]]
    // CHECK-NEXT: ttnvgpu.tmem_store %arg0, [[S]]
    %d = ttnvgpu.tmem_alloc : () -> !all
    %e = ttnvgpu.tmem_alloc : () -> !buffer
    ttnvgpu.tmem_store %v, %e, %true : !rows -> !buffer
    scf.if %c {
      %s = ttnvgpu.tmem_subslice %d {offset = 0 : i32} : !all -> !part
      ttnvgpu.tmem_store %v, %s, %true : !rows -> !part
    }
    tt.return
  }

  // A mask takes a bit for each element, and what it is made of more.
  // CHECK-LABEL: @mask
  // CHECK: [[M:%.*]] = arith.cmpi
  // CHECK-NEXT: [[A:%.*]] = ttnvgpu.tmem_load
  // CHECK-NEXT: arith.select [[M]], [[A]]
  tt.func @mask(%d: !buffer, %limit: tensor<128x32xi32, #rows>, %other: !rows) -> !rows {
    %c = "made"() : () -> tensor<128x32xi32, #rows>
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    %m = arith.cmpi slt, %c, %limit : tensor<128x32xi32, #rows>
    %x = arith.select %m, %a, %other : tensor<128x32xi1, #rows>, !rows
    tt.return %x : !rows
  }

  // What the first user needs beside, and is made of less, comes behind the
  // load, too: a row of shared memory for all rows.
  // CHECK-LABEL: @from_shared_memory
  // CHECK: ttnvgpu.tmem_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.expand_dims
  // CHECK-NEXT: tt.broadcast
  // CHECK-NEXT: arith.subf
  tt.func @from_shared_memory(%d: !buffer, %s: !ttg.memdesc<32xf32, #bar, #smem, mutable>) -> !rows {
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    %r = ttg.local_load %s : !ttg.memdesc<32xf32, #bar, #smem, mutable> -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xf32, #rows>
    %b = tt.broadcast %e : tensor<1x32xf32, #rows> -> tensor<128x32xf32, #rows>
    %x = arith.subf %a, %b : !rows
    tt.return %x : !rows
  }

  // Behind the barrier others may write to the row.
  // CHECK-LABEL: @released
  // CHECK: ttnvgpu.tmem_load
  // CHECK-NEXT: ttg.local_load
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK-NEXT: arith.subf
  tt.func @released(%d: !buffer, %s: !ttg.memdesc<32xf32, #bar, #smem, mutable>, %bar: !bar) -> !rows {
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    %r = ttg.local_load %s : !ttg.memdesc<32xf32, #bar, #smem, mutable> -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xf32, #rows>
    %b = tt.broadcast %e : tensor<1x32xf32, #rows> -> tensor<128x32xf32, #rows>
    ttnvgpu.arrive_barrier %bar, 1 : !bar
    %x = arith.subf %a, %b : !rows
    tt.return %x : !rows
  }

  // A tensor that is narrowed stays narrow while it waits.
  // CHECK-LABEL: @narrowed
  // CHECK: arith.truncf
  // CHECK-NEXT: [[A:%.*]] = ttnvgpu.tmem_load
  // CHECK-NEXT: "use"([[A]]
  tt.func @narrowed(%d: !buffer, %wide: !rows) {
    %a = ttnvgpu.tmem_load %d : !buffer -> !rows
    %n = arith.truncf %wide : !rows to tensor<128x32xf16, #rows>
    "use"(%a, %n) : (!rows, tensor<128x32xf16, #rows>) -> ()
    tt.return
  }
}
