#pragma once

// The contents of an MSCCL++ execution plan. In the file, operations refer to channels and to
// buffers of other ranks by indices into lists of the thread block. Here, channels are indices into
// the lists of the GPU (PlanGpu), and buffers are identified by their ranks.

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

/// The kind of an operation. Fused operations of the format (pws, pwsf, res, rres, …) have no kind
/// of their own: they are one of these kinds with flags in PlanOp.
enum class PlanVerb : std::uint8_t {
  kNop,
  kBarrier,
  kSignal,
  kWait,
  kFlush,
  kPut,          ///< writes to the memory of other ranks; packets (`packets_out`) carry their own
                 ///< signal
  kGet,          ///< reads the memory of other ranks
  kCopy,         ///< copies inside the rank
  kReduce,       ///< adds sources of this and other ranks; may also send the sum
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
  Rank rank = -1;    ///< rank that has the buffer; -1: the rank that executes the operation or, if
                     ///< `channel` is not -1, all ranks of the channel
  int channel = -1;  ///< the switch channel, as an index into PlanGpu::switches; -1: none
  std::int64_t index = 0;
  std::int64_t size = 0;
};

struct PlanOp {
  PlanVerb verb = PlanVerb::kNop;
  Position at;
  bool relaxed = false;       ///< only for kSignal and kWait; true: the operation does not order
                              ///< memory accesses
  bool port = false;          ///< true: a proxy thread moves the data (port channel); false: the
                              ///< GPU loads and stores (memory channel)
  bool packets_in = false;    ///< true: the operation waits until its sources contain packets
  bool packets_out = false;   ///< true: the operation writes packets
  bool signals = false;       ///< only for kPut; true: the operation also signals on the same
                              ///< channels
  bool flushes = false;       ///< only for kPut; true: the operation also flushes the same channels
  bool fused = false;         ///< set by Tutti's export; true: this operation, which sends, and the
                              ///< previous operation belong to one step
  std::vector<int> channels;  ///< indices into PlanGpu::memory_channels or port_channels
  std::vector<PlanPlace> source;
  std::vector<PlanPlace> target;
  std::int32_t part = 0;  ///< index of this operation's part, if each place is divided into `parts`
                          ///< parts
  std::int32_t parts = 1;
  int barrier = 0;
  int barrier_blocks = 0;
  std::vector<int> semaphores;
  std::int64_t unit_bytes = 0;  ///< only for kPipeline: number of bytes that one round moves
  std::int64_t chunks = 0;      ///< only for kPipeline: number of chunks that all rounds move
                                ///< together
  std::vector<PlanOp> body;
};

/// One rank's end of a channel between two ranks.
struct PlanChannel {
  Rank peer = -1;
  int other_end = -1;  ///< index of the channel in the peer's list; -1: the peer does not declare
                       ///< the channel
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
  std::vector<std::int64_t> semaphores;  ///< initial value of each semaphore
  std::vector<std::vector<PlanOp>> blocks;
};

struct Plan {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool in_place = false;
  bool packets = false;
  bool reuses_scratch = false;
  bool begins_with_handshake = false;  ///< set by Tutti's export; true: the plan begins with
                                       ///< signals that separate two launches
  std::int64_t chunks = 1;             ///< number of chunks in the whole buffer
  std::vector<PlanGpu> gpus;
  bool has_pipelines = false;
  /// The maximum number of rounds of a pipeline. If a message would need more rounds, its rounds
  /// move more than PlanOp::unit_bytes bytes each.
  std::int64_t max_rounds = 1024;
};

/// Reads a plan. Returns null and adds problems, with their locations, if the text is not a plan or
/// uses features that Tutti does not support.
std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& file,
                                      Problems& problems);

}  // namespace tutti::core::custom
