// libtutti_cuda.so and libtutti_nccl.so of the tests, one file by two names: fake GPUs, and NCCL on
// them, so that everything but the GPU's own part of a run is tried without one.

#include "tests/real/fake_cuda.h"
#include "tests/real/fake_nccl.h"

extern "C" __attribute__((visibility("default"))) const TuttiCudaApi* tutti_cuda_api() {
#ifdef TUTTI_FAKE_INTERFACE
  static TuttiCudaApi other = tutti::test::FakeCuda::the().api();
  other.interface_number = TUTTI_FAKE_INTERFACE;
  return &other;
#else
  return &tutti::test::FakeCuda::the().api();
#endif
}

extern "C" __attribute__((visibility("default"))) const TuttiNcclApi* tutti_nccl_api() {
  return &tutti::test::fake_nccl_api();
}
