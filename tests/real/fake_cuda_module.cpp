// The libraries libtutti_cuda.so and libtutti_nccl.so of the tests, which are one file with two
// names. The libraries provide fake GPUs and a fake NCCL, so that everything except the GPU's part
// of a run is tested without a GPU.

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
