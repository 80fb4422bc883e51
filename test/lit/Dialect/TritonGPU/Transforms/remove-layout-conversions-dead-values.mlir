// RUN: tile-opt %s --tritongpu-remove-layout-conversions | filecheck %s

// A loop and a branch in it each have a dead result, which the loop around
// yields in turn: all go at once.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: tt.func @yielded_by_dead_values
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<128xf32, #blocked>)
// CHECK-NEXT: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<128xf32, #blocked>)
// CHECK-NOT: arith.mulf
// CHECK: scf.if {{.*}} -> (tensor<128xf32, #blocked>)
// CHECK-NOT: arith.mulf
tt.func @yielded_by_dead_values(%n: i32, %flag: i1, %x: tensor<128xf32, #blocked>,
                                %out: tensor<128x!tt.ptr<f32>, #blocked>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %dead = %x)
      -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>) : i32 {
    %s:2 = scf.for %j = %zero to %n step %one iter_args(%b = %a, %d = %dead)
        -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>) : i32 {
      %t:2 = scf.if %flag -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>) {
        %c = arith.addf %b, %b : tensor<128xf32, #blocked>
        %e = arith.mulf %d, %d : tensor<128xf32, #blocked>
        scf.yield %c, %e : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>
      } else {
        scf.yield %b, %d : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>
      }
      scf.yield %t#0, %t#1 : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>
    }
    scf.yield %s#0, %s#1 : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>
  }
  tt.store %out, %r#0 : tensor<128x!tt.ptr<f32>, #blocked>
  tt.return
}
}
