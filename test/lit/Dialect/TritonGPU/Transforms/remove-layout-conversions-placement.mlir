// RUN: tile-opt %s -split-input-file -tritongpu-remove-layout-conversions | filecheck %s

// Conversions that have to stay go to where there is least to convert.

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @above_extension
  // CHECK: [[V:%.*]] = tt.load
  // CHECK: [[C:%.*]] = ttg.convert_layout [[V]] : tensor<64x64xi8, {{.*}} -> tensor<64x64xi8, #ttg.dot_op
  // CHECK: arith.sitofp [[C]] : tensor<64x64xi8, #ttg.dot_op
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @above_extension(%p: tensor<64x64x!tt.ptr<i8>, #row>) -> tensor<64x64xf16, #dot> {
    %v = tt.load %p : tensor<64x64x!tt.ptr<i8>, #row>
    %f = arith.sitofp %v : tensor<64x64xi8, #row> to tensor<64x64xf16, #row>
    %c = ttg.convert_layout %f : tensor<64x64xf16, #row> -> tensor<64x64xf16, #dot>
    tt.return %c : tensor<64x64xf16, #dot>
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The rows are few; what is broadcast from them is not.
  // CHECK-LABEL: @above_broadcast
  // CHECK: [[C:%.*]] = ttg.convert_layout {{.*}} -> tensor<64x1xf32
  // CHECK: tt.broadcast [[C]]
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @above_broadcast(%x: tensor<64x1xf32, #row>) -> tensor<64x64xf32, #col> {
    %e = math.exp %x : tensor<64x1xf32, #row>
    %b = tt.broadcast %e : tensor<64x1xf32, #row> -> tensor<64x64xf32, #row>
    %c = ttg.convert_layout %b : tensor<64x64xf32, #row> -> tensor<64x64xf32, #col>
    tt.return %c : tensor<64x64xf32, #col>
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @below_truncation
  // CHECK: [[T:%.*]] = arith.truncf {{.*}} : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
  // CHECK: ttg.convert_layout [[T]] : tensor<64x64xf16, #mma>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @below_truncation(%x: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #row>) {
    %c = ttg.convert_layout %x : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #row>
    %t = arith.truncf %c : tensor<64x64xf32, #row> to tensor<64x64xf16, #row>
    tt.store %p, %t : tensor<64x64x!tt.ptr<f16>, #row>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @out_of_loop
  // CHECK: ttg.convert_layout
  // CHECK: scf.for
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @out_of_loop(%x: tensor<64x64xf32, #row>, %p: tensor<64x64x!tt.ptr<f32>, #col>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %y = math.exp %x : tensor<64x64xf32, #row>
      %c = ttg.convert_layout %y : tensor<64x64xf32, #row> -> tensor<64x64xf32, #col>
      tt.store %p, %c : tensor<64x64x!tt.ptr<f32>, #col>
    }
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two loads of different layouts meet; the store decides.
  // CHECK-DAG: [[COL:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [8, 1]
  // CHECK-LABEL: @conflict
  // CHECK: ttg.convert_layout
  // CHECK: arith.addf {{.*}} : tensor<64x64xf32, [[COL]]>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @conflict(%p: tensor<64x64x!tt.ptr<f32>, #row>, %q: tensor<64x64x!tt.ptr<f32>, #col>) {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #row>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #col>
    %yc = ttg.convert_layout %y : tensor<64x64xf32, #col> -> tensor<64x64xf32, #row>
    %s = arith.addf %x, %yc : tensor<64x64xf32, #row>
    %c = ttg.convert_layout %s : tensor<64x64xf32, #row> -> tensor<64x64xf32, #col>
    tt.store %q, %c : tensor<64x64x!tt.ptr<f32>, #col>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A buffer is written from whatever layout the values are in.
  // CHECK-LABEL: @to_shared
  // CHECK-NOT: convert_layout
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<64x64xf32, #blocked>)
  tt.func @to_shared(%p: tensor<64x64x!tt.ptr<f32>, #row>) -> tensor<64x64xf32, #col> {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #row>
    %c = ttg.convert_layout %x : tensor<64x64xf32, #row> -> tensor<64x64xf32, #col>
    %m = ttg.local_alloc %c : (tensor<64x64xf32, #col>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
    %l = ttg.local_load %m : !ttg.memdesc<64x64xf32, #shared, #smem> -> tensor<64x64xf32, #col>
    tt.return %l : tensor<64x64xf32, #col>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two conversions on the way to one use become one.
  // CHECK-LABEL: @merge
  // CHECK: ttg.convert_layout {{.*}} : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #mma}>>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @merge(%x: tensor<128xf32, #blocked>, %y: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    %0 = ttg.convert_layout %x : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #row}>>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x128xf32, #row>
    %2 = ttg.convert_layout %1 : tensor<1x128xf32, #row> -> tensor<1x128xf32, #mma>
    %3 = tt.broadcast %2 : tensor<1x128xf32, #mma> -> tensor<128x128xf32, #mma>
    %4 = arith.mulf %3, %y : tensor<128x128xf32, #mma>
    tt.return %4 : tensor<128x128xf32, #mma>
  }
}

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The conversion of what the outer loop carries leaves the inner loop; the
  // result of the outer loop takes one of its own.
  // CHECK-LABEL: @converted_in_a_loop_and_after_it
  // CHECK: [[LAST:%.*]] = scf.for {{.*}} iter_args([[X:%.*]] = %{{.*}}) -> (tensor<512xi32, #blocked{{.*}}>)
  // CHECK-NEXT: [[C:%.*]] = ttg.convert_layout [[X]]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: tt.store %{{.*}}, [[C]]
  // CHECK: tt.atomic_rmw
  // CHECK: [[D:%.*]] = ttg.convert_layout [[LAST]]
  // CHECK-NEXT: tt.store %{{.*}}, [[D]]
  tt.func @converted_in_a_loop_and_after_it(%p: tensor<512x!tt.ptr<i32>, #a>, %q: tensor<512x!tt.ptr<i32>, #b>, %init: tensor<512xi32, #a>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant dense<true> : tensor<512xi1, #a>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<512xi32, #a>) : i32 {
      scf.for %j = %c0 to %n step %c1 : i32 {
        %inner = ttg.convert_layout %x : tensor<512xi32, #a> -> tensor<512xi32, #b>
        tt.store %q, %inner : tensor<512x!tt.ptr<i32>, #b>
      }
      %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %true : (tensor<512x!tt.ptr<i32>, #a>, tensor<512xi32, #a>, tensor<512xi1, #a>) -> tensor<512xi32, #a>
      scf.yield %old : tensor<512xi32, #a>
    }
    %outer = ttg.convert_layout %last : tensor<512xi32, #a> -> tensor<512xi32, #b>
    tt.store %q, %outer : tensor<512x!tt.ptr<i32>, #b>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A loop in a branch most likely runs: nothing is won by converting its
  // result there, before it is narrower.
  // CHECK-LABEL: @behind_a_loop_in_a_branch
  // CHECK: scf.if
  // CHECK-NOT: convert_layout
  // CHECK: [[T:%.*]] = arith.truncf {{.*}} : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
  // CHECK: ttg.convert_layout [[T]] : tensor<64x64xf16, #mma>
  tt.func @behind_a_loop_in_a_branch(%x: tensor<64x64xf32, #mma>, %n: i32, %p: tensor<64x64x!tt.ptr<f16>, #row>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %any = arith.cmpi sgt, %n, %c0 : i32
    %r = scf.if %any -> tensor<64x64xf32, #mma> {
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> tensor<64x64xf32, #mma> : i32 {
        %next = tt.extern_elementwise %acc {libname = "", libpath = "", pure = false, symbol = "f"} : (tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
        scf.yield %next : tensor<64x64xf32, #mma>
      }
      scf.yield %sum : tensor<64x64xf32, #mma>
    } else {
      scf.yield %zeros : tensor<64x64xf32, #mma>
    }
    %t = arith.truncf %r : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %c = ttg.convert_layout %t : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #row>
    tt.store %p, %c : tensor<64x64x!tt.ptr<f16>, #row>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What is in shared memory is read as it is needed, where it was read before:
  // something may be written there afterwards.
  // CHECK-LABEL: @read_from_shared_memory
  // CHECK: [[V:%.*]] = ttg.local_load %{{.*}} -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #mma}>>
  // CHECK-NEXT: ttg.local_store
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @read_from_shared_memory(%m: !ttg.memdesc<64xf32, #shared, #smem, mutable>, %w: tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>>, %y: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %v = ttg.local_load %m : !ttg.memdesc<64xf32, #shared, #smem, mutable> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>>
    ttg.local_store %w, %m : tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
    %1 = tt.expand_dims %v {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x64xf32, #row>
    %2 = ttg.convert_layout %1 : tensor<1x64xf32, #row> -> tensor<1x64xf32, #mma>
    %3 = tt.broadcast %2 : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
    %4 = arith.mulf %3, %y : tensor<64x64xf32, #mma>
    tt.return %4 : tensor<64x64xf32, #mma>
  }
}

// -----

// What a loop computes of a tensor from before it has the layout of what the loop reads: the tensor is converted once.
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[COL:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4, 1]
  // CHECK-LABEL: @before_the_loop
  // CHECK: ttg.convert_layout {{.*}} -> tensor<64x64xf32, [[COL]]>
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.subf {{.*}} : tensor<64x64xf32, [[COL]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @before_the_loop(%p: tensor<64x64x!tt.ptr<f32>, #row>, %q: tensor<64x64x!tt.ptr<f32>, #col>, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
      %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #col>
      %z = ttg.convert_layout %y : tensor<64x64xf32, #col> -> tensor<64x64xf32, #row>
      %d = arith.subf %x, %z : tensor<64x64xf32, #row>
      %e = math.exp2 %d : tensor<64x64xf32, #row>
      %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        tt.reduce.return %t : f32
      }) : (tensor<64x64xf32, #row>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>>
      %u = "tt.reduce"(%s) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        tt.reduce.return %t : f32
      }) : (tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>>) -> f32
      %v = arith.addf %acc, %u : f32
      scf.yield %v : f32
    }
    tt.return %r : f32
  }
}
