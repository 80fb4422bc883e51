// RUN: tile-opt %s -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#half = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#scales = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @both_scaled
  // CHECK-SAME: %[[A:[a-z0-9]*]]: {{.*}}, %[[B:[a-z0-9]*]]: {{.*}}, %[[AS:[a-z0-9]*]]: {{.*}}, %[[BS:[a-z0-9]*]]: {{.*}}, %[[C:[a-z0-9]*]]:
  tt.func @both_scaled(%a: tensor<128x64xf8E4M3FN, #half>, %b: tensor<32x128xi8, #blocked>, %as: tensor<128x2xi8, #scales>, %bs: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK-DAG: [[AX:%.*]] = tt.fp_to_fp %[[A]] {{.*}} -> tensor<128x64xbf16
    // CHECK-DAG: [[BX:%.*]] = ttg.fp4_to_fp %[[B]] {axis = 0 : i32} {{.*}} -> tensor<64x128xbf16
    // Scales at the ends of the range, of either operand: both have as many, and
    // are looked at together.
    // CHECK: arith.cmpi ugt
    // CHECK: arith.cmpi ugt
    // CHECK: "tt.reduce"
    // CHECK: [[UNSAFE:%.*]] = arith.cmpi ne, {{.*}} : i32
    // Exponents become numbers: shifted into place, with NaN for 255; or all zero.
    // CHECK: [[W:%.*]] = arith.extui %[[AS]]
    // CHECK: arith.shli [[W]]
    // CHECK: tt.splat [[UNSAFE]]
    // CHECK: tt.broadcast {{.*}} -> tensor<128x2x32xbf16
    // CHECK: tt.reshape {{.*}} -> tensor<128x64xbf16
    // CHECK: arith.mulf [[AX]]
    // CHECK: arith.extui %[[BS]]
    // CHECK: tt.trans {{.*}} -> tensor<64x128xbf16
    // CHECK: arith.mulf [[BX]]
    // CHECK: tt.dot {{.*}} : tensor<128x64xbf16, {{.*}} * tensor<64x128xbf16, {{.*}} -> tensor<128x128xf32, #mma>
    // Two groups of 32 elements, whose sums are scaled.
    // CHECK: scf.if [[UNSAFE]]
    // CHECK: scf.for
    // CHECK: tt.dot {{.*}} -> tensor<128x128xf32, #mma>
    // CHECK-NOT: tt.dot
    // CHECK: tt.num_stages = 1 : i32
    // CHECK: else
    // CHECK-NOT: dot_scaled
    %d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN, #half>, tensor<128x2xi8, #scales> * tensor<32x128xi8, #blocked>, tensor<128x2xi8, #scales> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // Whoever does without exactness gets a plain product alone.
  // CHECK-LABEL: @fast
  tt.func @fast(%a: tensor<128x64xf8E4M3FN, #half>, %b: tensor<32x128xi8, #blocked>, %as: tensor<128x2xi8, #scales>, %bs: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK-NOT: scf.if
    // CHECK-NOT: tt.reduce
    // CHECK: tt.dot
    // CHECK-NOT: tt.dot
    // CHECK: tt.return
    %d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e2m1 {fastMath = true} : tensor<128x64xf8E4M3FN, #half>, tensor<128x2xi8, #scales> * tensor<32x128xi8, #blocked>, tensor<128x2xi8, #scales> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // tf32 has room for the bits of fp16, and for the exponents of scales. With
  // asynchronous instructions: accelerate-matmul-scaled-parts.mlir.
  // CHECK-LABEL: @half
  tt.func @half(%a: tensor<128x64xf16, #half>, %b: tensor<64x128xf8E5M2, #blocked>, %bs: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK-DAG: arith.extf {{.*}} to tensor<128x64xf32
    // CHECK-DAG: tt.fp_to_fp {{.*}} -> tensor<64x128xf32
    // CHECK: arith.mulf {{.*}} : tensor<64x128xf32
    // CHECK: tt.dot {{.*}} : tensor<128x64xf32, {{.*}} * tensor<64x128xf32
    // CHECK: scf.if
    // Without matrix instructions a product is long code: there is one for all
    // groups.
    // CHECK: scf.for
    // CHECK: tt.dot
    // CHECK-NOT: tt.dot
    // CHECK: tt.num_stages = 1 : i32
    %d = tt.dot_scaled %a, %b scale %bs, %c lhs = fp16 rhs = e5m2 {fastMath = false} : tensor<128x64xf16, #half> * tensor<64x128xf8E5M2, #blocked>, tensor<128x2xi8, #scales> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // A loop runs as if all scales were ordinary, and carries what it saw of them.
  // Only where some are not it runs again, as it was.
  // CHECK-LABEL: @loop
  tt.func @loop(%a: tensor<128x64xf8E4M3FN, #half>, %b: tensor<32x128xi8, #blocked>, %as: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>, %n: i32) -> tensor<128x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: [[R:%.*]]:2 = scf.for {{.*}} iter_args({{.*}}, [[SEEN:%.*]] = {{.*}}) -> (tensor<128x128xf32, {{.*}}>, tensor<128x2xi32, {{.*}}>)
    // CHECK-NOT: tt.reduce
    // CHECK: tt.dot
    // CHECK-NOT: scf.if
    // CHECK: [[ALL:%.*]] = arith.ori [[SEEN]]
    // CHECK: scf.yield {{.*}}, [[ALL]]
    // CHECK: "tt.reduce"
    // CHECK: [[S:%.*]] = scf.if
    // CHECK: scf.for
    // There it makes one dot of two. Groups lie one behind the other.
    // CHECK: scf.if
    // CHECK: [[A:%.*]] = ttg.memdesc_reinterpret {{.*}} -> !ttg.memdesc<2x128x32xbf16
    // CHECK: [[B:%.*]] = ttg.memdesc_reinterpret {{.*}} -> !ttg.memdesc<2x32x128xbf16
    // CHECK: scf.for [[G:%.*]] = {{.*}} iter_args({{.*}} = %arg
    // CHECK-DAG: ttg.memdesc_index [[A]]{{\[}}[[G]]]
    // CHECK-DAG: ttg.memdesc_index [[B]]{{\[}}[[G]]]
    // CHECK: tt.dot {{.*}} : tensor<128x32xbf16
    // CHECK: else
    // CHECK: tt.dot {{.*}} : tensor<128x64xbf16
    // CHECK: else
    // CHECK: scf.yield [[R]]#0
    // CHECK: tt.return [[S]]
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> tensor<128x128xf32, #blocked> : i32 {
      %e = tt.dot_scaled %a scale %as, %b, %acc lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN, #half>, tensor<128x2xi8, #scales> * tensor<32x128xi8, #blocked> -> tensor<128x128xf32, #blocked>
      scf.yield %e : tensor<128x128xf32, #blocked>
    }
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // A loop that writes cannot run twice: it has the branch.
  // CHECK-LABEL: @loop_that_writes
  tt.func @loop_that_writes(%a: tensor<128x64xf8E4M3FN, #half>, %b: tensor<32x128xi8, #blocked>, %as: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>, %p: !tt.ptr<i32>, %n: i32) -> tensor<128x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} -> (tensor<128x128xf32, #{{[a-z0-9]*}}>)
    // CHECK: scf.if
    // CHECK: tt.store
    // CHECK-NOT: scf.if
    // CHECK: tt.return
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> tensor<128x128xf32, #blocked> : i32 {
      %e = tt.dot_scaled %a scale %as, %b, %acc lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN, #half>, tensor<128x2xi8, #scales> * tensor<32x128xi8, #blocked> -> tensor<128x128xf32, #blocked>
      tt.store %p, %i : !tt.ptr<i32>
      scf.yield %e : tensor<128x128xf32, #blocked>
    }
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}
