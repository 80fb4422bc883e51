// Many features of C in one kernel: structures by value, 128-bit integers,
// function pointers, recursion, variable arguments, switches, pointers in
// initial values, halves, local arrays.
//
// Compiled with -O0 and with -O2:
//   clang --target=nvptx64-nvidia-cuda -S -Xclang -target-cpu -Xclang sm_90a
//     -Xclang -target-feature -Xclang +ptx86 -nogpulib -nocudalib language.c
//
// The expected results in test_language.py are those of the same code on the
// host, with G, S and K empty, the thread's number from a loop, and sh[63 - t]
// replaced by x[63 - t].
typedef unsigned long u64;
typedef __int128 i128;
typedef _Float16 half;
typedef __bf16 bf;
#define G __attribute__((address_space(1)))
#define S __attribute__((address_space(3)))
#define K __attribute__((nvptx_kernel))
struct P {
  int a;
  double b;
  char c[7];
  short s : 5;
  unsigned u : 11;
};
static S int sh[64];
G int table[4] = {1, 2, 3, 4};
G int *G ptrs[2] = {&table[1], &table[3]};
__attribute__((noinline)) static struct P mk(int a, struct P q) {
  q.a += a;
  q.b *= a;
  q.c[a & 3] = a;
  q.s = a;
  q.u = a * 3;
  return q;
}
__attribute__((noinline)) static i128 mul(i128 a, i128 b) {
  return a * b + (a >> 7);
}
typedef int (*fn)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int xr(int a, int b) { return a ^ b; }
G fn const fns[3] = {add, sub, xr};
__attribute__((noinline)) static int rec(int n) {
  return n < 2 ? 1 : rec(n - 1) + rec(n - 2);
}
__attribute__((noinline)) static int vsum(int n, ...) {
  __builtin_va_list l;
  __builtin_va_start(l, n);
  int s = 0;
  for (int i = 0; i < n; i++)
    s += __builtin_va_arg(l, int);
  __builtin_va_end(l);
  return s;
}
K void k(G int *x, G int *out, G double *dd) {
  int t = __nvvm_read_ptx_sreg_tid_x();
  int v = x[t];
  long r = 0;
  struct P p = {v, 1.5, {1, 2, 3}, 3, 9};
  p = mk(t, p);
  r += p.a + (long)p.b + p.c[t & 3] + p.s + p.u;
  i128 w = mul((i128)v << 40, t + 3);
  r ^= (long)(w >> 30);
  r += fns[t % 3](v, t);
  r += rec(t % 10);
  r += vsum(3, v, t, 7);
  switch (v & 15) {
  case 0:
    r += 1;
    break;
  case 1:
    r *= 3;
    break;
  case 2:
    r -= 9;
  case 3:
    r ^= 5;
    break;
  case 7:
    r += 77;
    break;
  case 9:
    r = ~r;
    break;
  case 11:
    r <<= 2;
    break;
  default:
    r += v;
  }
  sh[t] = v;
  __nvvm_bar_sync(0);
  r += sh[63 - t];
  half h = (half)v;
  bf b = (bf)v;
  h = h * (half)1.5 + (half)t;
  b = b + (bf)2;
  r += (int)(float)h + (int)(float)b;
  char c8 = v;
  short s16 = v;
  r += c8 * s16;
  r += __builtin_popcount(v) + __builtin_clz(v | 1) + __builtin_ctzl(r | 256) +
       __builtin_bitreverse32(v) % 1000 + __builtin_bswap32(v) % 77;
  double d = v;
  d = __builtin_sqrt(d < 0 ? -d : d) + __builtin_fma(d, 0.5, 1.25) +
      __builtin_floor(d / 3) + __builtin_fmin(d, 4);
  dd[t] = d;
  unsigned long ud = (unsigned long)v;
  r += (long)(ud / 7) + v % 13 + (long)((unsigned)v / 5u);
  char loc[40];
  for (int i = 0; i < 40; i++)
    loc[i] = (char)(v >> (i & 7));
  for (int i = 0; i < 40; i++)
    r += loc[(i * 7 + t) % 40];
  __atomic_fetch_add(&table[0], 1, __ATOMIC_RELAXED);
  r += *ptrs[1];
  out[t] = (int)r ^ (int)(r >> 32);
}
