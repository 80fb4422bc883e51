// RUN: tile-opt %s | filecheck %s

// The blocks of a cluster, as other encodings say them.
// CHECK-DAG: #tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
// CHECK-DAG: #tmem1 = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CTASplitM = 2, CTASplitN = 2>
// CHECK-DAG: #tmem2 = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CGALayout = [{{\[}}0, 1], [0, 0], [1, 0]]>
// CHECK-DAG: #tmem_scales = #ttnvgpu.tensor_memory_scales_encoding<CTASplitM = 2>
// CHECK-DAG: #tmem_scales1 = #ttnvgpu.tensor_memory_scales_encoding<>
#pair = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CGALayout = [[1, 0]], twoCTAs = true>
#four = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CGALayout = [[1, 0], [0, 1]]>
#turned = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CGALayout = [[0, 1], [0, 0], [1, 0], [0, 0]]>
#scales = #ttng.tensor_memory_scales_encoding<CGALayout = [[1, 0]]>
#same = #ttng.tensor_memory_scales_encoding<CGALayout = [[0, 0]]>
// CHECK-LABEL: @buffers
tt.func @buffers(%a: !ttg.memdesc<256x64xf32, #pair, #ttng.tensor_memory, mutable>, %b: !ttg.memdesc<128x64xf32, #four, #ttng.tensor_memory, mutable>, %c: !ttg.memdesc<256x4xi8, #scales, #ttng.tensor_memory, mutable>, %d: !ttg.memdesc<128x4xi8, #same, #ttng.tensor_memory, mutable>, %e: !ttg.memdesc<128x64xf32, #turned, #ttng.tensor_memory, mutable>) {
  tt.return
}
