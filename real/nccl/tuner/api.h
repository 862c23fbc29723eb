#pragma once

#include <cstddef>
#include <cstdint>

/// The interface between NCCL and its tuner plugins, as the plugin sees it: the structures that
/// NCCL looks for by the names ncclTunerPlugin_v2 to _v6. Declared here, so that the plugin is
/// built without CUDA and NCCL. The layout is NCCL's and must not change. SOURCE: NVIDIA/nccl (tag
/// v2.30.7) src/include/plugin/tuner/tuner_v2.h to tuner_v6.h, src/include/plugin/nccl_tuner.h,
/// src/include/nccl_common.h, src/nccl.h.in.
namespace tutti::real::nccl_tuner {

// ncclResult_t, ncclFunc_t and the levels of the log are C enumerations, passed as int.
using Result = int;
inline constexpr Result kSuccess = 0;

/// ncclDebugLogLevel.
enum LogLevel : int { kWarn = 2, kInfo = 3 };
/// ncclDebugLogSubSys: what NCCL_DEBUG_SUBSYS selects.
enum LogSubsystem : unsigned long { kInit = 0x1, kTuning = 0x40 };
using Logger = void (*)(LogLevel level, unsigned long subsystems, const char* file, int line,
                        const char* format, ...);

/// An entry of the cost table that is not possible for the call.
inline constexpr float kImpossible = -1.0F;

/// ncclTuner_v2_t: NCCL 2.21. There is no cost table; NCCL chooses values that are not set.
struct TunerV2 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int collnet, int nvls,
                          int pipe_ops, int* algorithm, int* protocol, int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v3_t: NCCL 2.22 and 2.23. `costs` points to algorithms × protocols floats in a row,
/// whatever its type says; the smallest is taken.
struct TunerV3 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v4_t: NCCL 2.24 to 2.27.
struct TunerV4 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int registered,
                          int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v5_t: NCCL 2.28 and 2.29. `domains` and `constants` are NCCL's own structures, which
/// this plugin neither reads nor changes.
struct TunerV5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                 Logger log, void* domains, void* constants);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int registered,
                          int* channels);
  Result (*finalize)(void* context);
};

/// ncclTuner_v6_t: NCCL 2.30. NCCL asks for the chunks of each channel by itself (`channels` is 1,
/// `bytes` those of the channel), except where CollNet or NVLS over several nodes takes all
/// together.
struct TunerV6 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                 Logger log, void* domains, void* constants);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int registered,
                          int* channels);
  Result (*finalize)(void* context);
  Result (*get_chunk_size)(void* context, int collective, std::size_t bytes, int algorithm,
                           int protocol, int channels, std::size_t* chunk);
};

}  // namespace tutti::real::nccl_tuner
