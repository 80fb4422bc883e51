// A pass that is not for a module says why it changed nothing. What it is for goes through in silence.
// RUN: tile-opt %s -tritongpu-coalesce -tritongpu-coalesce 2>&1 >%t.out | filecheck %s
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -tritongpu-coalesce 2>&1 >%t.out | count 0
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -convert-triton-to-tritongpu='target=cuda:90' 2>&1 >%t.out | filecheck %s --check-prefix=TWICE
// RUN: tile-opt %s -triton-nvidia-tma-lowering 2>&1 >%t.out | filecheck %s --check-prefix=BARE
// TWICE: warning: '-convert-triton-to-tritongpu' changed nothing: it is for modules without layouts, but this one has 'ttg.num-warps'
// BARE: warning: '-triton-nvidia-tma-lowering' changed nothing: it is for modules with layouts
// CHECK: warning: '-tritongpu-coalesce' changed nothing: it is for modules with layouts, but this one has no 'ttg.num-warps'; run -convert-triton-to-tritongpu first
// CHECK-NOT: warning
tt.func @kernel(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
