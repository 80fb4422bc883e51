//===-- OldGlibc.c - What glibc 2.28 lacks --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wheels run on systems with glibc 2.28 (scripts/sysroot.sh). LLVM's archives
// and the C++ library were compiled for a newer one, and ask for four symbols
// that came later. They are here, hidden, so that nothing but the wheel's own
// module sees them.
//===----------------------------------------------------------------------===//

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// A test calls them by names of their own, where glibc has them, too.
#ifdef TILE_OLD_GLIBC_TEST
#define CALLED(name)
#else
#define CALLED(name) __asm__(#name) __attribute__((visibility("hidden")))
#endif

// Since 2.32. The C++ library leaves out atomic operations while this says that
// there is one thread. Zero promises nothing.
extern char tile___libc_single_threaded CALLED(__libc_single_threaded);
char tile___libc_single_threaded = 0;

// Since 2.36. `std::random_device` reads it.
uint32_t tile_arc4random(void) CALLED(arc4random);
uint32_t tile_arc4random(void) {
  uint32_t value;
  // So few bytes come whole, or not at all where there is no such system call.
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort();
  return value;
}

// Since 2.33: the same numbers, but wide enough. LLVM prints how much memory is
// in use.
struct TileMallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks,
      fordblks, keepcost;
};
struct TileMallinfo2 tile_mallinfo2(void) CALLED(mallinfo2);
struct TileMallinfo2 tile_mallinfo2(void) {
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  struct mallinfo info = mallinfo();
  struct TileMallinfo2 wide = {
      (unsigned)info.arena,    (unsigned)info.ordblks,  (unsigned)info.smblks,
      (unsigned)info.hblks,    (unsigned)info.hblkhd,   (unsigned)info.usmblks,
      (unsigned)info.fsmblks,  (unsigned)info.uordblks, (unsigned)info.fordblks,
      (unsigned)info.keepcost,
  };
  return wide;
}

// Since 2.30. The older function knows only the clock of the calendar, so the
// end of the wait is what that clock will show.
int tile_pthread_cond_clockwait(pthread_cond_t *condition,
                                pthread_mutex_t *mutex, clockid_t clock,
                                const struct timespec *end)
    CALLED(pthread_cond_clockwait);
int tile_pthread_cond_clockwait(pthread_cond_t *condition,
                                pthread_mutex_t *mutex, clockid_t clock,
                                const struct timespec *end) {
  struct timespec now, calendar;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &calendar);
  int64_t seconds = calendar.tv_sec + end->tv_sec - now.tv_sec;
  int64_t nanoseconds = calendar.tv_nsec + end->tv_nsec - now.tv_nsec;
  seconds += nanoseconds / 1000000000;
  nanoseconds %= 1000000000;
  if (nanoseconds < 0) {
    nanoseconds += 1000000000;
    seconds -= 1;
  }
  struct timespec until = {seconds, nanoseconds};
  if (seconds < 0)
    until = (struct timespec){0, 0};
  return pthread_cond_timedwait(condition, mutex, &until);
}
