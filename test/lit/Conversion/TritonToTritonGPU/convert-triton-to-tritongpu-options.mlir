// RUN: not tile-opt %s -convert-triton-to-tritongpu='target=cuda:90 num-warps=3' 2>&1 | filecheck %s --check-prefix=WARPS
// RUN: not tile-opt %s -convert-triton-to-tritongpu='num-warps=4' 2>&1 | filecheck %s --check-prefix=TARGET

// WARPS: error: expected option 'num-warps' to be a positive power of two, found 3
// TARGET: error: expected option 'target' to name a machine, <kind>:<architecture>
module {
}
