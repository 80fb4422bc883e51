// RUN: tile-opt %s -split-input-file -triton-check-offsets -verify-diagnostics

tt.func @product(%p: tensor<65536x!tt.ptr<f32>>) {
  %r = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>
  %c = arith.constant dense<65536> : tensor<65536xi32>
  // expected-error @+1 {{this int32 offset overflows: it reaches 4294901760, and int32 ends at 2147483647; convert an operand to int64 before this operation}}
  %o = arith.muli %r, %c : tensor<65536xi32>
  %a = tt.addptr %p, %o : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  // expected-note @+1 {{the address is used here}}
  %v = tt.load %a : tensor<65536x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows and columns, each in range, of which the sum is not; and what is not
// known does not hide it. The loop carries the address.
tt.func @sum(%p: !tt.ptr<i8>, %pid: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %c = arith.constant dense<-16000000> : tensor<128x1xi32>
  %d = arith.constant dense<-1000000> : tensor<1x128xi32>
  %x = arith.muli %rows, %c : tensor<128x1xi32>
  %y = arith.muli %columns, %d : tensor<1x128xi32>
  %bx = tt.broadcast %x : tensor<128x1xi32> -> tensor<128x128xi32>
  %by = tt.broadcast %y : tensor<1x128xi32> -> tensor<128x128xi32>
  // expected-error @+1 {{it reaches -2159000000, and int32 ends at -2147483648}}
  %o = arith.addi %bx, %by : tensor<128x128xi32>
  %base = tt.splat %pid : i32 -> tensor<128x128xi32>
  %all = arith.addi %base, %o : tensor<128x128xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<128x128x!tt.ptr<i8>>
  %a = tt.addptr %ps, %all : tensor<128x128x!tt.ptr<i8>>, tensor<128x128xi32>
  %one = arith.constant dense<1> : tensor<128x128xi32>
  %value = arith.constant dense<1> : tensor<128x128xi8>
  scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<128x128x!tt.ptr<i8>>) : i32 {
    // expected-note @+1 {{the address is used here}}
    tt.store %b, %value : tensor<128x128x!tt.ptr<i8>>
    %next = tt.addptr %b, %one : tensor<128x128x!tt.ptr<i8>>, tensor<128x128xi32>
    scf.yield %next : tensor<128x128x!tt.ptr<i8>>
  }
  tt.return
}

// -----

// A mask may be off where the offset overflows, 64 bits are enough, an unknown
// factor may be small, and a largest product that just fits is fine.
tt.func @fine(%p: tensor<65536x!tt.ptr<f32>>, %m: tensor<65536xi1>, %n: i32) {
  %r = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>
  %c = arith.constant dense<65536> : tensor<65536xi32>
  %o = arith.muli %r, %c : tensor<65536xi32>
  %a = tt.addptr %p, %o : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  %v = tt.load %a, %m : tensor<65536x!tt.ptr<f32>>
  %wide = arith.extsi %r : tensor<65536xi32> to tensor<65536xi64>
  %c64 = arith.constant dense<65536> : tensor<65536xi64>
  %o64 = arith.muli %wide, %c64 : tensor<65536xi64>
  %a64 = tt.addptr %p, %o64 : tensor<65536x!tt.ptr<f32>>, tensor<65536xi64>
  tt.store %a64, %v : tensor<65536x!tt.ptr<f32>>
  %s = tt.splat %n : i32 -> tensor<65536xi32>
  %on = arith.muli %r, %s : tensor<65536xi32>
  %an = tt.addptr %p, %on : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  tt.store %an, %v : tensor<65536x!tt.ptr<f32>>
  %cf = arith.constant dense<32768> : tensor<65536xi32>
  %of = arith.muli %r, %cf : tensor<65536xi32>
  %af = tt.addptr %p, %of : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  tt.store %af, %v : tensor<65536x!tt.ptr<f32>>
  tt.return
}
