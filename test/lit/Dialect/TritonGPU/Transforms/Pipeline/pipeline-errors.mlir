// RUN: tile-opt %s -tritongpu-pipeline -verify-diagnostics

tt.func @incomplete(%p: !tt.ptr<f32>, %lb: i32, %ub: i32, %step: i32) {
  // expected-error @below {{expected every operation of a loop with 'tt.scheduled_max_stage' to have 'loop.stage' (up to it) and 'loop.cluster'}}
  scf.for %i = %lb to %ub step %step : i32 {
    %x = tt.load %p {loop.stage = 0 : i32} : !tt.ptr<f32>
    tt.store %p, %x : !tt.ptr<f32>
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return
}
