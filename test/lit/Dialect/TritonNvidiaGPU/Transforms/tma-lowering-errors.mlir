// RUN: tile-opt %s -split-input-file -verify-diagnostics -triton-nvidia-tma-lowering

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_encoding(%desc: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) -> tensor<64x64xf16, #blocked> {
    // expected-error @+1 {{'tt.descriptor_load' op expected a descriptor of blocks with an nvmma_shared encoding, found '!tt.tensordesc<tensor<64x64xf16>>'}}
    %x = tt.descriptor_load %desc[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    tt.return %x : tensor<64x64xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @transposed(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
    // expected-error @+1 {{'tt.descriptor_store' op expected a descriptor of blocks that lie in shared memory as in global memory, found transposed ones}}
    tt.descriptor_store %desc[%i, %i], %x : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    tt.return
  }
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8, fp4Padded = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @padded(%base: !tt.ptr<i8>, %n: i32, %s: i64) -> !tt.tensordesc<tensor<64x64xi8, #shared>> {
    %c1 = arith.constant 1 : i64
    // expected-error @+1 {{'tt.make_tensor_descriptor' op expected a descriptor of padded 4-bit elements to have a swizzle of 128 bytes, and rows of at least 128 elements (64 bytes), found}}
    %desc = tt.make_tensor_descriptor %base, [%n, %n], [%s, %c1] : <i8>, <tensor<64x64xi8, #shared>>
    tt.return %desc : !tt.tensordesc<tensor<64x64xi8, #shared>>
  }
}
