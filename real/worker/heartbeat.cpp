#include "real/worker/heartbeat.h"

#include <signal.h>

#include <utility>

#include "real/proto/run.pb.h"

namespace tutti::real {

Heartbeat::Heartbeat(ControlChannel& channel, std::chrono::milliseconds interval)
    : channel_(channel), interval_(interval) {
  // Block signals in this thread, so that Ctrl-C is delivered to the thread that has to end the
  // work.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { beat(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Heartbeat::now_doing(std::string what) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(what);
}

std::string Heartbeat::doing() const {
  const std::lock_guard lock(mutex_);
  return doing_;
}

void Heartbeat::set_standstill(std::optional<std::chrono::steady_clock::time_point> since,
                               std::string where) {
  const std::lock_guard lock(mutex_);
  still_since_ = since;
  stands_ = std::move(where);
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, interval_, [this] { return over_; })) {
    proto::Control alive;
    alive.mutable_alive()->set_doing(doing_);
    if (still_since_) {
      const std::chrono::nanoseconds still = std::chrono::steady_clock::now() - *still_since_;
      alive.mutable_alive()->set_still_ns(still.count());
      alive.mutable_alive()->set_stands(stands_);
    }
    lock.unlock();
    // A failure is ignored, because the main thread detects that the coordinator is gone.
    static_cast<void>(channel_.send(alive));
    lock.lock();
  }
}

}  // namespace tutti::real
