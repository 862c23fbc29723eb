#include "real/process/busy_thread.h"

#include <ctime>

namespace tutti::real {
namespace {

/// Returns the total time for which the calling thread has run on a core.
std::chrono::nanoseconds core_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

BusyThread::BusyThread() : thread_([this] { work(); }) {}

BusyThread::~BusyThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

BusyThread::Job BusyThread::begin(std::chrono::nanoseconds core_time) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace_back(++last_, core_time);
  changed_.notify_one();
  return last_;
}

std::optional<BusyThread::Done> BusyThread::take(Job job) {
  const std::lock_guard lock(mutex_);
  const auto found = done_.extract(job);
  if (found.empty()) return std::nullopt;
  return found.mapped();
}

void BusyThread::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    const auto [job, length] = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    Done done;
    done.start = Clock::now();
    const std::chrono::nanoseconds until = core_time() + length;
    bool stopped = false;
    for (int looks = 0; core_time() < until && !stopped; ++looks) {
      volatile double sum = 1;
      for (int i = 0; i < 200; ++i) sum = sum * 1.000001;
      if (looks % 1024 != 0) continue;
      const std::lock_guard look(mutex_);
      stopped = ends_;
    }
    done.end = Clock::now();
    lock.lock();
    done_[job] = done;
  }
}

}  // namespace tutti::real
