; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %s -o - | filecheck %s

; The fault: the load comes behind the store to the same place.

; CHECK: buffer_store_byte
; CHECK: buffer_load_sbyte
define amdgpu_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %o) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 64, i32 159744)
  %x = call i8 @llvm.amdgcn.raw.ptr.buffer.load.i8(ptr addrspace(8) %b, i32 %i, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.store.i8(i8 77, ptr addrspace(8) %b, i32 %i, i32 0, i32 0)
  %s = sext i8 %x to i32
  %g = getelementptr i32, ptr addrspace(1) %o, i32 %i
  store i32 %s, ptr addrspace(1) %g
  ret void
}
