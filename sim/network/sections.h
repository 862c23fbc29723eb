#pragma once

// Splits paths into sections that a message passes in one event. A resource is reached in line if
// every message that uses it comes from one and the same other resource, with the same latency.
// Messages then come in the order in which the other served them, and the times at which head and
// tail leave the first determine those of the second. So a path is divided into sections, each
// handled in one event, at the time when the message's head reaches the first of its resources.
// (All links of a ring of single cards are one section: one event per message instead of four.)
//
// Inside a section, a link that is as fast as the one before never delays a message, since the one
// before has spread the messages out. Such links are not legs; only their latency and their load
// are kept.

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "core/network/path.h"
#include "sim/device/server.h"
#include "sim/network/link_health.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// The paths that are chains of hops, divided into sections (fifo and ideal).
class Sections {
 public:
  /// No resource is in line unless all paths are announced before the first message is sent.
  /// REQUIRES: `health` outlives it.
  Sections(core::ResourceId resources, LinkHealth& health, LinkRange binned);

  /// Announces a path of messages.
  void expect(const core::Path& path);
  /// The resource is also occupied by uses other than messages.
  void expect_held(core::ResourceId resource);
  /// No message is sent along any other path.
  void expect_no_other() { complete_ = true; }

  static constexpr std::uint32_t kNone = ~0U;

  struct Section {
    std::uint32_t first_leg = 0;
    std::uint32_t end_leg = 0;
    std::uint32_t first_crossing = 0;
    std::uint32_t end_crossing = 0;
    bool received = false;  ///< the section begins in the receiver's worker (core::PathHop)
    /// The section begins when the whole message has arrived, not only its head.
    bool staged = false;
    bool in_detail = false;  ///< true: the load of each crossing is recorded separately
    core::Bytes carried;     ///< if not `in_detail`: the bytes over each crossing
  };
  /// Returns the first index of the path's list of sections: at() of it and of those after it, up
  /// to is_last(). REQUIRES: a chain with hops.
  std::uint32_t first_place(std::int32_t path_id, const core::Path& path) {
    const auto index = static_cast<std::size_t>(path_id);
    if (index >= first_place_.size()) first_place_.resize(index + 1, kUnknown);
    if (first_place_[index] == kUnknown) split(index, path);
    return first_place_[index];
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t place) const { return places_[place] & ~kLast; }
  [[nodiscard]] bool is_last(std::uint32_t place) const { return (places_[place] & kLast) != 0; }
  /// Returns the path's section if that is all that a message on it needs; otherwise kNone.
  std::uint32_t only_section(std::int32_t path_id, const core::PathBook& paths) {
    const auto index = static_cast<std::size_t>(path_id);
    if (index < only_section_.size() && only_section_[index] != kUnknown)
      return only_section_[index];
    const core::Path& path = paths.path(path_id);
    if (index >= only_section_.size()) only_section_.resize(index + 1, kUnknown);
    only_section_[index] = kNone;
    if (!path.chain || path.hops.empty() || !path.silent_links.empty()) return kNone;
    const std::uint32_t place = first_place(path_id, path);
    return only_section_[index] = is_last(place) ? at(place) : kNone;
  }
  [[nodiscard]] const Section& section(std::uint32_t id) const { return sections_[id]; }
  /// Returns the resource at which messages arrive in the order of their heads.
  [[nodiscard]] core::ResourceId first_resource(std::uint32_t id) const {
    return legs_[sections_[id].first_leg].resource;
  }

  struct Passage {
    core::Time began;   ///< when the first byte entered the first resource
    core::Time left;    ///< when the last byte left the first resource; kNever: its link is down
    bool lost = false;  ///< a link on the path is down, so the message never arrives
    /// When the head reaches the end of the section, including its last latency.
    core::Time head;
    core::Time tail;
    core::Time queued;  ///< longest wait of the head
    core::LinkId queued_at = -1;
  };
  /// Passes a message through a section, which its head reaches at `head` and its tail at `tail`.
  Passage pass(std::uint32_t section, core::Bytes bytes, core::Time head, core::Time tail,
               std::vector<Server>& resources, LinkLoads& loads);

  /// Adds to `loads` what was only counted so far.
  void settle(LinkLoads& loads);

 private:
  static constexpr core::ResourceId kNobody = -1;  ///< marks a resource that no path uses
  static constexpr std::uint32_t kUnknown = ~0U - 1;
  static constexpr std::uint32_t kLast = 1U << 31;

  /// A resource where messages may have to wait.
  struct Leg {
    core::ResourceId resource = 0;
    core::Bandwidth rate;
    core::Time latency;  ///< latency to the next leg, or to the end of the section
    /// Size of the last request, cached with its `time`, since sizes seldom change.
    core::Bytes bytes{-1};
    core::Time time;
    bool is_link = false;
    bool changes = false;
    bool unheld = false;
    std::uint8_t host = 0;  ///< 0: not a host's threads; else 1 + index in hosts_

    [[nodiscard]] core::LinkId link() const { return is_link ? resource : -1; }
    core::Time tail(core::Bytes of, core::Time head, LinkHealth& health) {
      if (changes) return health.tail(link(), of, rate, head);
      if (of != bytes) {
        bytes = of;
        time = transfer_time(of, rate);
      }
      return core::later(head, time);
    }
  };
  static_assert(sizeof(Leg) == 48);  // many are looked up, each by another message

  /// A link that a section crosses, `shift` later than its leg.
  struct Crossing {
    core::LinkId link = -1;
    std::uint32_t leg = 0;
    core::Time shift;
  };

  /// The only resource from which messages come to another, and the latency between them.
  struct Before {
    core::ResourceId resource = kNobody;
    core::Time latency;
    bool operator==(const Before&) const = default;
  };

  /// The key of a section. Paths that are in line between the same ends share the section, since
  /// inside it everything comes from one resource. (Rates and the last latency are included because
  /// a path may have its own at ports.)
  struct Ends {
    core::ResourceId first = 0, last = 0;
    core::Bandwidth first_rate, last_rate;
    core::Time last_latency;
    bool received = false;
    bool staged = false;
    bool unheld = false;
    auto operator<=>(const Ends&) const = default;
  };

  void split(std::size_t index, const core::Path& path);
  std::uint32_t section_of(const core::Path& path, std::size_t begin, std::size_t end);
  void add_hop(Section& section, const core::PathHop& hop, bool first);
  [[nodiscard]] bool in_line(const core::Path& path, std::size_t hop) const;
  std::uint8_t number_of(const core::HostEndpoint* host);

  LinkHealth& health_;
  bool binned_;
  bool complete_ = false;
  std::vector<Before> before_;               ///< by resource
  std::vector<std::uint32_t> first_place_;   ///< by number of the path
  std::vector<std::uint32_t> only_section_;  ///< by number of the path
  std::vector<std::uint32_t>
      places_;  ///< the lists of sections of all paths, concatenated; each ends with kLast
  std::map<Ends, std::uint32_t> known_;
  std::vector<Section> sections_;
  std::vector<Leg> legs_;
  std::vector<const core::HostEndpoint*> hosts_;  ///< the few different kinds of host threads
  std::vector<Crossing> crossings_;
};

}  // namespace tutti::sim
