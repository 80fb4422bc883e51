// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding=leave-to-pointers=true | filecheck %s

// Which descriptors TMA serves: those without an encoding become pointers.

// CHECK-DAG: #[[WIDE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

// CHECK-LABEL: @repeated
tt.func public @repeated(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}, %out: !tt.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %desc = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %once = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %unaligned = tt.make_tensor_descriptor %out, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<1x64xf16>>
  %rows = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<1x64xf16>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %x = tt.descriptor_load %desc[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.descriptor_store %unaligned[%i, %c0], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    // CHECK: scf.for
    // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
    %inside = tt.make_tensor_descriptor %base, [%i, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
    tt.descriptor_store %inside[%i, %c0], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    tt.descriptor_scatter %rows[%at, %i], %x : !tt.tensordesc<tensor<1x64xf16>>, tensor<64xi32>, i32, tensor<64x64xf16>
  }
  %y = tt.descriptor_load %once[%c0, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  tt.descriptor_store %once[%c64, %c0], %y : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  tt.return
}

// TMA clips by pieces of 16 bytes: bounds that may cut one, and blocks that may
// start inside one, are for pointers.
// CHECK-LABEL: @pieces
tt.func public @pieces(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32 {tt.divisibility = 8 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %cut = tt.make_tensor_descriptor %base, [%m, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %inside = tt.make_tensor_descriptor %base, [%n, %m], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %whole = tt.make_tensor_descriptor %base, [%n, %m], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %x = tt.descriptor_load %cut[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.descriptor_store %inside[%i, %n], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %whole[%c64, %i], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  tt.return
}

// Stores must not start before the tensor, loads may. What is not known to be
// negative is not known to be in it, either: it must be shown that it is not.
// CHECK-LABEL: @before_start
tt.func public @before_start(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32, tt.non_negative = 1 : i32}, %x: i32 {tt.divisibility = 16 : i32}, %sure: i32 {tt.divisibility = 16 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %minus = arith.constant -16 : i32
  %one = arith.constant 1 : i64
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %loaded = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %argument = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %difference = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %negative = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %product = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %quotient = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %remainder = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %shifted = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %size = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %counted = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %product_of_sizes = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %tile = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %clamped = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %promised = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %program = tt.get_program_id x : i32
  %times = arith.muli %program, %x : i32
  %area = arith.muli %program, %n : i32
  %most = arith.maxsi %x, %c0 : i32
  %tiles = arith.ceildivsi %n, %c64 : i32
  %position = arith.remsi %program, %tiles : i32
  %start = arith.muli %position, %c64 : i32
  %count = arith.muli %n, %minus : i32
  %promise = arith.cmpi sge, %sure, %c0 : i32
  llvm.intr.assume %promise : i1
  scf.for %i = %c0 to %n step %c64 : i32 {
    %v = tt.descriptor_load %loaded[%c0, %minus] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %back = arith.subi %i, %c64 : i32
    %difference16 = arith.muli %back, %c64 : i32
    %half16 = arith.divsi %difference16, %c2 : i32
    %half = arith.muli %half16, %c64 : i32
    %rest16 = arith.remsi %back, %n : i32
    %rest = arith.muli %rest16, %c64 : i32
    %left = arith.shli %back, %c2 : i32
    tt.descriptor_store %argument[%i, %x], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %difference[%i, %back], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %negative[%i, %minus], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %product[%i, %times], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %quotient[%i, %half], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %remainder[%i, %rest], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %shifted[%i, %left], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %size[%i, %count], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %counted[%i, %i], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %product_of_sizes[%i, %area], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %tile[%i, %start], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %clamped[%i, %most], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    tt.descriptor_store %promised[%i, %sure], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  }
  tt.return
}

// A tensor map has no negative strides.
// CHECK-LABEL: @downwards
tt.func public @downwards(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %any: i64 {tt.divisibility = 8 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %down = arith.constant -64 : i64
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[WIDE]]>>
  %up = tt.make_tensor_descriptor %base, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %unknown = tt.make_tensor_descriptor %base, [%n, %n], [%any, %one] : <f16>, <tensor<64x64xf16>>
  // CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
  %constant = tt.make_tensor_descriptor %base, [%n, %n], [%down, %one] : <f16>, <tensor<64x64xf16>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %up_x = tt.descriptor_load %up[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %unknown_x = tt.descriptor_load %unknown[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %constant_x = tt.descriptor_load %constant[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  }
  tt.return
}

// The host passes the parts of a descriptor, and as a last argument the tensor map.
// CHECK-LABEL: @from_host
// CHECK-SAME: (%{{[^:]*}}: !tt.ptr<f16> {ttnvgpu.tensor_map_base = 0 : i32}, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i1, %[[COUNT:[^:]*]]: i32,
// CHECK-SAME: !tt.ptr<i8> {ttnvgpu.tensor_map_base = 1 : i32}, %{{[^:]*}}: i32, %{{[^:]*}}: i64, %{{[^:]*}}: i1,
// CHECK-SAME: %[[MAP:[^:]*]]: !tt.ptr<i8, 0> {ttnvgpu.tensor_map = {box = array<i32: 64, 64>, element_bytes = 2 : i32, element_type = 6 : i32, index = 0 : i32, swizzle = 128 : i32}},
// CHECK-SAME: %[[BYTES:[^:]*]]: !tt.ptr<i8, 0> {ttnvgpu.tensor_map = {box = array<i32: 64>, element_bytes = 1 : i32, element_type = 0 : i32, index = 1 : i32, swizzle = {{[0-9]+}} : i32}})
tt.func public @from_host(%desc: !tt.tensordesc<tensor<64x64xf16>>, %n: i32, %bytes: !tt.tensordesc<tensor<64xi8>>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  // CHECK-DAG: %[[DESC:.*]] = ttnvgpu.reinterpret_tensor_descriptor %[[MAP]] : !tt.ptr<i8, 0> to !tt.tensordesc<tensor<64x64xf16, #[[WIDE]]>>
  // CHECK-DAG: %[[LINE:.*]] = ttnvgpu.reinterpret_tensor_descriptor %[[BYTES]]
  // CHECK: scf.for %{{.*}} to %[[COUNT]]
  scf.for %i = %c0 to %n step %c64 : i32 {
    // CHECK: tt.descriptor_load %[[DESC]]
    %x = tt.descriptor_load %desc[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    tt.descriptor_store %desc[%i, %c64], %x : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    // CHECK: tt.descriptor_load %[[LINE]]
    %y = tt.descriptor_load %bytes[%i] : !tt.tensordesc<tensor<64xi8>> -> tensor<64xi8>
    tt.descriptor_store %bytes[%i], %y : !tt.tensordesc<tensor<64xi8>>, tensor<64xi8>
  }
  tt.return
}

// Copies by the map round to tf32: that is its type.
// CHECK-LABEL: @rounds_to_tf32
// CHECK-SAME: element_type = 11 : i32
tt.func public @rounds_to_tf32(%desc: !tt.tensordesc<tensor<64x32xf32>> {tt.round_f32_to_tf32 = 1 : i32}) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %desc[%c0, %c0] : !tt.tensordesc<tensor<64x32xf32>> -> tensor<64x32xf32>
  tt.return %x : tensor<64x32xf32>
}
