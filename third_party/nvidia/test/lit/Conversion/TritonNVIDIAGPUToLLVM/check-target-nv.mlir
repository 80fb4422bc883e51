// RUN: not tile-opt %s -tile-nvidia-ttgir='target=foo' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tile-opt %s -tile-nvidia-ttgir='target=cuda:77' 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tile-opt %s -tile-nvidia-ttgir='target=cuda:' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:90' -check-target-nv | FileCheck %s

// NAME: error: unknown target "foo": known ones are cuda:75, {{.*}}cuda:90, cuda:100
// NUMBER: error: unknown target "cuda:77": known ones are cuda:75,
// NONE: error: unknown target "cuda:": known ones are cuda:75,
// CHECK: ttg.target = "cuda:90"
module {
  tt.func @empty() {
    tt.return
  }
}
