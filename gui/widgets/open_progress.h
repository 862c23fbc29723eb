#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace tutti::gui {

/// A box that shows the progress of opening a file, over the middle of its parent widget. The box
/// appears only if opening takes longer than a moment. Its button, and Esc, cancel opening.
class OpenProgress : public QFrame {
  Q_OBJECT

 public:
  /// REQUIRES: `parent` is the widget over which the box appears.
  explicit OpenProgress(QWidget* parent);

  /// Must be called when opening begins. The box appears a moment later. `text`: describes what is
  /// opened.
  void begin(const QString& text);
  void set_percent(int percent);
  /// Must be called when opening has ended. Hides the box.
  void end();
  /// Returns true between begin() and end().
  [[nodiscard]] bool is_active() const { return active_; }
  [[nodiscard]] QString text() const;

 signals:
  void cancel_wanted();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void place();

  QLabel* text_;
  QProgressBar* bar_;
  QTimer appear_;
  bool active_ = false;
};

}  // namespace tutti::gui
