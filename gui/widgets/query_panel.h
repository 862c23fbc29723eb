#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <string>

#include "core/query/timeline_query.h"
#include "gui/trace/trace.h"
#include "gui/widgets/background_task.h"

class QLabel;
class QPlainTextEdit;
class QTableWidget;
class QPushButton;
class QToolButton;

namespace tutti::gui {

class Actions;
class TimelineView;

/// The panel for SQL queries about the timeline. The result is a table that can be sorted and
/// copied. A row with a column `span_id` selects that span in the timeline; a row with the columns
/// `start_us` and `end_us` selects that range. Queries run in a thread, and can be stopped.
class QueryPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit QueryPanel(TimelineView& view);

  void add_actions(Actions& actions);
  void set_query(const QString& sql);
  void run();
  void stop();
  /// Waits until the result of the running query is shown. Processes events meanwhile, so the user
  /// can stop the query. If the program is about to end, stops the query.
  void wait();
  [[nodiscard]] bool is_running() const { return task_.running(); }
  /// Saves the query under a name, or replaces the saved query with this name.
  void save(const QString& name);
  /// Removes the saved query with this name.
  void forget(const QString& name);
  /// Returns the names of the saved queries.
  static QStringList saved();

  [[nodiscard]] QTableWidget& table() { return *table_; }
  [[nodiscard]] QPlainTextEdit& text() { return *text_; }
  /// Returns the line below the query: the number of rows, or the error.
  [[nodiscard]] QString message() const;
  /// Returns true if the last query failed.
  [[nodiscard]] bool failed() const { return failed_; }

 signals:
  /// Emitted when a query has ended, and its result or its error is shown.
  void answered();
  /// Emitted by the action that begins a query, to make the panel visible.
  void query_wanted();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// The timelines of a query. The traces own the readers.
  struct Source {
    std::shared_ptr<const Trace> trace;
    core::TimelineQuery query;
  };
  struct Answer {
    core::QueryResult result;
    double seconds = 0;
  };

  [[nodiscard]] std::shared_ptr<const Source> source();
  void fill_menus();
  void ask_for_name();
  void take_answer(const core::Expected<Answer>& answer);
  void show_answer(const Answer& answer);
  void show_error(const QString& text);
  void show_message(const QString& text, bool wrong);
  void show_running();
  /// Removes the rows and the message of the last query.
  void clear_answer();
  void go_to(int row);
  [[nodiscard]] std::optional<SpanId> span_of(std::int64_t id) const;

  TimelineView& view_;
  QPlainTextEdit* text_;
  QPushButton *queries_, *tables_;  ///< buttons with menus
  QToolButton *save_, *stop_, *run_;
  QLabel* message_;
  QTableWidget* table_;
  std::shared_ptr<const Source> source_;  ///< the timelines of the table's rows
  /// The indices of the columns `span_id`, `start_us` and `end_us` of the result; -1: the result
  /// has no such column.
  int span_column_ = -1, start_column_ = -1, end_column_ = -1;
  bool filling_ = false;
  bool failed_ = false;
  BackgroundTask<Answer> task_{
      *this, [this](const core::Expected<Answer>& answer) { take_answer(answer); }};
};

}  // namespace tutti::gui
