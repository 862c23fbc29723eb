#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/network/path.h"
#include "sim/engine/event_queue.h"
#include "sim/network/fair_share.h"

namespace tutti::sim {

/// Links of a cluster with fair sharing: paths become routes of FairShare, and its end times become
/// events.
///
/// All flows that start at one moment are admitted together, by an event that comes after all
/// others of that moment. After that, one event is pending for the next end of a flow; if another
/// flow starts before, that event is outdated and ignored.
class FairLinks {
 public:
  explicit FairLinks(const core::Cluster& cluster);

  /// A part of a path without staging, whose links are used at the same time, at one rate.
  struct Stretch {
    /// If set, the stretch is not a flow but a host's threads, which serve one message after the
    /// other: for the time per message, and with `with_bytes` also for its bytes.
    const core::HostEndpoint* host = nullptr;
    core::ResourceId resource = -1;
    bool with_bytes = false;

    FairShare::Route route = 0;
    std::vector<core::LinkId> links;
    core::Bandwidth alone;  ///< the rate of a message without competing traffic
    core::Time latency;     ///< latency from the end of this stretch to the next one
  };
  struct Way {
    std::vector<Stretch> stretches;
    std::vector<core::Time> lags;  ///< by receiver: delay after the end of the last stretch
    std::size_t leaves = 0;  ///< index of the first flow, after which the sender's buffer is free
  };
  /// REQUIRES: the path has hops.
  const Way& way(std::int32_t path, const core::PathBook& paths);

  void start(FairShare::Route route, core::Bytes bytes, std::uint32_t message, core::Time now,
             EventQueue& events);

  /// Sets the share of its bandwidth that the link has from now on.
  void set_share(core::LinkId id, std::int64_t share_ppm, core::Time now, EventQueue& events);

  /// False if the event is outdated; it is then ignored.
  [[nodiscard]] bool is_due(const Event& event) const { return event.a == stamp_; }
  struct Done {
    std::uint32_t message = 0;
    core::LinkId bottleneck = -1;
  };
  /// Admits the flows that started at `now`; returns those that have ended.
  const std::vector<Done>& settle(core::Time now);
  /// Pushes the event for the next end, if there is one.
  void wake(EventQueue& events);

 private:
  FairShare::Link link(core::LinkId id);
  FairShare::Link threads(core::ResourceId id, const core::HostEndpoint& host);
  void ask_to_settle(core::Time now, EventQueue& events);
  FairShare::Route route(const Stretch& stretch, std::vector<FairShare::Link> links,
                         core::Bandwidth narrowest);

  const core::Cluster& cluster_;
  FairShare share_;
  std::unordered_map<core::ResourceId, FairShare::Link>
      links_;  ///< the links and hosts' threads that were used
  std::vector<core::LinkId> ids_;
  std::vector<Way> ways_;  ///< by number of the path
  core::Time awaited_ = core::kNever;
  std::uint32_t stamp_ = 0;
  std::vector<FairShare::Done> ended_;
  std::vector<Done> done_;
};

}  // namespace tutti::sim
