// RUN: tile-opt %s -split-input-file -tritongpu-pipeline -verify-diagnostics

tt.func @incomplete(%p: !tt.ptr<f32>, %lb: i32, %ub: i32, %step: i32) {
  // expected-error @below {{expected every operation of a loop with 'tt.scheduled_max_stage' to have 'loop.stage' (up to it) and 'loop.cluster'}}
  scf.for %i = %lb to %ub step %step : i32 {
    %x = tt.load %p {loop.stage = 0 : i32} : !tt.ptr<f32>
    tt.store %p, %x : !tt.ptr<f32>
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return
}

// -----

tt.func @too_early(%p: !tt.ptr<f32>, %lb: i32, %ub: i32, %step: i32) {
  // expected-error @below {{cannot overlap the stages of this loop as its schedule says: 'tt.store' of stage 0 comes before 'tt.load' of stage 1, whose result it uses}}
  scf.for %i = %lb to %ub step %step : i32 {
    %x = tt.load %p {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !tt.ptr<f32>
    tt.store %p, %x {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.ptr<f32>
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return
}

// -----

tt.func @out_of_order(%p: !tt.ptr<f32>, %lb: i32, %ub: i32, %step: i32) {
  // expected-error @below {{'tt.store' of stage 1 comes before 'tt.load' of stage 1, whose result it uses}}
  scf.for %i = %lb to %ub step %step : i32 {
    %x = tt.load %p {loop.stage = 1 : i32, loop.cluster = 1 : i32} : !tt.ptr<f32>
    tt.store %p, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !tt.ptr<f32>
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return
}

// -----

tt.func @early_effect(%p: !tt.ptr<f32>, %lb: i32, %ub: i32, %step: i32) {
  scf.for %i = %lb to %ub step %step : i32 {
    %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 0 : i32} : !tt.ptr<f32>
    // expected-error @below {{'tt.store' cannot be left out in iterations that do not exist}}
    tt.store %p, %x {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.ptr<f32>
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return
}
