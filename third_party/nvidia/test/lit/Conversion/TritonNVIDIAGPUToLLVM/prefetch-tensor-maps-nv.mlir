// RUN: tile-opt %s -prefetch-tensor-maps-nv | filecheck %s

// Each warp asks for all maps, before anything else.
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: %[[A:[a-z0-9]*]]: !llvm.ptr {ttnvgpu.tensor_map
// CHECK-SAME: %[[B:[a-z0-9]*]]: !llvm.ptr {ttnvgpu.tensor_map
// CHECK: llvm.inline_asm has_side_effects {{.*}}"prefetch.tensormap [$0]; prefetch.tensormap [$1]; ", "l,l,~{memory}" %[[A]], %[[B]]
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
