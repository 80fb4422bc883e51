// RUN: tile-opt %s -triton-nvidia-make-program-loop | filecheck %s
// RUN: tile-opt %s -triton-nvidia-make-program-loop=only-marked | filecheck %s -check-prefix MARKED
// RUN: tile-opt %s -triton-nvidia-make-program-loop --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // What all programs have in common stays in front.
  // CHECK-LABEL: @product
  // CHECK: tt.get_num_programs x
  // CHECK: [[SUM:%.*]] = ttnvgpu.tmem_alloc
  // CHECK: arith.muli %arg2
  // CHECK: scf.for [[I:%.*]] = %c0_i32{{.*}} to %c2147483647_i32 step %c1_i32
  // CHECK-NEXT: ttnvgpu.clc_program_id [[I]], x
  // CHECK-NEXT: [[Y:%.*]] = ttnvgpu.clc_program_id [[I]], y
  // CHECK: arith.muli {{.*}}, [[Y]]
  // CHECK: scf.for
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK: ttnvgpu.tmem_load
  // CHECK: } {ttg.independent_iterations, ttnvgpu.over_programs}
  // CHECK-NEXT: tt.return
  // MARKED-LABEL: @product
  // MARKED-NOT: ttnvgpu.over_programs
  // MARKED-LABEL: @asks
  tt.func public @product(%a: !a, %b: !b, %n: i32, %out: tensor<128x64x!tt.ptr<f32>, #rows>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %x = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %d = ttnvgpu.tmem_alloc : () -> !sum
    %y = tt.get_program_id y : i32
    %twice = arith.muli %n, %programs : i32
    %steps = arith.muli %x, %y : i32
    scf.for %k = %c0 to %steps step %twice : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !sum
    }
    %s = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #rows>
    tt.store %out, %s : tensor<128x64x!tt.ptr<f32>, #rows>
    tt.return
  }

  // The loop over programs asks for what a loop of the kernel asks for.
  // CHECK-LABEL: @asks
  // CHECK: } {tt.warp_specialize}
  // CHECK: } {tt.warp_specialize, ttg.independent_iterations, ttnvgpu.over_programs}
  // MARKED: } {tt.warp_specialize, ttg.independent_iterations, ttnvgpu.over_programs}
  tt.func public @asks(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.get_program_id x : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      tt.store %out, %x : !tt.ptr<i32>
    } {tt.warp_specialize}
    tt.return
  }

  // CHECK-LABEL: @no_dots
  // CHECK-NOT: ttnvgpu.over_programs
  // CHECK-LABEL: @tiles
  tt.func public @no_dots(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.get_program_id x : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      tt.store %out, %x : !tt.ptr<i32>
    }
    tt.return
  }

  // A loop over tiles is divided by itself.
  // CHECK-NOT: ttnvgpu.over_programs
  // CHECK-LABEL: @condition
  tt.func public @tiles(%a: !a, %b: !b, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %n step %c1 : i32 {
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !sum
      }
    }
    tt.return
  }

  // CHECK-NOT: ttnvgpu.over_programs
  // REMARK: {{.*}}Category:triton-nvidia-make-program-loop | Remark="the next program begins when this one has ended: the loop runs under a condition, or in another loop"
  // REMARK-NOT: Category:triton-nvidia-make-program-loop
  tt.func public @condition(%a: !a, %b: !b, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.if %c {
      scf.for %k = %c0 to %n step %c1 : i32 {
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !sum
      }
    }
    tt.return
  }
}
