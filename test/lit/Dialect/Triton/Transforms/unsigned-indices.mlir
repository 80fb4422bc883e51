// RUN: tile-opt %s -triton-unsigned-indices | filecheck %s

// Sums and products of numbers that are not negative are taken to fit.
// CHECK-LABEL: tt.func @offsets
tt.func @offsets(%p: !tt.ptr<f32>, %m: i32 {tt.non_negative = 1 : i32}) {
  %c128 = arith.constant 128 : i32
  %pid = tt.get_program_id x : i32
  // CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
  %row = arith.divsi %pid, %m : i32
  %start = arith.muli %row, %c128 : i32
  %starts = tt.splat %start : i32 -> tensor<128xi32>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %sum = arith.addi %starts, %range : tensor<128xi32>
  %bound = tt.splat %m : i32 -> tensor<128xi32>
  // CHECK: arith.remui
  %offsets = arith.remsi %sum, %bound : tensor<128xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %ptrs = tt.addptr %base, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %x = tt.load %ptrs : tensor<128x!tt.ptr<f32>>
  tt.store %ptrs, %x : tensor<128x!tt.ptr<f32>>
  tt.return
}

// What may be negative keeps its sign: arguments without the attribute, and
// differences.
// CHECK-LABEL: tt.func @signs
tt.func @signs(%p: !tt.ptr<f32>, %m: i32, %n: i32 {tt.non_negative = 1 : i32}) {
  %pid = tt.get_program_id x : i32
  // CHECK: arith.divsi
  %row = arith.divsi %pid, %m : i32
  // CHECK: arith.subi
  %left = arith.subi %n, %pid : i32
  // CHECK: arith.remsi
  %column = arith.remsi %left, %n : i32
  %offset = arith.addi %row, %column : i32
  %ptr = tt.addptr %p, %offset : !tt.ptr<f32>, i32
  %x = tt.load %ptr : !tt.ptr<f32>
  tt.return
}

// An index that is made of fractions is one, too. What a mask compares may be
// data.
// CHECK-LABEL: tt.func @fractions
tt.func @fractions(%p: !tt.ptr<f32>) {
  %c64 = arith.constant 64 : i32
  %half = arith.constant 5.000000e-01 : f32
  %pid = tt.get_program_id x : i32
  // CHECK: arith.divui
  %row = arith.divsi %pid, %c64 : i32
  %x = arith.sitofp %row : i32 to f32
  %y = arith.mulf %x, %half : f32
  %index = arith.fptosi %y : f32 to i32
  // CHECK: arith.remsi
  %column = arith.remsi %pid, %c64 : i32
  %z = arith.sitofp %column : i32 to f32
  %mask = arith.cmpf olt, %z, %half : f32
  %ptr = tt.addptr %p, %index : !tt.ptr<f32>, i32
  %v = tt.load %ptr, %mask : !tt.ptr<f32>
  tt.return
}

// What a difference of scalars is bounded by makes it a number of rows or
// columns; otherwise it may be less than zero.
// CHECK-LABEL: tt.func @divisors
tt.func @divisors(%p: !tt.ptr<f32>, %n: i32 {tt.non_negative = 1 : i32}) {
  %c8 = arith.constant 8 : i32
  %pid = tt.get_program_id x : i32
  %left = arith.subi %n, %pid : i32
  %size = arith.minsi %left, %c8 : i32
  // CHECK: arith.remui
  %row = arith.remsi %pid, %size : i32
  %distance = arith.subi %pid, %c8 : i32
  // CHECK: arith.divsi
  %column = arith.divsi %pid, %distance : i32
  %offset = arith.addi %row, %column : i32
  %ptr = tt.addptr %p, %offset : !tt.ptr<f32>, i32
  %x = tt.load %ptr : !tt.ptr<f32>
  tt.return
}

// A promise in the same block counts as much as an attribute, one in a branch
// does not.
// CHECK-LABEL: tt.func @promises
tt.func @promises(%p: !tt.ptr<f32>, %m: i32, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %positive = arith.cmpi sgt, %m, %c0 : i32
  llvm.intr.assume %positive : i1
  // CHECK: arith.remui
  %x = arith.remsi %m, %c8 : i32
  // CHECK: scf.if
  scf.if %c {
    %natural = arith.cmpi sge, %n, %c0 : i32
    llvm.intr.assume %natural : i1
  }
  // CHECK: arith.remsi
  %y = arith.remsi %n, %c8 : i32
  %offset = arith.addi %x, %y : i32
  %ptr = tt.addptr %p, %offset : !tt.ptr<f32>, i32
  %v = tt.load %ptr : !tt.ptr<f32>
  tt.return
}

// What is stored, and no index, wraps around as integers do.
// CHECK-LABEL: tt.func @data
tt.func @data(%p: !tt.ptr<i32>, %seed: i32 {tt.non_negative = 1 : i32}) {
  %c10 = arith.constant 10 : i32
  %hash = arith.muli %seed, %seed : i32
  // CHECK: arith.remsi
  %digit = arith.remsi %hash, %c10 : i32
  tt.store %p, %digit : !tt.ptr<i32>
  tt.return
}

