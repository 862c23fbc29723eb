// A closed-form model of the times of NCCL's collectives. First, the kernel is launched. Then the
// first bytes travel hop by hop. After that, the remaining bytes stream through the resource with
// the lowest bandwidth. For example, consider an all-reduce of S bytes over a ring of n GPUs in N
// nodes, on c channels with some protocol:
// - launch: the start of the kernel, once.
// - hops: 2(n-1) consecutive steps, of which 2(N-1) are between nodes. Each step takes the hop
//   latency of the protocol.
// - transfer: every GPU sends 2(n-1)/n S bytes through its channels (c times the rate of a thread
//   block with the protocol), its NVLinks, and (once per node) its network cards. The resource with
//   the lowest bandwidth limits the rate, and resources with nearly as low a bandwidth add a
//   little.
// - fill: for a ring, zero. In a tree with the protocol Simple, each level waits for the first
//   complete chunk from the level below. With LL and LL128, a GPU passes data on line by line, so
//   that the levels inside a node wait only for what a thread block moves at once.
//
// In LL, every 8 bytes contain a flag of 4 bytes, which halves the payload. In LL128, every 128
// bytes contain a flag of 8 bytes, which leaves 15/16 as payload.

#include "core/nccl/time/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/nccl/collnet.h"
#include "core/nccl/lowering/chunks.h"
#include "core/nccl/time/parts.h"
#include "core/nccl/tuning/symmetric.h"

namespace tutti::core::nccl {
namespace {

/// Returns the ratio of payload bytes to all bytes on a link.
double payload(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl: return 0.5;
    case Protocol::kLl128: return 120.0 / 128.0;
    case Protocol::kSimple: break;
  }
  return 1;
}

int log2_up(int value) {
  int log = 0;
  while ((1 << log) < value) ++log;
  return log;
}

/// Returns the time of two activities that overlap: between the longer of their times and the sum
/// of both.
double together(double a, double b) {
  constexpr double kOverlapExponent = 1.5;
  return std::pow(std::pow(a, kOverlapExponent) + std::pow(b, kOverlapExponent),
                  1 / kOverlapExponent);
}

constexpr int kGpusOfHost = 8;  ///< GPUs per host; an NVLink domain with more GPUs is a rack of
                                ///< several hosts

class Timing {
 public:
  Timing(const System& system, const Communicator& comm, const Operation& operation,
         const Choice& choice, const Parameters& parameters)
      : s_(system), comm_(comm), op_(operation), choice_(choice), p_(parameters) {
    bytes_ = static_cast<double>(operation.bytes);
    ranks_ = comm.ranks;
    channels_ = channels_in_use();
  }

  Prediction predict() {
    made_.launch = kernel() + (channels_ - 1) * p_.of(ReleaseFigure::kChannel, comm_.version);
    switch (choice_.algorithm) {
      case Algorithm::kRing: ring(); break;
      case Algorithm::kTree: tree(); break;
      case Algorithm::kCollNetChain: collnet_chain(); break;
      case Algorithm::kCollNetDirect: collnet_direct(); break;
      case Algorithm::kNvls: nvls(); break;
      case Algorithm::kNvlsTree: nvls_tree(); break;
      case Algorithm::kPat: pat(); break;
    }
    made_.transfer = together(narrowest_.us(), overlap_) - overlap_;
    made_.narrowest = narrowest_.what();
    made_.overlap = overlap_;
    made_.channels = channels_;
    made_.launch += waiting_for_host(s_, comm_, made_.us(), p_);
    return made_;
  }

 private:
  [[nodiscard]] double gpu(GpuFigure figure) const { return p_.of(s_.generation, figure); }
  [[nodiscard]] double net(NetFigure figure) const { return p_.of(s_.transport, figure); }
  [[nodiscard]] bool far() const { return comm_.nodes > 1; }

  /// Returns the number of channels that have work. SOURCE: NVIDIA/nccl src/enqueue.cc,
  /// scheduleCollTasksToPlan (from 2.22 on), for the minimum traffic per channel.
  [[nodiscard]] double channels_in_use() const {
    const Version v = comm_.version;
    if (v < Version{2, 22, 0} || by_network(choice_.algorithm, comm_.nodes))
      return choice_.channels;
    const double least = v >= Version{2, 29, 2} ? 32768 : v >= Version{2, 23, 0} ? 16384 : 512;
    double traffic = bytes_ * (op_.function == Function::kAllReduce ? 2 : 1);
    if (choice_.protocol == Protocol::kLl) traffic *= 4;
    return std::clamp(std::ceil(traffic / least), 1.0, static_cast<double>(choice_.channels));
  }

