#include "core/nccl/lowering/lower.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/nccl/collnet.h"
#include "core/nccl/lowering/channel_assignment.h"
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
    channel.gpus.resize(gpus);
    std::iota(channel.gpus.begin(), channel.gpus.end(), 0);
    std::rotate(channel.gpus.begin(), channel.gpus.begin() + c % gpus, channel.gpus.end());
  }
}

/// Chooses heads that are spread evenly over the node's GPUs, like network cards. In each channel's
/// order, the head comes first; the other GPUs follow by index.
void fill_heads(Graph& direct, int gpus) {
  if (!direct.orders.empty()) return;
  for (int c = 0; c < direct.channels; ++c) {
    std::vector<int>& order = direct.orders.emplace_back().gpus;
    const int head = c * gpus / direct.channels;
    order.push_back(head);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (gpu != head) order.push_back(gpu);
    }
  }
}

/// Each chain uses the same order of GPUs as the previous one but begins one GPU later, so that
/// consecutive chains reach the network through consecutive cards.
void fill_chains(Graph& chain, int gpus, const std::vector<std::vector<int>>& inside) {
  const bool fresh = chain.orders.empty();
  fill_orders(chain, gpus, inside);
  if (!fresh || inside.empty()) return;
  for (std::size_t c = 0; c < chain.orders.size(); ++c) {
    std::vector<int>& order = chain.orders[c].gpus;
    std::rotate(order.begin(), order.begin() + c % order.size(), order.end());
  }
}

}  // namespace

Communicator with_orders(const Communicator& communicator,
                         const std::vector<std::vector<int>>& inside) {
  Communicator comm = communicator;
  fill_orders(comm.graphs.ring, comm.ranks_of_node(), inside);
  fill_orders(comm.graphs.tree, comm.ranks_of_node(), inside);
  fill_chains(comm.graphs.collnet_chain, comm.ranks_of_node(), inside);
  fill_heads(comm.graphs.collnet_direct, comm.ranks_of_node());
  return comm;
}

namespace {

/// If the request cannot be lowered, returns the beginning of the error message "… not lowered to
/// steps"; otherwise returns "".
std::string not_lowered(const Communicator& comm, const LoweringRequest& request) {
  const Algorithm algorithm = request.choice.algorithm;
  const std::string by =
      fmt::format("{} of {} is", to_string(algorithm), to_string(*function_of(request.kind)));
  switch (algorithm) {
    case Algorithm::kRing: return "";
    case Algorithm::kPat:
      if (request.kind != CollectiveKind::kAllGather &&
          request.kind != CollectiveKind::kReduceScatter)
        return by;
      return "";
    case Algorithm::kTree:
    case Algorithm::kNvlsTree: return request.kind == CollectiveKind::kAllReduce ? "" : by;
    case Algorithm::kNvls:
      // The all-gather and the reduce-scatter of NVLS work only if every GPU is a head.
      if (request.kind != CollectiveKind::kAllReduce && heads_of(comm) < comm.ranks_of_node())
        return by;
      return "";
    case Algorithm::kCollNetDirect:
    case Algorithm::kCollNetChain:
      if (request.kind != CollectiveKind::kAllReduce &&
          (algorithm == Algorithm::kCollNetChain ||
           std::ssize(collnet_heads(comm)) < comm.ranks_of_node()))
        return by;
      if (comm.version < Version{2, 14, 0})
        return fmt::format("CollNet of {} is", to_string(comm.version));
      if (comm.nodes == 1) return "CollNet in one node is";
      return "";
  }
  return fmt::format("{} is", to_string(algorithm));
}

}  // namespace

Expected<std::shared_ptr<const Schedule>> lower(const Communicator& comm,
                                                const LoweringRequest& request) {
  const auto refuse = [](const std::string& what) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnsupported}, fmt::format("{} not lowered to steps", what)));
  };
  const auto function = function_of(request.kind);
  const Choice& choice = request.choice;
  TUTTI_CHECK(comm.ranks > 1, "{} ranks", comm.ranks);
  const auto before = [&](Version version) { return comm.version < version; };
  if (!function && before({2, 7, 0}))
    return tl::make_unexpected(Error::request(
        {ProblemCode::kConflict},
        fmt::format("NCCL {} has no sends and receives; NCCL 2.7 introduced sends and receives",
                    to_string(comm.version))));
  if (!function) return lowered_sends(comm, request);
  if (!choice.symmetric.empty())
    return refuse(fmt::format("the symmetric buffers' {} is", choice.symmetric));
  if (const std::string why = not_lowered(comm, request); !why.empty()) return refuse(why);

  const std::int64_t item = size_of(request.type).count();
  const std::int64_t blocks = has_blocks(request.kind) ? comm.ranks : 1;
  const std::int64_t count = request.elements / blocks;
  const std::int64_t planned = std::max(request.planned, request.elements) / blocks;
  std::vector<ChannelLoops> channels;
  if (count > 0) channels = assign_channels(comm, *function, choice, count, planned, item);
  if (choice.algorithm == Algorithm::kPat) {
    std::vector<PatOrder> orders;
    const auto order = request.kind == CollectiveKind::kAllGather ? pat_all_gather
                       : before({2, 26, 0})                       ? pat_reduce_scatter_before_2_26
                                                                  : pat_reduce_scatter;
    const auto parts = count == planned
                           ? channels
                           : assign_channels(comm, *function, choice, planned, planned, item);
    for (const ChannelLoops& channel : parts)
      orders.push_back(order(comm.ranks, channel.chunks.chunk * item, channel.part.count * item));
    return lowered_pat(comm, request.kind, request.elements, channels, orders);
  }
  if (choice.algorithm == Algorithm::kRing)
    return lowered_ring(comm, request.kind, request.root, request.elements, std::move(channels));
  if (by_network(choice.algorithm, comm.nodes)) {
    const bool nvls = choice.algorithm == Algorithm::kNvls;
    if (request.kind != CollectiveKind::kAllReduce)
      return lowered_collnet_blocks(comm, request.kind, nvls, request.elements,
                                    std::move(channels));
    if (nvls) return lowered_nvls_sharp(comm, std::move(channels));
    return lowered_collnet(comm, choice.algorithm == Algorithm::kCollNetChain, std::move(channels));
  }
  if (choice.algorithm == Algorithm::kNvls && request.kind != CollectiveKind::kAllReduce)
    return lowered_nvls_blocks(comm, request.kind, request.elements, std::move(channels));
  if (choice.algorithm != Algorithm::kTree) return lowered_nvls(comm, std::move(channels));
  const bool divided = !before({2, 10, 0}) || choice.protocol == Protocol::kLl128;
  return lowered_tree(comm, divided, std::move(channels));
}

}  // namespace tutti::core::nccl
