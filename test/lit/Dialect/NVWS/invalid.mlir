// RUN: tile-opt %s -split-input-file -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @slot(%a: !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>) {
  %aref = nvws.aref.create %a : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>
  // expected-error @+1 {{expected a buffer of one slot of '!ttg.memdesc<3x128x64xf16,}}
  %x, %t = nvws.aref.put.enter %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.async.token
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @count(%a: !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>) {
  %aref = nvws.aref.create %a : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>
  // expected-error @+1 {{expected 1 buffers, as the reference has, found 0}}
  %t = nvws.aref.get.enter %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]> -> !ttg.async.token
  tt.return
}

// -----

tt.func @yields(%x: i64) {
  %r = nvws.warp_group
  partition0 num_warps(4) {
    // expected-error @+1 {{expected values of the types of the results, 'i32', found 'i64'}}
    nvws.warp_group.yield %x : i64
  } -> (i32)
  tt.return
}

// -----

tt.func @no_yield() {
  %r = nvws.warp_group
  partition0 num_warps(4) {
    // expected-error @+1 {{expected 'nvws.warp_group.yield' at the end of a first partition with results}}
    nvws.warp_group.return
  } -> (i32)
  tt.return
}

// -----

tt.func @warps() {
  // expected-error @+1 {{expected powers of two as numbers of warps, found 3}}
  nvws.warp_group
  partition0 num_warps(3) {
    nvws.warp_group.return
  }
  tt.return
}

// -----

tt.func @no_partitions(%x: i32) {
  // expected-error @+1 {{expected the partitions that it is in, found none}}
  %r = nvws.aref.phi %x, %x : i32
  tt.return
}

// -----

tt.func @argument(%x: i32) {
  // expected-error @+1 {{expected the first operand to be in partitions, found none}}
  %r = nvws.aref.phi %x, %x {ttg.partition = array<i32: 0>} : i32
  tt.return
}

// -----

tt.func @both() {
  %a = arith.constant {ttg.partition = array<i32: 0, 1>} 1 : i32
  %b = arith.constant {ttg.partition = array<i32: 1, 2>} 2 : i32
  // expected-error @+1 {{found both in partition 1}}
  %r = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0, 1, 2>} : i32
  tt.return
}

// -----

tt.func @neither() {
  %a = arith.constant {ttg.partition = array<i32: 0>} 1 : i32
  %b = arith.constant {ttg.partition = array<i32: 1>} 2 : i32
  // expected-error @+1 {{expected to be in the partitions of the operands, 0, 1, found 0, 1, 2}}
  %r = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0, 1, 2>} : i32
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @slots(%a: !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>) {
  // expected-error @+1 {{expected buffers of 2 slots each, like the first one, found 3}}
  %aref = nvws.aref.create %a, %b : <[!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>
  tt.return
}
