// RUN: tile-opt %s -verify-diagnostics -tritongpu-assign-latencies=num-stages=0 -o %t
// RUN: tile-opt %s -verify-diagnostics -tile-nvidia-ttgir='target=cuda:90 num-stages=0' -o %t
// RUN: tile-opt %s -verify-diagnostics -tile-amd-ttgir='target=hip:gfx942 num-stages=0' -o %t

// expected-error@below {{expected option 'num-stages' to be positive, found 0}}
module {
  tt.func @empty() {
    tt.return
  }
}
