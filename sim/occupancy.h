#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/nccl/collective_time.h"
#include "core/strategy/collective.h"
#include "sim/network/network.h"

namespace tutti::sim {

/// Where a collective of NCCL's goes: which resources it keeps busy, and in which proportion. By the ways that its schedule sends along, so that it is as
/// good for one worker that stands for all.
class Footprint {
 public:
  /// `group`: its own, or another that carries out the same.
  Footprint(const core::Collective& collective, const core::Group& group, core::PathBook& paths);

  /// What all its data has of each resource, if it takes what the prediction says. Links and cards are kept busy as long as the time model says, by
  /// their part of what the busiest of them carries; what lies on the way and the model does not know as long as the bytes take there.
  [[nodiscard]] std::vector<Network::Hold> holds(const core::nccl::CollectiveTime& time) const;
  /// What joins GPUs of a worker.
  [[nodiscard]] core::LinkKind inside() const { return inside_; }

  bool operator==(const Footprint&) const = default;

 private:
  enum class Part : std::uint8_t { kInside, kPort, kSwitches, kOnTheWay };

  struct Place {
    core::ResourceId resource = -1;
    core::LinkId link = -1;
    core::Bandwidth rate;
    Part part = Part::kOnTheWay;
    double near = 0;  ///< elements of one round, to ranks of the same worker
    double far = 0;   ///< … of others
    bool operator==(const Place&) const = default;
  };

  [[nodiscard]] Part part_of(core::LinkId link, bool far, const core::Cluster& cluster) const;

  std::vector<Place> places_;
  core::LinkKind inside_ = core::LinkKind::kPcie;
  double most_near_ = 0;       ///< over one place inside
  double most_far_ = 0;        ///< over one port
  double most_of_worker_ = 0;  ///< to others, or from them
};

}  // namespace tutti::sim