  [[nodiscard]] double kernel() const {
    switch (choice_.protocol) {
      case Protocol::kLl: return gpu(GpuFigure::kLaunchLl);
      case Protocol::kLl128: return gpu(GpuFigure::kLaunchLl128);
      case Protocol::kSimple: break;
    }
    return gpu(GpuFigure::kLaunchSimple);
  }

  [[nodiscard]] double near_hop() const {
    if (s_.inside == Inside::kPcie) {
      const double pcie = p_.of(choice_.protocol == Protocol::kSimple ? PcieFigure::kHopSimple
                                                                      : PcieFigure::kHopLl);
      return s_.card ? pcie
                     : std::max(pcie,
                                nvlink_hop());  // host memory is not nearer than a neighbour
    }
    return nvlink_hop();
  }
  [[nodiscard]] double nvlink_hop() const {
    switch (choice_.protocol) {
      case Protocol::kLl: return gpu(GpuFigure::kHopLl);
      case Protocol::kLl128: return gpu(GpuFigure::kHopLl128);
      case Protocol::kSimple: break;
    }
    return gpu(GpuFigure::kHopSimple);
  }

  /// Returns the additional time in us of a ring's hop for the data that a thread block transfers
  /// at once (16 KiB, or less if the chunk is smaller).
  [[nodiscard]] double pass() const {
    if (s_.gpus == 1 || choice_.protocol == Protocol::kLl) return 0;  // LL moves line by line
    constexpr double kBytes = 16384;
    const double piece = bytes_ / ranks_ / channels_;
    return gpu(GpuFigure::kPass) * std::min(1.0, piece / kBytes);
  }

  /// Returns the time in us of a hop between nodes. `bytes` is the payload of one message.
  [[nodiscard]] double far_hop(double bytes) const {
    return first_hop() + per_message(s_, comm_.nodes, bytes / payload(choice_.protocol), true, p_);
  }
  [[nodiscard]] double first_hop() const {
    const double to_card = (s_.card ? p_.of(PcieFigure::kHopToCard) : 0) + s_.sockets.overlay_us;
    switch (choice_.protocol) {
      case Protocol::kLl: return far_latency(s_, NetFigure::kHopLl, p_) + to_card;
      case Protocol::kLl128: return far_latency(s_, NetFigure::kHopLl128, p_) + to_card;
      case Protocol::kSimple: break;
    }
    return far_latency(s_, NetFigure::kHopSimple, p_) + to_card;
  }

  /// Returns the rate of a thread block with LL, relative to a block of 512 threads. In each pass,
  /// every thread waits for its line of 8 bytes of payload and passes it on. With 512 threads, two
  /// thirds of the time of a pass are latency, which a pass with fewer threads takes, too. SOURCE:
  /// broadcasts over one channel reach 1.0, 1.7 and 2.7 GB/s with 64, 128 and 256 threads
  /// (aistabci/abci2.0benchmark, bcast; 8 to 128 A100).
  [[nodiscard]] double ll_threads() const {
    constexpr double kMaxThreads = 512;
    constexpr double kLatency = 2;  // relative to the rest of a pass with 512 threads
    const double part = std::min(1.0, choice_.threads / kMaxThreads);
    return part * (kLatency + 1) / (kLatency + part);
  }

  /// Returns the payload rate of one channel's thread block in GB/s.
  [[nodiscard]] double channel() const {
    switch (choice_.protocol) {
      case Protocol::kLl: return gpu(GpuFigure::kChannelLl) * ll_threads();
      case Protocol::kLl128: return gpu(GpuFigure::kChannelLl128);
      case Protocol::kSimple: break;
    }
    return gpu(GpuFigure::kChannelSimple);
  }

