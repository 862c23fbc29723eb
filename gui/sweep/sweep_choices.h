#pragma once

#include <QWidget>
#include <vector>

#include "gui/documents/sweep_curves.h"

class QComboBox;
class QGridLayout;

namespace tutti::gui {

/// The controls with which the user configures the plot of a sweep. The user chooses the cost, the
/// field of the x axis, and the field for which the plot has one line per value. For each remaining
/// field, the user chooses one value, or the best value.
class SweepChoices : public QWidget {
  Q_OBJECT

 public:
  explicit SweepChoices(QWidget* parent = nullptr);

  /// Shows this choice of settings. `drawn` has the curves that the plot shows for this choice.
  void show_choice(const SweepData& sweep, const SweepCurves& drawn, const SweepChoice& choice);
  [[nodiscard]] const SweepChoice& choice() const { return choice_; }
  void set(const SweepChoice& choice);
  /// Switches the scale of an axis to the next scale in the order automatic, linear, logarithmic.
  void next_x_scale();
  void next_y_scale();

 signals:
  void changed();

 private:
  QComboBox* add_choice(const QString& name, const QString& id, int column);
  void show_filters(const SweepCurves& drawn);

  SweepChoice choice_;
  std::vector<SweepField> fields_;
  QGridLayout* grid_;
  QComboBox* cost_;
  QComboBox* x_;
  QComboBox* by_;
  QComboBox* x_scale_;
  QComboBox* y_scale_;
  QWidget* filters_;
};

}  // namespace tutti::gui
