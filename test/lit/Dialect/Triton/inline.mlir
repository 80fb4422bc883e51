// RUN: tile-opt %s -inline | filecheck %s

// CHECK-LABEL: tt.func public @kernel
tt.func public @kernel(%x: f32, %c: i1) -> (f32, f32, f32) {
  // CHECK: %[[A:.*]] = arith.addf %arg0, %arg0 : f32
  %0 = tt.call @twice(%x) : (f32) -> f32
  // CHECK: %[[B:.*]] = tt.call @kept(%arg0) : (f32) -> f32
  %1 = tt.call @kept(%x) : (f32) -> f32
  // CHECK: cf.cond_br %arg1, ^[[NEXT:bb[0-9]+]](%arg0 : f32), ^{{.*}}
  // CHECK: cf.br ^[[NEXT]](%{{.*}} : f32)
  // CHECK: ^[[NEXT]](%[[C:.*]]: f32):
  %2 = tt.call @early_return(%x, %c) : (f32, i1) -> f32
  // CHECK: tt.return %[[A]], %[[B]], %[[C]]
  tt.return %0, %1, %2 : f32, f32, f32
}

// Structured control flow has no room for the blocks of the callee.
// CHECK-LABEL: tt.func public @into_structured
tt.func public @into_structured(%x: f32, %c: i1) -> f32 {
  // CHECK: scf.if
  // CHECK-NEXT: tt.call @early_return
  %0 = scf.if %c -> f32 {
    %1 = tt.call @early_return(%x, %c) : (f32, i1) -> f32
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  tt.return %0 : f32
}

tt.func private @twice(%x: f32) -> f32 attributes {noinline = false} {
  %0 = arith.addf %x, %x : f32
  tt.return %0 : f32
}

// CHECK-LABEL: tt.func private @kept
tt.func private @kept(%x: f32) -> f32 attributes {noinline = true} {
  %0 = arith.mulf %x, %x : f32
  tt.return %0 : f32
}

tt.func private @early_return(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^return, ^compute
^return:
  tt.return %x : f32
^compute:
  %0 = arith.mulf %x, %x : f32
  tt.return %0 : f32
}
