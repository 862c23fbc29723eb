#include "core/algorithm/task_order.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "core/base/number.h"

namespace tutti::core {

std::int64_t place_by_name(std::int64_t number, std::int64_t count) {
  TUTTI_CHECK(0 <= number && number < count, "{} of {}", number, count);
  // For each number of digits, count the numbers that sort before `number`. A number with at least
  // as many digits as `number` sorts before it if its leading digits are smaller. A shorter number
  // also sorts before `number` if it is a prefix of `number`.
  std::int64_t longer =
      1;  // 10 to the power of the number of digits that `number` has beyond the current length
  for (std::int64_t rest = number; rest >= 10; rest /= 10) longer *= 10;
  std::int64_t place = 0;
  std::int64_t shift = 1;
  for (std::int64_t first = 0, power = 1; first < count; first = power *= 10) {
    std::int64_t below = 0;
    if (longer > 1) {
      below = number / longer + 1;
      longer /= 10;
    } else {
      below = number * shift;
      shift *= 10;
    }
    const std::int64_t end = std::min(count, power * 10);
    place += std::clamp(below, first, end) - first;
  }
  return place;
}

std::int64_t number_by_name(std::int64_t place, std::int64_t count) {
  TUTTI_CHECK(0 <= place && place < count, "place {} of {}", place, count);
  if (place == 0) return 0;
  std::int64_t number = 1;
  for (std::int64_t left = place - 1; left > 0;) {
    // Count the numbers that begin with the digits of `number`.
    std::int64_t among = 0;
    for (std::int64_t first = number, end = number + 1; first < count; first *= 10, end *= 10)
      among += std::min(end, count) - first;
    if (among <= left) {
      left -= among;
      ++number;
    } else {
      left -= 1;
      number *= 10;
    }
  }
  return number;
}

namespace {

/// Returns the indices of the devices in the requested ring order; empty if the order does not name
/// each device exactly once.
std::vector<int> requested_order(const std::vector<LinkedDevice>& devices,
                                 std::string_view gpu_ring_order) {
  std::vector<int> order;
  if (gpu_ring_order.ends_with(',')) return order;
  while (!gpu_ring_order.empty()) {
    const std::string_view item = gpu_ring_order.substr(0, gpu_ring_order.find(','));
    gpu_ring_order.remove_prefix(std::min(gpu_ring_order.size(), item.size() + 1));
    const auto number = whole_number<int>(item);
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const auto& d) { return d.number == number; });
    if (device == devices.end()) return {};
    const auto place = static_cast<int>(device - devices.begin());
    if (std::find(order.begin(), order.end(), place) != order.end()) return {};
    order.push_back(place);
  }
  return order.size() == devices.size() ? order : std::vector<int>{};
}

}  // namespace

bool names_each_once(const std::vector<LinkedDevice>& devices, std::string_view gpu_ring_order) {
  return !requested_order(devices, gpu_ring_order).empty();
}

std::vector<int> ring_device_order(const std::vector<LinkedDevice>& devices,
                                   std::string_view gpu_ring_order) {
  std::vector<int> places = requested_order(devices, gpu_ring_order);
  std::vector<bool> been(devices.size());
  for (std::size_t next = 0; places.size() < devices.size();) {
    been[next] = true;
    places.push_back(static_cast<int>(next));
    const LinkedDevice::Link* best = nullptr;
    std::size_t best_place = 0;
    for (const LinkedDevice::Link& link : devices[next].links) {
      const auto peer = std::find_if(devices.begin(), devices.end(),
                                     [&](const auto& d) { return d.number == link.peer; });
      const std::size_t place = peer - devices.begin();
      if (peer == devices.end() || been[place] || (best && best->strength >= link.strength))
        continue;
      best = &link;
      best_place = place;
    }
    next =
        best ? best_place
             : static_cast<std::size_t>(std::find(been.begin(), been.end(), false) - been.begin());
  }
  std::vector<int> numbers;
  for (const int place : places) numbers.push_back(devices[place].number);
  return numbers;
}

TaskOrder::TaskOrder(std::int32_t workers, std::vector<std::int32_t> devices, bool by_name)
    : workers_(workers),
      devices_(std::move(devices)),
      place_of_(devices_.size(), -1),
      by_name_(by_name && workers > 10) {
  TUTTI_CHECK(workers >= 1 && !devices_.empty(), "{} workers of {}", workers, devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const std::size_t device = devices_[i];
    TUTTI_CHECK(device < devices_.size() && place_of_[device] < 0, "device {} of {}", device,
                devices_.size());
    place_of_[device] = static_cast<std::int32_t>(i);
  }
}

std::vector<std::int32_t> subdivision_offsets(std::int64_t bytes, std::int64_t group_size,
                                              std::int64_t tasks, std::int64_t max_per_device) {
  constexpr std::int64_t kMaxBytesOfChunk = 4 << 20;
  constexpr std::int64_t kDefaultPerDevice = 2;
  if (max_per_device == -1) return {0};
  const std::int64_t per_task = group_size / tasks;
  const std::int64_t most = (max_per_device > 0 ? max_per_device : kDefaultPerDevice) * per_task;
  std::int64_t count = 1;
  while (bytes / (group_size * count) > kMaxBytesOfChunk && count < most) ++count;
  const std::int64_t stride = std::max<std::int64_t>(1, per_task / count);
  std::vector<std::int32_t> offsets;
  for (std::int64_t s = 0; s < count; ++s)
    offsets.push_back(static_cast<std::int32_t>(s % 2 == 0 ? s * stride : -s * stride));
  return offsets;
}

}  // namespace tutti::core
