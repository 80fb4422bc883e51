// RUN: tile-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics -triton-tensor-memory-allocation

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @full() {
    // expected-note @+1 {{this buffer, in use at the same time, takes 256}}
    %a = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // expected-note @+1 {{this buffer, in use at the same time, takes 256}}
    %b = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // expected-error @+1 {{'ttnvgpu.tmem_alloc' op takes 256 columns of tensor memory, and there are no more free than 0 in a row}}
    %c = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    "test.use"(%a, %b, %c) : (!ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) -> ()
    tt.return
  }
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @called() {
    // expected-error @+1 {{expected in a kernel, not in a function that is called}}
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}
