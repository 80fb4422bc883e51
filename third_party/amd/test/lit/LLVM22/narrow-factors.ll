; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %s -o - | filecheck %s

; The fault: the mask is dropped, as a multiplication of 24 bits needs none. The
; instruction that is chosen takes 32 bits.

; CHECK-LABEL: {{^}}k:
; CHECK: global_load_dwordx2 v[0:1]
; CHECK-NOT: v_and_b32
; CHECK: v_mad_u64_u32 v[0:1], s[{{.*}}], v0, 3, v[0:1]
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr i64, ptr addrspace(1) %p, i32 %i
  %v = load i64, ptr addrspace(1) %g
  %a = and i64 %v, 16777215
  %q = mul i64 %a, 3
  %r = add i64 %q, %v
  store i64 %r, ptr addrspace(1) %g
  ret void
}
