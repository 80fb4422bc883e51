// RUN: tile-opt %s -split-input-file -read-bytes-across-nv | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Two warps along N: a thread's columns are 16 apart. The loop carries the
  // sum in the order of reads.
  // CHECK: [[SHARED:#.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
  // CHECK-LABEL: @right
  // CHECK: scf.for {{.*}} iter_args({{.*}}, [[SUM:%.*]] = {{.*}})
  // CHECK: [[LOADED:%.*]] = tt.load
  // CHECK: [[MEMORY:%.*]] = ttg.local_alloc [[LOADED]] : (tensor<32x64xi8, #blocked>) -> !ttg.memdesc<32x64xi8, [[SHARED]], #smem>
  // CHECK: [[SPLIT:%.*]] = ttg.memdesc_reshape [[MEMORY]] : {{.*}} -> !ttg.memdesc<32x2x16x2xi8
  // CHECK: [[SWAPPED:%.*]] = ttg.memdesc_trans [[SPLIT]] {order = array<i32: 0, 1, 3, 2>} : {{.*}} -> !ttg.memdesc<32x2x2x16xi8
  // CHECK: [[VIEW:%.*]] = ttg.memdesc_reshape [[SWAPPED]] : {{.*}} -> !ttg.memdesc<32x64xi8
  // CHECK: [[B:%.*]] = ttg.local_load [[VIEW]] : {{.*}} -> tensor<32x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  // CHECK: tt.dot {{%.*}}, [[B]]
  // CHECK-NOT: tt.trans
  // CHECK: scf.yield
  // CHECK: tt.reshape {{.*}} -> tensor<64x2x2x16xi32
  // CHECK: tt.trans {{.*}} -> tensor<64x2x16x2xi32
  // CHECK: tt.reshape {{.*}} -> tensor<64x64xi32
  tt.func @right(%a: tensor<64x32xi8, #a>, %pb: tensor<32x64x!tt.ptr<i8>, #blocked>, %n: i32) -> tensor<64x64xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64x64xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xi32, #blocked>) : i32 {
      %x = tt.load %pb : tensor<32x64x!tt.ptr<i8>, #blocked>
      %b = ttg.convert_layout %x : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #b>
      %c = ttg.convert_layout %sum : tensor<64x64xi32, #blocked> -> tensor<64x64xi32, #mma>
      %d = tt.dot %a, %b, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #mma>
      %s = ttg.convert_layout %d : tensor<64x64xi32, #mma> -> tensor<64x64xi32, #blocked>
      scf.yield %s : tensor<64x64xi32, #blocked>
    }
    tt.return %r : tensor<64x64xi32, #blocked>
  }

  // The left operand lies across K by a transposition, which is a view; its rows
  // are 8 apart. What extends bytes stays behind the read.
  // CHECK-LABEL: @left_extended
  // CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<32x64xi8
  // CHECK: ttg.memdesc_trans {{.*}} -> !ttg.memdesc<64x32xi8
  // CHECK: ttg.memdesc_trans {{.*}} -> !ttg.memdesc<4x2x8x32xi8
  // CHECK: [[READ:%.*]] = ttg.local_load {{.*}} -> tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
  // CHECK: [[A:%.*]] = arith.sitofp [[READ]] : {{.*}} to tensor<64x32xf16, #ttg.dot_op
  // CHECK: tt.dot [[A]]
  tt.func @left_extended(%pa: tensor<32x64x!tt.ptr<i8>, #blocked>, %b: tensor<32x64xf16, #b>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %x = tt.load %pa : tensor<32x64x!tt.ptr<i8>, #blocked>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xi8, #blocked> -> tensor<64x32xi8, #columns>
    %h = arith.sitofp %t : tensor<64x32xi8, #columns> to tensor<64x32xf16, #columns>
    %a = ttg.convert_layout %h : tensor<64x32xf16, #columns> -> tensor<64x32xf16, #a>
    %d = tt.dot %a, %b, %zero : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // Along K, words are read as they are.
  // CHECK-LABEL: @along_k
  // CHECK-NOT: ttg.local_alloc
  tt.func @along_k(%pa: tensor<64x32x!tt.ptr<i8>, #blocked>, %b: tensor<32x64xi8, #b>) -> tensor<64x64xi32, #mma> {
    %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
    %x = tt.load %pa : tensor<64x32x!tt.ptr<i8>, #blocked>
    %a = ttg.convert_layout %x : tensor<64x32xi8, #blocked> -> tensor<64x32xi8, #a>
    %d = tt.dot %a, %b, %zero : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }

  // A loop that does more with its sum would have to bring it back.
  // CHECK-LABEL: @used_sum
  // CHECK-NOT: ttg.local_alloc
  tt.func @used_sum(%a: tensor<64x32xi8, #a>, %pb: tensor<32x64x!tt.ptr<i8>, #blocked>, %scale: tensor<64x64xi32, #mma>, %n: i32) -> tensor<64x64xi32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xi32, #mma>) : i32 {
      %x = tt.load %pb : tensor<32x64x!tt.ptr<i8>, #blocked>
      %b = ttg.convert_layout %x : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #b>
      %d = tt.dot %a, %b, %sum : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #mma>
      %s = arith.muli %d, %scale : tensor<64x64xi32, #mma>
      scf.yield %s : tensor<64x64xi32, #mma>
    }
    tt.return %r : tensor<64x64xi32, #mma>
  }
}
