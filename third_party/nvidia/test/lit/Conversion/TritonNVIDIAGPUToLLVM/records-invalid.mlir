// RUN: tile-opt %s -convert-proton-nvidia-gpu-to-llvm -split-input-file -verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 232000 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    // expected-error @below {{write them to a global buffer}}
    proton.record start "load"
    llvm.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  llvm.func internal @called() {
    // expected-error @below {{a function that is called cannot record}}
    proton.record start "load"
    llvm.return
  }
}
