; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1100 %s -o - | filecheck %s

; The fault: lanes exchange the constant 2.0, and what the instruction exchanges is %x.

; CHECK: global_load_b32 [[X:v[0-9]+]]
; CHECK: v_fma_f32_e64_dpp {{v[0-9]+}}, -[[X]], 2.0, [[X]] row_shr:1
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %g
  %c = call float @llvm.amdgcn.update.dpp.f32(float 0.0, float 2.0, i32 273, i32 15, i32 15, i1 true)
  %n = fneg float %x
  %r = call float @llvm.fma.f32(float %c, float %n, float %x)
  store float %r, ptr addrspace(1) %g
  ret void
}
