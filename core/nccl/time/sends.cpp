// Predicts collectives that NCCL implements with sends and receives. NCCL has no cost model for
// such collectives. Every pair of ranks gets channels, and all pairs run at the same time.

#include <algorithm>
#include <vector>

#include "core/nccl/time/parts.h"
#include "core/nccl/time/prediction.h"

namespace tutti::core::nccl {
namespace {

/// Returns the number of channels of a message inside a node. Up to 2.21, channels are added until
/// no channel has more than 4 MiB. In later releases, the channels are first divided among the
/// ranks; then channels are added until no channel has more than 16 MiB. SOURCE: NVIDIA/nccl
/// src/enqueue.cc, calcP2pChunkSize, 32 chunks of 128 KiB (up to 2.21); addP2pToPlan (later
/// releases). The limit of 16 MiB is from measured tables.
int near_channels(double bytes, const Communicator& comm) {
  const int most = comm.p2p.per_peer;
  const bool later = comm.version >= Version{2, 22, 0};
  int channels = 1;
  if (later) {
    channels = most;
    while (channels > 1 && channels * comm.ranks > comm.p2p.channels) channels /= 2;
  }
  const double part = later ? 16777216.0 : 32 * 131072.0;
  while (channels < most && bytes / channels > part) channels *= 2;
  return channels;
}

/// Returns the total data-sheet rate in GB/s of the NVLinks over which a GPU sends. Over
/// NVSwitches, a GPU sends over all its NVLinks. If NVLinks connect the GPUs directly, only the
/// links to the GPUs with which it communicates count; in a send-receive, these are the links to
/// one GPU, and a cube mesh has one such link.
double nvlinks_between(const System& s, const Communicator& comm, CollectiveKind kind) {
  const bool one_peer = kind == CollectiveKind::kSendReceive;
  if (s.inside == Inside::kPairs && one_peer)
    return s.nvlink_of_gpu() / std::max(1, s.pairs_of_machine());
  if (s.inside != Inside::kCubeMesh) return s.nvlink_of_gpu();
  const double links =
      one_peer ? 1 : std::min<double>(s.nvlinks, nvlinks_of_rings(s, comm.graphs.ring));
  return links * s.nvlink_gb_per_s;
}

/// NCCL uses LL for a message between two GPUs of a node if the message has at most this number of
/// bytes. SOURCE: NCCL_P2P_LL_THRESHOLD, NVIDIA/nccl src/enqueue.cc. In measured tables of H100 and
/// B200, small blocks take the time of a collective with LL, and larger blocks take 4 to 7 us more.
constexpr double kMaxOfLl = 16384;

/// Returns how many ranks of another node the first GPU of a node reaches through other GPUs'
/// network cards (PXN).
int relayed_peers(const Communicator& comm) {
  if (comm.p2p.relays.empty()) return 0;
  const std::vector<int>& of_first = comm.p2p.relays.front();
  return static_cast<int>(
      std::count_if(of_first.begin(), of_first.end(), [](int relay) { return relay != 0; }));
}

/// For messages from the first GPU to all ranks of another node, which PXN distributes over the
/// node's cards: returns the number of messages through the busiest card. Returns 0 if all cards
/// send equally many.
double on_busiest_card(const System& s, const Communicator& comm) {
  const int gpus = comm.ranks_of_node();
  std::vector<int> of_card(std::max(1, s.nics));
  for (const int relay : comm.p2p.relays.front())
    ++of_card[std::int64_t{relay} * std::ssize(of_card) / gpus];
  const int most = *std::max_element(of_card.begin(), of_card.end());
  return most * std::ssize(of_card) > gpus ? most : 0;
}

}  // namespace

Prediction predict_sends(const System& s, const Communicator& comm, CollectiveKind kind,
                         std::int64_t bytes, const Parameters& p) {
  const int ranks = comm.ranks;
  const int gpus = comm.ranks_of_node();
  const bool far = comm.nodes > 1;
  const int per_peer =
      comm.p2p.per_peer;  // number of channels between two ranks of different nodes
  const double size = static_cast<double>(bytes);
  const bool pcie = s.inside == Inside::kPcie;
  const double links =
      pcie ? s.pcie_of_gpu(crossing_uplinks(s, kind == CollectiveKind::kSendReceive)) *
                 p.of(PcieFigure::kShare)
           : nvlinks_between(s, comm, kind) * p.of(s.generation, GpuFigure::kNvlinkShare);
  const double of_peer = kind == CollectiveKind::kSendReceive ? size : size / ranks;
  const bool ll = !far && of_peer <= kMaxOfLl;
  const auto hop = [&](PcieFigure by_pcie, GpuFigure by_nvlink) {
    return pcie ? p.of(by_pcie) : p.of(s.generation, by_nvlink);
  };
  const double near_hop = ll ? hop(PcieFigure::kHopLl, GpuFigure::kHopLl)
                             : hop(PcieFigure::kHopSimple, GpuFigure::kHopSimple);
  double messages = 0;
  // In a gather, the root receives data from other nodes only through its own card and PCIe link.
  // In a scatter, the root sends through all cards if NVLink connects it to the cards' GPUs (PXN).
  const bool by_others_cards = kind == CollectiveKind::kScatter && !comm.p2p.relays.empty();
  Prediction made;
  made.launch = p.of(s.generation, ll ? GpuFigure::kLaunchLl : GpuFigure::kLaunchSends);
  Narrowest narrowest;
  // `relayed` is the number of additional bytes on the NVLinks of the busiest GPU, because it sends
  // them to other nodes through another GPU's card. The same number of additional bytes arrives
  // from other nodes.
  const auto inside = [&](double of_gpu, double of_pair, int peers, double kept,
                          double relayed = 0) {
    if (gpus == 1) return;
    made.relayed = relayed;
    made.links = {(of_gpu + relayed) / (links * kPerUs), of_gpu + relayed};
    const double copying = pcie ? 0 : kept / (p.of(s.generation, GpuFigure::kCopy) * kPerUs);
    narrowest.add(made.links.us + copying, pcie ? "PCIe" : "NVLink");
    messages = peers;
    if (ll)
      narrowest.add(of_pair / (p.of(s.generation, GpuFigure::kChannelLl) * kPerUs),
                    "channels between two ranks");
    if (pcie || far) return;
    const double of_channels =
        near_channels(of_pair, comm) * p.of(s.generation, GpuFigure::kPeerChannel);
    narrowest.add(of_pair / (of_channels * kPerUs), "channels between two ranks");
  };
  const auto across = [&](double of_node, double of_gpu, double of_pair, int peers) {
    if (!far) return;
    const double of_channel = of_pair / per_peer;
    narrowest.add(peers * per_message(s, comm.nodes, of_channel, false, p),
                  "messages that a CPU handles");
    made.hops += far_latency(s, NetFigure::kHopSimple, p) + s.sockets.overlay_us +
                 (peers - 1) * p.of(s.transport, NetFigure::kMessage);
    double cards = s.nics * s.nic_gb_per_s * arriving(s, comm.nodes, p);
    if (kind == CollectiveKind::kAllToAll) cards *= p.of(s.transport, NetFigure::kShuffleShare);
    // With sockets, at most one peer per GPU counts, as in the measurements of their rates. In
    // other networks, the connections to all peers are in use at the same time, up to the number of
    // channels.
    const double connections = s.sockets.thread_gb_per_s > 0
                                   ? per_peer * std::min(gpus, peers)
                                   : gpus * std::min(per_peer * peers, comm.p2p.channels);
    cards = std::min(cards, through_pcie(s, p));
    const char* const limit = limit_of_node(s, cards, connections);
    cards = std::min(cards, through_connections(s, connections));
    made.cards = {of_node / (cards * kPerUs), of_node};
    narrowest.add(made.cards.us, limit);
    const double of_card = std::max(1.0, 1.0 * s.nics / gpus) / s.nics * cards;
    narrowest.add(of_gpu / (of_card * kPerUs), "network cards of a GPU");
    double channel = p.of(s.transport, NetFigure::kPeerChannel);
    if (s.sockets.thread_gb_per_s == 0 && s.sockets.connection_gb_per_s > 0)
      channel = std::min(channel, s.sockets.connection_gb_per_s);
    const double of_channels = per_peer * channel;
    narrowest.add(of_pair / (of_channels * kPerUs), "channels between two ranks");
  };
  made.hops = gpus > 1 ? near_hop : 0;
  const double block = size / ranks;
  const double relayed = block * (comm.nodes - 1) * relayed_peers(comm);
  switch (kind) {
    case CollectiveKind::kAllToAll:
      inside(block * (gpus - 1), block, gpus - 1, block, relayed);
      across(block * (ranks - gpus) * gpus, block, block, ranks - gpus);
      break;
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      inside(block * (gpus - 1), block, gpus - 1, block,
             kind == CollectiveKind::kScatter ? relayed : 0);
      across(block * (ranks - gpus),
             by_others_cards ? block * std::max(1.0, on_busiest_card(s, comm) * (comm.nodes - 1))
                             : block * (ranks - gpus),
             block, ranks - gpus);
      if (pcie && far) {
        const double pcie_of_gpu = s.pcie_gb_per_s * p.of(PcieFigure::kShare);
        narrowest.add(block * (ranks - 1) / (pcie_of_gpu * kPerUs), "PCIe");
      }
      break;
    default:  // each rank sends to its neighbour; one rank per node to the next node
      inside(size, size, 1, 0);
      across(size, size, size, 1);
      break;
  }
  made.channels = comm.channels;
  made.transfer = narrowest.us();
  made.narrowest = narrowest.what();
  made.launch += waiting_for_host(s, comm, made.us(), p, messages);
  return made;
}

}  // namespace tutti::core::nccl
