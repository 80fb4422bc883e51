; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %s -o - | filecheck %s

; The fault: the multiplication takes the upper 16 bits of v1, whose sign nobody
; extends.

; CHECK-LABEL: {{^}}k:
; CHECK-NOT: v_ashrrev_i32
; CHECK: v_mul_f32_sdwa v{{[0-9]+}}, v1, s{{[0-9]+}} {{.*}}src0_sel:WORD_1
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = load i32, ptr addrspace(1) %g
  %a = ashr i32 %v, 16
  %f = bitcast i32 %a to float
  %q = fmul float %f, 3.0
  store float %q, ptr addrspace(1) %g
  ret void
}
