#pragma once

// An execution plan of MSCCL++ as its JSON describes it, with all numbers of channels and remote
// buffers resolved.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/contract.h"
#include "core/schedule/step.h"
#include "core/text/document.h"

namespace tutti::core::custom {

/// The kind of an operation. Fused names of the format (pws, pwsf, res, rres, …) are one of these
/// with flags of PlanOp.
enum class PlanVerb : std::uint8_t {
  kNop,
  kBarrier,
  kSignal,
  kWait,
  kFlush,
  kPut,          ///< writes to memory of other ranks; packets (`packets_out`) are their own signal
  kGet,          ///< reads memory of other ranks
  kCopy,         ///< copies inside the rank
  kReduce,       ///< adds sources, some of them at other ranks; may send the sum
  kStore,        ///< multicasts through a switch
  kReduceStore,  ///< reduces in a switch and multicasts the result
  kAcquire,
  kRelease,
  kPipeline,
};

enum class PlanMemory : std::uint8_t { kInput, kOutput, kScratch };

/// Chunks `index` … `index + size - 1` of a buffer.
struct PlanPlace {
  PlanMemory memory = PlanMemory::kInput;
  Rank rank = -1;    ///< another rank; -1: the own rank, or the group of `channel`
  int channel = -1;  ///< the switch channel, as an index into PlanGpu::switches; -1: none
  std::int64_t index = 0;
  std::int64_t size = 0;
};

struct PlanOp {
  PlanVerb verb = PlanVerb::kNop;
  Position at;
  bool relaxed = false;       ///< kSignal, kWait: orders no data
  bool port = false;          ///< uses a proxy; otherwise loads and stores
  bool packets_in = false;    ///< waits for packets in its sources
  bool packets_out = false;   ///< writes packets
  bool signals = false;       ///< kPut: a signal on the same channels follows
  bool flushes = false;       ///< kPut: a flush of the same channels follows
  bool fused = false;         ///< written by Tutti's export: the send belongs to the previous step
  std::vector<int> channels;  ///< indices into PlanGpu::memory_channels or port_channels
  std::vector<PlanPlace> source;
  std::vector<PlanPlace> target;
  std::int32_t part = 0;  ///< index of the part; each place is divided into `parts`
  std::int32_t parts = 1;
  int barrier = 0;
  int barrier_blocks = 0;
  std::vector<int> semaphores;
  std::int64_t unit_bytes = 0;  ///< kPipeline: bytes per round
  std::int64_t chunks = 0;      ///< kPipeline: chunks of all rounds together
  std::vector<PlanOp> body;
};

/// One end of a channel between two ranks.
struct PlanChannel {
  Rank peer = -1;
  int other_end = -1;  ///< number of the channel at the peer; -1: the peer has not declared it
};

struct PlanSwitch {
  PlanMemory memory = PlanMemory::kInput;
  RankSet group;
};

struct PlanGpu {
  std::int64_t scratch = 0;
  std::vector<PlanChannel> memory_channels;
  std::vector<PlanChannel> port_channels;
  std::vector<PlanSwitch> switches;
  std::vector<std::int64_t> semaphores;  ///< initial values of the semaphores
  std::vector<std::vector<PlanOp>> blocks;
};

struct Plan {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool in_place = false;
  bool packets = false;
  bool reuses_scratch = false;
  bool begins_with_handshake = false;  ///< added by Tutti's export, to separate launches
  std::int64_t chunks = 1;             ///< number of chunks of the whole buffer
  std::vector<PlanGpu> gpus;
  bool has_pipelines = false;
  /// Rounds of a pipeline, at most; of larger messages, a round has more than `unit_size` bytes.
  std::int64_t max_rounds = 1024;
};

/// Reads a plan. Null, and problems with their places, if it is none or has what Tutti has not.
std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& file,
                                      Problems& problems);

}  // namespace tutti::core::custom