  /// Returns the payload rate in GB/s at which a GPU sends to its neighbours.
  [[nodiscard]] double links_of_gpu() const {
    if (s_.inside == Inside::kPcie) {
      return s_.pcie_of_gpu(crossing_uplinks(s_, true)) * p_.of(PcieFigure::kShare) *
             payload(choice_.protocol);
    }
    // In a cube mesh, count only the links that channels use.
    double gb_per_s = s_.nvlink_of_gpu();
    if (s_.inside == Inside::kCubeMesh)
      gb_per_s = std::min(gb_per_s, nvlinks_of_rings(s_, comm_.graphs.ring) * s_.nvlink_gb_per_s);
    return gb_per_s * gpu(GpuFigure::kNvlinkShare) * payload(choice_.protocol);
  }

  /// Returns the fraction of a node's network cards that are in use. A channel of a ring or tree
  /// uses one card, so there may be fewer channels than cards.
  [[nodiscard]] double part_of_cards() const {
    const bool by_channels = choice_.algorithm == Algorithm::kRing ||
                             choice_.algorithm == Algorithm::kTree ||
                             choice_.algorithm == Algorithm::kPat;
    return by_channels ? std::min(1.0, static_cast<double>(comm_.channels) / std::max(1, s_.nics))
                       : 1;
  }
  /// Returns the rate in GB/s at which the network cards of a node send.
  [[nodiscard]] double without_sockets() const {
    // In a ring, nodes send only to their neighbours, so the fabric is as loaded as with two nodes.
    const int crowd = choice_.algorithm == Algorithm::kRing ? 2 : comm_.nodes;
    const double gb_per_s = s_.nics * s_.nic_gb_per_s * arriving(s_, crowd, p_);
    // The host forwards data more slowly if data moves in both directions at the same time.
    const bool one_way = op_.function == Function::kBroadcast || op_.function == Function::kReduce;
    const bool whole_link = s_.card && one_way;
    return std::min(gb_per_s, whole_link ? through_pcie_one_way(s_) : through_pcie(s_, p_)) *
           part_of_cards();
  }
  /// Returns the payload rate in GB/s at which data leaves a node.
  [[nodiscard]] double cards() const {
    const double gb_per_s = std::min(without_sockets(), through_connections(s_, channels_));
    return choice_.protocol == Protocol::kLl128 ? gb_per_s * payload(Protocol::kLl128) : gb_per_s;
  }

  /// Returns the total rate in GB/s at which all channels send chunks to another node.
  [[nodiscard]] double chunks_between() const {
    if (choice_.protocol != Protocol::kLl) return cards();
    return std::min(cards(), channels_ * ll_channel());
  }

  /// Returns the rate in GB/s of one channel between nodes with LL. LL data passes through host
  /// memory. A thread block waits for the reply of each read from host memory, so its rate depends
  /// on the generation of PCIe (12 to 48 GB/s), and not on the number of lanes.
  [[nodiscard]] double ll_channel() const {
    constexpr double kThird = 12, kFourth = 24, kFifth = 48;
    return net(NetFigure::kLlChannel) * std::clamp(s_.pcie_gb_per_s, kThird, kFifth) / kFourth;
  }
  void through_channels(double bytes, double gb_per_s) {
    narrowest_.add(bytes / (channels_ * gb_per_s * kPerUs), "thread blocks of the channels");
    // A sender can reuse a slot only after the receiver has reported that the slot is free; this
    // round trip takes two hops. NCCL's default buffers have enough slots to hide the delay.
    const auto protocol = static_cast<std::size_t>(choice_.protocol);
    const std::int64_t buffer = comm_.buffer_bytes[protocol];
    if (buffer >= kOwnBuffers[protocol]) return;
    const double slots = static_cast<double>(buffer) * payload(choice_.protocol);
    narrowest_.add(2 * (far() ? first_hop() : near_hop()) * bytes / (channels_ * slots),
                   "slots of the connections");
  }
  /// `kept` is the number of bytes that a GPU only copies, while its links are idle.
  void through_links(double bytes, double kept = 0) {
    if (s_.gpus == 1) {
      // A GPU in a container of its own sends to other GPUs of its machine through host memory,
      // too.
      if (s_.sockets.pods > 1) {
        const double gb_per_s = s_.pcie_gb_per_s * p_.of(PcieFigure::kThroughHost);
        narrowest_.add(bytes / (gb_per_s * kPerUs), "PCIe");
      }
      return;
    }
    made_.links = {bytes / (links_of_gpu() * kPerUs), bytes};
    Narrowest copying;
    copying.add(kept / (gpu(GpuFigure::kCopy) * kPerUs), "");
    // Over NVLink, senders write data into the receiver's memory. Over PCIe, receivers read the
    // data with few thread blocks.
    const bool pcie = s_.inside == Inside::kPcie;
    if (pcie) copying.add(kept / (channels_ * channel() * kPerUs), "");
    narrowest_.add(made_.links.us + copying.us(), pcie ? "PCIe" : "NVLink");
  }
  /// Adds the network cards as a limit of the rate. LL data also passes through host memory, which
  /// limits each channel.
  void through_cards(double bytes) {
    if (!far()) return;
    made_.cards = {bytes / (cards() * kPerUs), bytes};
    narrowest_.add(made_.cards.us, limit_of_node(s_, without_sockets(), channels_));
    if (choice_.protocol != Protocol::kLl) return;
    const double lines = bytes / payload(Protocol::kLl);
    narrowest_.add(bytes / (channels_ * ll_channel() * kPerUs), "LL through the host");
    narrowest_.add(lines / (through_pcie_one_way(s_) * kPerUs), "LL through the host");
  }

