// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of functions, calls and the launch grid.

// CHECK-LABEL: tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false}
tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false} {
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func private @declared(!tt.ptr<f32>) -> (f32, i32)
tt.func private @declared(!tt.ptr<f32>) -> (f32, i32)

// CHECK-LABEL: tt.func private @two_results(%arg0: f32, %arg1: i32) -> (f32, i32) attributes {noinline = true}
tt.func private @two_results(%arg0: f32, %arg1: i32) -> (f32, i32) attributes {noinline = true} {
  // CHECK: tt.return %{{.*}}, %{{.*}} : f32, i32
  tt.return %arg0, %arg1 : f32, i32
}

// CHECK-LABEL: tt.func @call(%arg0: tensor<4xf32>, %arg1: f32, %arg2: i32) -> tensor<4xf32>
tt.func @call(%arg0: tensor<4xf32>, %arg1: f32, %arg2: i32) -> tensor<4xf32> {
  // CHECK: tt.call @two_results(%{{.*}}, %{{.*}}) : (f32, i32) -> (f32, i32)
  %0:2 = tt.call @two_results(%arg1, %arg2) : (f32, i32) -> (f32, i32)
  // CHECK: tt.call @"a name, quoted"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tt.call @"a name, quoted"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tt.return %{{.*}} : tensor<4xf32>
  tt.return %1 : tensor<4xf32>
}

// CHECK-LABEL: tt.func private @"a name, quoted"(tensor<4xf32>) -> tensor<4xf32>
tt.func private @"a name, quoted"(tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: tt.func @grid()
tt.func @grid() {
  // CHECK: tt.get_program_id x : i32
  %0 = tt.get_program_id x : i32
  // CHECK: tt.get_program_id y : i32
  %1 = tt.get_program_id y : i32
  // CHECK: tt.get_program_id z : i32
  %2 = tt.get_program_id z : i32
  // CHECK: tt.get_num_programs x : i32
  %3 = tt.get_num_programs x : i32
  // CHECK: tt.get_num_programs z : i32
  %4 = tt.get_num_programs z : i32
  // CHECK: tt.return
  tt.return
}
