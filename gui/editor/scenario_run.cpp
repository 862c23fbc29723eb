#include "gui/editor/scenario_run.h"

#include <cstdio>
#include <exception>
#include <fstream>

#include "core/base/time_left.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

using core::Error;

void ScenarioRun::stop_and_wait() {
  cancel_ = true;
  ++number_;
  if (thread_.joinable()) thread_.join();
}

void ScenarioRun::start(const Order& order) {
  cancel_ = false;
  const std::int64_t number = ++number_;
  thread_ = std::jthread([this, order, number] {
    constexpr qint64 kTellEveryMs = 100;
    QElapsedTimer since, told;
    since.start();
    core::TimeLeft left;
    core::RunControl control;
    control.cancel = &cancel_;
    control.progress = [&](double share) {
      if (told.isValid() && told.elapsed() < kTellEveryMs) return;
      told.start();
      const QString words = QString::fromStdString(
          order.backend.doing + ' ' + left.text(share, static_cast<double>(since.elapsed()) / 1e3));
      tell(this, [this, number, words, share] {
        if (number == number_) emit progress(words, share);
      });
    };
    Result result;
    if (const auto thrown = guarded([&] { result = run(order, control, cancel_); })) {
      std::remove(order.timeline.c_str());
      result = {{}, thrown, false};
    }
    tell(this, [this, number, result] {
      if (number != number_) return;
      thread_.join();
      emit ended(result);
    });
  });
}

ScenarioRun::Result ScenarioRun::run(const Order& order, const core::RunControl& control,
                                     std::atomic<bool>& cancel) {
  const auto scenario = core::read_scenario(order.text, order.path, order.library, order.changes);
  if (!scenario) return {{}, scenario.error(), false};
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  core::Summary summary;
  std::optional<Error> error;
  bool lost = false;
  {
    std::ofstream file(order.timeline, std::ios::binary | std::ios::trunc);
    core::TimelineWriter writer(file);
    core::TimelineTee tee(summary, writer);
    core::RunControl watched = control;
    watched.progress = [&](double share) {
      // Stop the run as soon as the disk is full, because the failure might otherwise be reported
      // only hours later.
      if (!writer.good()) cancel = true;
      control.progress(share);
    };
    try {
      if (auto ran = order.backend.make()->run(*scenario, record, watched, tee); !ran)
        error = ran.error();
    } catch (const std::bad_alloc&) {
      error = Error::run("out of memory; use fewer workers or training steps");
    }
    file.flush();
    lost = !writer.good() || !file;
  }
  if (lost && !error) error = Error::run(order.timeline + ": cannot be written; is the disk full?");
  if (!lost && !summary.steps().empty())
    return {QString::fromStdString(order.timeline), error, cancel};
  std::remove(order.timeline.c_str());
  return {{}, error, cancel};
}

}  // namespace tutti::gui