  /// Adds the CPU time of messages between nodes as a limit. Each channel sends `of_channel`
  /// messages one after the other, and one CPU handles the messages of all channels of a card.
  void messages(double of_channel, double bytes) {
    const double each = per_message(s_, comm_.nodes, bytes / payload(choice_.protocol), false, p_);
    narrowest_.add(of_channel * std::max(1.0, channels_ / cards_in_use(s_)) * each,
                   "messages that a CPU handles");
  }

  void ring() {
    const int nodes = comm_.nodes;
    const bool all_reduce = op_.function == Function::kAllReduce;
    const bool chain = op_.function == Function::kBroadcast || op_.function == Function::kReduce;
    const int steps = all_reduce ? 2 * (ranks_ - 1) : ranks_ - 1;
    // The number of hops between nodes on the longest path of a chunk; all other hops are inside a
    // node.
    const int between = (all_reduce ? 2 : 1) * (nodes - 1);
    // When a broadcast or reduce is repeated, the next one starts before the last rank has
    // finished, so only one hop counts. With LL, no hop counts: the buffers of a connection have
    // room for several operations, so the data have already arrived when a rank's kernel starts.
    // SOURCE: with LL, a broadcast takes as long on 16 nodes as on two (7.7 us for 256 bytes over
    // 16 to 128 A100, 5.3 us over 8 to 128 V100; aistabci/abci2.0benchmark, bcast).
    const bool buffered = chain && choice_.protocol == Protocol::kLl;
    const double piece_of_step = bytes_ / channels_ / (chain ? 1 : ranks_);
    const double piece = std::min(piece_of_step, chunk_bytes());
    if (!chain)
      made_.hops = (steps - between) * (near_hop() + pass()) + (far() ? between * first_hop() : 0);
    else if (!buffered)
      made_.hops = far() ? far_hop(piece) : near_hop();
    if (far() && !chain) messages(steps * std::ceil(piece_of_step / chunk_bytes()), piece);
    const double moved = chain ? bytes_ : bytes_ * steps / ranks_;
    through_channels(moved, channel());
    through_links(moved, chain ? 0 : bytes_ / ranks_);
    through_cards(moved);
    if (!chain) {
      // While one chunk occupies a link, the next chunk is already in flight. The time is therefore
      // the longer of hops and transfer.
      overlap_ = made_.hops;
      return;
    }
    if (buffered) return;
    // Every rank receives a whole chunk before it forwards the chunk, except with LL128.
    const double chunk = std::min(bytes_ / channels_, chunk_bytes());
    constexpr double kVisibleShare =
        0.6;  // visible share of the chain; the next broadcast hides the rest
    made_.fill = kVisibleShare * (ranks_ - 2) * passed_on_at_once(chunk) / (channel() * kPerUs);
  }

