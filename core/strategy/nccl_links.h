#pragma once

// The links that a collective of NCCL's uses, and the bytes on each of them.
//
// The time model (core/nccl/time) gives the number of bytes that leave the busiest GPU for others
// of its node, and the busiest node. The links that they cross follow from the routes in the
// machine files: along the rings of NCCL's channels and, for sends and receives, from every sender
// to every receiver. Two kinds of routes are specific to NCCL:
// - PXN: a message to a GPU of another node goes over NVLink to the GPU next to the network card on
//   the receiver's rail, and leaves by that card.
// - NVB: a message between two GPUs of a node without a common NVLink goes through the memory of a
//   GPU that has an NVLink to both.
// The bytes give a lower bound: a collective takes at least the transfer time of its busiest link.

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
  /// `group`: the collective's own, or another that executes the same collective. REQUIRES:
  /// collective.nccl is set.
  NcclLinks(const Collective& collective, const Group& group, const PathBook& paths);

  /// Returns the use of each resource by the collective's data if it takes the time `time`. A GPU's
  /// links and the cards are busy in proportion to the busiest of them, which is busy for the time
  /// that the model gives, but at least for the transfer time of their bytes; links in between are
  /// busy for the transfer time of their bytes.
  [[nodiscard]] std::vector<LinkUse> uses(const nccl::CollectiveTime& time) const;

  /// The busiest link, and the least time in which it can carry its bytes.
  struct Busiest {
    Time least;
    LinkId link = -1;
    bool of_device =
        false;  ///< a GPU's own link, or a card's port, for which the time model has parameters
  };
  /// Returns the busiest of the links inside nodes and the cards' ports; links between the ports of
  /// a fabric are ignored.
  [[nodiscard]] Busiest busiest(const nccl::CollectiveTime& time) const;

  /// The kind of link between the GPUs of a worker.
  [[nodiscard]] LinkKind inside() const { return inside_; }

  bool operator==(const NcclLinks&) const = default;

 private:
  enum class Part : std::uint8_t { kInside, kPort, kSwitches, kOnTheWay };

  struct Place {
    ResourceId resource = -1;
    LinkId link = -1;
    Bandwidth rate;
    Bandwidth ceiling;  ///< the bandwidth that the link cannot exceed
    bool of_device = false;
    Part part = Part::kOnTheWay;
    double near = 0;  ///< elements per round to ranks of the same worker
    double far = 0;   ///< elements per round to ranks of other workers
    bool operator==(const Place&) const = default;
  };
  class Adder;
  /// The load of one place, in bytes.
  struct Load {
    double near = 0;
    double far = 0;
  };

  [[nodiscard]] Load load_of(const Place& place, const nccl::CollectiveTime& time) const;
  [[nodiscard]] static Time min_of(const Place& place, const Load& load);

  std::vector<Place> places_;
  LinkKind inside_ = LinkKind::kPcie;
  double most_of_gpu_ = 0;  ///< largest number of elements that a rank sends to, or receives from,
                            ///< others of its worker
  double most_of_worker_ = 0;  ///< largest number of elements that a worker sends to, or receives
                               ///< from, others
};

/// Returns the number of rings that represent the routes of a collective that NCCL executes by
/// `choice` between `gpus` of every worker: one per channel, each of which leaves a node by one
/// network card. nullopt: all rings of the machine's file. If the file has none, or data does not
/// use channels (NVLS, a network that reduces), one ring leaves from every GPU.
std::optional<int> channels_of_ways(const nccl::Communicator& communicator,
                                    const std::optional<nccl::Choice>& choice,
                                    const Cluster& cluster, int gpus, bool across_workers);

/// The lower bound of one kind of collective on identical machines, for any number of them: the
/// bytes on links are proportional to the figures of the time model, so the loads of two machines
/// suffice.
class NcclLinkBound {
 public:
  /// `network`: the network between the machines, if known. REQUIRES: every machine is one node to
  /// NCCL.
  NcclLinkBound(std::shared_ptr<const Machine> machine, const std::optional<Network>& network,
                const std::shared_ptr<const nccl::Communicator>& communicator, CollectiveKind kind,
                Rank root);

  /// Raises the collective's time to the bound. It must be of the given kind, between the given
  /// ranks.
  void apply(nccl::CollectiveTime& time) const;

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const NcclLinks>
      by_channels_;  ///< for algorithms with rings and trees, and for sends
  std::shared_ptr<const NcclLinks> by_heads_;  ///< for NVLS, and for networks that reduce
};

}  // namespace tutti::core
