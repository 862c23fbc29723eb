#include "gui/widgets/trace_opener.h"

#include "gui/widgets/tell.h"

namespace tutti::gui {

void TraceOpener::stop() {
  if (cancel_) *cancel_ = true;
  if (thread_.joinable()) thread_.join();
}

void TraceOpener::open(const QString& path) {
  stop();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  thread_ = std::jthread([this, path, cancel = cancel_] {
    const auto tell_unless_stopped = [&](auto what) {
      tell(this, [cancel, what] {
        if (!*cancel) what();
      });
    };
    OpenControl control;
    control.cancel = cancel.get();
    std::atomic<int> told = 0;
    control.progress = [&](double share) {
      const int now = static_cast<int>(share * 100);
      int before = told.load();
      if (now > before && told.compare_exchange_strong(before, now))
        tell_unless_stopped([this, now] { emit progress(now); });
    };
    const auto trace = Trace::open(path.toStdString(), control);
    tell_unless_stopped([this, path, trace] {
      if (trace) return emit opened(*trace, path);
      emit failed(QString::fromStdString(trace.error().message()));
    });
  });
}

}  // namespace tutti::gui
