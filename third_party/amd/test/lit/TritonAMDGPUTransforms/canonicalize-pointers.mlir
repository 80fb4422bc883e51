// RUN: tile-opt %s -split-input-file -tritonamdgpu-canonicalize-pointers -canonicalize | filecheck %s
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(tt.func(tritonamdgpu-canonicalize-pointers{enable-large-tensor-ptr-canon=false}),canonicalize)' | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#columns = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // What depends on the program only goes into the base; the offsets stay where they are in the loop.
  // CHECK-LABEL: @advanced
  // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c64_i32
  // CHECK: %[[ROWS:.*]] = tt.make_range {end = 64
  // CHECK: %[[START:.*]] = arith.muli %[[FIRST]], %arg1
  // CHECK: %[[OFFSETS:.*]] = arith.addi %{{.*}} : tensor<64x32xi32
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[AHEAD:.*]] = %c0_i64) -> (tensor<64x32xf16, #blocked>, i64)
  // CHECK: %[[BASE:.*]] = tt.addptr %{{.*}}, %[[AHEAD]] : !tt.ptr<f16>, i64
  // CHECK: %[[SPLAT:.*]] = tt.splat %[[BASE]]
  // CHECK: %[[P:.*]] = tt.addptr %[[SPLAT]], %[[OFFSETS]] : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
  // CHECK: tt.load %[[P]]
  // CHECK: arith.addi %[[AHEAD]], %c32_i64
  tt.func public @advanced(%x: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %stride: i32 {tt.non_negative = 1 : i32}, %n: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c64 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %sfirst = tt.splat %first : i32 -> tensor<64xi32, #rows>
    %row = arith.addi %sfirst, %range : tensor<64xi32, #rows>
    %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #blocked>
    %sstride = tt.splat %stride : i32 -> tensor<64x1xi32, #blocked>
    %down = arith.muli %row2, %sstride : tensor<64x1xi32, #blocked>
    %down2 = tt.broadcast %down : tensor<64x1xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #columns>
    %column2 = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32, #columns> -> tensor<1x32xi32, #blocked>
    %right = tt.broadcast %column2 : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %p0 = tt.addptr %sx, %down2 : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %p1 = tt.addptr %p0, %right : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %p = %p1) -> (tensor<64x32xf16, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %v = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %t = arith.addf %s, %v : tensor<64x32xf16, #blocked>
      %q = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %t, %q : tensor<64x32xf16, #blocked>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<64x32xf16, #blocked>
  }

  // Of what may be negative, parts could overflow where the whole does not.
  // CHECK-LABEL: @any_sign
  // CHECK: %[[ANY:.*]] = arith.addi
  // CHECK: tt.addptr %{{.*}}, %[[ANY]] : tensor
  tt.func public @any_sign(%x: !tt.ptr<f16>, %n: i32) -> tensor<64xf16, #rows> {
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %sn = tt.splat %n : i32 -> tensor<64xi32, #rows>
    %any = arith.addi %range, %sn : tensor<64xi32, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %sx, %any : tensor<64x!tt.ptr<f16>, #rows>, tensor<64xi32, #rows>
    %v = tt.load %p : tensor<64x!tt.ptr<f16>, #rows>
    tt.return %v : tensor<64xf16, #rows>
  }

  // 64 bits, of which the lanes need few.
  // CHECK-LABEL: @wide
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}} : i64
  // CHECK: %[[BASE:.*]] = tt.addptr %arg0, %[[ROW]] : !tt.ptr<f16>, i64
  // CHECK: %[[SPLAT:.*]] = tt.splat %[[BASE]]
  // CHECK: tt.addptr %[[SPLAT]], %{{.*}} : tensor<64x!tt.ptr<f16>, {{.*}}>, tensor<64xi32
  tt.func public @wide(%x: !tt.ptr<f16>, %stride: i64 {tt.non_negative = 1 : i32}) -> tensor<64xf16, #rows> {
    %pid = tt.get_program_id x : i32
    %wide = arith.extsi %pid : i32 to i64
    %row = arith.muli %wide, %stride : i64
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %range64 = arith.extsi %range : tensor<64xi32, #rows> to tensor<64xi64, #rows>
    %srow = tt.splat %row : i64 -> tensor<64xi64, #rows>
    %offset = arith.addi %srow, %range64 : tensor<64xi64, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %sx, %offset : tensor<64x!tt.ptr<f16>, #rows>, tensor<64xi64, #rows>
    %v = tt.load %p : tensor<64x!tt.ptr<f16>, #rows>
    tt.return %v : tensor<64xf16, #rows>
  }

  // In a small buffer, lanes need 32 bits of any offset that is not negative.
  // CHECK-LABEL: @strided
  // CHECK: %[[NARROW:.*]] = arith.trunci %arg1 : i64 to i32
  // CHECK: %[[STRIDES:.*]] = tt.splat %[[NARROW]]
  // CHECK: %[[OFFSETS:.*]] = arith.muli %{{.*}}, %[[STRIDES]] : tensor<64xi32
  // CHECK: tt.addptr %{{.*}}, %[[OFFSETS]] : tensor<64x!tt.ptr<f16>, {{.*}}>, tensor<64xi32
  // CHECK-LABEL: @strided_anyhow
  // CHECK: tt.addptr {{.*}}, tensor<64xi64
  tt.func public @strided(%x: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %stride: i64 {tt.non_negative = 1 : i32}) -> tensor<64xf16, #rows> {
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %range64 = arith.extsi %range : tensor<64xi32, #rows> to tensor<64xi64, #rows>
    %strides = tt.splat %stride : i64 -> tensor<64xi64, #rows>
    %offset = arith.muli %range64, %strides : tensor<64xi64, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %sx, %offset : tensor<64x!tt.ptr<f16>, #rows>, tensor<64xi64, #rows>
    %v = tt.load %p : tensor<64x!tt.ptr<f16>, #rows>
    tt.return %v : tensor<64xf16, #rows>
  }
  tt.func public @strided_anyhow(%x: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %stride: i64) -> tensor<64xf16, #rows> {
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %range64 = arith.extsi %range : tensor<64xi32, #rows> to tensor<64xi64, #rows>
    %strides = tt.splat %stride : i64 -> tensor<64xi64, #rows>
    %offset = arith.muli %range64, %strides : tensor<64xi64, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %sx, %offset : tensor<64x!tt.ptr<f16>, #rows>, tensor<64xi64, #rows>
    %v = tt.load %p : tensor<64x!tt.ptr<f16>, #rows>
    tt.return %v : tensor<64xf16, #rows>
  }
}

// -----

// Offsets of fewer bits stay as they are: their parts may add up to more.
#lanes = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @narrow
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f16>, #{{.*}}>, tensor<64xi16
  tt.func public @narrow(%x: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %offsets: tensor<64xi16, #lanes>) -> tensor<64xf16, #lanes> {
    %three = arith.constant dense<3> : tensor<64xi16, #lanes>
    %masked = arith.andi %offsets, %three : tensor<64xi16, #lanes>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #lanes>
    %p = tt.addptr %sx, %masked : tensor<64x!tt.ptr<f16>, #lanes>, tensor<64xi16, #lanes>
    %v = tt.load %p : tensor<64x!tt.ptr<f16>, #lanes>
    tt.return %v : tensor<64xf16, #lanes>
  }
}