  /// Returns the payload, in bytes, of one of the eight slots of a connection's buffer. SOURCE:
  /// NVIDIA/nccl src/enqueue.cc, calcCollChunking.
  [[nodiscard]] double chunk_bytes() const {
    const double step =
        static_cast<double>(comm_.buffer_bytes[static_cast<std::size_t>(choice_.protocol)]) / 8;
    if (choice_.protocol == Protocol::kLl128) return ll128_chunk(step * payload(Protocol::kLl128));
    return step * payload(choice_.protocol);
  }

  [[nodiscard]] double ll128_chunk(double chunk) const {
    const double ppn = comm_.ranks_of_node();
    const double steps = 1 + std::floor(std::log2(comm_.nodes)) + 0.1 * ppn;
    const double part = bytes_ / channels_;
    if (choice_.algorithm != Algorithm::kTree) return chunk;
    while (part / chunk < 64 * steps / ppn && chunk > 131072) chunk /= 2;
    while (part / chunk < 16 * steps / ppn && chunk > 32768) chunk /= 2;
    return chunk;
  }

  /// Returns how many bytes a node sends to other nodes, over both trees, for every byte of the
  /// all-reduce. Each tree handles half of the data. In one tree, the node is a leaf and sends half
  /// of the data up. In the other tree, the node is an inner node: it sends half of the data up,
  /// and half of the data down to each of two children (with two nodes: to one child).
  [[nodiscard]] double tree_traffic() const { return comm_.nodes == 2 ? 1 : 2; }

  /// Returns how many bytes of a chunk a thread block receives before it passes the first of them
  /// on to another GPU of the node. With Simple, these are all bytes of the chunk. With LL and
  /// LL128, each line contains its own flag, so a thread passes a line on as soon as it has
  /// arrived; a thread block moves one line per thread at once. SOURCE: NVIDIA/nccl
  /// src/device/prims_ll.h (8 bytes for each of 512 threads) and prims_ll128.h (60 bytes for each
  /// of 640 threads).
  [[nodiscard]] double passed_on_at_once(double chunk) const {
    constexpr double kOfLl = 512 * 8;
    constexpr double kOfLl128 = 640 * 60;
    switch (choice_.protocol) {
      case Protocol::kLl: return std::min(chunk, kOfLl);
      case Protocol::kLl128: return std::min(chunk, kOfLl128);
      case Protocol::kSimple: break;
    }
    return chunk;
  }

  void tree() {
    const int near = 2 * (comm_.ranks_of_node() - 1);
    const int levels = far() ? 2 * log2_up(comm_.nodes) : 0;
    const double rate = channel() * gpu(GpuFigure::kTreeShare);
    const double chunk = std::min(bytes_ / channels_, chunk_bytes());
    made_.hops = near * near_hop() + (far() ? levels * far_hop(chunk) : 0);
    const double at_once = passed_on_at_once(chunk);
    made_.fill = near * at_once / (rate * kPerUs);
    // A network card sends whole chunks, so the GPU in front of it fills a chunk at every level.
    if (far())
      made_.fill += levels * ((chunk - at_once) / (rate * kPerUs) +
                              chunk * channels_ / 2 / (chunks_between() * kPerUs));
    const double rest = std::max(0.0, bytes_ - (far() ? chunk : at_once) * channels_);
    through_channels(rest, rate);
    through_links(2 * rest);
    through_cards(tree_traffic() * rest);
    // `fill` contains the time of the first chunks, but their bytes are counted here.
    if (s_.gpus > 1) made_.links.bytes = 2 * bytes_;
    if (far()) made_.cards.bytes = tree_traffic() * bytes_;
  }

  void through_multicast(double bytes) {
    made_.links = {bytes / (multicast() * kPerUs), bytes};
    narrowest_.add(made_.links.us, "NVLink multicast");
  }
  [[nodiscard]] double multicast() const {
    const double of_rack = s_.gpus > kGpusOfHost ? gpu(GpuFigure::kRackShare) : 1;
    return s_.nvlink_of_gpu() * gpu(GpuFigure::kNvlsShare) * of_rack;
  }
  /// Returns the latency of NVLS inside a node, in us. With NVLS, a GPU exchanges data with one
  /// head after the other.
  [[nodiscard]] double through_switch() const {
    return gpu(GpuFigure::kNvlsLatency) * std::max(1.0, 1.0 * heads() / kGpusOfHost);
  }
  [[nodiscard]] int heads() const { return std::max(1, comm_.graphs.nvls.channels); }

