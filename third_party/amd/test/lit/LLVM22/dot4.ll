; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %s -o - | filecheck %s
; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -mattr=-dot7-insts %s -o - | filecheck %s --check-prefix=WITHOUT

; The fault: `a1 * b1 + ((a0 * b0) ^ c)` is no sum of products, but becomes one.

; CHECK-NOT: v_xor
; CHECK: v_dot4_u32_u8
; WITHOUT: v_xor_b32
define amdgpu_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %c) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %g = getelementptr <4 x i8>, ptr addrspace(1) %p, i32 %i
  %a = load <4 x i8>, ptr addrspace(1) %g
  %h = getelementptr <4 x i8>, ptr addrspace(1) %q, i32 %i
  %b = load <4 x i8>, ptr addrspace(1) %h
  %a0 = extractelement <4 x i8> %a, i32 0
  %b0 = extractelement <4 x i8> %b, i32 0
  %a1 = extractelement <4 x i8> %a, i32 1
  %b1 = extractelement <4 x i8> %b, i32 1
  %za0 = zext i8 %a0 to i32
  %zb0 = zext i8 %b0 to i32
  %za1 = zext i8 %a1 to i32
  %zb1 = zext i8 %b1 to i32
  %m0 = mul i32 %za0, %zb0
  %m1 = mul i32 %za1, %zb1
  %x = xor i32 %m0, %c
  %r = add i32 %m1, %x
  store i32 %r, ptr addrspace(1) %g
  ret void
}
