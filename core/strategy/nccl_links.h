#pragma once

// The links that a collective of NCCL's goes over, and what each of them carries.
//
// The time model (core/nccl/time) knows how many bytes leave the busiest GPU for others of its node, and how many leave the busiest node. Which links those
// cross follows from the routes of the machines' files: along the rings of NCCL's channels, and for sends and receives from every sender to every receiver.
// Two routes are NCCL's own:
//   PXN  what is sent to a GPU of another node goes by NVLink to the GPU beside the card on the receiver's rail, and leaves there
//   NVB  between two GPUs of a node without an NVLink of their own it goes through the memory of a GPU that has one to both
// From the bytes follows a bound: no collective is over before its busiest link can have carried them.

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
  /// `group`: the collective's own, or another that executes the same. REQUIRES: collective.nccl is set.
  NcclLinks(const Collective& collective, const Group& group, PathBook& paths);

  /// What all its data has of each resource, if it takes what `time` says. A GPU's links and the cards are busy for as long as the time model says, by
  /// their part of what the busiest of them carries, but never for less than their bytes take; what lies between them is busy for as long as the bytes take.
  [[nodiscard]] std::vector<LinkUse> uses(const nccl::CollectiveTime& time) const;

  /// The busiest link, and the least time in which it can carry its bytes.
  struct Busiest {
    Time least;
    LinkId link = -1;
    bool of_device = false;  ///< a GPU's own link, or a card's port: the time model has figures for it
  };
  /// Of the links inside nodes and the cards' ports; what lies between the ports of a fabric is left out.
  [[nodiscard]] Busiest busiest(const nccl::CollectiveTime& time) const;

  /// What joins the GPUs of a worker.
  [[nodiscard]] LinkKind inside() const { return inside_; }

  bool operator==(const NcclLinks&) const = default;

 private:
  enum class Part : std::uint8_t { kInside, kPort, kSwitches, kOnTheWay };

  struct Place {
    ResourceId resource = -1;
    LinkId link = -1;
    Bandwidth rate;
    Bandwidth ceiling;  ///< what the link cannot exceed
    bool of_device = false;
    Part part = Part::kOnTheWay;
    double near = 0;  ///< elements of one round, to ranks of the same worker
    double far = 0;   ///< … of others
    bool operator==(const Place&) const = default;
  };
  /// What one place carries, bytes.
  struct Load {
    double near = 0;
    double far = 0;
  };

  [[nodiscard]] Part part_of(LinkId link, bool far, const Cluster& cluster) const;
  [[nodiscard]] Load load_of(const Place& place, const nccl::CollectiveTime& time) const;
  [[nodiscard]] static Time least_of(const Place& place, const Load& load);

  std::vector<Place> places_;
  LinkKind inside_ = LinkKind::kPcie;
  double most_of_gpu_ = 0;     ///< elements that a rank sends to others of its worker, or gets from them
  double most_of_worker_ = 0;  ///< to others, or from them
};

/// How many rings stand for the ways of a collective that NCCL does by `choice` between `gpus` of every worker: as many
/// as it has channels, each of which leaves a node by one network card. Nothing: all that the machine's file has. Where
/// that has none, and where data does not go by channels (NVLS, a network that reduces), one leaves from every GPU.
std::optional<int> channels_of_ways(const nccl::Communicator& communicator, const std::optional<nccl::Choice>& choice,
                                    const Cluster& cluster, int gpus, bool across_workers);

/// The bound of one kind of collective on machines that are all alike, whatever their number: what links carry is in proportion to what the time model says, so
/// that two of them say it for any number.
class NcclLinkBound {
 public:
  /// `network`: what joins the machines, if that is known. REQUIRES: every machine is one node to NCCL.
  NcclLinkBound(std::shared_ptr<const Machine> machine, const std::optional<Network>& network,
                const std::shared_ptr<const nccl::Communicator>& communicator, CollectiveKind kind, Rank root);

  /// Has the collective take no less than its links need. It must be of the kind and between the ranks given.
  void apply(nccl::CollectiveTime& time) const;

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const NcclLinks> by_channels_;  ///< of what goes by rings and trees, and of sends
  std::shared_ptr<const NcclLinks> by_heads_;     ///< of NVLS and networks that reduce
};

}  // namespace tutti::core
