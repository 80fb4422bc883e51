// RUN: tile-opt %s | filecheck %s

// The types of the dialect.

#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: @memdesc
tt.func @memdesc(
    // CHECK-SAME: %arg0: !ttg.memdesc<32x64xf16, #shared, #smem>
    %0: !ttg.memdesc<32x64xf16, #shared, #smem>,
    // CHECK-SAME: %arg1: !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable>
    %1: !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable>,
    // CHECK-SAME: %arg2: !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x64>
    %2: !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x64>,
    // CHECK-SAME: %arg3: !ttg.memdesc<32x16xf16, #shared, #smem, 32x64>
    %3: !ttg.memdesc<32x16xf16, #shared, #smem, 32x64>,
    // The shape of the whole buffer prints only where it differs.
    // CHECK-SAME: %arg4: !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %4: !ttg.memdesc<1xi64, #row, #smem, mutable, 1>,
    // CHECK-SAME: %arg5: !ttg.memdesc<64x!tt.ptr<f32>, #shared1, #smem>
    %5: !ttg.memdesc<64x!tt.ptr<f32>, #row, #smem>,
    // CHECK-SAME: %arg6: !ttg.async.token
    %6: !ttg.async.token) {
  tt.return
}
