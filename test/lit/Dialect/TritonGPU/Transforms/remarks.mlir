// RUN: tile-opt %s -tritongpu-coalesce -tritongpu-accelerate-matmul -remarks-filter-missed='tritongpu-.*' \
// RUN:     -remark-format=emitRemark -o %t 2>&1 | filecheck %s

// Passes say what they could not do, where, and why.

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @loads(%p: tensor<1024x!tt.ptr<f32>, #line>, %q: !tt.ptr<f32>) {
    // CHECK: remarks.mlir:13:{{.*}}: remark: {{.*}}single-elements{{.*}}neighbouring elements are not known to be neighbours in memory
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #line>
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #line>
    %s = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #line>
    %t = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #line>, tensor<1024xi32, #line>
    // CHECK: remarks.mlir:18:{{.*}}: remark: {{.*}}single-elements{{.*}}the address is not known to be aligned
    %w = tt.load %t : tensor<1024x!tt.ptr<f32>, #line>
    tt.return
  }
  tt.func @products(%a: tensor<32x32xf32, #a>, %b: tensor<32x32xf32, #b>, %c: tensor<32x32xf32, #blocked>,
                    %d: tensor<8x16xf16, #a>, %e: tensor<16x16xf16, #b>, %f: tensor<8x16xf32, #blocked>) {
    // CHECK: remarks.mlir:24:{{.*}}: remark: {{.*}}scalar-product{{.*}}the target has no matrix instruction for f32 * f32 -> f32 of input precision ieee
    %x = tt.dot %a, %b, %c : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked>
    // CHECK: remarks.mlir:26:{{.*}}: remark: {{.*}}scalar-product{{.*}}a product of 8 x 16 x 16 is smaller than that of mma.sync, 16 x 8 x 16
    %y = tt.dot %d, %e, %f : tensor<8x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<8x16xf32, #blocked>
    tt.return
  }
}
