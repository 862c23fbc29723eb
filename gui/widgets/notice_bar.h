#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;

namespace tutti::gui {

/// A bar above a document that shows a message: an offer with a button, such as an offer to reload
/// the document, or a report of an error. The bar is hidden until there is a message, and does not
/// interrupt the user.
class NoticeBar : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Shows a message with a button that calls `what` and hides the message.
  void offer(const QString& text, const QString& button, const std::function<void()>& what);
  /// Shows an error message without an offer.
  void report(const QString& text);
  /// Hides an error message. An offer stays.
  void hide_report();
  /// Returns true if the bar shows an offer.
  [[nodiscard]] bool offers() const { return isVisible() && what_; }
  [[nodiscard]] QString text() const;
  [[nodiscard]] QPushButton& button() { return *button_; }

 private:
  QLabel* text_;
  QPushButton* button_;
  QPushButton* ignore_;
  std::function<void()> what_;
};

}  // namespace tutti::gui
