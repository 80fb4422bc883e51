// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of operations on layouts and memory reject.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%t: tensor<64xf16>) {
  // expected-error @+1 {{expected the source to have an encoding, found}}
  %0 = ttg.convert_layout %t : tensor<64xf16> -> tensor<64xf16, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%t: tensor<64xf16, #blocked>) {
  // expected-error @+1 {{expected the result to have an encoding, found}}
  %0 = ttg.convert_layout %t : tensor<64xf16, #blocked> -> tensor<64xf16>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%t: tensor<64xf16, #blocked>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = ttg.convert_layout %t : tensor<64xf16, #blocked> -> tensor<32xf16, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%t: tensor<32x32xi8, #blocked>) {
  // expected-error @+1 {{expected a result of shape [32, 64], found [64, 32]}}
  %0 = ttg.fp4_to_fp %t {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<64x32xf16, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%t: tensor<32x32xi8, #blocked>) {
  // expected-error @+1 {{expected a result with an encoding equivalent to}}
  %0 = ttg.fp4_to_fp %t {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<32x64xf16, #blocked>
  tt.return
}

// -----

tt.func @f(%t: tensor<32x32xi8>) {
  // expected-error @+1 {{expected 'axis' to be below the rank of the source, 2, found 2}}
  %0 = ttg.fp4_to_fp %t {axis = 2 : i32} : tensor<32x32xi8> -> tensor<32x64xf16>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{expected a buffer without initial contents to be mutable, found}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{expected 'alignment' to be a power of two, found 12}}
  %0 = ttg.local_alloc {alignment = 12 : i32} : () -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{expected a new buffer of the shape of the whole one, [128], found [64]}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable, 128>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{expected memory in #ttg.shared_memory, found 3 : i32}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, 3 : i32, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%t: tensor<32xf16, #blocked>) {
  // expected-error @+1 {{expected a tensor of shape [64], like the memory, found [32]}}
  %0 = ttg.local_alloc %t : (tensor<32xf16, #blocked>) -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>) {
  // expected-error @+1 {{expected a tensor with elements of type 'f16', like the memory, found 'f32'}}
  %0 = ttg.local_load %m : !ttg.memdesc<64xf16, #shared, #ttg.shared_memory> -> tensor<64xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>, %t: tensor<64xf16, #blocked>) {
  // expected-error @+1 {{expected a mutable destination, found}}
  ttg.local_store %t, %m : tensor<64xf16, #blocked> -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'nbytes' to be a positive number, found 0}}
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 0 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'alignment' to be a power of two, found 24}}
  %0 = ttg.global_scratch_alloc {alignment = 24 : i32, nbytes = 8 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>) {
  // expected-error @+1 {{expected a mutable destination, found}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f32>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{expected pointers to 'f16', which the destination holds, found pointers to 'f32'}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f32>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<32x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{expected pointers of shape [64], like the destination, found [32]}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<32x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{expected 'contiguity' to be a power of two, found 6}}
  %0 = ttg.async_copy_global_to_local %p, %m {contiguity = 6 : i32} : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'num' to be the number of groups that may be unfinished, found -1}}
  %0 = ttg.async_wait {num = -1 : i32}
  tt.return
}
