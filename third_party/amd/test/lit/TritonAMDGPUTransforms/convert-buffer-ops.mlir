// RUN: tile-opt %s -split-input-file -tritonamdgpu-convert-buffer-ops | filecheck %s
// RUN: tile-opt %s -split-input-file -tritonamdgpu-convert-buffer-ops='allow-buffer-atomics=false analyze-small-tensor-ofst=true' | filecheck %s -check-prefix=PLAIN

// PLAIN: amdg.buffer_load
// PLAIN-NOT: amdg.buffer_atomic
// PLAIN: tt.atomic_rmw
// PLAIN-NOT: amdg.buffer_atomic

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Offsets that are small by themselves.
  // CHECK-LABEL: @small
  // CHECK: %[[RANGE:.*]] = tt.make_range
  // CHECK: %[[V:.*]] = amdg.buffer_load %arg0[%[[RANGE]]], %arg2, %arg3 cacheModifier = cg : tensor<1024xf32
  // CHECK: amdg.buffer_store %[[V]], %arg1[%[[RANGE]]], %arg2 cacheModifier = cs : tensor<1024xf32
  tt.func public @small(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %mask: tensor<1024xi1, #blocked>, %other: tensor<1024xf32, #blocked>) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %px = tt.addptr %sx, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %sy = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %py = tt.addptr %sy, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %px, %mask, %other cacheModifier = cg : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %py, %v, %mask evictionPolicy = evict_first : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Any number that is not negative may be too far, unless the argument says that nothing is, or the
  // launcher looks.
  // CHECK-LABEL: @far
  // CHECK-SAME: tt.small_arguments = array<i32: 0>
  // CHECK: amdg.buffer_load %arg0
  // CHECK: amdg.buffer_load %arg1
  tt.func public @far(%x: !tt.ptr<f32>, %y: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %n: i32 {tt.non_negative = 1 : i32}) -> tensor<1024xf32, #blocked> {
    %range = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %px = tt.addptr %sx, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %sy = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %py = tt.addptr %sy, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %px : tensor<1024x!tt.ptr<f32>, #blocked>
    %w = tt.load %py : tensor<1024x!tt.ptr<f32>, #blocked>
    %z = arith.addf %v, %w : tensor<1024xf32, #blocked>
    tt.return %z : tensor<1024xf32, #blocked>
  }

  // Nor is an offset that may be negative in a buffer, nor a fresh read, nor what a loop waits for.
  // CHECK-LABEL: @left
  // CHECK-NOT: amdg.
  tt.func public @left(%x: !tt.ptr<i32> {tt.pointer_range = 32 : i32}, %n: i32, %c: i32) -> tensor<1024xi32, #blocked> {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %sn = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %any = arith.addi %range, %sn : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #blocked>
    %p = tt.addptr %sx, %any : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>
    %q = tt.addptr %sx, %range : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>
    %a = tt.load %p : tensor<1024x!tt.ptr<i32>, #blocked>
    %b = tt.load %q {isVolatile = true} : tensor<1024x!tt.ptr<i32>, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ab = arith.addi %a, %b : tensor<1024xi32, #blocked>
    %r = scf.for %i = %c0 to %c step %c1 iter_args(%s = %ab) -> (tensor<1024xi32, #blocked>) : i32 {
      %w = tt.load %q : tensor<1024x!tt.ptr<i32>, #blocked>
      %t = arith.addi %s, %w : tensor<1024xi32, #blocked>
      scf.yield %t : tensor<1024xi32, #blocked>
    }
    tt.return %r : tensor<1024xi32, #blocked>
  }

  // CHECK-LABEL: @atomics
  // CHECK: amdg.buffer_atomic_rmw fadd, relaxed, gpu, %{{.*}}, %arg0[%{{.*}}], %{{.*}} : tensor<1024xf32
  // CHECK: amdg.buffer_atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}}, %arg1[%{{.*}}] : tensor<1024xi32
  // CHECK: tt.atomic_rmw fadd, {{.*}}f16
  tt.func public @atomics(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>, %h: !tt.ptr<f16>, %v: tensor<1024xf32, #blocked>, %i: tensor<1024xi32, #blocked>, %f: tensor<1024xf16, #blocked>, %m: tensor<1024xi1, #blocked>) -> tensor<1024xi32, #blocked> {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %px = tt.addptr %sx, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %sy = tt.splat %y : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #blocked>
    %py = tt.addptr %sy, %range : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>
    %sh = tt.splat %h : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %ph = tt.addptr %sh, %range : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %a = tt.atomic_rmw fadd, relaxed, gpu, %px, %v, %m : (tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xf32, #blocked>, tensor<1024xi1, #blocked>) -> tensor<1024xf32, #blocked>
    %b = tt.atomic_cas acq_rel, gpu, %py, %i, %i : (tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>, tensor<1024xi32, #blocked>) -> tensor<1024xi32, #blocked>
    %c = tt.atomic_rmw fadd, relaxed, gpu, %ph, %f, %m : (tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xf16, #blocked>, tensor<1024xi1, #blocked>) -> tensor<1024xf16, #blocked>
    tt.return %b : tensor<1024xi32, #blocked>
  }
}

// -----

// Descriptors of this machine have another form.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @other_machine
  // CHECK-NOT: amdg.
  tt.func public @other_machine(%x: !tt.ptr<f32>) -> tensor<512xf32, #blocked> {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return %v : tensor<512xf32, #blocked>
  }
}