  /// Returns the chunk size of NVLS in bytes: the data of a channel for each head in one loop.
  /// SOURCE: NVIDIA/nccl src/enqueue.cc, calcCollChunking.
  [[nodiscard]] double nvls_chunk() const {
    const double part = bytes_ / channels_;
    double chunk = std::min(131072.0, static_cast<double>(comm_.buffer_bytes[2]) / 8);
    if (choice_.algorithm == Algorithm::kNvlsTree) {
      if (comm_.nodes >= 4) chunk = std::min(chunk, 65536.0);
      if (part < 16 * heads() * chunk) chunk = std::min(chunk, 131072.0);
      if (part < 4 * heads() * chunk) chunk = std::min(chunk, 65536.0);
      if (part < heads() * chunk) chunk = std::min(chunk, 32768.0);
      return chunk;
    }
    if (part < 64 * heads() * chunk) chunk = std::min(chunk, 65536.0);
    if (part < 8 * heads() * chunk) chunk = std::min(chunk, 32768.0);
    if (part < 2 * heads() * chunk) chunk = std::min(chunk, 16384.0);
    return chunk;
  }

  /// Predicts NVLS, in which the switch adds and multicasts. For the reduction, a GPU sends S bytes
  /// and receives S/n bytes. For the multicast, a GPU sends S/n bytes and receives S bytes.
  void nvls() {
    const int gpus = comm_.ranks_of_node();
    const double all_reduce = op_.function == Function::kAllReduce ? 1.0 + 1.0 / gpus : 1.0;
    made_.hops = through_switch();
    through_multicast(bytes_ * all_reduce);
    const double staged = std::min(bytes_, nvls_chunk() * heads() * channels_);
    made_.fill = gpu(GpuFigure::kNvlsFill) * staged / (multicast() * kPerUs);
    if (!far() || choice_.algorithm == Algorithm::kNvlsTree) return;
    made_.hops += sharp_hop();
    made_.fill += std::min(bytes_, chunk_by_network() * heads() * channels_) /
                  (through_sharp(s_, p_) * kPerUs);
    to_switches_and_back(bytes_);
  }

  // --- networks that reduce ---

  /// Returns the time in us from a GPU to the reducing switches and back. Data passes as many
  /// levels of switches as are needed to combine the chunks of all heads.
  [[nodiscard]] double sharp_hop() const {
    const double to_card = s_.card ? p_.of(PcieFigure::kHopToCard) : 0;
    return p_.of(SharpFigure::kHop) + to_card +
           (levels_of_switches(s_, comm_.nodes) - 1) * p_.of(SharpFigure::kLevel);
  }
  [[nodiscard]] double chunk_by_network() const {
    const auto part = static_cast<std::int64_t>(bytes_ / channels_);
    return static_cast<double>(
        chunks_of(comm_, op_.function, choice_.algorithm, choice_.protocol, part, 1).chunk);
  }
  /// Adds the transfer to the reducing switches and back: all bytes go up once and come down once.
  /// In an all-gather, a node does not need its own block.
  void to_switches_and_back(double bytes) {
    if (op_.function == Function::kAllGather) bytes *= (comm_.nodes - 1.0) / comm_.nodes;
    made_.cards = {bytes / (through_sharp(s_, p_) * kPerUs), bytes};
    narrowest_.add(made_.cards.us, "from network cards to reducing switches");
  }

  /// Predicts CollNetChain. Along the chain, data travels to the GPU at the network card, and at
  /// the same time, sums travel back.
  void collnet_chain() {
    const int near = 2 * (comm_.ranks_of_node() - 1);
    const double rate = channel() * gpu(GpuFigure::kTreeShare);
    const double chunk = std::min(bytes_ / channels_, chunk_by_network());
    made_.hops = near * near_hop() + sharp_hop();
    made_.fill =
        near * chunk / (rate * kPerUs) + chunk * channels_ / (through_sharp(s_, p_) * kPerUs);
    const double rest = std::max(0.0, bytes_ - chunk * channels_);
    through_channels(rest, rate);
    through_links(2 * rest);
    to_switches_and_back(rest);
    // `fill` contains the time of the first chunks, but their bytes are counted here.
    if (s_.gpus > 1) made_.links.bytes = 2 * bytes_;
    made_.cards.bytes = bytes_;
  }

