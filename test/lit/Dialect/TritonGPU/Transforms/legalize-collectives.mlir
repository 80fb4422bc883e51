// RUN: tile-opt %s --tritongpu-legalize-collectives | filecheck %s

// Lanes are the slow half of the axis, registers lie between them; registers in
// front of lanes, in any order of their bits, stay.

#lanes = #ttg.linear<{register = [[1], [2], [32], [64]], lane = [[4], [8], [16], [128], [256]], warp = [[512], [1024]], block = []}>
#fits = #ttg.linear<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []}>
#mixed = #ttg.linear<{register = [], lane = [[1, 0], [2, 0], [4, 4], [0, 1], [0, 2]], warp = [[8, 0], [0, 4]], block = []}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-DAG: #[[LANES:.*]] = #ttg.linear<{register = {{\[\[}}1]
// CHECK-DAG: #[[FITS:.*]] = #ttg.linear<{register = {{\[\[}}2]
// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-LABEL: tt.func @scan
// CHECK: %[[X:.*]] = ttg.convert_layout %{{.*}} : tensor<2048xi32, #[[LANES]]> -> tensor<2048xi32, #[[ROW]]>
// CHECK: %[[S:.*]] = "tt.scan"(%[[X]])
// CHECK: (tensor<2048xi32, #[[ROW]]>) -> tensor<2048xi32, #[[ROW]]>
// CHECK: ttg.convert_layout %[[S]] : tensor<2048xi32, #[[ROW]]> -> tensor<2048xi32, #[[LANES]]>
tt.func @scan(%x: tensor<2048xi32, #lanes>) -> tensor<2048xi32, #lanes> {
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<2048xi32, #lanes>) -> tensor<2048xi32, #lanes>
  tt.return %s : tensor<2048xi32, #lanes>
}

// CHECK-LABEL: tt.func @fits
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.return
tt.func @fits(%x: tensor<512xi32, #fits>) -> tensor<512xi32, #fits> {
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<512xi32, #fits>) -> tensor<512xi32, #fits>
  tt.return %s : tensor<512xi32, #fits>
}

// CHECK-LABEL: tt.func @reduce
// CHECK: "tt.reduce"
// CHECK: ttg.convert_layout %{{.*}} -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #{{.*}}>>
tt.func @reduce(%x: tensor<16x8xi32, #mixed>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #mixed}>> {
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<16x8xi32, #mixed>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #mixed}>>
  tt.return %s : tensor<16xi32, #ttg.slice<{dim = 1, parent = #mixed}>>
}
}
