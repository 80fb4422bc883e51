// RUN: tile-opt %s -split-input-file -tritonamdgpu-accelerate-matmul | filecheck %s
// RUN: tile-opt %s -split-input-file -tritonamdgpu-accelerate-matmul='matrix-instruction-size=16 kPack=2' | filecheck %s -check-prefix=SMALL
// RUN: tile-opt %s -split-input-file -tritonamdgpu-accelerate-matmul=matrix-instruction-size=4 | filecheck %s -check-prefix=NARROW

// The largest instruction that fits; transposed, so that neighbours along N are in one lane.
// One of as many rows as wanted, where it fits: narrow ones take 64 elements along K.
// CHECK: #[[$MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// SMALL: #[[$MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>
// NARROW: #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @halves
  // CHECK: tt.dot {{.*}} tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 4}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[$MMA]], kWidth = 4}>> -> tensor<128x128xf32, #[[$MMA]]>
  // SMALL: tt.dot {{.*}} kWidth = 8
  tt.func public @halves(%x: tensor<128x32xf16, #a>, %y: tensor<32x128xf16, #b>, %z: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

// -----

// No room for 32 rows.
// CHECK: #[[$MMA:.*]] = #ttg.amd_mfma<{version = 3, {{.*}}instrShape = [16, 16, 32], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @bytes
  // CHECK: tt.dot {{.*}} tensor<16x64xi8, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 8}>>
  tt.func public @bytes(%x: tensor<16x64xi8, #a>, %y: tensor<64x64xi8, #b>, %z: tensor<16x64xi32, #blocked>) -> tensor<16x64xi32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<16x64xi8, #a> * tensor<64x64xi8, #b> -> tensor<16x64xi32, #blocked>
    tt.return %d : tensor<16x64xi32, #blocked>
  }
  // The 8-bit floats of other machines are multiplied as fp16, mixed or not.
  // CHECK-LABEL: @foreign_floats
  // CHECK-COUNT-2: tt.fp_to_fp {{.*}} -> tensor<{{.*}}xf16
  // CHECK: tt.dot {{.*}} tensor<16x64xf16
  tt.func public @foreign_floats(%x: tensor<16x64xf8E4M3FN, #a>, %y: tensor<64x64xf8E5M2, #b>, %z: tensor<16x64xf32, #blocked>) -> tensor<16x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<16x64xf8E4M3FN, #a> * tensor<64x64xf8E5M2, #b> -> tensor<16x64xf32, #blocked>
    tt.return %d : tensor<16x64xf32, #blocked>
  }
  // Its own are multiplied as they are.
  // CHECK-LABEL: @own_floats
  // CHECK-NOT: tt.fp_to_fp
  // CHECK: tt.dot {{.*}} tensor<16x64xf8E4M3FNUZ
  tt.func public @own_floats(%x: tensor<16x64xf8E4M3FNUZ, #a>, %y: tensor<64x64xf8E5M2FNUZ, #b>, %z: tensor<16x64xf32, #blocked>) -> tensor<16x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<16x64xf8E4M3FNUZ, #a> * tensor<64x64xf8E5M2FNUZ, #b> -> tensor<16x64xf32, #blocked>
    tt.return %d : tensor<16x64xf32, #blocked>
  }
  // Accumulation in fp16 has no instruction.
  // CHECK-LABEL: @half_sums
  // CHECK: tt.dot {{.*}} -> tensor<16x64xf16, #blocked>
  tt.func public @half_sums(%x: tensor<16x64xf16, #a>, %y: tensor<64x64xf16, #b>, %z: tensor<16x64xf16, #blocked>) -> tensor<16x64xf16, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<16x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<16x64xf16, #blocked>
    tt.return %d : tensor<16x64xf16, #blocked>
  }
}

// -----

