#include "real/emulate/devices.h"

#include <algorithm>
#include <utility>

namespace tutti::real {

using core::Bytes;
using core::Time;

/// Returns the time that one thread of the device takes for the work, at 1/n of the device's rate
/// if the device has n threads.
Time EmulatedDevices::cost(const Work& work, const core::DeviceRates& rates) const {
  const Bytes bytes = work.count * core::size_of(work.type);
  const auto at = [&](std::int64_t times, core::Bandwidth rate) {
    return core::transfer_time(
        times, bytes, core::Bandwidth(std::max<std::int64_t>(1, rate.count() / rates.threads)));
  };
  switch (work.kind) {
    case Work::Kind::kCombine: return at(1, rates.reduce);
    case Work::Kind::kReduce: return at(work.inputs + (work.accumulate ? 1 : 0) - 1, rates.reduce);
    case Work::Kind::kScale:
    case Work::Kind::kCopy: return at(1, rates.copy);
    case Work::Kind::kMove: break;  // only the links take time
  }
  return {};
}

bool EmulatedDevices::perform(const Work& work, Ticket ticket) {
  perform_here(work);
  const core::PartId device = group_.device(work.rank);
  const core::DeviceRates& rates = group_.cluster().part(device).device;
  const Time time = cost(work, rates);
  if (time == Time()) return true;
  std::vector<Clock::time_point>& threads = free_[device];
  threads.resize(rates.threads);
  const auto first = std::min_element(threads.begin(), threads.end());
  *first = later(std::max(*first, timers_.now()), scale_.here(time));
  timers_.at(*first, [this, ticket] { done_.push_back(ticket); });
  return false;
}

core::Expected<void> EmulatedDevices::poll(WorkListener& listener) {
  for (const Ticket ticket : std::exchange(done_, {})) listener.worked(ticket);
  return {};
}

}  // namespace tutti::real
