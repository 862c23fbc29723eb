#include "core/nccl/lowering/lower.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

void fill_orders(Graph& graph, int gpus, const std::vector<std::vector<int>>& inside) {
  if (!graph.orders.empty()) return;
  for (int c = 0; c < graph.channels; ++c) {
    GraphChannel& channel = graph.orders.emplace_back();
    if (!inside.empty()) {
      channel.gpus = inside[static_cast<std::size_t>(c) % inside.size()];
      continue;
    }
    channel.gpus.resize(static_cast<std::size_t>(gpus));
    std::iota(channel.gpus.begin(), channel.gpus.end(), 0);
    std::rotate(channel.gpus.begin(), channel.gpus.begin() + c % gpus, channel.gpus.end());
  }
}

/// Portions for the size at hand that are to it what the planned ones are to theirs.
Chunks scaled(Chunks chunks, std::int64_t elements, std::int64_t planned) {
  if (elements >= planned) return chunks;
  const auto part = [&](std::int64_t of) {
    const auto product = static_cast<long double>(of) * static_cast<long double>(elements);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(product / static_cast<long double>(planned)));
  };
  const std::int64_t slices = (chunks.chunk + chunks.slice - 1) / chunks.slice;
  chunks.chunk = std::max(slices, part(chunks.chunk));
  chunks.slice = (chunks.chunk + slices - 1) / slices;
  return chunks;
}

}  // namespace

Communicator with_orders(const Communicator& communicator, const std::vector<std::vector<int>>& inside) {
  Communicator comm = communicator;
  fill_orders(comm.graphs.ring, comm.ranks_of_node(), inside);
  fill_orders(comm.graphs.tree, comm.ranks_of_node(), inside);
  return comm;
}

namespace {

/// What cannot be lowered, in words that "not lowered to steps" follows; or nothing.
std::string not_lowered(const Communicator& comm, const LoweringRequest& request) {
  const Algorithm algorithm = request.choice.algorithm;
  const std::string by = fmt::format("{} of {} is", to_string(algorithm), to_string(*function_of(request.kind)));
  switch (algorithm) {
    case Algorithm::kRing: return "";
    case Algorithm::kPat:
      if (request.kind != CollectiveKind::kAllGather && request.kind != CollectiveKind::kReduceScatter) return by;
      if (comm.version < Version{2, 26, 0} && !std::has_single_bit(static_cast<unsigned>(comm.ranks)))
        return fmt::format("PAT before 2.26 between {} ranks, no power of two, is (here {})", comm.ranks,
                           to_string(comm.version));
      return "";
    case Algorithm::kTree:
    case Algorithm::kNvlsTree: return request.kind == CollectiveKind::kAllReduce ? "" : by;
    case Algorithm::kNvls:
      if (request.kind != CollectiveKind::kAllReduce) return by;
      return comm.nodes > 1 ? "NVLS with SHARP between nodes is" : "";
    case Algorithm::kCollNetDirect:
    case Algorithm::kCollNetChain: break;
  }
  return fmt::format("{} is", to_string(algorithm));
}

}  // namespace

Expected<std::shared_ptr<const Schedule>> lower(const Communicator& comm, const LoweringRequest& request) {
  const auto refuse = [](const std::string& what) {
    return tl::make_unexpected(Error::request(fmt::format("{} not lowered to steps", what)));
  };
  const auto function = function_of(request.kind);
  const Choice& choice = request.choice;
  if (comm.version < Version{2, 22, 0})
    return refuse(
        fmt::format("releases before 2.22, whose channels take turns, are (here {})", to_string(comm.version)));
  TUTTI_CHECK(comm.ranks > 1, "{} ranks", comm.ranks);
  if (!function) return lowered_sends(comm, request);
  if (const std::string why = not_lowered(comm, request); !why.empty()) return refuse(why);

  const std::int64_t item = size_of(request.type).count();
  const std::int64_t blocks = has_blocks(request.kind) ? comm.ranks : 1;
  const std::int64_t count = request.elements / blocks;
  const std::int64_t planned = std::max(request.planned, request.elements) / blocks;
  std::vector<LoweredChannel> channels;
  std::vector<PatOrder> orders;
  const bool pat = choice.algorithm == Algorithm::kPat;
  if (count > 0) {
    const std::vector<ChannelPart> parts =
        split_over_channels(*function, choice.protocol, comm.version, comm.ranks, planned, item, choice.channels);
    const EvenCut evenly{count, std::ssize(parts)};
    for (std::int64_t c = 0; c < std::ssize(parts); ++c) {
      const ChannelPart& part = parts[static_cast<std::size_t>(c)];
      const Chunks chunks = chunks_of(comm, *function, choice.algorithm, choice.protocol, part.count * item, item);
      if (pat) {
        const auto order = request.kind == CollectiveKind::kAllGather ? pat_all_gather : pat_reduce_scatter;
        orders.push_back(order(comm.ranks, chunks.chunk * item, part.count * item));
      }
      const ChannelPart here = count == planned ? part : ChannelPart{evenly.offset(c), evenly.size(c)};
      channels.push_back({here, scaled(chunks, count, planned)});
    }
  }
  if (pat) return lowered_pat(comm, request.kind, request.elements, channels, orders);
  if (choice.algorithm == Algorithm::kRing) {
    const std::int64_t granule = count == planned ? std::max<std::int64_t>(1, 16 / item) : 1;
    return lowered_ring(comm, request.kind, request.root, request.elements, granule, std::move(channels));
  }
  return choice.algorithm == Algorithm::kTree ? lowered_tree(comm, std::move(channels))
                                              : lowered_nvls(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
