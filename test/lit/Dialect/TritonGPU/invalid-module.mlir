// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Attributes of the module, and encodings that do not fit the machine.

// expected-error @+1 {{expected 'ttg.num-warps' to be a power of two, found 3}}
module attributes {"ttg.num-warps" = 3 : i32} {}

// -----

// expected-error @+1 {{expected 'ttg.num-warps' to be an i32, found 4 : i64}}
module attributes {"ttg.num-warps" = 4 : i64} {}

// -----

// expected-error @+1 {{expected 'ttg.num-ctas' to be a power of two, found 0}}
module attributes {"ttg.num-ctas" = 0 : i32} {}

// -----

// expected-error @+1 {{expected 'ttg.threads-per-warp' to be an i32, found "32"}}
module attributes {"ttg.threads-per-warp" = "32"} {}

// -----

// expected-error @+1 {{expected 'ttg.target' to be a string that is not empty, found 90 : i32}}
module attributes {ttg.target = 90 : i32} {}

// -----

// expected-error @+1 {{expected 'ttg.shared' not to be negative, found -1}}
module attributes {ttg.shared = -1 : i32} {}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f() {
    // expected-error @+1 {{expected an encoding for the 4 warps that the operation runs on, found one for 8}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    tt.return
  }
}

// -----

// Where the module says nothing, any number will do.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
tt.func @f() {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error @+1 {{expected an encoding for warps of 32 threads ('ttg.threads-per-warp'), found one for 64}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    tt.return
  }
}

// -----

#linear = #ttg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error @+1 {{expected an encoding for the 4 warps that the operation runs on, found one for 2}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #linear>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f() {
    // expected-error @+1 {{expected an encoding for the 4 warps that the operation runs on, found one for 2}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func @f() {
    // expected-error @+1 {{expected an encoding for 1 blocks ('ttg.num-ctas'), found one for 2}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f() {
  // expected-error @+1 {{expected an encoding of rank 1, found one of rank 2}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{expected an encoding that spreads the tensor over threads, found}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #shared>
  tt.return
}

// -----

// Encodings in a partition are for the warps of that partition.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f() {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      // expected-error @+1 {{expected an encoding for the 2 warps that the operation runs on, found one for 4}}
      %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
