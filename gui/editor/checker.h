#pragma once

#include <QObject>
#include <QTimer>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/scenario/library.h"
#include "gui/documents/scenario_check.h"

namespace tutti::gui {

/// Checks a scenario's text in a separate thread while the user edits it. A check starts a short
/// time after the last change. If several texts wait for a check, only the newest is checked.
class Checker : public QObject {
  Q_OBJECT

 public:
  Checker(core::Library library, core::Schema schema, QObject* parent = nullptr);
  ~Checker() override;

  enum class When { kAtOnce, kAfterAPause };
  /// Starts a check. The signal checked() follows, unless check() is called again before the check
  /// ends.
  void check(const std::string& text, const std::string& path, When when = When::kAfterAPause);

 signals:
  void checked(const tutti::gui::CheckedScenario& result);

 private:
  struct Job {
    std::string text;
    std::string path;
    std::int64_t number = 0;
  };
  void work(const std::stop_token& stop);

  core::Library library_;
  core::Schema schema_;
  QTimer pause_;
  Job next_;
  std::mutex mutex_;
  std::condition_variable_any there_;
  std::optional<Job> waiting_;
  /// The number of the newest check. Used only by the thread to which this object belongs.
  std::int64_t newest_ = 0;
  std::jthread thread_;
};

}  // namespace tutti::gui
