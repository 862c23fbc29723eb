#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/network/path.h"
#include "sim/engine/event_queue.h"
#include "sim/network/fair_share.h"

namespace tutti::sim {

/// The links of a cluster as messages share them fairly: paths become routes of FairShare, and its time becomes events.
///
/// All that starts at one moment is let in together, by an event that comes after all others of that moment. After that
/// one event waits for the next flow to end; when something starts before, it is out of date and passes unheeded.
class FairLinks {
 public:
  explicit FairLinks(const core::Cluster& cluster);

  /// A part of a path without staging: its links are used at the same time, at one rate.
  struct Stretch {
    /// Not a flow but threads that serve one message after the other, for that time alone or for its bytes as well.
    const core::HostEndpoint* host = nullptr;
    core::ResourceId resource = -1;
    bool with_bytes = false;

    FairShare::Route route = 0;
    std::vector<core::LinkId> links;
    core::Bandwidth alone;  ///< what a message gets that has nobody beside it
    core::Time latency;     ///< from its end to the beginning of the next stretch
  };
  struct Way {
    std::vector<Stretch> stretches;
    std::vector<core::Time> lags;  ///< from the end of the last stretch to each receiver
    std::size_t leaves = 0;        ///< the stretch after which the sender's buffer is free: its first flow
  };
  /// REQUIRES: the path has hops.
  const Way& way(std::int32_t path, const core::PathBook& paths);

  void start(FairShare::Route route, core::Bytes bytes, std::uint32_t message, core::Time now, EventQueue& events);

  /// The link carries this share of its bandwidth from now on.
  void set_share(core::LinkId id, std::int64_t share_ppm, core::Time now, EventQueue& events);

  /// The event stands for what is to be done now; if not, it is to be ignored.
  [[nodiscard]] bool is_due(const Event& event) const { return event.a == stamp_; }
  struct Done {
    std::uint32_t message = 0;
    core::LinkId bottleneck = -1;
  };
  /// Lets in what started at `now`; answers what has ended.
  const std::vector<Done>& settle(core::Time now);
  /// Pushes the event for the next end, if there is one.
  void wake(EventQueue& events);

 private:
  FairShare::Link link(core::LinkId id);
  FairShare::Link threads(core::ResourceId id, const core::HostEndpoint& host);
  void ask_to_settle(core::Time now, EventQueue& events);
  FairShare::Route route(const Stretch& stretch, std::vector<FairShare::Link> links, core::Bandwidth narrowest);

  const core::Cluster& cluster_;
  FairShare share_;
  std::unordered_map<core::ResourceId, FairShare::Link> links_;  ///< links and hosts' threads that were used
  std::vector<core::LinkId> ids_;
  std::vector<Way> ways_;  ///< by path
  core::Time awaited_ = core::kNever;
  std::uint32_t stamp_ = 0;
  std::vector<FairShare::Done> ended_;
  std::vector<Done> done_;
};

}  // namespace tutti::sim
