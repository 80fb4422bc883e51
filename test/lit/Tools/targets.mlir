// A stage without a target, or with a bad one, is refused, and the module is not printed.
// RUN: not tile-opt %s -tile-nvidia-ttgir 2>&1 | filecheck %s --check-prefix=NONE --implicit-check-not=tt.func
// RUN: not tile-opt %s -tile-amd-ttgir 2>&1 | filecheck %s --check-prefix=NONE --implicit-check-not=tt.func
// RUN: not tile-opt %s -tile-nvidia-ttgir='target=cuda:1' 2>&1 | filecheck %s --check-prefix=BAD --implicit-check-not=tt.func
// RUN: not tile-opt %s -tile-amd-ttgir='target=hip:gfx1' 2>&1 | filecheck %s --check-prefix=BAD --implicit-check-not=tt.func
// NONE: error: expected option 'target' to name a machine, <kind>:<architecture>
// BAD: error: unknown target
tt.func @kernel(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
