#pragma once

// The links that a collective of NCCL uses, and the bytes that cross each link.
//
// The time model (core/nccl/time) gives two numbers: the bytes that the busiest GPU sends to other
// GPUs of its node, and the bytes that leave the busiest node. The routes in the machine files
// determine the links that these bytes cross: along the rings of NCCL's channels or, for sends and
// receives, from every sender to every receiver. Two kinds of routes are specific to NCCL.
// - PXN: a message to a GPU of another node first goes over NVLink to the GPU next to the network
//   card on the receiver's rail. The message leaves the node through that card.
// - NVB: a message between two GPUs of a node that share no NVLink goes through the memory of a GPU
//   that has NVLinks to both GPUs. The bytes also give a lower bound: a collective takes at least
//   as long as its busiest link needs to transfer its bytes.

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
  /// Finds the links of a collective. `group` is the group of the collective, or another group that
  /// executes the same collective. REQUIRES: collective.nccl is set.
  NcclLinks(const Collective& collective, const Group& group, const PathTable& paths);

  /// Returns the use of each resource if the collective takes `time`. The busiest link of a GPU and
  /// the busiest card are busy for the time that the time model predicts. If another link or card
  /// is less busy, its busy time is proportional to its load, but at least the transfer time of its
  /// bytes. A link that belongs neither to a GPU nor to a network card is busy for the transfer
  /// time of its bytes.
  [[nodiscard]] std::vector<LinkUse> uses(const nccl::CollectiveTime& time) const;

  /// The busiest link, and the minimum time that it needs to transfer its bytes.
  struct Busiest {
    Time least;
    LinkId link = -1;
    bool of_device = false;  ///< true for a GPU's own link or a network card's port, for which the
                             ///< time model has parameters
  };
  /// Returns the busiest link among the links inside nodes and the ports of network cards. Links
  /// between switches of the network are ignored.
  [[nodiscard]] Busiest busiest(const nccl::CollectiveTime& time) const;

  /// The number of links and other resources that the collective can use.
  [[nodiscard]] std::size_t size() const { return places_.size(); }

  /// The kind of link between the GPUs of a worker.
  [[nodiscard]] LinkKind inside() const { return inside_; }

  bool operator==(const NcclLinks&) const = default;

 private:
  enum class Part : std::uint8_t { kInside, kPort, kSwitches, kBetween };

  struct Place {
    ResourceId resource = -1;
    LinkId link = -1;
    Bandwidth rate;
    Bandwidth ceiling;  ///< the bandwidth that the link cannot exceed
    bool of_device = false;
    Part part = Part::kBetween;
    double near = 0;  ///< elements per round to ranks of the same worker
    double far = 0;   ///< elements per round to ranks of other workers
    bool operator==(const Place&) const = default;
  };
  class Adder;
  /// The load of one place in bytes.
  struct Load {
    double near = 0;
    double far = 0;
  };

  [[nodiscard]] Load load_of(const Place& place, const nccl::CollectiveTime& time) const;
  [[nodiscard]] static Time min_of(const Place& place, const Load& load);

  std::vector<Place> places_;
  LinkKind inside_ = LinkKind::kPcie;
  double most_of_gpu_ = 0;  ///< maximum number of elements that a rank sends to, or receives from,
                            ///< other ranks of its worker
  /// The maximum number of elements that a worker sends to, or receives from, other workers.
  double most_of_worker_ = 0;
};

/// Returns the number of rings that represent the routes of a collective that NCCL executes with
/// `choice` between `gpus` GPUs of every worker. If data follows channels (rings, trees), there is
/// one ring per channel, and each ring leaves a node through one network card. nullopt: all rings
/// of the machine's file. If data does not follow channels (NVLS, networks that reduce, sends) and
/// the file has no rings, there is one ring per GPU.
std::optional<int> channels_of_ways(const nccl::Communicator& communicator,
                                    const std::optional<nccl::Choice>& choice,
                                    const Cluster& cluster, int gpus, bool across_workers);

/// The lower bound of one kind of collective on any number of identical machines. Two machines
/// suffice to compute the bytes on links, because these bytes are proportional to the bytes that
/// the time model gives.
class NcclLinkBound {
 public:
  /// Computes the loads of the links. `network` is the network between the machines; nullopt if it
  /// is unknown.
  /// REQUIRES: NCCL treats every machine as one node.
  NcclLinkBound(std::shared_ptr<const Machine> machine, const std::optional<Network>& network,
                const std::shared_ptr<const nccl::Communicator>& communicator, CollectiveKind kind,
                Rank root);

  /// Raises `time` to the lower bound if `time` is below the bound. REQUIRES: `time` is the time of
  /// a collective of this kind on these ranks.
  void apply(nccl::CollectiveTime& time) const;

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const NcclLinks> by_channels_;  ///< the links of rings, trees and sends
  std::shared_ptr<const NcclLinks> by_heads_;     ///< the links of NVLS and of networks that reduce
};

}  // namespace tutti::core
