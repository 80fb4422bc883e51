// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{blockM must be 64 or 128, got 32}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 32, blockN = 128, colStride = 1>

// -----

// expected-error @+1 {{blockN must be a power of two, at most 512, got 48}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 48, colStride = 1>

// -----

// expected-error @+1 {{blockN must be a power of two, at most 512, got 1024}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 1024, colStride = 1>

// -----

// expected-error @+1 {{colStride must be 1, 2 or 4, got 3}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 3>

// -----

// expected-error @+1 {{CTASplitM and CTASplitN must be powers of two, got 3 and 1}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 3>

// -----

// expected-error @+1 {{CTASplitM and CTASplitN must be powers of two, got 1 and 0}}
#scales = #ttnvgpu.tensor_memory_scales_encoding<CTASplitN = 0>