// CHECK: #[[$MMA:.*]] = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @wmma
  // CHECK: tt.dot {{.*}} kWidth = 16
  // There is none of other sizes.
  // NARROW-LABEL: @wmma
  // NARROW: tt.dot {{.*}} kWidth = 16
  tt.func public @wmma(%x: tensor<64x32xbf16, #a>, %y: tensor<32x64xbf16, #b>, %z: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<64x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // RDNA has nothing for fp32.
  // CHECK-LABEL: @singles
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #blocked>
  tt.func public @singles(%x: tensor<64x32xf32, #a>, %y: tensor<32x64xf32, #b>, %z: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// gfx12 shares K between the halves of a wave; gfx1250 takes more of it, in turns of eight.
// CHECK: #[[$MMA:.*]] = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @version2
  // CHECK: tt.dot {{.*}} tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 8}>>
  tt.func public @version2(%x: tensor<64x32xbf16, #a>, %y: tensor<32x64xbf16, #b>, %z: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<64x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// CHECK-DAG: #[[$HALF:.*]] = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 32]}>
// CHECK-DAG: #[[$BYTE:.*]] = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 64]}>
// CHECK-DAG: #[[$TINY:.*]] = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 128]}>
// CHECK-DAG: #[[$SINGLE:.*]] = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 4]}>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @version3
  // CHECK: tt.dot {{.*}} tensor<64x128xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$HALF]], kWidth = 8}>> * tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[$HALF]], kWidth = 8}>>
  // CHECK: tt.dot {{.*}} tensor<64x128xi8, #ttg.dot_op<{opIdx = 0, parent = #[[$BYTE]], kWidth = 8}>>
  // CHECK: tt.dot {{.*}} tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[$TINY]], kWidth = 8}>>
  // CHECK: tt.dot {{.*}} tensor<64x128xf32, #ttg.dot_op<{opIdx = 0, parent = #[[$SINGLE]], kWidth = 2}>>
  tt.func public @version3(%h: tensor<64x128xf16, #a>, %i: tensor<128x64xf16, #b>, %z: tensor<64x64xf32, #blocked>, %x: tensor<64x128xi8, #a>, %y: tensor<128x64xi8, #b>, %w: tensor<64x64xi32, #blocked>,
                               %e: tensor<64x128xf8E4M3FN, #a>, %f: tensor<128x64xf8E5M2, #b>, %s: tensor<64x128xf32, #a>, %t: tensor<128x64xf32, #b>) -> (tensor<64x64xf32, #blocked>, tensor<64x64xi32, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>) {
    %0 = tt.dot %h, %i, %z : tensor<64x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %1 = tt.dot %x, %y, %w : tensor<64x128xi8, #a> * tensor<128x64xi8, #b> -> tensor<64x64xi32, #blocked>
    %2 = tt.dot %e, %f, %z : tensor<64x128xf8E4M3FN, #a> * tensor<128x64xf8E5M2, #b> -> tensor<64x64xf32, #blocked>
    %3 = tt.dot %s, %t, %z : tensor<64x128xf32, #a> * tensor<128x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0, %1, %2, %3 : tensor<64x64xf32, #blocked>, tensor<64x64xi32, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>
  }
}

// -----

// Products with scales, on gfx950: lanes give 16 bytes along K at a time, and scales count along K
// from lane to lane. Formats that no instruction has become plain products.
// CHECK-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 64], isTransposed = true}>
// CHECK-DAG: #[[OF_A:.*]] = #ttg.linear<{register = [{{\[}}0, 2]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = {{\[\[}}0, 0], [32, 0]], block = []}>
// CHECK-DAG: #[[OF_B:.*]] = #ttg.linear<{register = [{{\[}}0, 2]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = {{\[\[}}32, 0], [0, 0]], block = []}>
// NARROW-LABEL: @scaled
// NARROW: tt.dot_scaled
// CHECK-LABEL: @scaled
// CHECK: tt.dot_scaled {{.*}} : tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 16}>>, tensor<64x4xi8, #[[OF_A]]> * tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 16}>>, tensor<64x4xi8, #[[OF_B]]> -> tensor<64x64xf32, #[[MMA]]>
// CHECK-LABEL: @wide
// CHECK-NOT: tt.dot_scaled
// CHECK: tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @scaled(%x: tensor<64x128xf8E4M3FN, #blocked>, %xs: tensor<64x4xi8, #blocked>, %y: tensor<64x64xi8, #blocked>, %ys: tensor<64x4xi8, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot_scaled %x scale %xs, %y scale %ys, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<64x128xf8E4M3FN, #blocked>, tensor<64x4xi8, #blocked> * tensor<64x64xi8, #blocked>, tensor<64x4xi8, #blocked> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  tt.func @wide(%x: tensor<64x128xf8E4M3FN, #blocked>, %xs: tensor<64x4xi8, #blocked>, %y: tensor<128x64xbf16, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot_scaled %x scale %xs, %y, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<64x128xf8E4M3FN, #blocked>, tensor<64x4xi8, #blocked> * tensor<128x64xbf16, #blocked> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Of fewer than 16 rows, or columns: one operand's row, or column, in each lane.
// CHECK-DAG: #[[$ROWS:.*]] = #ttg.amd_mfma<{version = 3, {{.*}}instrShape = [4, 64, 64], isTransposed = false}>
// CHECK-DAG: #[[$COLUMNS:.*]] = #ttg.amd_mfma<{version = 3, {{.*}}instrShape = [64, 4, 64], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @few_rows
  // CHECK: tt.dot {{.*}} tensor<8x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$ROWS]], kWidth = 4}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[$ROWS]], kWidth = 4}>> -> tensor<8x64xf32, #[[$ROWS]]>
  // SMALL-LABEL: @few_rows
  // SMALL: tt.dot {{.*}} -> tensor<8x64xf32, #mma>
  tt.func public @few_rows(%x: tensor<8x64xf16, #a>, %y: tensor<64x64xf16, #b>, %z: tensor<8x64xf32, #blocked>) -> tensor<8x64xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<8x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<8x64xf32, #blocked>
    tt.return %d : tensor<8x64xf32, #blocked>
  }
  // CHECK-LABEL: @few_columns
  // CHECK: tt.dot {{.*}} -> tensor<64x4xf32, #[[$COLUMNS]]>
  tt.func public @few_columns(%x: tensor<64x128xf16, #a>, %y: tensor<128x4xf16, #b>, %z: tensor<64x4xf32, #blocked>) -> tensor<64x4xf32, #blocked> {
    %d = tt.dot %x, %y, %z : tensor<64x128xf16, #a> * tensor<128x4xf16, #b> -> tensor<64x4xf32, #blocked>
    tt.return %d : tensor<64x4xf32, #blocked>
  }
}
