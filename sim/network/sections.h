#pragma once

// Splits paths into sections, each of which a message passes with a single event. Resource B is *in
// line* behind resource A if all messages that use B come from A, with the same latency. B then
// serves messages in the same order as A. The times at which a message's head and tail leave A
// therefore determine the times at which they leave B. A section consists of resources that are in
// line. One event handles a message's whole passage through a section, when the message's head
// reaches the section's first resource. For example, in a ring over machines with one network card
// each, all links between two machines form one section, so a message needs one event instead of
// four.
//
// Inside a section, a link that is at least as fast as the previous one never delays a message,
// because messages leave the previous link at sufficient intervals. For such a link, only the
// latency and the load are stored. The resources of a section at which messages may wait are called
// legs.

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "core/network/path.h"
#include "sim/device/server.h"
#include "sim/network/link_health.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// The sections of all paths that are chains of hops, for the network models fifo and ideal.
class Sections {
 public:
  /// Before expect_no_other() is called, every resource is a section of its own. REQUIRES: `health`
  /// outlives this object.
  Sections(core::ResourceId resources, LinkHealth& health, LinkRange binned);

  /// Announces that messages will use a path.
  void expect(const core::Path& path);
  /// Announces that the resource will also be occupied by something other than messages.
  void expect_occupation(core::ResourceId resource);
  /// Announces that no message will use any other path.
  void expect_no_other() { complete_ = true; }

  static constexpr std::uint32_t kNone = ~0U;

  struct Section {
    std::uint32_t first_leg = 0;
    std::uint32_t end_leg = 0;
    std::uint32_t first_crossing = 0;
    std::uint32_t end_crossing = 0;
    bool received = false;  ///< true if the section begins in the receiver's worker (core::PathHop)
    /// True if a message enters the section only when all its bytes have arrived.
    bool staged = false;
    /// True if the load of each message is recorded with its time; false if only total loads are
    /// recorded.
    bool in_detail = false;
    core::Bytes carried;  ///< if `in_detail` is false: bytes that passed since the last call of
                          ///< flush_loads()
  };
  /// Returns the position of the path's first section in a list that contains the sections of all
  /// paths one after the other. at() returns the section at a position, and is_last() is true at
  /// the path's last position.
  /// REQUIRES: the path is a chain with hops.
  std::uint32_t first_place(std::int32_t path_id, const core::Path& path) {
    const std::size_t index = path_id;
    if (index >= first_place_.size()) first_place_.resize(index + 1, kUnknown);
    if (first_place_[index] == kUnknown) split(index, path);
    return first_place_[index];
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t place) const { return places_[place] & ~kLast; }
  [[nodiscard]] bool is_last(std::uint32_t place) const { return (places_[place] & kLast) != 0; }
  /// Returns the path's only section; kNone if the path has several sections or is not a chain.
  std::uint32_t only_section(std::int32_t path_id, const core::PathTable& paths) {
    const std::size_t index = path_id;
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
  /// Returns the first resource of the section. The resource serves messages in the order in which
  /// their heads arrive.
  [[nodiscard]] core::ResourceId first_resource(std::uint32_t id) const {
    return legs_[sections_[id].first_leg].resource;
  }

  struct Passage {
    core::Time began;  ///< time at which the first byte entered the first resource
    /// The time at which the last byte left the first resource; kNever if its link is down and
    /// stays down.
    core::Time left;
    /// True if the message never arrives, because a link of the section is down and stays down.
    bool lost = false;
    /// The time at which the head reaches the end of the section, including the last latency.
    core::Time head;
    core::Time tail;
    core::Time queued;  ///< longest wait of the head
    core::LinkId queued_at = -1;
  };
  /// Moves a message through a section. The message's head reaches the section at `head`, and its
  /// tail at `tail`.
  Passage pass(std::uint32_t section, core::Bytes bytes, core::Time head, core::Time tail,
               std::vector<Server>& resources, LinkLoads& loads);

  /// Adds to `loads` the bytes that sections have counted since the last call of this function.
  void flush_loads(LinkLoads& loads);

 private:
  static constexpr core::ResourceId kNoResource = -1;  ///< no announced path uses the resource
  static constexpr std::uint32_t kUnknown = ~0U - 1;
  static constexpr std::uint32_t kLast = 1U << 31;

  /// A resource of a section at which messages may have to wait.
  struct Leg {
    core::ResourceId resource = 0;
    core::Bandwidth rate;
    core::Time latency;  ///< latency from this leg to the next leg or to the end of the section
    /// The size of the last message, and its transfer time `time`. The size and the time are stored
    /// because consecutive messages usually have the same size.
    core::Bytes bytes{-1};
    core::Time time;
    bool is_link = false;
    bool changes = false;
    bool interleaves = false;
    std::uint8_t host = 0;  ///< 1 + index in hosts_ if the leg represents the threads of a host;
                            ///< otherwise 0

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
  // Legs are small, because different messages access different legs, and all of them should fit
  // into the cache.
  static_assert(sizeof(Leg) == 48);

  /// A link that a section crosses. Messages enter and leave the link later than the leg with index
  /// `leg`, by the time `shift`.
  struct Crossing {
    core::LinkId link = -1;
    std::uint32_t leg = 0;
    core::Time shift;
  };

  /// The resource that all messages use immediately before a given resource, and the latency
  /// between the two.
  struct Before {
    core::ResourceId resource = kNoResource;
    core::Time latency;
    bool operator==(const Before&) const = default;
  };

  /// The key of a section. Paths with the same first and last resource share a section, because all
  /// messages inside a section come from its first resource. The key includes the rates and the
  /// last latency, because the rates and latencies of ports may differ between paths.
  struct Ends {
    core::ResourceId first = 0, last = 0;
    core::Bandwidth first_rate, last_rate;
    core::Time last_latency;
    bool received = false;
    bool staged = false;
    bool interleaves = false;
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
  std::vector<Before> before_;               ///< for each resource, the resource before it
  std::vector<std::uint32_t> first_place_;   ///< by number of the path
  std::vector<std::uint32_t> only_section_;  ///< by number of the path
  /// The sections of all paths, one path after the other. kLast marks the last section of each
  /// path.
  std::vector<std::uint32_t> places_;
  std::map<Ends, std::uint32_t> known_;
  std::vector<Section> sections_;
  std::vector<Leg> legs_;
  std::vector<const core::HostEndpoint*> hosts_;  ///< the distinct kinds of host threads; their
                                                  ///< number is small
  std::vector<Crossing> crossings_;
};

}  // namespace tutti::sim
