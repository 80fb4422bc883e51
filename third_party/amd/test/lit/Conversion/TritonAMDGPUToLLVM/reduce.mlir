// The exchange inside of a wave is chosen by its distance. The last one is from one lane.
// RUN: tile-opt %s -tile-amd-ttir -tile-amd-ttgir='target=hip:gfx942 num-warps=2' -tile-amd-llir -tile-amd-amdgcn -o /dev/null | filecheck %s -check-prefix=WAVE64
// RUN: tile-opt %s -tile-amd-ttir -tile-amd-ttgir='target=hip:gfx1100 num-warps=2' -tile-amd-llir -tile-amd-amdgcn -o /dev/null | filecheck %s -check-prefix=WAVE32

// WAVE64-LABEL: sum:
// WAVE64: quad_perm:[1,0,3,2]
// WAVE64: quad_perm:[2,3,0,1]
// WAVE64: row_half_mirror
// WAVE64: quad_perm:[3,2,1,0]
// WAVE64: row_ror:8
// WAVE64: ds_swizzle_b32 {{.*}}swizzle(SWAP,16)
// WAVE64: v_readlane_b32 s{{[0-9]+}}, v{{[0-9]+}}, 32
// WAVE64: ds_write_b32
// WAVE64: s_barrier
// WAVE64: .amdhsa_kernel sum

// WAVE32-LABEL: sum:
// WAVE32: row_xmask:1
// WAVE32: row_xmask:2
// WAVE32: row_xmask:4
// WAVE32: row_xmask:8
// WAVE32: v_readlane_b32 s{{[0-9]+}}, v{{[0-9]+}}, 16
// WAVE32: ds_store_b32
// WAVE32: s_barrier
// WAVE32: .amdhsa_kernel sum
tt.func public @sum(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %q : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
