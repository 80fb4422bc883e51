// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-nvidia-ptx -o %t.mlir

// expected-error @below {{libdevice is needed for __nv_sinf but no path to libdevice.10.bc was given}}
module attributes {ttg.target = "cuda:80"} {
llvm.func @__nv_sinf(f32) -> f32
llvm.func @kernel(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %0 = llvm.call @__nv_sinf(%x) : (f32) -> f32
  llvm.store %0, %p : f32, !llvm.ptr<1>
  llvm.return
}
}

// -----

// expected-error @below {{unknown target "cuda:1"}}
module attributes {ttg.target = "cuda:1"} {
}
