// A pass that is not for a module says why it changed nothing. What it is for goes through in silence.
// RUN: tile-opt %s -tritongpu-coalesce -tritongpu-coalesce 2>&1 >%t.out | filecheck %s
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -tritongpu-coalesce 2>&1 >%t.out | count 0
// CHECK: warning: '-tritongpu-coalesce' changed nothing: it is for modules with layouts, but this one has no 'ttg.num-warps'; run -convert-triton-to-tritongpu first
// CHECK-NOT: warning
tt.func @kernel(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
