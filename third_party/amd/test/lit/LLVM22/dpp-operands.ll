; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1100 %s -o - | not llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx1100 -filetype=null 2>&1 | filecheck %s

; The fault: on gfx11 the second source of such an instruction is a vector register.

; CHECK: invalid operand for instruction
; CHECK-NEXT: v_add3_u32_e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, s{{[0-9]+}}
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %s) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %x = load i32, ptr addrspace(1) %g
  %y = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 273, i32 15, i32 15, i1 true)
  %a = add i32 %y, %s
  %r = add i32 %a, %i
  store i32 %r, ptr addrspace(1) %g
  ret void
}