// Masks are part of an index, and numbers that a loop carries have a sign when
// they start or grow below zero.
// CHECK-LABEL: tt.func @loop
tt.func @loop(%p: !tt.ptr<f32>, %n: i32 {tt.non_negative = 1 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r:2 = scf.for %i = %c0 to %n step %c8 iter_args(%up = %c0, %down = %n) -> (i32, i32) : i32 {
    // CHECK: %[[A:.*]] = arith.divui
    %a = arith.divsi %up, %c8 : i32
    // CHECK: %[[B:.*]] = arith.divsi
    %b = arith.divsi %down, %c8 : i32
    // CHECK: %[[C:.*]] = arith.remui
    %c = arith.remsi %i, %c8 : i32
    %ab = arith.addi %a, %b : i32
    %mask = arith.cmpi slt, %ab, %c : i32
    %v = tt.load %p, %mask : !tt.ptr<f32>
    %more = arith.addi %up, %c8 : i32
    %less = arith.subi %down, %c1 : i32
    scf.yield %more, %less : i32, i32
  }
  tt.return
}

// A difference that divides is a size, so the quotient has no sign, and what is
// computed from it neither. As a dividend it may be negative.
// CHECK-LABEL: tt.func @group
tt.func @group(%p: !tt.ptr<f32>, %rows: i32 {tt.non_negative = 1 : i32}, %n: i32 {tt.non_negative = 1 : i32}) {
  %c8 = arith.constant 8 : i32
  %pid = tt.get_program_id x : i32
  %first = tt.get_program_id y : i32
  %left = arith.subi %rows, %first : i32
  %size = arith.minsi %left, %c8 : i32
  // CHECK: arith.divui
  %column = arith.divsi %pid, %size : i32
  // CHECK: arith.remui
  %a = arith.remsi %column, %n : i32
  // CHECK: arith.remsi
  %b = arith.remsi %left, %n : i32
  %offset = arith.addi %a, %b : i32
  %ptr = tt.addptr %p, %offset : !tt.ptr<f32>, i32
  %x = tt.load %ptr : !tt.ptr<f32>
  tt.return
}

// A difference of tensors may be negative, as a divisor too.
// CHECK-LABEL: tt.func @distance
tt.func @distance(%p: tensor<64x!tt.ptr<f32>>, %n: i32 {tt.non_negative = 1 : i32}) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %center = tt.splat %n : i32 -> tensor<64xi32>
  %distance = arith.subi %range, %center : tensor<64xi32>
  // CHECK: arith.divsi
  %x = arith.divsi %range, %distance : tensor<64xi32>
  %ptrs = tt.addptr %p, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %ptrs : tensor<64x!tt.ptr<f32>>
  tt.return
}

// What is computed from data may wrap around, where it is an index as well.
// CHECK-LABEL: tt.func @hash
tt.func @hash(%p: !tt.ptr<i32>) {
  %c1 = arith.constant 1073741827 : i32
  %c10 = arith.constant 10 : i32
  %c3 = arith.constant 3 : i32
  %data = tt.load %p : !tt.ptr<i32>
  %large = arith.maxsi %data, %c1 : i32
  %sum = arith.addi %large, %large : i32
  // CHECK: arith.remsi
  %rest = arith.remsi %sum, %c10 : i32
  %bucket = arith.andi %rest, %c3 : i32
  %ptr = tt.addptr %p, %bucket : !tt.ptr<i32>, i32
  tt.store %ptr, %sum : !tt.ptr<i32>
  tt.return
}

// How far a counter counts may be data, such as the length of a sequence. It is
// not below its first value.
// CHECK-LABEL: tt.func @length
tt.func @length(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %length = tt.load %p : !tt.ptr<i32>
  scf.for %i = %c0 to %length step %c1 : i32 {
    // CHECK: arith.divui
    %page = arith.divsi %i, %c16 : i32
    %a = tt.addptr %p, %page : !tt.ptr<i32>, i32
    %x = tt.load %a : !tt.ptr<i32>
    tt.store %a, %x : !tt.ptr<i32>
  }
  tt.return
}

// One that starts at data may be.
// CHECK-LABEL: tt.func @from_data
tt.func @from_data(%p: !tt.ptr<i32>, %end: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %data = tt.load %p : !tt.ptr<i32>
  %start = arith.maxsi %data, %c0 : i32
  scf.for %i = %start to %end step %c1 : i32 {
    // CHECK: arith.divsi
    %page = arith.divsi %i, %c16 : i32
    %a = tt.addptr %p, %page : !tt.ptr<i32>, i32
    %x = tt.load %a : !tt.ptr<i32>
    tt.store %a, %x : !tt.ptr<i32>
  }
  tt.return
}

// Counters without a sign may be none of those that have one.
// CHECK-LABEL: tt.func @unsigned_counter
tt.func @unsigned_counter(%p: !tt.ptr<f32>, %end: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c100 = arith.constant 100 : i32
  scf.for unsigned %i = %c0 to %end step %c1 : i32 {
    // CHECK: arith.divsi
    %q = arith.divsi %i, %c7 : i32
    %a = tt.addptr %p, %q : !tt.ptr<f32>, i32
    %x = tt.load %a : !tt.ptr<f32>
    tt.store %a, %x : !tt.ptr<f32>
  }
  scf.for unsigned %i = %c0 to %c100 step %c1 : i32 {
    // CHECK: arith.divui
    %q = arith.divsi %i, %c7 : i32
    %a = tt.addptr %p, %q : !tt.ptr<f32>, i32
    %x = tt.load %a : !tt.ptr<f32>
    tt.store %a, %x : !tt.ptr<f32>
  }
  tt.return
}
