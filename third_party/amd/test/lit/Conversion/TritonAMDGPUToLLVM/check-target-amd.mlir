// RUN: tile-opt %s -split-input-file -verify-diagnostics -check-target-amd | filecheck %s

// CHECK: ttg.target = "hip:gfx942"
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
}

// -----

// expected-error @below {{unknown target "hip:gfx77": known ones are hip:gfx90a, hip:gfx942, hip:gfx950, hip:gfx1100}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx77", "ttg.threads-per-warp" = 64 : i32} {
}
