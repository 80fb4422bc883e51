// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#long = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#tile = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// Thread, warp, then one barrier and a vector of all warps' results, whose halves are added element by element.
// CHECK-LABEL: llvm.func @block
tt.func @block(%x: tensor<512xf32, #blocked>) -> f32 {
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // CHECK: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: "@$2 st.shared.b32 [$0], $1;"
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: nvvm.barrier0
  // CHECK: %[[X0:.*]] = llvm.bitcast
  // CHECK: %[[X1:.*]] = llvm.bitcast
  // CHECK: %[[X2:.*]] = llvm.bitcast
  // CHECK: %[[X3:.*]] = llvm.bitcast
  // CHECK: %[[A:.*]] = llvm.fadd %[[X0]], %[[X2]]
  // CHECK: %[[B:.*]] = llvm.fadd %[[X1]], %[[X3]]
  // CHECK: %[[SUM:.*]] = llvm.fadd %[[A]], %[[B]]
  // CHECK: llvm.return %[[SUM]]
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<512xf32, #blocked>) -> f32
  tt.return %0 : f32
}

// A row inside a warp: no shared memory; integers in one instruction.
// CHECK-LABEL: llvm.func @redux
tt.func @redux(%x: tensor<4x128xi32, #rows>) {
  // CHECK: nvvm.redux.sync max
  // CHECK-NOT: nvvm.barrier0
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %1 = arith.maxsi %a, %b : i32
    tt.reduce.return %1 : i32
  }) : (tensor<4x128xi32, #rows>) -> tensor<4xi32, #ttg.slice<{dim = 1, parent = #rows}>>
  tt.return
}

// Several operands travel together. Any function combines the lower lane's with the higher one's, and all lanes take the last two parts from the same lanes.
// CHECK-LABEL: llvm.func @argmax
tt.func @argmax(%x: tensor<4x32xf32, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>>, %i: tensor<4x32xi32, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>>) {
  // CHECK: llvm.mlir.constant(1 : i32)
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: llvm.fcmp "ogt"
  // CHECK: llvm.select
  // CHECK: llvm.select
  // CHECK-COUNT-6: nvvm.shfl.sync bfly
  // CHECK-COUNT-4: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.return
  %0:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %1 = arith.cmpf ogt, %a, %b : f32
    %2 = arith.select %1, %a, %b : f32
    %3 = arith.select %1, %ai, %bi : i32
    tt.reduce.return %2, %3 : f32, i32
  }) : (tensor<4x32xf32, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>>, tensor<4x32xi32, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>>) -> (tensor<4xf32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>}>>, tensor<4xi32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>}>>)
  tt.return
}

// A sum that all lanes find out for themselves is rounded as stated: with a product as its part, lanes would differ.
// CHECK-LABEL: llvm.func @sum_of_products
tt.func @sum_of_products(%x: tensor<32xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) -> f32 {
  // CHECK: llvm.fmul
  // CHECK-COUNT-5: llvm.call_intrinsic "llvm.nvvm.add.rn.f"
  // CHECK-NOT: llvm.fadd
  // CHECK: llvm.return
  %p = arith.mulf %x, %x : tensor<32xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  %0 = "tt.reduce"(%p) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<32xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) -> f32
  tt.return %0 : f32
}

// In order, lanes lie between the registers of neighbours and those that repeat: two lanes take over one of these each.
// CHECK-LABEL: llvm.func @in_order
tt.func @in_order(%x: tensor<4x128xi32, #pairs>) {
  // CHECK-COUNT-7: nvvm.shfl.sync
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.return
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %z = arith.constant 0 : i32
    %1 = arith.cmpi ne, %b, %z : i32
    %2 = arith.select %1, %b, %a : i32
    tt.reduce.return %2 : i32
  }) : (tensor<4x128xi32, #pairs>) -> tensor<4xi32, #ttg.slice<{dim = 1, parent = #pairs}>>
  tt.return
}

// Two columns in four lanes: two lanes take over one each, which the other two add up as well. One lane in two stores.
// CHECK-LABEL: llvm.func @columns
tt.func @columns(%x: tensor<16x16xf32, #columns>) {
  // CHECK: nvvm.shfl.sync bfly
  // CHECK-NEXT: {{.*}}llvm.bitcast
  // CHECK: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: "@$2 st.shared.b32 [$0], $1;"
  // CHECK-NOT: st.shared
  // CHECK: nvvm.barrier0
  // CHECK: llvm.return
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<16x16xf32, #columns>) -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #columns}>>
  tt.return
}

// Four additions that wait for no other fill the time that one takes, so that four chains of products are as quick as a tree.
// CHECK-LABEL: llvm.func @four_chains
tt.func @four_chains(%x: tensor<2048xf32, #long>, %y: tensor<2048xf32, #long>) {
  // CHECK: %[[X0:.*]] = llvm.fmul
  // CHECK-COUNT-3: llvm.fmul
  // CHECK: %[[X4:.*]] = llvm.fmul
  // CHECK-COUNT-3: llvm.fmul
  // CHECK: %[[X8:.*]] = llvm.fmul
  // CHECK-COUNT-3: llvm.fmul
  // CHECK: %[[X12:.*]] = llvm.fmul
  // CHECK: %[[A:.*]] = llvm.fadd %[[X0]], %[[X4]]
  // CHECK-COUNT-3: llvm.fadd
  // CHECK: %[[B:.*]] = llvm.fadd %[[A]], %[[X8]]
  // CHECK-COUNT-3: llvm.fadd
  // CHECK: %[[C:.*]] = llvm.fadd %[[B]], %[[X12]]
  // CHECK-COUNT-3: llvm.fadd
  // CHECK: llvm.fadd %[[C]],
  // CHECK-COUNT-2: llvm.fadd
  // CHECK: nvvm.shfl.sync
  %products = arith.mulf %x, %y : tensor<2048xf32, #long>
  %0 = "tt.reduce"(%products) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<2048xf32, #long>) -> f32
  tt.return
}

// Four rows are a chain each: their products become part of the additions.
// CHECK-LABEL: llvm.func @a_chain_each
tt.func @a_chain_each(%x: tensor<16x128xf32, #tile>, %y: tensor<16x128xf32, #tile>) {
  // CHECK: %[[X4:.*]] = llvm.fmul
  // CHECK: %[[X5:.*]] = llvm.fmul
  // CHECK: %[[X6:.*]] = llvm.fmul
  // CHECK: %[[X7:.*]] = llvm.fmul
  // CHECK: %[[A:.*]] = llvm.fadd %[[X4]], %[[X5]]
  // CHECK: %[[B:.*]] = llvm.fadd %[[A]], %[[X6]]
  // CHECK: llvm.fadd %[[B]], %[[X7]]
  // CHECK: nvvm.shfl.sync
  %products = arith.mulf %x, %y : tensor<16x128xf32, #tile>
  %0 = "tt.reduce"(%products) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<16x128xf32, #tile>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #tile}>>
  tt.return
}

// Other sums are a tree.
// CHECK-LABEL: llvm.func @tree
tt.func @tree(%x: tensor<512xf32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) {
  // CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
  // CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
  // CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
  // CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
  // CHECK: %[[A:.*]] = llvm.fadd %[[X0]], %[[X1]]
  // CHECK: %[[B:.*]] = llvm.fadd %[[X2]], %[[X3]]
  // CHECK: llvm.fadd %[[A]], %[[B]]
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<512xf32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) -> f32
  tt.return
}
}
