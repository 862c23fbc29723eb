#include "core/nccl/lowering/lower.h"

#include <algorithm>
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
  const bool ring = choice.algorithm == Algorithm::kRing;
  const bool nvls = choice.algorithm == Algorithm::kNvls || choice.algorithm == Algorithm::kNvlsTree;
  if (!ring && choice.algorithm != Algorithm::kTree && !nvls)
    return refuse(fmt::format("{} is", to_string(choice.algorithm)));
  if (!ring && request.kind != CollectiveKind::kAllReduce)
    return refuse(fmt::format("{} of {} is", to_string(choice.algorithm), to_string(*function)));
  if (choice.algorithm == Algorithm::kNvls && comm.nodes > 1) return refuse("NVLS with SHARP between nodes is");

  const std::int64_t item = size_of(request.type).count();
  const std::int64_t blocks = has_blocks(request.kind) ? comm.ranks : 1;
  const std::int64_t count = request.elements / blocks;
  const std::int64_t planned = std::max(request.planned, request.elements) / blocks;
  std::vector<LoweredChannel> channels;
  if (count > 0) {
    const std::vector<ChannelPart> parts =
        split_over_channels(*function, choice.protocol, comm.version, comm.ranks, planned, item, choice.channels);
    const EvenCut evenly{count, std::ssize(parts)};
    for (std::int64_t c = 0; c < std::ssize(parts); ++c) {
      const ChannelPart& part = parts[static_cast<std::size_t>(c)];
      const Chunks chunks = chunks_of(comm, *function, choice.algorithm, choice.protocol, part.count * item, item);
      const ChannelPart here = count == planned ? part : ChannelPart{evenly.offset(c), evenly.size(c)};
      channels.push_back({here, scaled(chunks, count, planned)});
    }
  }
  if (ring) {
    const std::int64_t granule = count == planned ? std::max<std::int64_t>(1, 16 / item) : 1;
    return lowered_ring(comm, request.kind, request.root, request.elements, granule, std::move(channels));
  }
  return nvls ? lowered_nvls(comm, std::move(channels)) : lowered_tree(comm, std::move(channels));
}

}  // namespace tutti::core::nccl
