#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/documents/sweep_order.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace tutti::gui {

/// The form for a new sweep. The user enters fields of a scenario with the values to try, as for
/// `tutti sweep --over`, and the results file.
class SweepForm : public QWidget {
  Q_OBJECT

 public:
  explicit SweepForm(QWidget* parent = nullptr);

  /// Starts a form for a scenario. Input fields that the user has filled in keep their content.
  /// `set`: overrides of the scenario. `file`: the results file.
  void start(const std::string& text, const std::string& path, const std::vector<std::string>& set,
             const QString& file);
  /// Replaces the rows of the form by these fields and their values.
  void set_fields(const std::vector<std::pair<QString, QString>>& fields);
  void set_search(bool search);
  [[nodiscard]] QLineEdit& file() { return *file_; }
  /// Returns the sweep that the form describes. ERRORS (kRequest): a field or value is invalid; no
  /// field varies.
  [[nodiscard]] core::Expected<SweepOrder> order() const;
  /// Returns the message below the form: the number of points, or the error.
  [[nodiscard]] QString words() const;

 signals:
  void run_wanted();
  void closed();

 private:
  struct Row {
    QWidget* widget = nullptr;
    QComboBox* field = nullptr;
    QLineEdit* values = nullptr;
  };
  void add_row(const QString& field, const QString& values);
  void remove_row(const QWidget* widget);
  void check();
  void choose_file();

  std::string text_, path_;
  std::vector<std::string> set_;
  QLabel* title_;
  QVBoxLayout* list_;
  std::vector<Row> rows_;
  QComboBox* mode_;
  QSpinBox* evaluations_;
  QLineEdit* file_;
  QLabel* words_;
  QPushButton* run_;
};

}  // namespace tutti::gui
