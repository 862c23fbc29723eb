#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/network/path.h"
#include "sim/engine/event_queue.h"
#include "sim/network/fair_share.h"

namespace tutti::sim {

/// The links of a cluster in the network model `fair`. Converts paths to routes of FairShare, and
/// adds events for the ends of flows.
///
/// Flows that start at the same time are added together, by an event that is handled after all
/// other events of that time. While there are flows, one event is pending for the time at which the
/// next flow ends. If another flow starts before this time, the event becomes outdated and is
/// ignored.
class FairLinks {
 public:
  explicit FairLinks(const core::Cluster& cluster);

  /// A part of a path in which no hop waits for the whole message before it forwards the message. A
  /// message uses all links of the segment at the same time, with the same rate.
  struct PathSegment {
    /// If not null, the segment is not a flow but represents the threads of a host, which serve
    /// messages in order of arrival. The threads spend the overhead per message on each message
    /// and, if `with_bytes` is true, also the time to process the message's bytes.
    const core::HostEndpoint* host = nullptr;
    core::ResourceId resource = -1;
    bool with_bytes = false;

    FairShare::Route route = 0;
    std::vector<core::LinkId> links;
    core::Bandwidth alone;  ///< the rate of a message without competing traffic
    core::Time latency;     ///< latency between the end of this segment and the beginning of the
                            ///< next one
  };
  struct Way {
    std::vector<PathSegment> segments;
    std::vector<core::Time> lags;  ///< for each receiver, the latency between the end of the last
                                   ///< flow and the arrival
    /// The index of the path's first segment that is a flow. The sender's buffer becomes free when
    /// this flow ends.
    std::size_t leaves = 0;
  };
  /// REQUIRES: the path has hops.
  const Way& way(std::int32_t path, const core::PathTable& paths);

  void start(FairShare::Route route, core::Bytes bytes, std::uint32_t message, core::Time now,
             EventQueue& events);

  /// Sets the link's bandwidth from `now` on, in millionths of its full bandwidth.
  void set_share(core::LinkId id, std::int64_t share_ppm, core::Time now, EventQueue& events);

  /// Returns false if the event is outdated and must be ignored.
  [[nodiscard]] bool is_due(const Event& event) const { return event.a == stamp_; }
  struct Done {
    std::uint32_t message = 0;
    core::LinkId bottleneck = -1;
  };
  /// Adds the flows that started at `now`, and returns the flows that have ended.
  const std::vector<Done>& update(core::Time now);
  /// Adds an event for the next end of a flow, unless there are no flows.
  void wake(EventQueue& events);

 private:
  FairShare::Link link(core::LinkId id);
  FairShare::Link threads(core::ResourceId id, const core::HostEndpoint& host);
  void schedule_admission(core::Time now, EventQueue& events);
  FairShare::Route route(const PathSegment& segment, std::vector<FairShare::Link> links,
                         core::Bandwidth narrowest);

  const core::Cluster& cluster_;
  FairShare share_;
  /// The links and the threads of hosts that were used so far, as links of FairShare.
  std::unordered_map<core::ResourceId, FairShare::Link> links_;
  std::vector<core::LinkId> ids_;
  std::vector<Way> ways_;  ///< indexed by the number of the path
  core::Time awaited_ = core::kNever;
  std::uint32_t stamp_ = 0;
  std::vector<FairShare::Done> ended_;
  std::vector<Done> done_;
};

}  // namespace tutti::sim
