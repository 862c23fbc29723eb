#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gui/documents/sweep_data.h"

namespace tutti::gui {

/// Reads a sweep's file in a thread. Until all points are completed, rereads the file whenever
/// another program or thread has added results to it.
class SweepReader : public QObject {
  Q_OBJECT

 public:
  explicit SweepReader(QObject* parent = nullptr) : QObject(parent) {}
  ~SweepReader() override { stop(); }

  /// Starts to follow a file. After each change, read() or failed() is emitted. Until the new file
  /// is read, the object continues to follow the previous file.
  void follow(const QString& path);
  /// Stops. After this call, no signal is emitted.
  void stop();
  /// Adds measured runs to the file. If a run was added, read() is emitted. The signal joined() is
  /// emitted in all cases, after read(). REQUIRES: follow() was called.
  void join(const QStringList& timelines);

 signals:
  void read(std::shared_ptr<const tutti::gui::SweepData> data);
  /// Emitted when the file cannot be read or reread.
  void failed(const QString& why);
  /// Emitted when join() has ended, with the reason for each run that could not be added.
  void joined(const QStringList& wrong);

 private:
  /// The state that is shared by the reading thread and the thread of this object.
  struct SharedState {
    std::mutex mutex;
    std::condition_variable news;
    bool stopped = false;              ///< guarded by `mutex`
    std::vector<std::string> to_join;  ///< guarded by `mutex`
  };
  void work(const std::string& path, const std::shared_ptr<SharedState>& course);

  std::shared_ptr<SharedState> course_;
  std::jthread thread_;
};

}  // namespace tutti::gui
