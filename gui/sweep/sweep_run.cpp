#include "gui/sweep/sweep_run.h"

#include <QElapsedTimer>

#include "core/base/time_left.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

void SweepRun::stop_and_wait() {
  cancel_ = true;
  ++number_;
  if (thread_.joinable()) thread_.join();
}

void SweepRun::start(const SweepRunner& runner, const SweepOrder& order,
                     const core::Library& library) {
  cancel_ = false;
  const std::int64_t number = ++number_;
  thread_ = std::jthread([this, runner, order, library, number] {
    constexpr qint64 kTellEveryMs = 100;
    const auto say = [&](auto what) {
      tell(this, [this, number, what] {
        if (number == number_) what();
      });
    };
    QElapsedTimer since, told;
    since.start();
    core::TimeLeft left;
    SweepWatch watch;
    watch.cancel = &cancel_;
    watch.begun = [&] {
      say([this, file = QString::fromStdString(order.file)] { emit begun(file); });
    };
    watch.progress = [&](double share) {
      if (told.isValid() && told.elapsed() < kTellEveryMs) return;
      told.start();
      const QString words = (order.search ? tr("searching %1") : tr("sweeping %1"))
                                .arg(QString::fromStdString(
                                    left.text(share, static_cast<double>(since.elapsed()) / 1e3)));
      say([this, words, share] { emit progress(words, share); });
    };
    Result result;
    const auto thrown = guarded([&] {
      const auto all = runner(order, library, watch);
      if (all) {
        result.all = *all;
      } else {
        result.error = all.error();
      }
    });
    if (thrown) result.error = thrown;
    say([this, result] {
      thread_.join();
      emit ended(result);
    });
  });
}

}  // namespace tutti::gui
