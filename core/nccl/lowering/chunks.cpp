#include "core/nccl/lowering/chunks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/nccl/lowering/rounding.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {
namespace {

/// Returns the payload, in bytes, of one slot of a connection's buffer, without flags.
std::int64_t step_bytes(const Communicator& comm, Protocol protocol) {
  const std::int64_t step = comm.buffer_bytes[static_cast<std::size_t>(protocol)] / kSlots;
  switch (protocol) {
    case Protocol::kLl: return step / 2;
    case Protocol::kLl128: return step / 128 * 120;
    case Protocol::kSimple: break;
  }
  return step;
}

std::int64_t grain(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl: return 16;
    case Protocol::kLl128: return 1920;
    case Protocol::kSimple: break;
  }
  return 512;
}

/// Returns the number of levels below the root in the tree of nodes.
std::int64_t levels(const Communicator& comm) {
  return std::bit_width(static_cast<unsigned>(comm.nodes)) - 1;
}

/// Returns the chunk size of trees with LL128 in NCCL 2.6. Chunks are made smaller if there are few
/// chunks compared to the levels of the tree of nodes.
std::int64_t tree_ll128_of_2_6(const Communicator& comm, std::int64_t chunk, std::int64_t part) {
  while (part / chunk < 4 * (1 + levels(comm)) && chunk > 32768) chunk /= 2;
  return chunk * 15 / 16;
}

/// Returns the chunk size of trees with LL128. Before 2.20, NCCL computes this chunk size from the
/// slot size including flags.
std::int64_t tree_ll128(const Communicator& comm, std::int64_t chunk, std::int64_t part) {
  const bool with_flags = comm.version < Version{2, 20, 0};
  if (with_flags) chunk = comm.buffer_bytes[static_cast<std::size_t>(Protocol::kLl128)] / kSlots;
  if (comm.version < Version{2, 7, 0}) return tree_ll128_of_2_6(comm, chunk, part);
  const auto bytes = static_cast<double>(part);
  const double each = comm.ranks_of_node();
  const double depth = 1 + std::floor(std::log2(comm.nodes)) + 0.1 * each;
  while (bytes / static_cast<double>(chunk) < 64 * depth / each && chunk > 131072) chunk /= 2;
  while (bytes / static_cast<double>(chunk) < 16 * depth / each && chunk > 32768) chunk /= 2;
  return with_flags ? chunk * 15 / 16 : chunk;
}

/// Returns the chunk size of trees with Simple. Before 2.20, chunks are made smaller if there are
/// few chunks compared to the depth of the tree.
std::int64_t tree_simple(const Communicator& comm, std::int64_t chunk, std::int64_t part) {
  const std::int64_t depth = comm.ranks_of_node() - 1 + levels(comm);
  while (part / chunk < depth * 8 && chunk > 131072) chunk /= 2;
  while (part / chunk < depth * 4 && chunk > 65536) chunk /= 2;
  while (part / chunk < depth && chunk > 32768) chunk /= 2;
  return chunk;
}

/// True if NCCL's own estimate of an NVLS all-reduce with CollNet is below 150 GB/s.
bool slow_by_network(const Communicator& comm) {
  constexpr float kFastGbPerS = 150;
  Settings on;
  on.collnet = true;
  return tune(comm, on).entry(Function::kAllReduce, Algorithm::kNvls, Protocol::kSimple).bandwidth <
         kFastGbPerS;
}

