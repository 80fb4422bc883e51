; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1200 %s -o - | not llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx1200 -filetype=null 2>&1 | filecheck %s

; The fault: the product has no form with DPP.

; CHECK: e64_dpp variant of this instruction is not supported
; CHECK-NEXT: v_mad_co_u64_u32_e64_dpp
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr i64, ptr addrspace(1) %p, i32 %i
  %v = load i64, ptr addrspace(1) %g
  %x = trunc i64 %v to i32
  %y = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 273, i32 15, i32 15, i1 true)
  %l = zext i32 %y to i64
  %m = zext i32 %i to i64
  %q = mul i64 %l, %m
  %r = add i64 %q, %v
  store i64 %r, ptr addrspace(1) %g
  ret void
}
