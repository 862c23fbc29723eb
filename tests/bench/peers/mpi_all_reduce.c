/* Measures MPI_Allreduce in the same way as `tutti perf` measures Tutti: float32, sum, in place,
 * iterations back to back on warm buffers. The result is the mean time over all ranks. In the first
 * iteration the inputs differ between all ranks and elements, and every element of the result is
 * verified. The same source is used for every MPI: tools/bench_peers.sh builds it with
 * mpicc.openmpi and mpicc.mpich.
 *
 *     mpi_all_reduce SECONDS BYTES:ITERATIONS:WARM_UP …
 *
 * Prints `bytes microseconds iterations` for each size. The number of iterations is reduced if they
 * would take more than SECONDS. Exit status 1: an element is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "inputs.h"

static void all_reduce(float* data, long count) {
  MPI_Allreduce(MPI_IN_PLACE, data, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Returns the seconds that `times` iterations take on this rank. */
static double timed(float* data, long count, long times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long i = 0; i < times; ++i) all_reduce(data, count);
  return MPI_Wtime() - start;
}

/* The mean over ranks, as in nccl-tests and tutti perf. */
static double mean_over_ranks(double seconds) {
  double sum = 0;
  int ranks = 1;
  MPI_Allreduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return sum / ranks;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double limit = argc > 1 ? atof(argv[1]) : 1;
  for (int a = 2; a < argc; ++a) {
    long bytes = 0, iterations = 0, warm_up = 0;
    if (sscanf(argv[a], "%ld:%ld:%ld", &bytes, &iterations, &warm_up) != 3 || bytes < 4 || iterations < 1) {
      if (rank == 0) fprintf(stderr, "%s: expected BYTES:ITERATIONS:WARM_UP\n", argv[a]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const long count = bytes / 4;
    float* const data = malloc((size_t)count * sizeof *data);
    if (!data) MPI_Abort(MPI_COMM_WORLD, 3);
    for (long e = 0; e < count; ++e) data[e] = input(rank, e);
    all_reduce(data, count);
    long wrong = wrong_elements(data, count, ranks), wrong_anywhere = 0;
    MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong_anywhere > 0) {
      if (rank == 0) fprintf(stderr, "%ld bytes: %ld wrong elements\n", bytes, wrong_anywhere);
      MPI_Finalize();
      return 1;
    }
    const double one = mean_over_ranks(timed(data, count, 2)) / 2;
    shorten(&iterations, &warm_up, one, limit);
    timed(data, count, warm_up);
    const double seconds = mean_over_ranks(timed(data, count, iterations));
    if (rank == 0) {
      printf("%ld %.3f %ld\n", bytes, seconds / (double)iterations * 1e6, iterations);
      fflush(stdout);
    }
    free(data);
  }
  MPI_Finalize();
  return 0;
}
