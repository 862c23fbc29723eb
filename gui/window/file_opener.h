#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <thread>

#include "gui/editor/scenario_file.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Detects the kind of a file, and reads the file in a thread, so that the window does not wait for
/// the disk. Calling stop(), or opening another file, cancels the read.
class FileOpener : public QObject {
  Q_OBJECT

 public:
  explicit FileOpener(QObject* parent = nullptr) : QObject(parent) {}
  ~FileOpener() override { stop(); }

  enum class Wanted { kTimeline, kAnything };
  /// Starts to open a file. One of the signals opened(), scenario_read(), sweep_found() and
  /// failed() follows, in the thread of this object.
  void open(const QString& path, Wanted wanted = Wanted::kTimeline);
  /// Cancels opening. No signal is emitted after this call.
  void stop();

 signals:
  void progress(int percent);
  void opened(std::shared_ptr<const tutti::gui::Trace> trace, const QString& path);
  void scenario_read(const tutti::gui::ScenarioBytes& file);
  /// Emitted if the file is a sweep. This class does not read sweeps; SweepReader does.
  void sweep_found(const QString& path);
  void failed(const QString& why);

 private:
  void read(const QString& path, Wanted wanted, const std::shared_ptr<std::atomic<bool>>& cancel);

  std::shared_ptr<std::atomic<bool>> cancel_;
  std::jthread thread_;
};

}  // namespace tutti::gui
