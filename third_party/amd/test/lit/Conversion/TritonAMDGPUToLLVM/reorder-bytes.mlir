// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [], block = []}>
#columns = #ttg.linear<{register = [[1, 0], [2, 0], [0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [], block = []}>
#words = #ttg.linear<{register = [[0, 1], [0, 2], [2, 0], [1, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Four words of four bytes each, three instructions for each of them.
  // CHECK-LABEL: @transpose
  // CHECK-COUNT-12: llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK-NOT: llvm.amdgcn.perm
  tt.func @transpose(%x: tensor<4x256xi8, #rows>, %p: tensor<4x256x!tt.ptr<i8>, #columns>) {
    %0 = ttg.convert_layout %x : tensor<4x256xi8, #rows> -> tensor<4x256xi8, #columns>
    tt.store %p, %0 : tensor<4x256x!tt.ptr<i8>, #columns>
    tt.return
  }

  // Whole words change places: nothing to do.
  // CHECK-LABEL: @words
  // CHECK-NOT: llvm.amdgcn.perm
  tt.func @words(%x: tensor<4x256xi8, #rows>, %p: tensor<4x256x!tt.ptr<i8>, #words>) {
    %0 = ttg.convert_layout %x : tensor<4x256xi8, #rows> -> tensor<4x256xi8, #words>
    tt.store %p, %0 : tensor<4x256x!tt.ptr<i8>, #words>
    tt.return
  }

  // Elements that are computed with are no words of memory.
  // CHECK-LABEL: @computed
  // CHECK-NOT: llvm.amdgcn.perm
  tt.func @computed(%x: tensor<4x256xi8, #rows>) -> tensor<4x256xi8, #columns> {
    %0 = ttg.convert_layout %x : tensor<4x256xi8, #rows> -> tensor<4x256xi8, #columns>
    %1 = arith.addi %0, %0 : tensor<4x256xi8, #columns>
    tt.return %1 : tensor<4x256xi8, #columns>
  }
}
