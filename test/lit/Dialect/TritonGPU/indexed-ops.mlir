// RUN: tile-opt %s -split-input-file -verify-diagnostics | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: tt.func @indexed
tt.func @indexed(%m: !ttg.memdesc<64xf32, #shared, #smem, mutable>, %i: tensor<128xi32, #blocked>, %v: tensor<128xf32, #blocked>, %p: tensor<128xi1, #blocked>) {
  // CHECK: ttg.local_gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked> -> tensor<128xf32, #blocked>
  %0 = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked> -> tensor<128xf32, #blocked>
  // CHECK: ttg.local_scatter %{{.*}}[%{{.*}}], %{{.*}} {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked>, tensor<128xf32, #blocked>
  ttg.local_scatter %m[%i], %v {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked>, tensor<128xf32, #blocked>
  // CHECK: ttg.local_atomic_scatter_rmw fadd, %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} {axis = 0 : i32} : (!ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xf32, #blocked>, tensor<128xi32, #blocked>, tensor<128xi1, #blocked>) -> tensor<128xf32, #blocked>
  %1 = ttg.local_atomic_scatter_rmw fadd, %m[%i], %v, %p {axis = 0 : i32} : (!ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xf32, #blocked>, tensor<128xi32, #blocked>, tensor<128xi1, #blocked>) -> tensor<128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

tt.func @axis(%m: !ttg.memdesc<64xf32, #shared, #smem, mutable>, %i: tensor<128xi32, #blocked>) {
  // expected-error @below {{'ttg.local_gather' op expected an axis from 0 to 0, found 1}}
  %0 = ttg.local_gather %m[%i] {axis = 1 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked> -> tensor<128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

tt.func @elements(%m: !ttg.memdesc<64xf32, #shared, #smem, mutable>, %i: tensor<128xi32, #blocked>) {
  // expected-error @below {{expected values of type 'f32', like the memory, found 'i32'}}
  ttg.local_scatter %m[%i], %i {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<128xi32, #blocked>, tensor<128xi32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

tt.func @immutable(%m: !ttg.memdesc<64xf32, #shared, #smem>, %i: tensor<128xi32, #blocked>, %v: tensor<128xf32, #blocked>) {
  // expected-error @below {{expected memory that is mutable}}
  ttg.local_scatter %m[%i], %v {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem>, tensor<128xi32, #blocked>, tensor<128xf32, #blocked>
  tt.return
}
