; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %s -o - | filecheck %s

; The fault: the upper word of `%n | %v` is -1, and becomes a copy of the upper word of %v.

; CHECK: global_load_dwordx2 v[0:1]
; CHECK-NOT: v_mov_b32_e32 v1, -1
; CHECK: v_mov_b32_e32 v1, v1
; CHECK: global_store_dwordx2 v2, v[0:1]
define amdgpu_kernel void @k(ptr addrspace(1) %p, i64 %x) {
  %a = and i64 %x, 3
  %n = xor i64 %a, -1
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr i64, ptr addrspace(1) %p, i32 %i
  %v = load i64, ptr addrspace(1) %g
  %r = or i64 %n, %v
  store i64 %r, ptr addrspace(1) %g
  ret void
}
