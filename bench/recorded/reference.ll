; ModuleID = 'tile'
source_filename = "tile"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@global_smem = external addrspace(3) global [0 x i8], align 1024

; Function Attrs: convergent noimplicitfloat nounwind
define ptx_kernel void @softmax_kernel(ptr addrspace(1) align 16 %0, ptr addrspace(1) align 16 %1, i32 %2, i32 %3, i32 %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = tail call range(i32 0, 256) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = shl nuw nsw i32 %7, 3
  %9 = or disjoint i32 %8, 2048
  %10 = icmp slt i32 %8, %4
  %11 = icmp slt i32 %9, %4
  %12 = mul i32 %2, %6
  %13 = sext i32 %12 to i64
  %14 = getelementptr half, ptr addrspace(1) %1, i64 %13
  %15 = zext nneg i32 %8 to i64
  %16 = getelementptr half, ptr addrspace(1) %14, i64 %15
  %17 = tail call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,0,1,2,3,b"(ptr addrspace(1) %16, i32 -67044352, i32 -67044352, i32 -67044352, i32 -67044352, i1 %10) #6
  %18 = extractvalue { i32, i32, i32, i32 } %17, 0
  %19 = extractvalue { i32, i32, i32, i32 } %17, 1
  %20 = extractvalue { i32, i32, i32, i32 } %17, 2
  %21 = extractvalue { i32, i32, i32, i32 } %17, 3
  %22 = bitcast i32 %18 to <2 x half>
  %23 = extractelement <2 x half> %22, i64 0
  %24 = extractelement <2 x half> %22, i64 1
  %25 = bitcast i32 %19 to <2 x half>
  %26 = extractelement <2 x half> %25, i64 0
  %27 = extractelement <2 x half> %25, i64 1
  %28 = bitcast i32 %20 to <2 x half>
  %29 = extractelement <2 x half> %28, i64 0
  %30 = extractelement <2 x half> %28, i64 1
  %31 = bitcast i32 %21 to <2 x half>
  %32 = extractelement <2 x half> %31, i64 0
  %33 = extractelement <2 x half> %31, i64 1
  %34 = getelementptr i8, ptr addrspace(1) %16, i64 4096
  %35 = tail call { i32, i32, i32, i32 } asm sideeffect "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,0,1,2,3,b"(ptr addrspace(1) %34, i32 -67044352, i32 -67044352, i32 -67044352, i32 -67044352, i1 %11) #6
  %36 = extractvalue { i32, i32, i32, i32 } %35, 0
  %37 = extractvalue { i32, i32, i32, i32 } %35, 1
  %38 = extractvalue { i32, i32, i32, i32 } %35, 2
  %39 = extractvalue { i32, i32, i32, i32 } %35, 3
  %40 = bitcast i32 %36 to <2 x half>
  %41 = extractelement <2 x half> %40, i64 0
  %42 = extractelement <2 x half> %40, i64 1
  %43 = bitcast i32 %37 to <2 x half>
  %44 = extractelement <2 x half> %43, i64 0
  %45 = extractelement <2 x half> %43, i64 1
  %46 = bitcast i32 %38 to <2 x half>
  %47 = extractelement <2 x half> %46, i64 0
  %48 = extractelement <2 x half> %46, i64 1
  %49 = bitcast i32 %39 to <2 x half>
  %50 = extractelement <2 x half> %49, i64 0
  %51 = extractelement <2 x half> %49, i64 1
  %52 = fpext half %23 to float
  %53 = fpext half %24 to float
  %54 = fpext half %26 to float
  %55 = fpext half %27 to float
  %56 = fpext half %29 to float
  %57 = fpext half %30 to float
  %58 = fpext half %32 to float
  %59 = fpext half %33 to float
  %60 = fpext half %41 to float
  %61 = fpext half %42 to float
  %62 = fpext half %44 to float
  %63 = fpext half %45 to float
  %64 = fpext half %47 to float
  %65 = fpext half %48 to float
  %66 = fpext half %50 to float
  %67 = fpext half %51 to float
  %68 = tail call float @llvm.maxnum.f32(float %52, float %53)
  %69 = tail call float @llvm.maxnum.f32(float %54, float %55)
  %70 = tail call float @llvm.maxnum.f32(float %56, float %57)
  %71 = tail call float @llvm.maxnum.f32(float %58, float %59)
  %72 = tail call float @llvm.maxnum.f32(float %60, float %61)
  %73 = tail call float @llvm.maxnum.f32(float %62, float %63)
  %74 = tail call float @llvm.maxnum.f32(float %64, float %65)
  %75 = tail call float @llvm.maxnum.f32(float %66, float %67)
  %76 = tail call float @llvm.maxnum.f32(float %68, float %69)
  %77 = tail call float @llvm.maxnum.f32(float %70, float %71)
  %78 = tail call float @llvm.maxnum.f32(float %72, float %73)
  %79 = tail call float @llvm.maxnum.f32(float %74, float %75)
  %80 = tail call float @llvm.maxnum.f32(float %76, float %77)
  %81 = tail call float @llvm.maxnum.f32(float %78, float %79)
  %82 = tail call float @llvm.maxnum.f32(float %80, float %81)
  %83 = bitcast float %82 to i32
  %84 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %83, i32 1, i32 31)
  %85 = bitcast i32 %84 to float
  %86 = tail call float @llvm.maxnum.f32(float %82, float %85)
  %87 = bitcast float %86 to i32
  %88 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %87, i32 2, i32 31)
  %89 = bitcast i32 %88 to float
  %90 = tail call float @llvm.maxnum.f32(float %86, float %89)
  %91 = bitcast float %90 to i32
  %92 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %91, i32 4, i32 31)
  %93 = bitcast i32 %92 to float
  %94 = tail call float @llvm.maxnum.f32(float %90, float %93)
  %95 = bitcast float %94 to i32
  %96 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %95, i32 8, i32 31)
  %97 = bitcast i32 %96 to float
  %98 = tail call float @llvm.maxnum.f32(float %94, float %97)
  %99 = bitcast float %98 to i32
  %100 = tail call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %99, i32 16, i32 31)
  %101 = bitcast i32 %100 to float
  %102 = tail call float @llvm.maxnum.f32(float %98, float %101)
  %103 = and i32 %7, 31
  %104 = icmp eq i32 %103, 0
  %105 = lshr i32 %7, 5
  %106 = getelementptr float, ptr addrspace(3) @global_smem, i32 %105
  %107 = bitcast float %102 to i32
  tail call void asm sideeffect "@$2 st.shared.b32 [$0], $1;", "r,r,b,~{memory}"(ptr addrspace(3) %106, i32 %107, i1 %104) #6
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %108 = shl nuw nsw i32 %7, 2
  %109 = and i32 %108, 4
  %110 = getelementptr float, ptr addrspace(3) @global_smem, i32 %109
  %111 = load <4 x float>, ptr addrspace(3) %110, align 16
  %112 = extractelement <4 x float> %111, i64 0
  %113 = extractelement <4 x float> %111, i64 1
  %114 = extractelement <4 x float> %111, i64 2
  %115 = extractelement <4 x float> %111, i64 3
  %116 = tail call float @llvm.maxnum.f32(float %112, float %114)
  %117 = tail call float @llvm.maxnum.f32(float %113, float %115)
  %118 = tail call float @llvm.maxnum.f32(float %116, float %117)
  %119 = bitcast float %118 to i32
  %120 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %119, i32 1, i32 31)
  %121 = bitcast i32 %120 to float
  %122 = tail call float @llvm.maxnum.f32(float %118, float %121)
  %123 = fsub float %52, %122
  %124 = fsub float %53, %122
  %125 = fsub float %54, %122
  %126 = fsub float %55, %122
  %127 = fsub float %56, %122
  %128 = fsub float %57, %122
  %129 = fsub float %58, %122
  %130 = fsub float %59, %122
  %131 = fsub float %60, %122
  %132 = fsub float %61, %122
  %133 = fsub float %62, %122
  %134 = fsub float %63, %122
  %135 = fsub float %64, %122
  %136 = fsub float %65, %122
  %137 = fsub float %66, %122
  %138 = fsub float %67, %122
  %139 = fmul float %123, 0x3FF7154760000000
  %140 = tail call float @llvm.nvvm.ex2.approx.f32(float %139)
  %141 = fmul float %124, 0x3FF7154760000000
  %142 = tail call float @llvm.nvvm.ex2.approx.f32(float %141)
  %143 = fmul float %125, 0x3FF7154760000000
  %144 = tail call float @llvm.nvvm.ex2.approx.f32(float %143)
  %145 = fmul float %126, 0x3FF7154760000000
  %146 = tail call float @llvm.nvvm.ex2.approx.f32(float %145)
  %147 = fmul float %127, 0x3FF7154760000000
  %148 = tail call float @llvm.nvvm.ex2.approx.f32(float %147)
  %149 = fmul float %128, 0x3FF7154760000000
  %150 = tail call float @llvm.nvvm.ex2.approx.f32(float %149)
  %151 = fmul float %129, 0x3FF7154760000000
  %152 = tail call float @llvm.nvvm.ex2.approx.f32(float %151)
  %153 = fmul float %130, 0x3FF7154760000000
  %154 = tail call float @llvm.nvvm.ex2.approx.f32(float %153)
  %155 = fmul float %131, 0x3FF7154760000000
  %156 = tail call float @llvm.nvvm.ex2.approx.f32(float %155)
  %157 = fmul float %132, 0x3FF7154760000000
  %158 = tail call float @llvm.nvvm.ex2.approx.f32(float %157)
  %159 = fmul float %133, 0x3FF7154760000000
  %160 = tail call float @llvm.nvvm.ex2.approx.f32(float %159)
  %161 = fmul float %134, 0x3FF7154760000000
  %162 = tail call float @llvm.nvvm.ex2.approx.f32(float %161)
  %163 = fmul float %135, 0x3FF7154760000000
  %164 = tail call float @llvm.nvvm.ex2.approx.f32(float %163)
  %165 = fmul float %136, 0x3FF7154760000000
  %166 = tail call float @llvm.nvvm.ex2.approx.f32(float %165)
  %167 = fmul float %137, 0x3FF7154760000000
  %168 = tail call float @llvm.nvvm.ex2.approx.f32(float %167)
  %169 = fmul float %138, 0x3FF7154760000000
  %170 = tail call float @llvm.nvvm.ex2.approx.f32(float %169)
  %171 = fadd float %140, %142
  %172 = fadd float %144, %146
  %173 = fadd float %148, %150
  %174 = fadd float %152, %154
  %175 = fadd float %156, %158
  %176 = fadd float %160, %162
  %177 = fadd float %164, %166
  %178 = fadd float %168, %170
  %179 = fadd float %171, %172
  %180 = fadd float %173, %174
  %181 = fadd float %175, %176
  %182 = fadd float %177, %178
  %183 = fadd float %179, %180
  %184 = fadd float %181, %182
  %185 = fadd float %183, %184
  %186 = bitcast float %185 to i32
  %187 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %186, i32 1, i32 31)
  %188 = bitcast i32 %187 to float
  %189 = fadd float %185, %188
  %190 = bitcast float %189 to i32
  %191 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %190, i32 2, i32 31)
  %192 = bitcast i32 %191 to float
  %193 = fadd float %189, %192
  %194 = bitcast float %193 to i32
  %195 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %194, i32 4, i32 31)
  %196 = bitcast i32 %195 to float
  %197 = fadd float %193, %196
  %198 = bitcast float %197 to i32
  %199 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %198, i32 8, i32 31)
  %200 = bitcast i32 %199 to float
  %201 = fadd float %197, %200
  %202 = bitcast float %201 to i32
  %203 = tail call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %202, i32 16, i32 31)
  %204 = bitcast i32 %203 to float
  %205 = fadd float %201, %204
  %206 = getelementptr float, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 32), i32 %105
  %207 = bitcast float %205 to i32
  tail call void asm sideeffect "@$2 st.shared.b32 [$0], $1;", "r,r,b,~{memory}"(ptr addrspace(3) %206, i32 %207, i1 %104) #6
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %208 = getelementptr float, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 32), i32 %109
  %209 = load <4 x float>, ptr addrspace(3) %208, align 16
  %210 = extractelement <4 x float> %209, i64 0
  %211 = extractelement <4 x float> %209, i64 1
  %212 = extractelement <4 x float> %209, i64 2
  %213 = extractelement <4 x float> %209, i64 3
  %214 = fadd float %210, %212
  %215 = fadd float %211, %213
  %216 = fadd float %214, %215
  %217 = bitcast float %216 to i32
  %218 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %217, i32 1, i32 31)
  %219 = bitcast i32 %218 to float
  %220 = tail call float @llvm.nvvm.add.rn.f(float %216, float %219)
  %221 = tail call float @llvm.nvvm.div.full(float %140, float %220)
  %222 = tail call float @llvm.nvvm.div.full(float %142, float %220)
  %223 = tail call float @llvm.nvvm.div.full(float %144, float %220)
  %224 = tail call float @llvm.nvvm.div.full(float %146, float %220)
  %225 = tail call float @llvm.nvvm.div.full(float %148, float %220)
  %226 = tail call float @llvm.nvvm.div.full(float %150, float %220)
  %227 = tail call float @llvm.nvvm.div.full(float %152, float %220)
  %228 = tail call float @llvm.nvvm.div.full(float %154, float %220)
  %229 = tail call float @llvm.nvvm.div.full(float %156, float %220)
  %230 = tail call float @llvm.nvvm.div.full(float %158, float %220)
  %231 = tail call float @llvm.nvvm.div.full(float %160, float %220)
  %232 = tail call float @llvm.nvvm.div.full(float %162, float %220)
  %233 = tail call float @llvm.nvvm.div.full(float %164, float %220)
  %234 = tail call float @llvm.nvvm.div.full(float %166, float %220)
  %235 = tail call float @llvm.nvvm.div.full(float %168, float %220)
  %236 = tail call float @llvm.nvvm.div.full(float %170, float %220)
  %237 = mul i32 %3, %6
  %238 = sext i32 %237 to i64
  %239 = getelementptr half, ptr addrspace(1) %0, i64 %238
  %240 = getelementptr half, ptr addrspace(1) %239, i64 %15
  %241 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %222, float %221)
  %242 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %224, float %223)
  %243 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %226, float %225)
  %244 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %228, float %227)
  %245 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %230, float %229)
  %246 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %232, float %231)
  %247 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %234, float %233)
  %248 = tail call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %236, float %235)
  %249 = bitcast <2 x half> %241 to i32
  %250 = bitcast <2 x half> %242 to i32
  %251 = bitcast <2 x half> %243 to i32
  %252 = bitcast <2 x half> %244 to i32
  tail call void asm sideeffect "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b,~{memory}"(ptr addrspace(1) %240, i32 %249, i32 %250, i32 %251, i32 %252, i1 %10) #6
  %253 = bitcast <2 x half> %245 to i32
  %254 = bitcast <2 x half> %246 to i32
  %255 = bitcast <2 x half> %247 to i32
  %256 = bitcast <2 x half> %248 to i32
  %257 = getelementptr i8, ptr addrspace(1) %240, i64 4096
  tail call void asm sideeffect "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b,~{memory}"(ptr addrspace(1) %257, i32 %253, i32 %254, i32 %255, i32 %256, i1 %11) #6
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float) #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #3

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) #3

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.f32(float) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.nvvm.add.rn.f(float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn(float, float) #1

attributes #0 = { convergent noimplicitfloat nounwind "nvvm.reqntid"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #6 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"ttg.target", !"cuda:80"}
!2 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
