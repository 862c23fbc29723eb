#pragma once

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

/// Computes the content of a panel in a thread, one computation at a time. The result arrives in
/// the owner's thread through the event loop. Exceptions of the computation arrive as errors.
///
/// A computation that is no longer needed can end in two ways. stop() ends it early and still
/// delivers its result, such as the error "stopped". drop() ends it early and delivers nothing; it
/// does not wait for the thread, so the user interface stays responsive.
///
/// All functions are called in the owner's thread. `Result` has a default constructor.
template <class Result>
class BackgroundTask {
 public:
  /// Returns a result or an error. Returns early if `stop` becomes true.
  using Compute = std::function<core::Expected<Result>(const std::atomic<bool>& stop)>;
  using Take = std::function<void(core::Expected<Result> result)>;

  /// REQUIRES: `owner` outlives the task. `take` receives the results.
  BackgroundTask(QObject& owner, Take take) : owner_(owner), take_(std::move(take)) {}
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask() { drop_and_wait(); }

  /// Starts a computation. Drops the previous computation, and waits for its thread.
  void begin(Compute compute) {
    drop_and_wait();
    run_ = std::make_shared<Run>();
    thread_ = std::jthread([this, compute = std::move(compute), run = run_] {
      const auto thrown = guarded([&] { run->result = compute(run->stop); });
      if (thrown) run->result = tl::make_unexpected(*thrown);
      // The result of a computation that was replaced may still be in the event queue.
      tell(&owner_, [this, run] {
        if (run == run_) finish();
      });
    });
  }
  void stop() {
    if (run_) run_->stop = true;
  }
  void drop() {
    stop();
    run_.reset();
  }
  void drop_and_wait() {
    drop();
    if (thread_.joinable()) thread_.join();
  }
  /// Waits for the result and delivers it. Does nothing if no computation is running.
  void finish() {
    if (!run_) return;
    thread_.join();
    take_(std::move(std::exchange(run_, nullptr)->result));
  }
  /// Returns true if a result will be delivered.
  [[nodiscard]] bool running() const { return run_ != nullptr; }

 private:
  struct Run {
    std::atomic<bool> stop = false;
    core::Expected<Result> result;
  };

  QObject& owner_;
  Take take_;
  std::shared_ptr<Run> run_;  ///< the computation whose result is awaited; null: there is none
  std::jthread thread_;       ///< may still be ending a dropped computation
};

}  // namespace tutti::gui
