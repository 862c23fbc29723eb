#include "sim/network/sections.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {

using core::Bytes;
using core::Path;
using core::PathHop;
using core::ResourceId;
using core::Time;

namespace {

constexpr ResourceId kStart = -2;    // messages come directly from their sender
constexpr ResourceId kSeveral = -3;  // messages come from several resources

}  // namespace

Sections::Sections(ResourceId resources, LinkHealth& health, LinkRange binned)
    : health_(health), binned_(binned.end > binned.first), before_(resources) {}

void Sections::expect(const Path& path) {
  TUTTI_CHECK(!complete_, "a path is announced after the announcements were complete");
  for (std::size_t i = 0; i < path.hops.size(); ++i) {
    const PathHop& hop = path.hops[i];
    Before from{kSeveral, {}};
    if (path.chain && !hop.staged)
      from =
          i == 0 ? Before{kStart, {}} : Before{path.hops[i - 1].resource, path.hops[i - 1].latency};
    Before& before = before_[hop.resource];
    if (before.resource == kNoResource) before = from;
    if (before != from) before.resource = kSeveral;
  }
}

void Sections::expect_occupation(ResourceId resource) {
  TUTTI_CHECK(!complete_, "a resource is held after all paths were announced");
  before_[resource].resource = kSeveral;
}

bool Sections::in_line(const Path& path, std::size_t hop) const {
  return complete_ && before_[path.hops[hop].resource].resource == path.hops[hop - 1].resource;
}

void Sections::split(std::size_t index, const Path& path) {
  first_place_[index] = static_cast<std::uint32_t>(places_.size());
  for (std::size_t begin = 0, end = 0; begin < path.hops.size(); begin = end) {
    for (end = begin + 1; end < path.hops.size() && in_line(path, end);) ++end;
    places_.push_back(section_of(path, begin, end));
  }
  places_.back() |= kLast;
}

/// Returns the section of hops begin … end - 1. Creates the section if it does not exist.
std::uint32_t Sections::section_of(const Path& path, std::size_t begin, std::size_t end) {
  const PathHop& first = path.hops[begin];
  const PathHop& last = path.hops[end - 1];
  const auto [known, fresh] =
      known_.try_emplace({first.resource, last.resource, first.rate, last.rate, last.latency,
                          first.received, first.staged, first.interleaves},
                         static_cast<std::uint32_t>(sections_.size()));
  if (!fresh) return known->second;
  Section section;
  section.first_leg = static_cast<std::uint32_t>(legs_.size());
  section.first_crossing = static_cast<std::uint32_t>(crossings_.size());
  section.received = first.received;
  section.staged = first.staged;
  section.in_detail = binned_;
  for (std::size_t i = begin; i < end; ++i) add_hop(section, path.hops[i], i == begin);
  section.end_leg = static_cast<std::uint32_t>(legs_.size());
  section.end_crossing = static_cast<std::uint32_t>(crossings_.size());
  sections_.push_back(section);
  return known->second;
}

void Sections::add_hop(Section& section, const PathHop& hop, bool first) {
  TUTTI_CHECK(!complete_ || before_[hop.resource].resource != kNoResource,
              "a message uses a path that was not announced");
  const bool changes = hop.is_link && health_.changes(hop.link());
  section.in_detail = section.in_detail || changes;
  // A link does not delay messages if the previous link is at most as fast. Engines and ports may
  // delay messages, because their rates may depend on the path.
  const bool never_waits = !first && hop.is_link && !changes && legs_.back().is_link &&
                           !legs_.back().changes && hop.rate >= legs_.back().rate;
  const Time shift = never_waits ? legs_.back().latency : Time();
  if (never_waits) {
    legs_.back().latency += hop.latency;
  } else {
    Leg leg;
    leg.resource = hop.resource;
    leg.rate = hop.rate;
    leg.latency = hop.latency;
    leg.is_link = hop.is_link;
    leg.changes = changes;
    leg.interleaves = hop.interleaves;
    leg.host = number_of(hop.host);
    legs_.push_back(leg);
  }
  if (hop.is_link)
    crossings_.push_back({hop.link(), static_cast<std::uint32_t>(legs_.size() - 1), shift});
}

/// Returns the number that Leg::host stores for the threads of a host; 0 if `host` is null, as it
/// is for links, ports and engines.
std::uint8_t Sections::number_of(const core::HostEndpoint* host) {
  if (host == nullptr) return 0;
  auto known = std::find(hosts_.begin(), hosts_.end(), host);
  if (known == hosts_.end()) known = hosts_.insert(known, host);
  const std::ptrdiff_t number = known - hosts_.begin() + 1;
  TUTTI_CHECK(number < 256, "{} kinds of hosts' threads", number);
  return static_cast<std::uint8_t>(number);
}

Sections::Passage Sections::pass(std::uint32_t id, Bytes bytes, Time head, Time tail,
                                 std::vector<Server>& resources, LinkLoads& loads) {
  Section& section = sections_[id];
  Passage passage;
  std::uint32_t crossing = section.first_crossing;
  for (std::uint32_t l = section.first_leg; l < section.end_leg; ++l) {
    Leg& leg = legs_[l];
    Server& resource = resources[leg.resource];
    const Time enters = std::max(head, resource.free_at());
    Time leaves;
    Time of_host;
    if (leg.host != 0) {
      const core::HostEndpoint& host = *hosts_[leg.host - 1U];
      of_host = host.per_message;
      leaves = core::later(std::max(core::later(enters, host.moving(bytes)), tail), of_host);
      resource.occupy_until(core::later(enters, host.occupied(bytes)));
    } else {
      const Time through = leg.tail(bytes, enters, health_);
      leaves = std::max(through, tail);
      resource.occupy_until(leg.interleaves ? through : leaves);
    }
    if (l == section.first_leg) {
      passage.began = enters;
      passage.left = leaves;
    }
    if (leaves == core::kNever) {
      passage.lost = true;
      return passage;
    }
    if (enters - head > passage.queued) {
      passage.queued = enters - head;
      passage.queued_at = leg.link();
    }
    if (section.in_detail) {
      for (; crossing < section.end_crossing && crossings_[crossing].leg == l; ++crossing) {
        const Crossing& at = crossings_[crossing];
        loads.add(at.link, bytes, enters + at.shift, leaves + at.shift);
      }
    }
    head = enters + leg.latency;
    if (leg.host != 0) head = core::later(head, of_host);
    tail = leaves + leg.latency;
  }
  if (!section.in_detail)
    section.carried = Bytes(core::saturating_sum(section.carried.count(), bytes.count()));
  passage.head = head;
  passage.tail = tail;
  return passage;
}

void Sections::flush_loads(LinkLoads& loads) {
  for (Section& section : sections_) {
    if (section.carried.count() == 0) continue;
    for (std::uint32_t c = section.first_crossing; c < section.end_crossing; ++c)
      loads.add(crossings_[c].link, section.carried, Time(), Time());
    section.carried = Bytes();
  }
}

}  // namespace tutti::sim
