// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-amd-llir

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#swizzled = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @swizzled(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #shared>>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #swizzled, #smem, mutable>
    // expected-error @below {{failed to legalize operation 'amdg.async_tdm_copy_local_to_global'}}
    // expected-note @below {{the buffer does not hold the rows of a block one after the other}}
    amdg.async_tdm_copy_local_to_global %d[%n, %n] from %m : !ttg.memdesc<64x32xf16, #swizzled, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #shared>>
    tt.return
  }
}

// -----

#padded = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gaps(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #padded>>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #padded, #smem, mutable>
    // expected-error @below {{failed to legalize operation 'amdg.async_tdm_copy_local_to_global'}}
    // expected-note @below {{gaps in the buffer are not behind whole rows}}
    amdg.async_tdm_copy_local_to_global %d[%n, %n] from %m : !ttg.memdesc<64x32xf16, #padded, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #padded>>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @target(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %one = arith.constant 1 : i64
    // expected-error @below {{failed to legalize operation 'tt.make_tensor_descriptor'}}
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #shared>>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %d[%n, %n] from %m : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #shared>>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @moves_its_end(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #shared>>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %e = amdg.update_tensor_descriptor %d add_offsets = [%n, %n] : !tt.tensordesc<tensor<64x32xf16, #shared>>
    // expected-error @below {{failed to legalize operation 'amdg.async_tdm_copy_local_to_global'}}
    // expected-note @below {{its descriptor moves together with the end of the tensor}}
    amdg.async_tdm_copy_local_to_global %e from %m : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #shared>>
    tt.return
  }
}
