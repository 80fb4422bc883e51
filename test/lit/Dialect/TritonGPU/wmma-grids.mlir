// RUN: tile-opt %s | FileCheck %s
// Triton prints the grids of tiles and warps as bases.

// CHECK-DAG: #[[A:.+]] = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
// CHECK-DAG: #[[B:.+]] = #ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [4, 1], tilesPerWarp = [2, 2]}>
// CHECK-DAG: #[[C:.+]] = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [1, 1], instrShape = [16, 16, 64]}>
#a = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>
#b = #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {register = [[0, 1], [1, 0]], warp = [[2, 0], [4, 0]]}}>
#c = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {}, instrShape = [16, 16, 64]}>

// CHECK: attributes {a = #[[A]], b = #[[B]], c = #[[C]]}
func.func private @grids() attributes {a = #a, b = #b, c = #c}
