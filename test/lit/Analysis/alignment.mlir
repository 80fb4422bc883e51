// RUN: tile-opt %s -test-print-alignment -split-input-file -verify-diagnostics -o %t

// Where ranges start decides about their divisibility.
tt.func @ranges() {
  // expected-remark@below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [128], divisibility = [32], constancy = [1], constant_value = <none>}}
  %1 = tt.make_range {end = 160 : i32, start = 32 : i32} : tensor<128xi32>
  tt.return
}

// -----

tt.func @constants() {
  // expected-remark@below {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = 12}}
  %0 = arith.constant 12 : i32
  // expected-remark@below {{contiguity = [1, 1], divisibility = [8, 8], constancy = [4, 32], constant_value = 8}}
  %1 = arith.constant dense<8> : tensor<4x32xi64>
  // expected-remark@below {{contiguity = [1], divisibility = [4611686018427387904], constancy = [1], constant_value = 0}}
  %2 = arith.constant 0 : i32
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = 1}}
  %3 = arith.constant true
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [64], constant_value = <none>}}
  %4 = arith.constant dense<1.0> : tensor<64xf32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return
}

// -----

// Sums keep runs; products and quotients do not.
tt.func @arithmetic(%arg: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %splat = tt.splat %arg : i32 -> tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [4], constancy = [128], constant_value = 4}}
  %four = arith.constant dense<4> : tensor<128xi32>
  // expected-remark@below {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %add = arith.addi %splat, %range : tensor<128xi32>
  // expected-remark@below {{contiguity = [128], divisibility = [4], constancy = [1], constant_value = <none>}}
  %sub = arith.subi %range, %four : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %neg = arith.subi %four, %range : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %mul = arith.muli %range, %splat : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [64], constancy = [128], constant_value = <none>}}
  %scaled = arith.muli %splat, %four : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [4], constant_value = <none>}}
  %div = arith.divsi %range, %four : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [4], constancy = [128], constant_value = <none>}}
  %quarter = arith.divui %splat, %four : tensor<128xi32>
  // expected-remark@below {{contiguity = [4], divisibility = [4], constancy = [1], constant_value = <none>}}
  %rem = arith.remsi %range, %four : tensor<128xi32>
  // expected-remark@below {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %wrap = arith.remui %range, %splat : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = 16}}
  %known = arith.muli %four, %four : tensor<128xi32>
  tt.return
}

// -----

tt.func @bits(%arg: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %splat = tt.splat %arg : i32 -> tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [128], constant_value = 7}}
  %seven = arith.constant dense<7> : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [128], constant_value = 3}}
  %three = arith.constant dense<3> : tensor<128xi32>
  // expected-remark@below {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %or = arith.ori %range, %splat : tensor<128xi32>
  // expected-remark@below {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %xor = arith.xori %splat, %range : tensor<128xi32>
  // expected-remark@below {{contiguity = [8], divisibility = [8], constancy = [1], constant_value = <none>}}
  %low = arith.andi %range, %seven : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [16], constant_value = <none>}}
  %and = arith.andi %range, %splat : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %shl = arith.shli %range, %three : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [8], constant_value = <none>}}
  %shr = arith.shrui %range, %three : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [2], constancy = [128], constant_value = <none>}}
  %shr2 = arith.shrsi %splat, %three : tensor<128xi32>
  // expected-remark@below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %wide = arith.extsi %range : tensor<128xi32> to tensor<128xi64>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [128], constant_value = 7}}
  %byte = arith.trunci %seven : tensor<128xi32> to tensor<128xi8>
  tt.return
}

// -----

// A mask is constant over the runs in which no element crosses the bound.
tt.func @masks(%n: i32 {tt.divisibility = 16 : i32}, %c: i1) {
  // expected-remark@below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %bound = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %lt = arith.cmpi slt, %range, %bound : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %le = arith.cmpi sle, %range, %bound : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %gt = arith.cmpi sgt, %bound, %range : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %eq = arith.cmpi eq, %range, %bound : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %both = arith.andi %lt, %gt : tensor<128xi1>
  // expected-remark@below {{contiguity = [128], divisibility = [4], constancy = [1], constant_value = <none>}}
  %other = tt.make_range {end = 132 : i32, start = 4 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [128], divisibility = [4], constancy = [1], constant_value = <none>}}
  %pick = arith.select %c, %range, %other : tensor<128xi32>
  // expected-remark@below {{contiguity = [16], divisibility = [4], constancy = [1], constant_value = <none>}}
  %blend = arith.select %lt, %range, %other : tensor<128xi1>, tensor<128xi32>
  tt.return
}

// -----

