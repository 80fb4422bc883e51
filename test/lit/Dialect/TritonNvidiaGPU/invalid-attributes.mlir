// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected blockM to be 64 or 128, found 32}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 32, blockN = 128, colStride = 1>

// -----

// expected-error @+1 {{expected blockN to be a power of two, at most 512, found 48}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 48, colStride = 1>

// -----

// expected-error @+1 {{expected blockN to be a power of two, at most 512, found 1024}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 1024, colStride = 1>

// -----

// expected-error @+1 {{expected colStride to be 1, 2 or 4, found 3}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 3>

// -----

// expected-error @+1 {{expected powers of two as CTASplitM and CTASplitN, found 3 and 1}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 3>

// -----

// expected-error @+1 {{expected powers of two as CTASplitM and CTASplitN, found 1 and 0}}
#scales = #ttnvgpu.tensor_memory_scales_encoding<CTASplitN = 0>

// -----

// expected-error @+1 {{expected bases that count the parts along M and along N by powers of two, each of them once, found a step of 2 for 1}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[2, 0]]>

// -----

// expected-error @+1 {{expected bases along M or along N, found [1, 1]}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0], [1, 1]]>

// -----

// expected-error @+1 {{found a step of 1 for 2}}
#scales = #ttnvgpu.tensor_memory_scales_encoding<CGALayout = [[1, 0], [1, 0]]>

// -----

// expected-error @+1 {{expected CGALayout, or CTASplitM and CTASplitN, found both}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, CGALayout = [[1, 0]]>

// -----

// expected-error @+1 {{expected bases of two coordinates, found 1}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1]]>

// -----

// expected-error @+1 {{expected 'colStride'}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128>

// -----

// expected-error @+1 {{unknown key 'rows'}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, rows = 2>

// -----

// expected-error @+1 {{'blockN' is there twice}}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, blockN = 128, colStride = 1>
