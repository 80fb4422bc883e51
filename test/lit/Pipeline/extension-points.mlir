// Passes are put in at the points that the option `insert` names; all backends have the same points.

// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttir{insert=ttir-start:print-ir{label=a},ttir-end:print-ir{label=b}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=TTIR
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-ttir{insert=ttir-start:print-ir{label=a},ttir-end:print-ir{label=b}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=TTIR
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-amd-ttir{insert=ttir-start:print-ir{label=a},ttir-end:print-ir{label=b}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=TTIR

// DEFINE: %{middle} = insert=layouts-start:print-ir{label=a},loops-start:print-ir{label=b},copies-start:print-ir{label=c},copies-end:print-ir{label=d},copies-end:cse
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttgir{target=cuda:90 %{middle}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefixes=TTGIR,NVIDIA
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-amd-ttgir{target=hip:gfx942 %{middle}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefixes=TTGIR,AMD

// DEFINE: %{lower} = insert=llir-start:print-ir{label=a},before-lowering:print-ir{label=b},llir-end:print-ir{label=c}
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' | tile-opt -pass-pipeline='builtin.module(tile-nvidia-llir{%{lower}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=LLIR
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=hip:gfx942' | tile-opt -pass-pipeline='builtin.module(tile-amd-llir{%{lower}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=LLIR

// RUN: not tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttir{insert=nowhere:cse})' 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: not tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttir{insert=ttir-end:no-such-pass})' 2>&1 | filecheck %s --check-prefix=NOPASS
// A mistake about a point of another stage is found, too.
// RUN: not tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttir{insert=llir-end:no-such-pass})' 2>&1 | filecheck %s --check-prefix=NOPASS
// RUN: not tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-ttir{insert=ttir-end})' 2>&1 | filecheck %s --check-prefix=NONE

// TTIR: print-ir{label=a}
// TTIR-NEXT: inline
// TTIR: triton-loop-unroll
// TTIR-NEXT: print-ir{label=b}

// TTGIR: convert-triton-to-tritongpu
// TTGIR: print-ir{label=a}
// TTGIR-NEXT: tritongpu-coalesce
// TTGIR: print-ir{label=b}
// NVIDIA-NEXT: version-padded-loops-nv
// NVIDIA-NEXT: tritongpu-automatic-warp-specialization
// AMD-NEXT: tritongpu-fuse-nested-loops
// TTGIR: tritongpu-pipeline
// TTGIR-NEXT: print-ir{label=c}
// TTGIR: tritongpu-reorder-instructions
// NVIDIA: triton-nvidia-gpu-fence-insertion
// AMD: tritonamdgpu-block-pingpong
// TTGIR-NEXT: print-ir{label=d}
// TTGIR-NEXT: cse

// LLIR: print-ir{label=a}
// LLIR: insert-memory-barriers
// LLIR-NEXT: print-ir{label=b}
// LLIR: print-ir{label=c}
// LLIR-NEXT: ensure-debug-info-scope-on-llvm-func

// NOWHERE: 'nowhere' is no extension point; the points are ttir-start, ttir-end, layouts-start
// NOPASS: cannot insert 'no-such-pass' at
// NOPASS-SAME: no-such-pass
// NONE: cannot insert '' at ttir-end: no pass
