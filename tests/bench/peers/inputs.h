/* The inputs that all measured programs reduce, and the verification of results. For C and C++. */
#ifndef TUTTI_BENCH_PEERS_INPUTS_H
#define TUTTI_BENCH_PEERS_INPUTS_H

#include <math.h>

/* Returns an input that differs between ranks and elements. Inputs are in [0.5, 1.5), so that sums
 * neither cancel nor overflow. */
static inline float input(int rank, long element) {
  unsigned long long z =
      0x9e3779b97f4a7c15ull * ((unsigned long long)element * 65537u + (unsigned)rank);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return 0.5f + (float)((double)(z >> 11) * 0x1p-53);
}

static inline long wrong_elements(const float* data, long count, int ranks) {
  long wrong = 0;
  for (long e = 0; e < count; ++e) {
    double sum = 0;
    for (int r = 0; r < ranks; ++r) sum += input(r, e);
    /* The error bound of a sum: Higham, "Accuracy and Stability of Numerical Algorithms", section
     * 4.2. */
    if (fabs(data[e] - sum) > (ranks + 1) * 0x1p-24 * sum) ++wrong;
  }
  return wrong;
}

/* Reduces the iterations if they would take more than `limit` seconds. `one`: the seconds of one
 * iteration. */
static inline void shorten(long* iterations, long* warm_up, double one, double limit) {
  if (one * (double)(*iterations + *warm_up) <= limit) return;
  *iterations = (long)(limit / one) > 2 ? (long)(limit / one) : 2;
  *warm_up = 1;
}

#endif
