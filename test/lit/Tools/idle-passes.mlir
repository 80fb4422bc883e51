// A pass that is not for a module says why it changed nothing. What it is for goes through in silence.
// RUN: tile-opt %s -tritongpu-coalesce -tritongpu-coalesce 2>&1 >%t.out | filecheck %s
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -tritongpu-coalesce 2>&1 >%t.out | count 0
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -convert-triton-to-tritongpu='target=cuda:90' 2>&1 >%t.out | filecheck %s --check-prefix=TWICE
// RUN: tile-opt %s -triton-nvidia-tma-lowering 2>&1 >%t.out | filecheck %s --check-prefix=BARE
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:90' -tritonamdgpu-sink-layout-conversions -triton-nvidia-tma-lowering -tritongpu-hoist-tmem-alloc 2>&1 >%t.out | filecheck %s --check-prefix=CUDA90 --implicit-check-not=warning
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:80' -triton-nvidia-tma-lowering 2>&1 >%t.out | filecheck %s --check-prefix=CUDA80
// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:90 num-warps=4' 2>&1 >%t.out | count 0
// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:100 num-warps=4' 2>&1 >%t.out | count 0
// RUN: tile-opt %s -tile-amd-ttgir='target=hip:gfx942 num-warps=4' 2>&1 >%t.out | count 0
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=cuda:100' -tritongpu-hoist-tmem-alloc -triton-nvidia-tma-lowering 2>&1 >%t.out | count 0
// RUN: tile-opt %s -convert-triton-to-tritongpu='target=hip:gfx942 threads-per-warp=64' -triton-nvidia-gpu-fence-insertion -tritongpu-hoist-tmem-alloc -tritonamdgpu-range-analysis -convert-nv-gpu-to-llvm 2>&1 >%t.out | filecheck %s --check-prefix=HIP --implicit-check-not=warning
// CUDA90: warning: '-tritonamdgpu-sink-layout-conversions' changed nothing: it is for AMD GPUs, but 'ttg.target' is 'cuda:90'
// CUDA90: warning: '-tritongpu-hoist-tmem-alloc' changed nothing: it is for GPUs with tensor memory, but 'ttg.target' is 'cuda:90'
// CUDA80: warning: '-triton-nvidia-tma-lowering' changed nothing: it is for GPUs with a TMA unit, but 'ttg.target' is 'cuda:80'
// HIP: warning: '-triton-nvidia-gpu-fence-insertion' changed nothing: it is for NVIDIA GPUs, but 'ttg.target' is 'hip:gfx942'
// HIP: warning: '-tritongpu-hoist-tmem-alloc' changed nothing: it is for NVIDIA GPUs, but 'ttg.target' is 'hip:gfx942'
// HIP: warning: '-tritonamdgpu-range-analysis' does nothing: passes analyse ranges themselves
// HIP: warning: '-convert-nv-gpu-to-llvm' does nothing: convert-triton-gpu-to-llvm lowers everything at once
// TWICE: warning: '-convert-triton-to-tritongpu' changed nothing: it is for modules without layouts, but this one has 'ttg.num-warps'
// BARE: warning: '-triton-nvidia-tma-lowering' changed nothing: it is for modules with layouts
// CHECK: warning: '-tritongpu-coalesce' changed nothing: it is for modules with layouts, but this one has no 'ttg.num-warps'; run -convert-triton-to-tritongpu first
// CHECK-NOT: warning
tt.func @kernel(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
