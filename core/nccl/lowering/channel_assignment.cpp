#include "core/nccl/lowering/channel_assignment.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/nccl/collnet.h"
#include "core/nccl/lowering/rounding.h"
#include "core/schedule/schedule.h"

namespace tutti::core::nccl {
namespace {

constexpr std::int64_t kWarp = 32;
/// The number of LL128 data bytes of one thread in 2.6: 120 words of eight bytes, of which 15/16
/// are data.
constexpr std::int64_t kLl128OfThreadIn2_6 = 900;

/// If the actual number of elements is smaller than the planned number, reduces chunk and slice
/// sizes in proportion.
Chunks scaled(Chunks chunks, std::int64_t elements, std::int64_t planned) {
  if (elements >= planned) return chunks;
  const auto part = [&](std::int64_t of) {
    const Wide product = static_cast<Wide>(of) * static_cast<Wide>(elements);
    return std::max<std::int64_t>(1,
                                  static_cast<std::int64_t>(product / static_cast<Wide>(planned)));
  };
  const std::int64_t slices = divided_up(chunks.chunk, chunks.slice);
  chunks.chunk = std::max(slices, part(chunks.chunk));
  chunks.slice = divided_up(chunks.chunk, slices);
  return chunks;
}

class ChannelAssigner {
 public:
  ChannelAssigner(const Communicator& comm, Function function, const Choice& choice,
                  std::int64_t planned, std::int64_t item)
      : comm_(comm), function_(function), choice_(choice), planned_(planned), item_(item) {}

  /// Returns the channels of NCCL 2.22 and later. The chunk size of a channel depends on the size
  /// of the channel's part.
  [[nodiscard]] std::vector<ChannelLoops> by_traffic() const {
    std::vector<ChannelLoops> channels;
    for (const ChannelPart& part :
         split_over_channels(function_, choice_.protocol, comm_.version, comm_.ranks, planned_,
                             item_, choice_.channels)) {
      ChannelLoops& made = add(channels, part, part.count * item_ * blocks());
      made.shares_last = rings_all_reduce();
      made.granule = in_elements(16);
    }
    return channels;
  }

  /// Returns the channels of NCCL 2.20 and 2.21. All channels get equal parts, rounded to multiples
  /// of the protocol's alignment.
  [[nodiscard]] std::vector<ChannelLoops> evenly() const {
    const std::int64_t grain = in_elements(alignment());
    const std::int64_t bytes = planned_ * item_;
    const std::int64_t most = divided_up(divided_up(bytes, choice_.channels), 16) * 16;
    const std::int64_t each = divided_up(divided_up(most, item_), grain) * grain;
    std::vector<ChannelLoops> channels;
    for (std::int64_t begin = 0; begin < planned_; begin += each) {
      ChannelLoops& made = add(channels, {begin, std::min(each, planned_ - begin)},
                               total_bytes() / choice_.channels);
      made.shares_last = rings_all_reduce() || made.pieces > 1;
      made.granule = grain;
    }
    return channels;
  }

  /// Returns the number of blocks that a channel processes together: the blocks of one rail if the
  /// network reduces, otherwise one. A rail has the blocks of the heads with the same index in all
  /// nodes.
  [[nodiscard]] std::int64_t rails() const {
    return of_blocks() && by_network(choice_.algorithm, comm_.nodes) ? comm_.nodes : 1;
  }

  /// Returns the channels of NCCL before 2.20, and of all releases for networks that reduce. All
  /// these channels share the data instead of having separate parts.
  [[nodiscard]] std::vector<ChannelLoops> shared_by_all() const {
    std::vector<ChannelLoops> channels;
    for (int c = 0; c < choice_.channels; ++c) {
      ChannelLoops& made = add(channels, {0, rails() * planned_}, total_bytes() / choice_.channels);
      made.turns = choice_.channels;
      made.turn = c;
      made.granule = in_elements(min_chunk());
      made.side_by_side = rings_all_reduce() && choice_.protocol != Protocol::kSimple;
      // A tree divides its last loop evenly only if this loop is the only one.
      made.shares_last = choice_.algorithm == Algorithm::kRing ||
                         (choice_.algorithm == Algorithm::kTree && planned_ < made.of_loop());
    }
    return channels;
  }

