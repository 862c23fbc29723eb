#pragma once

#include <cstddef>
#include <cstdint>

/// NCCL's interface for tuner plugins: structures that NCCL looks up by the names
/// ncclTunerPlugin_v2 to ncclTunerPlugin_v6. The structures are declared here so that the plugin
/// can be built without CUDA and NCCL. NCCL defines the layout, so the declarations must not be
/// changed. SOURCE: NVIDIA/nccl (tag v2.30.7) src/include/plugin/tuner/tuner_v2.h to tuner_v6.h,
/// src/include/plugin/nccl_tuner.h, src/include/nccl_common.h, src/nccl.h.in.
namespace tutti::real::nccl_tuner {

// ncclResult_t, ncclFunc_t and the log levels are C enumerations, which are passed as int.
using Result = int;
inline constexpr Result kSuccess = 0;

/// ncclDebugLogLevel.
enum LogLevel : int { kWarn = 2, kInfo = 3 };
/// ncclDebugLogSubSys: the subsystems that NCCL_DEBUG_SUBSYS selects.
enum LogSubsystem : unsigned long { kInit = 0x1, kTuning = 0x40 };
using Logger = void (*)(LogLevel level, unsigned long subsystems, const char* file, int line,
                        const char* format, ...);

/// In the cost table, marks a pair of algorithm and protocol that NCCL cannot use for the
/// collective.
inline constexpr float kImpossible = -1.0F;

/// ncclTuner_v2_t, of NCCL 2.21. In NCCL 2.21, the interface of tuners has no cost table. NCCL
/// chooses the values that the plugin does not set.
struct TunerV2 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int collnet, int nvls,
                          int pipe_ops, int* algorithm, int* protocol, int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v3_t, of NCCL 2.22 and 2.23. Despite its type, `costs` points to one array of
/// algorithms × protocols floats. NCCL chooses the pair with the smallest cost.
struct TunerV3 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v4_t, of NCCL 2.24 to 2.27.
struct TunerV4 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int registered,
                          int* channels);
  Result (*destroy)(void* context);
};

/// ncclTuner_v5_t, of NCCL 2.28 and 2.29. `domains` and `constants` point to structures of NCCL
/// that this plugin neither reads nor changes.
struct TunerV5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                 Logger log, void* domains, void* constants);
  Result (*get_coll_info)(void* context, int collective, std::size_t bytes, int pipe_ops,
                          float** costs, int algorithms, int protocols, int registered,
                          int* channels);
  Result (*finalize)(void* context);
};

/// ncclTuner_v6_t, of NCCL 2.30. NCCL calls get_chunk_size() once per channel. In each of these
/// calls, `channels` is 1, and `bytes` is the number of bytes that the channel moves. For CollNet,
/// and for NVLS over several nodes, NCCL makes one call for all channels instead.
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