// Two axes. A value that is contiguous along one tells nothing about the
// others, except what divides all of its elements.
tt.func @shapes(%stride: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark@below {{contiguity = [64], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark@below {{contiguity = [64, 1], divisibility = [1073741824, 1], constancy = [1, 1], constant_value = <none>}}
  %column = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // expected-remark@below {{contiguity = [1, 64], divisibility = [1, 1073741824], constancy = [1, 1], constant_value = <none>}}
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // expected-remark@below {{contiguity = [1, 1], divisibility = [16, 16], constancy = [64, 1], constant_value = <none>}}
  %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
  // expected-remark@below {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 1], constant_value = <none>}}
  %rows = arith.muli %column, %strides : tensor<64x1xi32>
  // expected-remark@below {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 64], constant_value = <none>}}
  %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  // expected-remark@below {{contiguity = [1, 64], divisibility = [1, 1073741824], constancy = [64, 1], constant_value = <none>}}
  %columns2 = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  // expected-remark@below {{contiguity = [1, 64], divisibility = [1, 16], constancy = [1, 1], constant_value = <none>}}
  %offsets = arith.addi %rows2, %columns2 : tensor<64x64xi32>
  // expected-remark@below {{contiguity = [64, 1], divisibility = [16, 1], constancy = [1, 1], constant_value = <none>}}
  %trans = tt.trans %offsets {order = array<i32: 1, 0>} : tensor<64x64xi32> -> tensor<64x64xi32>
  // expected-remark@below {{contiguity = [1, 1, 32], divisibility = [1, 1, 16], constancy = [1, 1, 1], constant_value = <none>}}
  %reshape = tt.reshape %offsets : tensor<64x64xi32> -> tensor<64x2x32xi32>
  // expected-remark@below {{contiguity = [1, 64, 1], divisibility = [1, 16, 1], constancy = [1, 1, 1], constant_value = <none>}}
  %join = tt.join %offsets, %columns2 : tensor<64x64xi32> -> tensor<64x64x2xi32>
  // expected-remark@below {{contiguity = [1, 64], divisibility = [1, 16], constancy = [1, 1], constant_value = <none>}}
  %halves:2 = tt.split %join : tensor<64x64x2xi32> -> tensor<64x64xi32>
  tt.return
}

// -----

// Pointers: divisibility in bytes, contiguity in elements.
tt.func @pointers(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %i: i32) {
  // expected-remark@below {{contiguity = [64], divisibility = [8], constancy = [1], constant_value = <none>}}
  %range = tt.make_range {end = 72 : i32, start = 8 : i32} : tensor<64xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [64], constant_value = <none>}}
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  // expected-remark@below {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %ptrs = tt.addptr %base, %range : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [2], constancy = [1], constant_value = <none>}}
  %q = tt.addptr %p, %i : !tt.ptr<f16>, i32
  // expected-remark@below {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %cast = tt.bitcast %ptrs : tensor<64x!tt.ptr<f16>> -> tensor<64x!tt.ptr<i16>>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %value = tt.load %ptrs : tensor<64x!tt.ptr<f16>>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [64], constant_value = <none>}}
  %same = tt.load %base : tensor<64x!tt.ptr<f16>>
  // What others write meanwhile, each lane may find another value of.
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %fresh = tt.load %base cacheModifier = cv : tensor<64x!tt.ptr<f16>>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %volatile = tt.load %base {isVolatile = true} : tensor<64x!tt.ptr<f16>>
  tt.return
}

// -----

// Hints on operations are believed.
tt.func @hints(%i: tensor<128xi32>) {
  // expected-remark@below {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %0 = arith.addi %i, %i {tt.contiguity = dense<128> : tensor<1xi32>, tt.divisibility = 16 : i32} : tensor<128xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [8], constant_value = <none>}}
  %1 = arith.muli %i, %i {tt.constancy = array<i32: 8>} : tensor<128xi32>
  tt.return
}

// One figure in the shape of the value is for all axes. That of one axis says
// nothing of two.
tt.func @hints_in_shape(%i: tensor<64x32xi32>) {
  // expected-remark@below {{contiguity = [32, 32], divisibility = [16, 16], constancy = [1, 1], constant_value = <none>}}
  %0 = arith.addi %i, %i {tt.contiguity = dense<32> : tensor<64x32xi32>, tt.divisibility = dense<16> : tensor<64x32xi32>} : tensor<64x32xi32>
  // expected-remark@below {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
  %1 = arith.muli %i, %i {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64x32xi32>
  tt.return
}

// -----

// Signed division rounds towards zero, so below zero a run is not one quotient.
tt.func @negative(%i: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32}) {
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32> // expected-remark {{contiguity = [512]}}
  %c16 = arith.constant dense<16> : tensor<512xi32> // expected-remark {{constant_value = 16}}
  %c64 = arith.constant dense<64> : tensor<512xi32> // expected-remark {{constant_value = 64}}
  // expected-remark@below {{contiguity = [512], divisibility = [64], constancy = [1], constant_value = <none>}}
  %below = arith.subi %range, %c64 : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %0 = arith.divsi %below, %c16 : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %1 = arith.remsi %below, %c64 : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %2 = arith.floordivsi %below, %c16 : tensor<512xi32>
  // expected-remark@below {{contiguity = [64], divisibility = [64], constancy = [1], constant_value = <none>}}
  %3 = arith.remui %below, %c64 : tensor<512xi32>
  %any = tt.splat %i : i32 -> tensor<512xi32> // expected-remark {{divisibility = [16]}}
  %natural = tt.splat %n : i32 -> tensor<512xi32> // expected-remark {{divisibility = [16]}}
  // A product and a sum may wrap around, whatever their operands are.
  // expected-remark@below {{contiguity = [512], divisibility = [16], constancy = [1], constant_value = <none>}}
  %4 = arith.addi %natural, %range : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %5 = arith.remsi %4, %c16 : tensor<512xi32>
  // What is known not to be negative is as good as unsigned, the divisor's sign
  // does not matter.
  // expected-remark@below {{contiguity = [16], divisibility = [16], constancy = [1], constant_value = <none>}}
  %6 = arith.remsi %range, %any : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %7 = arith.divsi %range, %any : tensor<512xi32>
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %8 = arith.floordivsi %range, %any : tensor<512xi32>
  tt.return
}

// -----

// No run is longer than half of what its type can count.
tt.func @wrap() {
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32> // expected-remark {{contiguity = [512]}}
  // expected-remark@below {{contiguity = [128], divisibility = [128], constancy = [1], constant_value = <none>}}
  %byte = arith.trunci %range : tensor<512xi32> to tensor<512xi8>
  // expected-remark@below {{contiguity = [128], divisibility = [128], constancy = [1], constant_value = <none>}}
  %wide = arith.extsi %byte : tensor<512xi8> to tensor<512xi32>
  tt.return
}
