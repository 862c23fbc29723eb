#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gui/model/backend.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QToolButton;

namespace tutti::gui {

/// What runs a scenario, and how far it is. What this machine does not have is grey, with the reason; that is found out in a
/// thread, since looking for GPUs takes a while.
class RunBar : public QWidget {
  Q_OBJECT

 public:
  explicit RunBar(std::vector<Backend> backends, QWidget* parent = nullptr);
  ~RunBar() override;

  /// The chosen one; null if there is none, or it cannot be used (why() says so).
  [[nodiscard]] const Backend* backend() const;
  [[nodiscard]] QString why() const;
  void choose(const std::string& id);
  /// What is said about a backend: "" while it is not known, or if it can be used.
  [[nodiscard]] QString missing(const std::string& id) const;

  void show_title(const QString& title);
  void show_running(bool running);
  void show_progress(const QString& words, double share);
  /// How the last run ended.
  void show_words(const QString& words);
  [[nodiscard]] QString words() const;

 signals:
  void run_wanted();
  void stop_wanted();
  /// It is known which backends can be used.
  void looked();

 private:
  void look(const std::vector<std::string>& missing);

  std::vector<Backend> backends_;
  std::vector<std::string> missing_;
  QComboBox* choice_;
  QToolButton* run_;
  QToolButton* stop_;
  QProgressBar* progress_;
  QLabel* words_;
  QLabel* title_;
  std::jthread looking_;
};

}  // namespace tutti::gui
