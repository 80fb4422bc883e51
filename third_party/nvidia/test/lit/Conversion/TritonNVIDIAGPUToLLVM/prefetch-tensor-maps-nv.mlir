// RUN: tile-opt %s -prefetch-tensor-maps-nv | filecheck %s

// One thread asks for all maps, before anything else.
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: %[[A:[a-z0-9]*]]: !llvm.ptr {ttnvgpu.tensor_map
// CHECK-SAME: %[[B:[a-z0-9]*]]: !llvm.ptr {ttnvgpu.tensor_map
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %[[THREAD]]
// CHECK: llvm.inline_asm has_side_effects {{.*}}"@$0 prefetch.tensormap [$1]; @$0 prefetch.tensormap [$2]; ", "b,l,l,~{memory}" %[[FIRST]], %[[A]], %[[B]]
// CHECK: llvm.call @other
llvm.func @kernel(%n: i32, %a: !llvm.ptr {ttnvgpu.tensor_map = {index = 0 : i32}}, %b: !llvm.ptr {ttnvgpu.tensor_map = {index = 1 : i32}}) {
  llvm.call @other(%n) : (i32) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @other
// CHECK-NOT: prefetch
llvm.func @other(%n: i32) {
  llvm.return
}
