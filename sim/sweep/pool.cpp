#include "sim/sweep/pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace tutti::sim {
namespace {

/// The interval at which the caller's thread checks for a request to stop.
constexpr auto kLook = std::chrono::milliseconds(50);

/// If threads are not done this long after a request to stop, the caller is informed.
constexpr auto kLate = std::chrono::milliseconds(500);

}  // namespace

bool run_pool(const PoolWork& work) {
  const std::size_t count = work.points.size();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable news;
  std::deque<std::pair<std::int64_t, core::Outcome>> done;
  std::size_t working = 0;
  std::exception_ptr thrown;
  std::atomic<bool> ended{false};  // no further points are begun

  const auto evaluate_points = [&] {
    for (std::size_t i = next++; i < count && !stop.load() && !ended.load(); i = next++) {
      auto outcome = work.work(work.points[i], stop);
      if (!outcome) break;
      const std::lock_guard lock(mutex);
      done.emplace_back(work.points[i], std::move(*outcome));
      news.notify_one();
    }
  };
  const auto worker = [&] {
    std::exception_ptr failure;
    try {
      evaluate_points();
    } catch (...) {  // an exception that leaves a thread would end the process
      failure = std::current_exception();
      ended.store(true);
    }
    const std::lock_guard lock(mutex);
    if (!thrown) thrown = failure;
    --working;
    news.notify_one();
  };

  std::vector<std::jthread> threads;
  working = std::min(count, static_cast<std::size_t>(std::max(1, work.threads)));
  for (std::size_t t = working; t > 0; --t) {
    try {
      threads.emplace_back(worker);
    } catch (const std::system_error&) {
      // The system does not allow another thread (ulimit -u). The threads that are already running
      // do all of the work or, if there are none, this thread does.
      {
        const std::lock_guard lock(mutex);
        working -= threads.empty() ? t - 1 : t;
      }
      if (threads.empty()) worker();
      break;
    }
  }

  std::size_t taken = 0;
  bool wanted = true;
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> stop_requested;  // when the caller requested a stop
  bool informed = !work.waiting;
  std::unique_lock lock(mutex);
  while (working > 0 || !done.empty()) {
    news.wait_for(lock, kLook, [&] { return !done.empty() || working == 0; });
    auto some = std::exchange(done, {});
    lock.unlock();
    for (const auto& [point, outcome] : some) {
      wanted = wanted && work.take(point, outcome);
      if (!wanted) stop.store(true);
      if (wanted) ++taken;
    }
    if (work.stop && work.stop()) {
      stop.store(true);
      if (!stop_requested) stop_requested = Clock::now();
    }
    const bool late = !informed && stop_requested && Clock::now() - *stop_requested >= kLate;
    lock.lock();
    if (!late || working == 0) continue;
    lock.unlock();
    informed = true;
    work.waiting();
    lock.lock();
  }
  lock.unlock();
  if (thrown) std::rethrow_exception(thrown);
  return taken == count;
}

std::vector<std::int64_t> spread_out(std::vector<std::int64_t> points) {
  const auto n = static_cast<std::uint64_t>(points.size());
  if (n < 3) return points;
  // Visit the points with a stride of about 0.618 n, because multiples of the golden ratio are
  // distributed most evenly. The stride has no common divisor with n, so that all points are
  // visited.
  auto stride = static_cast<std::uint64_t>(0.6180339887498949 * static_cast<double>(n));
  while (std::gcd(stride, n) != 1) ++stride;
  std::vector<std::int64_t> ordered;
  ordered.reserve(points.size());
  for (std::uint64_t i = 0, at = 0; i < n; ++i, at = (at + stride) % n)
    ordered.push_back(points[at]);
  return ordered;
}

}  // namespace tutti::sim
