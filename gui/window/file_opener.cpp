#include "gui/window/file_opener.h"

#include <QFileInfo>

#include "gui/documents/file_kind.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

/// Adds to the error of a file that does not exist that a run may be writing it now. A run writes
/// its timeline to a file with the ending ".part", and renames it when it is complete.
static core::Error explained(const core::Error& error, const QString& path) {
  const QString part = path + QStringLiteral(".part");
  if (QFileInfo::exists(path) || !QFileInfo::exists(part)) return error;
  return core::Error::request(error.message() + "; a run may be writing it now: open " +
                              QFileInfo(part).fileName().toStdString() +
                              " to see the training steps so far");
}

void FileOpener::stop() {
  if (cancel_) *cancel_ = true;
  if (thread_.joinable()) thread_.join();
}

void FileOpener::open(const QString& path, Wanted wanted) {
  stop();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  thread_ = std::jthread([this, path, wanted, cancel = cancel_] { read(path, wanted, cancel); });
}

/// Reads the file, in the opener's thread.
void FileOpener::read(const QString& path, Wanted wanted,
                      const std::shared_ptr<std::atomic<bool>>& cancel) {
  const auto report_unless_stopped = [&](auto what) {
    tell(this, [cancel, what] {
      if (!*cancel) what();
    });
  };
  const auto fail = [&](const core::Error& error) {
    report_unless_stopped([this, why = QString::fromStdString(explained(error, path).message())] {
      emit failed(why);
    });
  };
  const auto thrown = guarded([&] {
    const auto kind = file_kind(path.toStdString());
    if (!kind) return fail(kind.error());
    if (wanted == Wanted::kAnything && *kind == FileKind::kScenario) {
      const auto file = ScenarioBytes::read(QFileInfo(path).absoluteFilePath());
      if (!file) return fail(file.error());
      return report_unless_stopped([this, file = *file] { emit scenario_read(file); });
    }
    if (wanted == Wanted::kAnything && *kind == FileKind::kSweep)
      return report_unless_stopped(
          [this, path] { emit sweep_found(QFileInfo(path).absoluteFilePath()); });
    OpenControl control;
    control.cancel = cancel.get();
    std::atomic<int> told = 0;
    control.progress = [&](double share) {
      const int now = static_cast<int>(share * 100);
      int before = told.load();
      if (now > before && told.compare_exchange_strong(before, now))
        report_unless_stopped([this, now] { emit progress(now); });
    };
    const auto trace = Trace::open(path.toStdString(), control);
    if (!trace) return fail(trace.error());
    report_unless_stopped([this, path, trace = *trace] { emit opened(trace, path); });
  });
  if (thrown) fail(core::Error::run(path.toStdString() + ": " + thrown->message()));
}

}  // namespace tutti::gui