// -----

// Nothing is to be assumed of arguments.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.overlapping-arguments", ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @any_size
  // CHECK-NOT: amdg.
  tt.func public @any_size(%x: !tt.ptr<f32>, %n: i32 {tt.non_negative = 1 : i32}) -> tensor<1024xf32, #blocked> {
    %range = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return %v : tensor<1024xf32, #blocked>
  }
}

// -----

// Programs that are counted from the last one have no sign.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @from_the_end
  // CHECK: amdg.buffer_load
  // CHECK-NOT: amdg.buffer_load
  tt.func public @from_the_end(%x: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32> {tt.pointer_range = 32 : i32}) -> (tensor<1024xf32, #blocked>, tensor<1024xf32, #blocked>) {
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %count = tt.get_num_programs x : i32
    %others = tt.get_num_programs y : i32
    %last = arith.subi %count, %c1 : i32
    %block = arith.subi %last, %pid : i32
    %end = arith.subi %others, %c1 : i32
    %distance = arith.subi %end, %pid : i32
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %ox = tt.splat %block : i32 -> tensor<1024xi32, #blocked>
    %px = tt.addptr %sx, %ox : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %px : tensor<1024x!tt.ptr<f32>, #blocked>
    %sy = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %oy = tt.splat %distance : i32 -> tensor<1024xi32, #blocked>
    %py = tt.addptr %sy, %oy : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %w = tt.load %py : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return %v, %w : tensor<1024xf32, #blocked>, tensor<1024xf32, #blocked>
  }
}

// -----

// What is added to several bases may be an offset of the accesses: x and y, not z, and not w, which may be large.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @shared_offset
  // CHECK: amdg.buffer_load %{{.*}}[%{{.*}}] {amdg.scalar_offset} :
  // CHECK: amdg.buffer_load %{{.*}}[%{{[^]]*}}] : tensor
  // CHECK: amdg.buffer_load %{{.*}}[%{{[^]]*}}] : tensor
  // CHECK: amdg.buffer_store %{{.*}}, %{{.*}}[%{{.*}}] {amdg.scalar_offset} :
  tt.func public @shared_offset(%x: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %z: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %w: !tt.ptr<f32>) -> (tensor<1024xf32, #blocked>, tensor<1024xf32, #blocked>) {
    %c1024 = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %bx = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %sx = tt.splat %bx : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %px = tt.addptr %sx, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %vx = tt.load %px : tensor<1024x!tt.ptr<f32>, #blocked>
    %bz = tt.addptr %z, %pid : !tt.ptr<f32>, i32
    %sz = tt.splat %bz : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %pz = tt.addptr %sz, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %vz = tt.load %pz : tensor<1024x!tt.ptr<f32>, #blocked>
    %bw = tt.addptr %w, %start : !tt.ptr<f32>, i32
    %sw = tt.splat %bw : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %pw = tt.addptr %sw, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %vw = tt.load %pw : tensor<1024x!tt.ptr<f32>, #blocked>
    %by = tt.addptr %y, %start : !tt.ptr<f32>, i32
    %sy = tt.splat %by : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %py = tt.addptr %sy, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %py, %vx : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return %vz, %vw : tensor<1024xf32, #blocked>, tensor<1024xf32, #blocked>
  }
}

// -----

// What a loop adds to a base may be an offset of the access, where the argument is known to be small.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @moved
  // CHECK: amdg.buffer_load %arg0[
  // CHECK-NOT: amdg.scalar_offset
  // CHECK: scf.for
  // CHECK: %[[X:.*]] = tt.addptr %arg0
  // CHECK: amdg.buffer_load %[[X]][%{{.*}}] {amdg.scalar_offset} :
  // CHECK: %[[Y:.*]] = tt.addptr %arg1
  // CHECK: amdg.buffer_load %[[Y]][%{{[^]]*}}] : tensor
  tt.func public @moved(%x: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32>, %n: i32) -> tensor<1024xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1024 = arith.constant 1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %s0 = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p0 = tt.addptr %s0, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %first = tt.load %p0 : tensor<1024x!tt.ptr<f32>, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (tensor<1024xf32, #blocked>) : i32 {
      %at = arith.muli %i, %c1024 : i32
      %bx = tt.addptr %x, %at : !tt.ptr<f32>, i32
      %sx = tt.splat %bx : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
      %px = tt.addptr %sx, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %px : tensor<1024x!tt.ptr<f32>, #blocked>
      %by = tt.addptr %y, %at : !tt.ptr<f32>, i32
      %sy = tt.splat %by : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
      %py = tt.addptr %sy, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %w = tt.load %py : tensor<1024x!tt.ptr<f32>, #blocked>
      %vw = arith.addf %v, %w : tensor<1024xf32, #blocked>
      %next = arith.addf %sum, %vw : tensor<1024xf32, #blocked>
      scf.yield %next : tensor<1024xf32, #blocked>
    }
    tt.return %r : tensor<1024xf32, #blocked>
  }
}
