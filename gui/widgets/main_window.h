#pragma once

#include <QMainWindow>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "gui/model/describe.h"
#include "gui/model/search.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/timeline_view.h"

class QLabel;
class QLineEdit;
class QProgressBar;
class QStackedWidget;
class QTableWidget;

namespace tutti::gui {

/// The window: a timeline with what is known of it around it. Opening reads in a thread of its own; whoever closes the
/// window meanwhile, or opens something else, stops that.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();
  ~MainWindow() override;

  /// Begins to open a timeline; opened() or failed() follows.
  void open(const QString& path);
  [[nodiscard]] const Actions& actions_of() const { return actions_; }
  [[nodiscard]] TimelineView& timeline() { return *view_; }
  [[nodiscard]] QString status_text() const;
  void set_dark(bool dark);

 signals:
  void opened();
  void failed(const QString& why);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void make_actions();
  void make_docks();
  QWidget* make_welcome();
  void choose_file();
  void stop_opening();
  void show_trace(const std::shared_ptr<const Trace>& trace, const QString& path);
  void tell(const QString& text);
  void update_details();
  void update_numbers();
  void update_cursor(qint64 picoseconds);
  void find(bool forward);
  void export_picture(const QString& path);
  void export_numbers(const QString& path);
  void remember(const QString& path);
  void fill_recent();
  void show_help();

  Actions actions_{this};
  QStackedWidget* stack_;
  TimelineView* view_;
  OverviewStrip* overview_;
  QLineEdit* search_;
  QLineEdit* filter_;
  QTableWidget* details_;
  QTableWidget* numbers_;
  QLabel* where_;
  QProgressBar* progress_;
  QMenu* recent_ = nullptr;
  bool dark_ = false;
  QString path_;
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::jthread opening_;
};

}  // namespace tutti::gui
