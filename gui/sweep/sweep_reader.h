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

#include "gui/model/sweep_data.h"

namespace tutti::gui {

/// Reads a sweep's file in a thread of its own, and again whenever another program, or another thread of this one, has added to it,
/// until all of its points are there.
class SweepReader : public QObject {
  Q_OBJECT

 public:
  explicit SweepReader(QObject* parent = nullptr) : QObject(parent) {}
  ~SweepReader() override { stop(); }

  /// Begins; read() follows again and again, or failed(). What was read before goes on until then.
  void follow(const QString& path);
  /// Nothing follows any more.
  void stop();
  /// Puts runs that were measured into the file; joined() follows, after read() if there was one to be joined. REQUIRES: follow().
  void join(const QStringList& timelines);

 signals:
  void read(std::shared_ptr<const tutti::gui::SweepData> data);
  /// It cannot be read (any longer).
  void failed(const QString& why);
  /// Of those that could not be joined why, a line each.
  void joined(const QStringList& wrong);

 private:
  /// What another thread and this one have in common.
  struct Course {
    std::mutex mutex;
    std::condition_variable news;
    bool stopped = false;              ///< guarded by `mutex`
    std::vector<std::string> to_join;  ///< likewise
  };
  void work(const std::string& path, const std::shared_ptr<Course>& course);

  std::shared_ptr<Course> course_;
  std::jthread thread_;
};

}  // namespace tutti::gui
