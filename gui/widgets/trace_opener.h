#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <thread>

#include "gui/model/trace.h"

namespace tutti::gui {

/// Reads timelines in a thread of its own. Whoever opens something else meanwhile, or ends it, stops that.
class TraceOpener : public QObject {
  Q_OBJECT

 public:
  explicit TraceOpener(QObject* parent = nullptr) : QObject(parent) {}
  ~TraceOpener() override { stop(); }

  /// Begins; opened() or failed() follows, by the thread that this belongs to.
  void open(const QString& path);
  /// Neither follows any more.
  void stop();

 signals:
  void progress(int percent);
  void opened(std::shared_ptr<const tutti::gui::Trace> trace, const QString& path);
  void failed(const QString& why);

 private:
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::jthread thread_;
};

}  // namespace tutti::gui
