#include "sim/network/link_loads.h"

#include <algorithm>
#include <limits>

namespace tutti::sim {

using core::Bytes;
using core::LinkId;
using core::Time;
using core::Wide;

void LinkLoads::add(LinkId link, Bytes bytes, Time start, Time end) {
  Bytes& total = totals_.carried[link];
  total = Bytes(core::saturating_sum(total.count(), bytes.count()));
  if (link < binned_.first || link >= binned_.end || bytes.count() == 0) return;
  if (end.count() > width_.count() * kBins) widen(end);
  std::vector<std::int64_t>& bins = bins_[link - binned_.first];
  if (bins.empty()) bins.assign(kBins, 0);
  const std::int64_t first = start / width_;
  const std::int64_t last = std::min<std::int64_t>(
      kBins - 1, end.count() > start.count() ? (end.count() - 1) / width_.count() : first);
  if (first >= last) {
    std::int64_t& bin = bins[std::min<std::int64_t>(first, kBins - 1)];
    bin = core::saturating_sum(bin, bytes.count());
    return;
  }
  // Cumulative numbers of bytes are rounded, and each bin gets the difference of two of them. The
  // sum over all bins is therefore exact.
  std::int64_t given = 0;
  const auto length = static_cast<Wide>((end - start).count());
  for (std::int64_t bin = first; bin <= last; ++bin) {
    const Time upto = std::min(end, (bin + 1) * width_);
    const auto due = static_cast<std::int64_t>(static_cast<Wide>(bytes.count()) *
                                               static_cast<Wide>((upto - start).count()) / length);
    bins[bin] = core::saturating_sum(bins[bin], due - given);
    given = due;
  }
}

void LinkLoads::add_occupation(LinkId link, Bytes bytes, Time busy, Time start, Time end) {
  add(link, bytes, start, end);
  add_held_total(link, bytes, busy);
}

void LinkLoads::add_held_total(LinkId link, Bytes bytes, Time busy) {
  if (totals_.occupied.empty()) totals_.occupied.resize(totals_.carried.size());
  Occupied& occupied = totals_.occupied[link];
  occupied.bytes = Bytes(core::saturating_sum(occupied.bytes.count(), bytes.count()));
  occupied.busy = Time(core::saturating_sum(occupied.busy.count(), busy.count()));
}

void LinkLoads::add_again(const Totals& before, std::int64_t times) {
  const auto more = [&](std::int64_t now, std::int64_t then) {
    const Wide all = static_cast<Wide>(now - then) * static_cast<Wide>(times);
    return static_cast<std::int64_t>(
        std::min(all, static_cast<Wide>(std::numeric_limits<std::int64_t>::max())));
  };
  for (std::size_t i = 0; i < before.carried.size(); ++i) {
    const auto link = static_cast<LinkId>(i);
    const std::int64_t carried = more(total(link).count(), before.carried[i].count());
    const Occupied then = before.occupied.empty() ? Occupied{} : before.occupied[i];
    const std::int64_t bytes = more(occupied(link).bytes.count(), then.bytes.count());
    const std::int64_t busy = more(occupied(link).busy.count(), then.busy.count());
    if (carried > 0) add(link, Bytes(carried), Time(), Time());
    if (bytes > 0 || busy > 0) add_held_total(link, Bytes(bytes), Time(busy));
  }
}

void LinkLoads::widen(Time end) {
  while (end.count() > width_.count() * kBins) {
    width_ = 2 * width_;
    for (std::vector<std::int64_t>& bins : bins_) {
      if (bins.empty()) continue;
      for (std::size_t i = 0; i < kBins / 2; ++i)
        bins[i] = core::saturating_sum(bins[2 * i], bins[2 * i + 1]);
      std::fill(bins.begin() + kBins / 2, bins.end(), 0);
    }
  }
}

const std::vector<std::int64_t>& LinkLoads::bins(LinkId link) const {
  static const std::vector<std::int64_t> kNone;
  return link >= binned_.first && link < binned_.end ? bins_[link - binned_.first] : kNone;
}

}  // namespace tutti::sim
