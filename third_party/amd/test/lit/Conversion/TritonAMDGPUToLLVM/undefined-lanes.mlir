// RUN: tile-opt %s -tile-amd-llir | filecheck %s

// A load that is listed tells which registers its zeros are in, by a comment;
// one that is not listed, or has another value, has plain ones.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {tt.undefined_loads = ["7:3 k.py"], "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @listed
  // CHECK: llvm.inline_asm asm_dialect = att "; undefined lanes $0", "=v,0" %{{.*}} : (i32) -> i32
  // CHECK-NOT: undefined lanes
  // CHECK: llvm.return
  tt.func public @listed(%x: !tt.ptr<f16>, %m: i1, %other: f16) {
    %v = tt.load %x, %m : !tt.ptr<f16> loc("/home/me/k.py":7:3)
    tt.store %x, %v : !tt.ptr<f16>
    %w = tt.load %x, %m, %other : !tt.ptr<f16> loc("/home/me/k.py":7:3)
    tt.store %x, %w : !tt.ptr<f16>
    %u = tt.load %x, %m : !tt.ptr<f16> loc("/home/me/k.py":8:3)
    tt.store %x, %u : !tt.ptr<f16>
    tt.return
  }
}