 private:
  ChannelLoops& add(std::vector<ChannelLoops>& channels, const ChannelPart& part,
                    std::int64_t bytes) const {
    ChannelLoops& made = channels.emplace_back();
    made.part = part;
    made.chunks = chunks_of(comm_, function_, choice_.algorithm, choice_.protocol, bytes, item_);
    if (by_threads())
      made.chunks.chunk = made.chunks.slice = in_elements(kLl128OfThreadIn2_6 * choice_.threads);
    if (rings_all_reduce()) made.pieces = comm_.ranks;
    if (choice_.algorithm == Algorithm::kNvlsTree ||
        (choice_.algorithm == Algorithm::kNvls && !of_blocks()))
      made.pieces = heads_of(comm_);
    if (choice_.algorithm == Algorithm::kCollNetDirect && !of_blocks())
      made.pieces = static_cast<int>(collnet_heads(comm_).size());
    return made;
  }

  /// True if the chunk size depends on the number of threads instead of the slot size: for rings
  /// with LL128 in NCCL 2.6.
  [[nodiscard]] bool by_threads() const {
    return comm_.version < Version{2, 7, 0} && choice_.algorithm == Algorithm::kRing &&
           choice_.protocol == Protocol::kLl128;
  }
  [[nodiscard]] bool rings_all_reduce() const {
    return choice_.algorithm == Algorithm::kRing && function_ == Function::kAllReduce;
  }
  [[nodiscard]] bool of_blocks() const {
    return function_ == Function::kAllGather || function_ == Function::kReduceScatter;
  }
  [[nodiscard]] std::int64_t blocks() const { return of_blocks() ? comm_.ranks : 1; }
  [[nodiscard]] std::int64_t in_elements(std::int64_t bytes) const {
    return std::max<std::int64_t>(1, bytes / item_);
  }
  [[nodiscard]] std::int64_t total_bytes() const { return planned_ * item_ * blocks(); }

  /// Returns the alignment of channels' parts in NCCL 2.20 and 2.21, in bytes.
  [[nodiscard]] std::int64_t alignment() const {
    switch (choice_.protocol) {
      case Protocol::kLl: return 8 * std::int64_t{choice_.threads};
      case Protocol::kLl128: return 480 * (choice_.threads / kWarp);
      case Protocol::kSimple: break;
    }
    return 4096;
  }

  /// Returns the minimum chunk size in bytes up to NCCL 2.19: the data that all threads process in
  /// one pass, or a fraction of this data.
  [[nodiscard]] std::int64_t min_chunk() const {
    constexpr std::int64_t kLl128OfThread = 60;
    const std::int64_t threads = choice_.threads;
    const bool tree = choice_.algorithm == Algorithm::kTree;
    const bool chain = function_ == Function::kBroadcast || function_ == Function::kReduce;
    switch (choice_.protocol) {
      case Protocol::kLl: return 8 * threads;
      case Protocol::kLl128: return threads * kLl128OfThread / (tree ? 8 : chain ? 1 : 2);
      case Protocol::kSimple: break;
    }
    // One warp of a channel does not transfer data; in trees of 2.8 and later, two warps do not.
    const std::int64_t idle = tree && comm_.version >= Version{2, 8, 0} ? 2 * kWarp : kWarp;
    return (threads - idle) * (tree ? 64 : 8);
  }

  const Communicator& comm_;
  Function function_;
  const Choice& choice_;
  std::int64_t planned_;
  std::int64_t item_;
};

}  // namespace

std::vector<ChannelLoops> assign_channels(const Communicator& comm, Function function,
                                          const Choice& choice, std::int64_t count,
                                          std::int64_t planned, std::int64_t item) {
  TUTTI_CHECK((comm.version >= kOldestVersion && planned >= count && count > 0),
              "{} of {} elements by NCCL {}", count, planned, to_string(comm.version));
  const ChannelAssigner assigner(comm, function, choice, planned, item);
  const bool collnet = by_network(choice.algorithm, comm.nodes);
  std::vector<ChannelLoops> channels = collnet || comm.version < Version{2, 20, 0}
                                           ? assigner.shared_by_all()
                                       : comm.version < Version{2, 22, 0} ? assigner.evenly()
                                                                          : assigner.by_traffic();
  if (count == planned) return channels;
  const std::int64_t all = assigner.rails() * count;
  const EvenCut evenly{all, std::ssize(channels)};
  for (std::int64_t c = 0; c < std::ssize(channels); ++c) {
    ChannelLoops& channel = channels[c];
    channel.part =
        channel.turns > 1 ? ChannelPart{0, all} : ChannelPart{evenly.offset(c), evenly.size(c)};
    channel.chunks = scaled(channel.chunks, count, planned);
    channel.granule = 1;
  }
  return channels;
}

}  // namespace tutti::core::nccl
