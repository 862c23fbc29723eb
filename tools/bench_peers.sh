#!/usr/bin/env bash
# Tutti's all-reduce side by side with those of Open MPI, MPICH and Gloo (TCP alone), over TCP and over shared memory, on this
# machine:
#
#   tools/bench_peers.sh                              2, 4 and 8 ranks, 4 B to 64 MiB: about an hour with 8 cores; with
#                                                     fewer leave out MPICH (--peers "Open MPI" Gloo)
#   tools/bench_peers.sh --ranks 2 --most 1M --passes 3
#
# Every implementation's algorithms are tried first; then the best of each, per size, are measured interleaved. Prints
# Markdown tables; --raw FILE keeps every figure.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_packages.sh build test peers
cmake --preset release >build/bench_peers.log
cmake --build --preset release --target tutti >>build/bench_peers.log
for mpi in openmpi mpich; do
    mpicc.$mpi -O2 -Wall -Wextra -o build/release/all_reduce.$mpi tests/bench/peers/mpi_all_reduce.c -lm
done
# Its sums are its headers': compiled for this machine, and as well as they can be.
g++ -std=c++17 -O3 -march=native -Wall -Wextra -Wno-sign-compare -o build/release/all_reduce.gloo \
    tests/bench/peers/gloo_all_reduce.cpp -lgloo
exec python3 tests/bench/peers/side_by_side.py --programs build/release "$@"
