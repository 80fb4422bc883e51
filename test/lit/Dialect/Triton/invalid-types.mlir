// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a non-negative address space, found -1}}
tt.func private @f(!tt.ptr<f32, -1>)

// -----

// expected-error @+1 {{expected a pointer to a number, pointer or tensor, found 'index'}}
tt.func private @f(!tt.ptr<index>)

// -----

// expected-error @+1 {{expected a block of static shape}}
tt.func private @f(!tt.ptr<tensor<?xf32>>)

// -----

// expected-error @+1 {{expected a block of numbers or pointers}}
tt.func private @f(!tt.ptr<tensor<4xindex>>)

// -----

// expected-error @+1 {{expected a block of static shape and rank 1 or more}}
tt.func private @f(!tt.tensordesc<tensor<f32>>)

// -----

// expected-error @+1 {{expected a block of numbers}}
tt.func private @f(!tt.tensordesc<tensor<4x!tt.ptr<f32>>>)

// -----

// expected-error @+1 {{expected a ranked tensor, found 'i32'}}
tt.func private @f(!tt.tensordesc<i32>)

// -----

// expected-error @+1 {{expected a block of static shape and rank 1 or more}}
tt.func private @f(!tt.tensordesc<?x4xf32>)
