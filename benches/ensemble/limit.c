/* Ends of many motions by hand-written code: what the processor can do.
 *
 * Taylor series of order P, of W motions in the lanes of vectors, each lane with its own step; a lane
 * that is at its end takes the next motion. Threads share a counter.
 *
 *   limit NAME STARTS ENDS COUNT TOLERANCE THREADS        prints seconds, the least of five
 *
 * double-pendulum: a, b, a', b' of unit masses and lengths.  2 a'' + c b'' = r1, c a'' + b'' = r2 with
 * c = cos(a - b), order by order: the newest coefficients are those of a system of two equations whose
 * matrix belongs to order 0.
 * spherical: x, y, z, x', y', z' on the unit sphere.  x'' = l x, z'' = l z - g with l = g z - v v, as x x = 1.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef P
#define P 14
#endif
#define W 8
#define G 9.81
#define END 10.0

typedef double V __attribute__((vector_size(8 * W), aligned(64)));

static double *starts, *ends, tolerance;
static long count, next;
static int size;

static inline V conv(const V *a, const V *b, int n) {
  V sum = a[0] * b[n];
  for (int j = 1; j <= n; j++) sum += a[j] * b[n - j];
  return sum;
}

/* sine and cosine of u, order n >= 1, by du[j] = j u[j] */
static inline void wave(const V *du, V *s, V *c, int n) {
  V up = du[1] * c[n - 1], down = du[1] * s[n - 1];
  for (int j = 2; j <= n; j++) up += du[j] * c[n - j], down += du[j] * s[n - j];
  s[n] = up * (1.0 / n), c[n] = down * (-1.0 / n);
}

static void pendulum(V x[4][P + 1]) {
  V da[P + 1], db[P + 1], dd[P + 1], sa[P + 1], ca[P + 1], sb[P + 1], cb[P + 1], s[P + 1], c[P + 1];
  V aa[P + 1], bb[P + 1], u[P + 1], v[P + 1];
  for (int l = 0; l < W; l++) {
    double a = x[0][0][l], b = x[1][0][l];
    sa[0][l] = sin(a), ca[0][l] = cos(a), sb[0][l] = sin(b), cb[0][l] = cos(b);
  }
  s[0] = sa[0] * cb[0] - ca[0] * sb[0], c[0] = ca[0] * cb[0] + sa[0] * sb[0];
  V inverse = 1.0 / (2.0 - c[0] * c[0]);
#pragma GCC unroll 16
  for (int n = 0; n < P; n++) {
    if (n > 0) {
      da[n] = x[0][n] * (double)n, db[n] = x[1][n] * (double)n, dd[n] = da[n] - db[n];
      wave(da, sa, ca, n), wave(db, sb, cb, n), wave(dd, s, c, n);
    }
    aa[n] = conv(x[2], x[2], n), bb[n] = conv(x[3], x[3], n);
    V first = -conv(s, bb, n) - 2 * G * sa[n], second = conv(s, aa, n) - G * sb[n];
    for (int j = 1; j <= n; j++) first -= c[j] * v[n - j], second -= c[j] * u[n - j];
    u[n] = (first - c[0] * second) * inverse, v[n] = (2.0 * second - c[0] * first) * inverse;
    double by = 1.0 / (n + 1);
    x[0][n + 1] = x[2][n] * by, x[1][n + 1] = x[3][n] * by;
    x[2][n + 1] = u[n] * by, x[3][n + 1] = v[n] * by;
  }
}

static void sphere(V x[6][P + 1]) {
  V l[P + 1];
#pragma GCC unroll 16
  for (int n = 0; n < P; n++) {
    l[n] = G * x[2][n] - conv(x[3], x[3], n) - conv(x[4], x[4], n) - conv(x[5], x[5], n);
    double by = 1.0 / (n + 1);
    for (int i = 0; i < 3; i++) {
      V rate = conv(l, x[i], n) - (i == 2 && n == 0 ? G : 0.0);
      x[i][n + 1] = x[3 + i][n] * by, x[3 + i][n + 1] = rate * by;
    }
  }
}

static void *work(void *unused) {
  V x[6][P + 1], t, h, last, before;
  long who[W];
  int active = 0;
  memset(x, 0, sizeof x);
  for (int l = 0; l < W; l++) {
    who[l] = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), t[l] = 0;
    long from = who[l] < count ? who[l] : 0;
    for (int i = 0; i < size; i++) x[i][0][l] = starts[from * size + i];
    if (who[l] < count) active++;
  }
  while (active) {
    if (size == 4) pendulum(x); else sphere(x);
    for (int l = 0; l < W; l++) {
      double most = 1e-290, other = 1e-290, whole = 1e-3;
      for (int i = 0; i < size; i++) {
        most = fmax(most, fabs(x[i][P][l])), other = fmax(other, fabs(x[i][P - 1][l]));
        whole = fmax(whole, fabs(x[i][0][l]));
      }
      last[l] = most / whole, before[l] = other / whole;
    }
    for (int l = 0; l < W; l++) {
      double a = exp(log(tolerance / last[l]) * (1.0 / P)), b = exp(log(tolerance / before[l]) * (1.0 / (P - 1)));
      h[l] = fmin(fmin(a, b) * exp(-0.7 / (P - 1)), END - t[l]);
    }
    for (int i = 0; i < size; i++) {
      V value = x[i][P];
      for (int n = P - 1; n >= 0; n--) value = value * h + x[i][n];
      x[i][0] = value;
    }
    if (size == 6) {
      V by = 1.5 - 0.5 * (x[0][0] * x[0][0] + x[1][0] * x[1][0] + x[2][0] * x[2][0]);
      for (int i = 0; i < 3; i++) x[i][0] *= by;
      V along = x[0][0] * x[3][0] + x[1][0] * x[4][0] + x[2][0] * x[5][0];
      for (int i = 0; i < 3; i++) x[3 + i][0] -= along * x[i][0];
    }
    t += h;
    for (int l = 0; l < W; l++) {
      if (t[l] < END * (1 - 1e-14)) continue;
      if (who[l] < count) {
        for (int i = 0; i < size; i++) ends[who[l] * size + i] = x[i][0][l];
        active--;
      }
      who[l] = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), t[l] = 0;
      long from = who[l] < count ? who[l] : 0;
      for (int i = 0; i < size; i++) x[i][0][l] = starts[from * size + i];
      if (who[l] < count) active++;
    }
  }
  return unused;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int arguments, char **list) {
  if (arguments != 7) return 2;
  size = strcmp(list[1], "spherical") == 0 ? 6 : 4;
  count = atol(list[4]), tolerance = atof(list[5]);
  int threads = atoi(list[6]);
  starts = malloc(8 * count * size), ends = malloc(8 * count * size);
  FILE *file = fopen(list[2], "rb");
  if (!file || fread(starts, 8 * size, count, file) != (size_t)count) return 1;
  fclose(file);
  double least = 1e9;
  for (int turn = 0; turn < 5; turn++) {
    next = 0;
    double clock = now();
    pthread_t all[64];
    for (int i = 0; i < threads; i++) pthread_create(all + i, 0, work, 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
    least = fmin(least, now() - clock);
  }
  file = fopen(list[3], "wb");
  fwrite(ends, 8 * size, count, file);
  fclose(file);
  printf("%.6e\n", least);
  return 0;
}
