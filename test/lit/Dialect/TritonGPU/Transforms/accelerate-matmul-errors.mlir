// RUN: tile-opt %s -verify-diagnostics -tritongpu-accelerate-matmul -o %t

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @mixed_halves(%a: tensor<128x64xf16, #blocked>, %b: tensor<64x128xbf16, #blocked>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // expected-error@below {{'tt.dot_scaled' op mixes bf16 and fp16 operands, which have no common 16-bit type}}
    %d = tt.dot_scaled %a, %b, %c lhs = fp16 rhs = bf16 {fastMath = false} : tensor<128x64xf16, #blocked> * tensor<64x128xbf16, #blocked> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}
