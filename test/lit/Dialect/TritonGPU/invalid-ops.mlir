// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of operations on layouts and memory reject.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%t: tensor<64xf16>) {
  // expected-error @+1 {{the source has no encoding}}
  %0 = ttg.convert_layout %t : tensor<64xf16> -> tensor<64xf16, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%t: tensor<64xf16, #blocked>) {
  // expected-error @+1 {{the result has no encoding}}
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
  // expected-error @+1 {{the result has shape [64, 32], expected [32, 64]}}
  %0 = ttg.fp4_to_fp %t {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<64x32xf16, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%t: tensor<32x32xi8, #blocked>) {
  // expected-error @+1 {{the result has encoding}}
  %0 = ttg.fp4_to_fp %t {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<32x64xf16, #blocked>
  tt.return
}

// -----

tt.func @f(%t: tensor<32x32xi8>) {
  // expected-error @+1 {{'axis' is 2, but the source has rank 2}}
  %0 = ttg.fp4_to_fp %t {axis = 2 : i32} : tensor<32x32xi8> -> tensor<32x64xf16>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{a buffer without initial contents must be mutable}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{'alignment' is 12, expected a power of two}}
  %0 = ttg.local_alloc {alignment = 12 : i32} : () -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f() {
  // expected-error @+1 {{a new buffer is not a part of another}}
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
  // expected-error @+1 {{the tensor has shape [32], but the memory has shape [64]}}
  %0 = ttg.local_alloc %t : (tensor<32xf16, #blocked>) -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>) {
  // expected-error @+1 {{the tensor has elements of type 'f32', but the memory of type 'f16'}}
  %0 = ttg.local_load %m : !ttg.memdesc<64xf16, #shared, #ttg.shared_memory> -> tensor<64xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>, %t: tensor<64xf16, #blocked>) {
  // expected-error @+1 {{the destination is not mutable}}
  ttg.local_store %t, %m : tensor<64xf16, #blocked> -> !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{'nbytes' is 0, expected a positive number}}
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 0 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{'alignment' is 24, expected a power of two}}
  %0 = ttg.global_scratch_alloc {alignment = 24 : i32, nbytes = 8 : i32} : !tt.ptr<i8>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory>) {
  // expected-error @+1 {{the destination is not mutable}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f32>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{the pointers are to 'f32', but the destination holds 'f16'}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f32>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<32x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{the pointers have shape [32], but the destination [64]}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<32x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%p: tensor<64x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{'contiguity' is 6, expected a power of two}}
  %0 = ttg.async_copy_global_to_local %p, %m {contiguity = 6 : i32} : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{'num' is -1, expected the number of groups that may be unfinished}}
  %0 = ttg.async_wait {num = -1 : i32}
  tt.return
}
