// libnccl-tuner-tutti.so: the entry points that NCCL calls. Each release of NCCL from 2.21 to 2.30
// uses the newest symbol ncclTunerPlugin_v2 … v6 that the release supports. NCCL 2.19 and 2.20
// support only ncclTunerPlugin_v1, which has no state per communicator. NCCL 2.19 and 2.20
// therefore run without Tutti's tuner.
//
// If a tuner's init fails, NCCL aborts the communicator. The function init() therefore always
// succeeds. If init() creates no context, every call leaves the choice to NCCL.

#include <cstdlib>
#include <memory>
#include <optional>

#include "real/nccl/tuner/communicator.h"

namespace tutti::real::nccl_tuner {
namespace {

constexpr const char* kName = "Tutti";

using core::tuner_table::Call;

void open(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  *context = nullptr;
  try {
    *context = Communicator::open(ranks, nodes, log).release();
  } catch (...) {
    if (log)
      log(kWarn, kInit | kTuning, "libnccl-tuner-tutti", 0, "%s",
          "TUNER/Tutti: not enough memory for the table; NCCL decides alone");
  }
}

/// Calls `use` with the tuner of the communicator, if there is a tuner.
template <class Use>
Result with(void* context, Use use) {
  if (!context) return kSuccess;
  try {
    use(*static_cast<Communicator*>(context));
  } catch (...) {  // not enough memory for a line of the log
  }
  return kSuccess;
}

Result close(void* context) {
  delete static_cast<Communicator*>(context);
  return kSuccess;
}

Call call_of(int collective, std::size_t bytes, int pipe_ops, std::optional<bool> registered) {
  return {collective, bytes, pipe_ops, registered};
}

Result choose(void* context, const Call& call, float** costs, int algorithms, int protocols,
              int* channels) {
  return with(context, [&](Communicator& communicator) {
    communicator.choose(call, {reinterpret_cast<float*>(costs), algorithms, protocols}, channels);
  });
}

Result init(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  open(ranks, nodes, log, context);
  return kSuccess;
}

/// In NCCL 2.21, a tuner's choice would override the user's settings of NCCL_ALGO and NCCL_PROTO.
Result init_v2(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  *context = nullptr;
  if (std::getenv("NCCL_ALGO") || std::getenv("NCCL_PROTO")) {
    if (log)
      log(kInfo, kInit | kTuning, "libnccl-tuner-tutti", 0, "%s",
          "TUNER/Tutti: NCCL_ALGO or NCCL_PROTO is set; NCCL decides alone");
    return kSuccess;
  }
  return init(ranks, nodes, log, context);
}

Result init_v5(void** context, std::uint64_t /*communicator*/, std::size_t ranks, std::size_t nodes,
               Logger log, void* /*domains*/, void* /*constants*/) {
  return init(ranks, nodes, log, context);
}

Result choose_v2(void* context, int collective, std::size_t bytes, int collnet, int nvls,
                 int pipe_ops, int* algorithm, int* protocol, int* channels) {
  return with(context, [&](Communicator& communicator) {
    communicator.choose_without_costs(call_of(collective, bytes, pipe_ops, std::nullopt),
                                      collnet != 0, nvls != 0, algorithm, protocol, channels);
  });
}

Result choose_v3(void* context, int collective, std::size_t bytes, int pipe_ops, float** costs,
                 int algorithms, int protocols, int* channels) {
  return choose(context, call_of(collective, bytes, pipe_ops, std::nullopt), costs, algorithms,
                protocols, channels);
}

Result choose_v4(void* context, int collective, std::size_t bytes, int pipe_ops, float** costs,
                 int algorithms, int protocols, int registered, int* channels) {
  return choose(context, call_of(collective, bytes, pipe_ops, registered != 0), costs, algorithms,
                protocols, channels);
}

Result set_chunk(void* context, int collective, std::size_t bytes, int algorithm, int protocol,
                 int channels, std::size_t* chunk) {
  return with(context, [&](Communicator& communicator) {
    communicator.set_chunk(call_of(collective, bytes, 1, std::nullopt), algorithm, protocol,
                           channels, chunk);
  });
}

}  // namespace
}  // namespace tutti::real::nccl_tuner

using namespace tutti::real::nccl_tuner;

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

TUTTI_EXPORT const TunerV2 ncclTunerPlugin_v2;
TUTTI_EXPORT const TunerV3 ncclTunerPlugin_v3;
TUTTI_EXPORT const TunerV4 ncclTunerPlugin_v4;
TUTTI_EXPORT const TunerV5 ncclTunerPlugin_v5;
TUTTI_EXPORT const TunerV6 ncclTunerPlugin_v6;

const TunerV2 ncclTunerPlugin_v2{kName, init_v2, choose_v2, close};
const TunerV3 ncclTunerPlugin_v3{kName, init, choose_v3, close};
const TunerV4 ncclTunerPlugin_v4{kName, init, choose_v4, close};
const TunerV5 ncclTunerPlugin_v5{kName, init_v5, choose_v4, close};
const TunerV6 ncclTunerPlugin_v6{kName, init_v5, choose_v4, close, set_chunk};
