; RUN: llvm-extract -S -func=plain %s | llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1100 -o - | filecheck %s --check-prefix=PLAIN
; RUN: llvm-extract -S -func=scaled %s | llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -o - | filecheck %s --check-prefix=SCALED

; The fault: the product is behind the branch that only some lanes take.

; PLAIN: s_cbranch_execz
; PLAIN: v_wmma_f32_16x16x16_f16
define amdgpu_kernel void @plain(ptr addrspace(1) %p, ptr addrspace(1) %o) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr [8 x i32], ptr addrspace(1) %p, i32 %t
  %x = load <16 x half>, ptr addrspace(1) %pa
  %pb = getelementptr i8, ptr addrspace(1) %pa, i32 8192
  %y = load <16 x half>, ptr addrspace(1) %pb
  %r = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half> %x, <16 x half> %y, <8 x float> zeroinitializer)
  %c = icmp ugt i32 %t, 7
  br i1 %c, label %some, label %all
some:
  %po = getelementptr [8 x i32], ptr addrspace(1) %o, i32 %t
  store <8 x float> %r, ptr addrspace(1) %po
  br label %all
all:
  ret void
}

; SCALED: s_cbranch_execz
; SCALED: v_mfma_scale_f32_16x16x128_f8f6f4
define amdgpu_kernel void @scaled(ptr addrspace(1) %p, ptr addrspace(1) %o) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr [8 x i32], ptr addrspace(1) %p, i32 %t
  %x = load <8 x i32>, ptr addrspace(1) %pa
  %pb = getelementptr i8, ptr addrspace(1) %pa, i32 8192
  %y = load <8 x i32>, ptr addrspace(1) %pb
  %r = call <4 x float> @llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4(<8 x i32> %x, <8 x i32> %y, <4 x float> zeroinitializer, i32 0, i32 0, i32 0, i32 %t, i32 0, i32 %t)
  %c = icmp ugt i32 %t, 7
  br i1 %c, label %some, label %all
some:
  %po = getelementptr [8 x i32], ptr addrspace(1) %o, i32 %t
  store <4 x float> %r, ptr addrspace(1) %po
  br label %all
all:
  ret void
}