/// Returns the chunk size, in bytes, of NVLS and NVLSTree. Chunks are smaller if a channel would
/// otherwise have only a few.
std::int64_t nvls(const Communicator& comm, Algorithm algorithm, std::int64_t step,
                  std::int64_t part) {
  const std::int64_t heads = heads_of(comm);
  std::int64_t chunk = std::min<std::int64_t>(131072, step);
  // Before 2.20, NVLSTree begins with chunks of a whole slot.
  if (algorithm == Algorithm::kNvlsTree && comm.version < Version{2, 20, 0}) chunk = step;
  const auto at_most = [&](std::int64_t times, std::int64_t limit) {
    if (part < times * heads * chunk) chunk = std::min(chunk, limit);
  };
  if (algorithm == Algorithm::kNvls) {
    if (comm.nodes > 1 && comm.version >= Version{2, 19, 0} && slow_by_network(comm))
      chunk = std::min<std::int64_t>(chunk, 32768);
    at_most(comm.version < Version{2, 18, 0} ? 32 : 64, 65536);
    at_most(8, 32768);
    at_most(2, 16384);
    return chunk;
  }
  if (comm.nodes >= 4) chunk = std::min<std::int64_t>(chunk, 65536);
  at_most(32, 262144);
  at_most(16, 131072);
  at_most(4, 65536);
  at_most(1, 32768);
  return chunk;
}

/// Returns the chunk size of CollNet. Chunks are made smaller if there are few chunks compared to
/// the depth. The chunks that all heads process at the same time count as one.
std::int64_t collnet(const Communicator& comm, bool chain, std::int64_t chunk, std::int64_t part) {
  if (chain) chunk = std::min<std::int64_t>(262144, chunk);
  const std::int64_t depth = chain ? comm.ranks_of_node() : comm.ranks_of_node() == 1 ? 1 : 2;
  const std::int64_t at_once = chain ? 1 : std::max(1, comm.collnet_heads);
  while (part / (at_once * chunk) < depth * 64 && chunk > 131072) chunk /= 2;
  while (part / (at_once * chunk) < depth * 8 && chunk > 65536) chunk /= 2;
  while (part / (at_once * chunk) < depth * (chain ? 1 : 8) && chunk > 32768) chunk /= 2;
  return chunk;
}

/// Returns the chunk size of PAT. Chunks are smaller if the blocks of all ranks together would have
/// only a few.
std::int64_t pat(Function function, std::int64_t chunk, std::int64_t bytes) {
  const std::int64_t wanted = function == Function::kAllGather ? 32 : 16;
  while (chunk * wanted > bytes && chunk > 65536) chunk /= 2;
  return chunk;
}

}  // namespace

int heads_of(const Communicator& comm) {
  // Up to 2.17, all GPUs are heads.
  if (comm.version < Version{2, 18, 0}) return comm.ranks_of_node();
  return std::clamp(comm.graphs.nvls.channels, 1, comm.ranks_of_node());
}

Chunks chunks_of(const Communicator& comm, Function function, Algorithm algorithm,
                 Protocol protocol, std::int64_t part_bytes, std::int64_t element_bytes) {
  const std::int64_t step = step_bytes(comm, protocol);
  std::int64_t bytes = step;
  int steps_of_slice = 1, slices = 1;
  const bool goes_round = function != Function::kBroadcast && function != Function::kReduce;
  if (algorithm == Algorithm::kRing && protocol == Protocol::kSimple && goes_round) {
    steps_of_slice = 2;
    slices = 2;
    bytes = 4 * step;
  }
  if (algorithm == Algorithm::kTree && protocol == Protocol::kLl128)
    bytes = tree_ll128(comm, bytes, part_bytes);
  if (algorithm == Algorithm::kTree && protocol == Protocol::kSimple &&
      comm.version < Version{2, 20, 0})
    bytes = tree_simple(comm, bytes, part_bytes);
  if (algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree)
    bytes = nvls(comm, algorithm, step, part_bytes);
  if (algorithm == Algorithm::kPat) bytes = pat(function, bytes, part_bytes);
  if (algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain)
    bytes = collnet(comm, algorithm == Algorithm::kCollNetChain, bytes, part_bytes);
  if (comm.version >= Version{2, 22, 0})
    bytes = std::max(grain(protocol), bytes / grain(protocol) * grain(protocol));
  const std::int64_t chunk = std::max<std::int64_t>(1, bytes / element_bytes);
  return {chunk, divided_up(chunk, slices), kSlots / steps_of_slice};
}

}  // namespace tutti::core::nccl
