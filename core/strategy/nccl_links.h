#pragma once

// The links that a collective of NCCL uses, and the bytes on each of them.
//
// The time model (core/nccl/time) predicts two numbers: the bytes that the busiest GPU sends to
// other GPUs of its node, and the bytes that leave the busiest node. The links that these bytes
// cross follow from the machine files: the bytes go along the rings of NCCL's channels or, for
// sends and receives, from every sender to every receiver. Two kinds of routes are specific to
// NCCL.
// - PXN: a message to a GPU of another node first goes over NVLink to the GPU next to the network
//   card on the receiver's rail. The message leaves the node through that card.
// - NVB: a message between two GPUs of a node that share no NVLink goes through the memory of a
//   participating GPU that has NVLinks to both GPUs.
//
// If NVLinks connect pairs of GPUs, the bytes on each NVLink depend on the orders in which rings
// visit the GPUs. If these orders are unknown, the bytes that leave a GPU are divided among all its
// NVLinks to participating GPUs, in proportion to the links' rates. The resulting bound is that of
// the cut around a GPU, which holds for any order.
//
// The bytes on a link also give a lower bound: a collective takes at least as long as its busiest
// link needs for its bytes.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/nccl/collective_time.h"
#include "core/network/link_use.h"
#include "core/network/path.h"
#include "core/strategy/collective.h"

namespace tutti::core {

class NcclLinks {
 public:
  /// Determines the links of a collective. `group` is the collective's own group, or another group
  /// that executes the same collective. REQUIRES: collective.nccl is set.
  NcclLinks(const Collective& collective, const Group& group, const PathTable& paths);

  /// Returns how long each resource is busy if the collective takes `time`. For the busiest link of
  /// a GPU and for the busiest card, the result is the time that the time model predicts. For every
  /// other link or card, the busy time is proportional to the load, but at least the transfer time
  /// of the bytes. For a link that belongs neither to a GPU nor to a card, the busy time is the
  /// transfer time of the bytes.
  [[nodiscard]] std::vector<LinkUse> uses(const nccl::CollectiveTime& time) const;

  /// The busiest link, and the minimum time for its bytes.
  struct Busiest {
    Time least;
    LinkId link = -1;
    bool of_device = false;  ///< true for a link of a single GPU and for the port of a network
                             ///< card; the time model has parameters for such links
  };
  /// Returns the busiest link inside nodes, or the busiest port of a network card if that port is
  /// busier. Links between switches of the network do not count.
  [[nodiscard]] Busiest busiest(const nccl::CollectiveTime& time) const;

  /// The number of links and other resources that the collective can use.
  [[nodiscard]] std::size_t size() const { return used_links_.size(); }

  /// The kind of link between the GPUs of a worker.
  [[nodiscard]] LinkKind inside() const { return inside_; }

  bool operator==(const NcclLinks&) const = default;

 private:
  enum class Part : std::uint8_t { kInside, kPort, kSwitches, kBetween };

  struct UsedLink {
    ResourceId resource = -1;
    LinkId link = -1;
    Bandwidth rate;
    Bandwidth ceiling;  ///< the bandwidth that no traffic on the link can exceed
    bool of_device = false;
    int cards_of_gpu = 1;  ///< for links of a network card: the number of cards of a GPU; NCCL's
                           ///< channels distribute the GPU's data over all its cards, but the
                           ///< schedule uses only one of them
    Part part = Part::kBetween;
    double near = 0;  ///< elements that this link carries to ranks of the same worker, per round of
                      ///< the schedule
    double far = 0;   ///< elements that this link carries to ranks of other workers, per round of
                      ///< the schedule
    bool operator==(const UsedLink&) const = default;
  };
  class Adder;
  /// The bytes that cross a link or port: those that stay on the worker, and those from or to other
  /// workers.
  struct Load {
    double near = 0;
    double far = 0;
  };

  [[nodiscard]] Load load_of(const UsedLink& used, const nccl::CollectiveTime& time) const;
  [[nodiscard]] static Time min_of(const UsedLink& used, const Load& load);

  std::vector<UsedLink> used_links_;
  LinkKind inside_ = LinkKind::kPcie;
  double most_of_gpu_ = 0;  ///< largest number of elements that a rank sends to other ranks of its
                            ///< worker, or receives from them
  /// The largest number of elements that a worker sends to other workers, or receives from them.
  double most_of_worker_ = 0;
};

/// A lower bound on the time of one kind of collective, for any number of identical machines. The
/// bytes on every link are proportional to the bytes that the time model states, so the loads are
/// computed only once, for two machines.
class NcclLinkBound {
 public:
  /// Computes the loads of all links. `network` connects the machines; nullopt if it is unknown.
  /// REQUIRES: NCCL treats each machine as one node.
  NcclLinkBound(std::shared_ptr<const Machine> machine, const std::optional<Network>& network,
                const std::shared_ptr<const nccl::Communicator>& communicator, CollectiveKind kind,
                Rank root);

  /// If `time` is below the lower bound, raises it to the bound. REQUIRES: `time` belongs to a
  /// collective of this kind on these ranks.
  void apply(nccl::CollectiveTime& time) const;

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const NcclLinks> by_channels_;  ///< links that rings and sends use
  std::shared_ptr<const NcclLinks> by_trees_;     ///< links that trees use
  std::shared_ptr<const NcclLinks>
      by_heads_;  ///< links that are used by NVLS and by reductions in the network
};

}  // namespace tutti::core