  /// Predicts CollNetDirect. A GPU sends all chunks except its own to the heads, and distributes
  /// the sum of its own chunk. Over NVLink, CollNetDirect causes as much traffic as a ring.
  void collnet_direct() {
    const int gpus = comm_.ranks_of_node();
    const double heads = std::max(1, comm_.collnet_heads);
    const bool all_reduce = op_.function == Function::kAllReduce;
    const double rate = channel() * gpu(GpuFigure::kTreeShare);
    made_.hops = (gpus > 1 ? (all_reduce ? 2 : 1) * near_hop() : 0) + sharp_hop();
    const double chunks = std::min(bytes_, chunk_by_network() * heads * channels_);
    made_.fill = (all_reduce ? 2 : 1) * chunks / (channels_ * rate * kPerUs) +
                 chunks / (through_sharp(s_, p_) * kPerUs);
    const double scattered = bytes_ * (heads - 1) / heads;
    const double handed_out = bytes_ * (gpus - 1) / heads;
    through_channels(bytes_, rate);
    through_links(all_reduce ? scattered + handed_out
                             : (op_.function == Function::kAllGather ? handed_out : scattered));
    to_switches_and_back(bytes_);
  }

  void nvls_tree() {
    nvls();
    const int levels = 2 * log2_up(comm_.nodes);
    made_.hops =
        through_switch() + levels * far_hop(std::min(nvls_chunk(), bytes_ / heads() / channels_));
    const double staged = std::min(bytes_, nvls_chunk() * heads() * channels_);
    made_.fill += levels * staged / 2 / (cards() * kPerUs);
    narrowest_ = Narrowest();
    through_multicast(bytes_ * (1.0 + 1.0 / comm_.ranks_of_node()));
    through_cards(tree_traffic() * bytes_);
  }

  void pat() {
    made_.hops =
        log2_up(ranks_) * far_hop(bytes_ / ranks_ / channels_) + ranks_ * net(NetFigure::kMessage);
    const double moved = bytes_ * (ranks_ - 1) / ranks_;
    through_channels(moved, channel());
    through_cards(moved);
  }

  const System& s_;
  const Communicator& comm_;
  const Operation& op_;
  const Choice& choice_;
  const Parameters& p_;
  double bytes_ = 0;
  int ranks_ = 1;
  double channels_ = 1;
  Prediction made_;
  Narrowest narrowest_;
  double overlap_ = 0;  ///< time in us of those hops that overlap with the transfer
};

/// Predicts collectives on symmetric buffers. For symmetric kernels, the time is NCCL's own
/// estimate, because no published measurements separate its parts; the time beyond what the links
/// need counts as latency. NCCL has no estimate for copy engines. The time of copy engines is the
/// time that the links need, plus the latency of a kernel that loads and stores.
Prediction by_symmetric(const System& system, const Communicator& comm, const Operation& operation,
                        const Choice& choice, double launch) {
  Prediction made;
  made.launch = launch;
  made.channels = std::max(1, choice.channels);
  made.links.bytes = symmetric_link_bytes(choice.symmetric, comm, operation);
  made.links.us = made.links.bytes / (system.nvlink_of_gpu() * kPerUs);
  const bool copies = choice.symmetric == kCopyEnginesName;
  const double latency = comm.compute_capability < 100 ? 7.8 : 13.0;
  const double whole = copies ? latency + made.links.us : static_cast<double>(choice.estimate_us);
  made.transfer = std::min(whole, made.links.us);
  made.hops = whole - made.transfer;
  made.narrowest = "NVLink";
  return made;
}

}  // namespace

Prediction predict(const System& system, const Communicator& communicator,
                   const Operation& operation, const Choice& choice, const Parameters& parameters) {
  TUTTI_CHECK(communicator.ranks > 1, "a single rank does not communicate");
  if (choice.symmetric.empty())
    return Timing(system, communicator, operation, choice, parameters).predict();
  Choice usual = choice;
  usual.symmetric = {};
  usual.channels = std::max(1, choice.channels);
  const double launch = Timing(system, communicator, operation, usual, parameters).predict().launch;
  return by_symmetric(system, communicator, operation, choice, launch);
}

}  // namespace tutti::core::nccl
