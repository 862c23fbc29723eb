#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <thread>

#include "gui/editor/scenario_file.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// Looks at files in a thread of its own, so that the window waits for no disk, and reads them. Whoever opens something else
/// meanwhile, or ends it, stops that.
class FileOpener : public QObject {
  Q_OBJECT

 public:
  explicit FileOpener(QObject* parent = nullptr) : QObject(parent) {}
  ~FileOpener() override { stop(); }

  enum class Wanted { kTimeline, kAnything };
  /// Begins; opened(), scenario_read(), sweep_found() or failed() follows, by the thread that this belongs to.
  void open(const QString& path, Wanted wanted = Wanted::kTimeline);
  /// None of them follows any more.
  void stop();

 signals:
  void progress(int percent);
  void opened(std::shared_ptr<const tutti::gui::Trace> trace, const QString& path);
  void scenario_read(const tutti::gui::ScenarioBytes& file);
  /// It is one of a sweep, to be read by whoever follows it.
  void sweep_found(const QString& path);
  void failed(const QString& why);

 private:
  void read(const QString& path, Wanted wanted, const std::shared_ptr<std::atomic<bool>>& cancel);

  std::shared_ptr<std::atomic<bool>> cancel_;
  std::jthread thread_;
};

}  // namespace tutti::gui
