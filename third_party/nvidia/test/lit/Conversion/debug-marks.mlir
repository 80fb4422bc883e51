// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// Each mark is an instruction that does nothing, with a comment. A value of many registers takes
// several.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @marks
  tt.func public @marks(%n: i32, %p: !tt.ptr<f32>, %x: tensor<1024xf16, #a>) {
    // CHECK: llvm.inline_asm has_side_effects {{.*}} "{ .reg .b32 mark; mov.b32 mark, 0; } // tile.debug enter {{.*}}\22function\22:\22marks\22{{.*}}", "~{memory}"
    debug.statement enter "marks" loc("k.py":3:5)
    // CHECK: tile.debug statement {{.*}}[\22k.py\22,4,5]
    debug.statement loc("k.py":4:5)
    // CHECK: tile.debug value $0 {{.*}}\22name\22:\22n\22{{.*}}", "r,~{memory}"
    debug.value "n" "int32" = %n : i32
    // CHECK: llvm.ptrtoint
    // CHECK: tile.debug value $0 {{.*}}\22name\22:\22p\22{{.*}}", "l,~{memory}"
    debug.value "p" "pointer<fp32>" = %p : !tt.ptr<f32>
    // CHECK-COUNT-2: tile.debug value $0 $1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11 $12 $13 $14 $15 {{.*}}\22count\22:32
    debug.value "x" "fp16" = %x : tensor<1024xf16, #a>
    // CHECK: tile.debug constant {{.*}}\22text\22:\22$$1\22
    debug.constant "C" = "$1"
    tt.return
  }
}
