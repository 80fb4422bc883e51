// RUN: tile-opt %s -split-input-file -tritongpu-remove-layout-conversions | filecheck %s

#eights = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#fours = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// The elements are moved while they are narrow, and fewer threads share a column.
// CHECK-DAG: #[[FOURS:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1]
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: @narrow
tt.func @narrow(%p: tensor<64x32x!tt.ptr<bf16>, #eights>, %q: tensor<64x32x!tt.ptr<f32>, #fours>) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x32xbf16, #[[COLUMNS]]>
  // CHECK: "tt.scan"
  // CHECK: -> tensor<64x32xf32, #[[COLUMNS]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x32xf32, #[[FOURS]]>
  // CHECK-NEXT: tt.store
  %0 = tt.load %p : tensor<64x32x!tt.ptr<bf16>, #eights>
  %1 = arith.extf %0 : tensor<64x32xbf16, #eights> to tensor<64x32xf32, #eights>
  %2 = "tt.scan"(%1) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32, #eights>) -> tensor<64x32xf32, #eights>
  %3 = ttg.convert_layout %2 : tensor<64x32xf32, #eights> -> tensor<64x32xf32, #fours>
  tt.store %q, %3 : tensor<64x32x!tt.ptr<f32>, #fours>
  tt.return
}

// A scan that something else needs as it is would be there twice.
// CHECK-LABEL: @needed_twice
tt.func @needed_twice(%p: tensor<64x32x!tt.ptr<bf16>, #eights>, %q: tensor<64x32x!tt.ptr<f32>, #fours>, %r: tensor<64x32x!tt.ptr<f32>, #eights>) {
  // CHECK: "tt.scan"
  // CHECK-NOT: "tt.scan"
  // CHECK: ttg.convert_layout {{.*}} -> tensor<64x32xf32, #[[FOURS]]>
  %0 = tt.load %p : tensor<64x32x!tt.ptr<bf16>, #eights>
  %1 = arith.extf %0 : tensor<64x32xbf16, #eights> to tensor<64x32xf32, #eights>
  %2 = "tt.scan"(%1) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32, #eights>) -> tensor<64x32xf32, #eights>
  %3 = ttg.convert_layout %2 : tensor<64x32xf32, #eights> -> tensor<64x32xf32, #fours>
  tt.store %q, %3 : tensor<64x32x!tt.ptr<f32>, #fours>
  tt.store %r, %2 : tensor<64x32x!tt.ptr<f32>, #eights>
  tt.return
}
}

// -----

#long = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>

// Of equally many elements, those of whole columns take no exchange.
// CHECK: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1]
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: @columns_in_threads
tt.func @columns_in_threads(%p: tensor<64x128x!tt.ptr<f32>, #long>, %q: tensor<64x128x!tt.ptr<f32>, #rows>) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x128xf32, #[[ROWS]]>
  // CHECK-NEXT: "tt.scan"
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store
  %0 = tt.load %p : tensor<64x128x!tt.ptr<f32>, #long>
  %1 = "tt.scan"(%0) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x128xf32, #long>) -> tensor<64x128xf32, #long>
  %2 = ttg.convert_layout %1 : tensor<64x128xf32, #long> -> tensor<64x128xf32, #rows>
  tt.store %q, %2 : tensor<64x128x!tt.ptr<f32>, #rows>
  tt.return
}
}

// -----

#loaded = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [16, 1], order = [1, 0]}>
#stored = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [16, 1], order = [1, 0]}>

// Sixteen warps share each column: each thread would read what all of them have,
// for each of its elements. Four lanes share it, if elements are exchanged first.
// CHECK-DAG: #[[LOADED:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [16, 1]
// CHECK-DAG: #[[STORED:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [16, 1]
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 16]
module attributes {"ttg.num-warps" = 16 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: @many_warps
tt.func @many_warps(%p: tensor<64x128x!tt.ptr<bf16>, #loaded>, %q: tensor<64x128x!tt.ptr<f32>, #stored>) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.convert_layout {{.*}} : tensor<64x128xbf16, #[[LOADED]]> -> tensor<64x128xbf16, #[[COLUMNS]]>
  // CHECK: "tt.scan"
  // CHECK: -> tensor<64x128xf32, #[[COLUMNS]]>
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<64x128xf32, #[[STORED]]>
  // CHECK-NEXT: tt.store
  %0 = tt.load %p : tensor<64x128x!tt.ptr<bf16>, #loaded>
  %1 = arith.extf %0 : tensor<64x128xbf16, #loaded> to tensor<64x128xf32, #loaded>
  %2 = "tt.scan"(%1) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x128xf32, #loaded>) -> tensor<64x128xf32, #loaded>
  %3 = ttg.convert_layout %2 : tensor<64x128xf32, #loaded> -> tensor<64x128xf32, #stored>
  tt.store %q, %3 : tensor<64x128x!tt.ptr<f32>, #stored>
  tt.return
}

// Of rows, each warp has some for itself already.
// CHECK-LABEL: @rows_of_one_warp
tt.func @rows_of_one_warp(%p: tensor<64x128x!tt.ptr<f32>, #stored>, %q: tensor<64x128x!tt.ptr<f32>, #stored>) {
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  %0 = tt.load %p : tensor<64x128x!tt.ptr<f32>, #stored>
  %1 = "tt.scan"(%0) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64x128xf32, #stored>) -> tensor<64x128xf32, #stored>
  tt.store %q, %1 : tensor<64x128x!tt.ptr<f32>, #stored>
  tt.return
}
}
