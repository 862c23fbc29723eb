#include "gui/sweep/sweep_choices.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>

#include "core/explore/shown_values.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kFiltersInARow = 2;
/// The maximum number of values in a list that users choose from.
constexpr std::size_t kMaxListed = 2000;

Scale next(Scale scale) {
  return scale == Scale::kAuto     ? Scale::kLinear
         : scale == Scale::kLinear ? Scale::kLogarithmic
                                   : Scale::kAuto;
}

}  // namespace

SweepChoices::SweepChoices(QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)), filters_(new QWidget) {
  grid_->setContentsMargins(6, 4, 6, 2);
  grid_->setVerticalSpacing(2);
  cost_ = add_choice(tr("cost"), QStringLiteral("cost"), 0);
  x_ = add_choice(tr("over"), QStringLiteral("x"), 1);
  by_ = add_choice(tr("a line for each"), QStringLiteral("by"), 2);
  x_scale_ = add_choice(tr("x axis"), QStringLiteral("x scale"), 3);
  y_scale_ = add_choice(tr("y axis"), QStringLiteral("y scale"), 4);
  for (int column = 0; column < 3; ++column) grid_->setColumnStretch(column, 3);
  for (const SweepCost& cost : sweep_costs())
    cost_->addItem(QString::fromUtf8(cost.name), QString::fromUtf8(cost.id));
  for (QComboBox* const scale : {x_scale_, y_scale_}) {
    scale->addItem(tr("automatic"), static_cast<int>(Scale::kAuto));
    scale->addItem(tr("linear"), static_cast<int>(Scale::kLinear));
    scale->addItem(tr("logarithmic"), static_cast<int>(Scale::kLogarithmic));
  }
  grid_->addWidget(filters_, 2, 0, 1, 5);
  connect(cost_, &QComboBox::currentIndexChanged, this, [this] {
    choice_.cost = cost_->currentData().toString().toStdString();
    emit changed();
  });
  connect(x_, &QComboBox::currentIndexChanged, this, [this] {
    choice_.x = x_->currentData().toString().toStdString();
    emit changed();
  });
  connect(by_, &QComboBox::currentIndexChanged, this, [this] {
    choice_.by = by_->currentData().toString().toStdString();
    emit changed();
  });
  connect(x_scale_, &QComboBox::currentIndexChanged, this, [this] {
    choice_.x_scale = static_cast<Scale>(x_scale_->currentData().toInt());
    emit changed();
  });
  connect(y_scale_, &QComboBox::currentIndexChanged, this, [this] {
    choice_.y_scale = static_cast<Scale>(y_scale_->currentData().toInt());
    emit changed();
  });
}

QComboBox* SweepChoices::add_choice(const QString& name, const QString& id, int column) {
  auto* const label = new QLabel(name);
  auto* const box = new QComboBox;
  box->setObjectName(id);
  box->setAccessibleName(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(9);
  label->setBuddy(box);
  grid_->addWidget(label, 0, column);
  grid_->addWidget(box, 1, column);
  return box;
}

void SweepChoices::set(const SweepChoice& choice) { choice_ = choice; }

void SweepChoices::next_x_scale() {
  choice_.x_scale = next(choice_.x_scale);
  emit changed();
}

void SweepChoices::next_y_scale() {
  choice_.y_scale = next(choice_.y_scale);
  emit changed();
}

void SweepChoices::show_choice(const SweepData& sweep, const SweepCurves& drawn,
                               const SweepChoice& choice) {
  choice_ = choice;
  const QSignalBlocker quiet[] = {QSignalBlocker(cost_), QSignalBlocker(x_), QSignalBlocker(by_),
                                  QSignalBlocker(x_scale_), QSignalBlocker(y_scale_)};
  fields_ = fields_of(sweep);
  x_->clear();
  by_->clear();
  by_->addItem(tr("nothing: one line"), QString());
  for (const SweepField& field : fields_) {
    x_->addItem(text_of(field.name), text_of(field.name));
    if (field.name != drawn.x && field.values.size() > 1)
      by_->addItem(text_of(field.name), text_of(field.name));
  }
  for (QComboBox* const box : {x_, by_}) box->view()->setMinimumWidth(260);
  cost_->setCurrentIndex(drawn.cost ? cost_->findData(QString::fromUtf8(drawn.cost->id)) : 0);
  x_->setCurrentIndex(x_->findData(text_of(drawn.x)));
  by_->setCurrentIndex(by_->findData(text_of(drawn.by)));
  x_scale_->setCurrentIndex(static_cast<int>(choice_.x_scale));
  x_scale_->setEnabled(drawn.x_axis.by_number());
  y_scale_->setCurrentIndex(static_cast<int>(choice_.y_scale));
  for (QComboBox* const box : {x_, by_}) box->setToolTip(box->currentText());
  show_filters(drawn);
}

/// Shows, for each field that is neither the x axis nor the field of the lines, a list with the
/// field's values.
void SweepChoices::show_filters(const SweepCurves& drawn) {
  std::vector<const SweepField*> shown;
  for (const SweepField& field : fields_) {
    const bool is_drawn = field.name == drawn.x || field.name == drawn.by;
    if (!is_drawn && field.values.size() > 1 && field.values.size() <= kMaxListed)
      shown.push_back(&field);
  }
  // If the fields are unchanged, keep the existing lists, since the user may have one of them open.
  QStringList names;
  for (const SweepField* const field : shown) names << text_of(field->name);
  if (filters_->property("fields").toStringList() != names || !filters_->layout()) {
    delete filters_->layout();
    qDeleteAll(filters_->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    filters_->setProperty("fields", names);
    auto* const layout = new QGridLayout(filters_);
    layout->setContentsMargins(0, 0, 0, 0);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const SweepField& field = *shown[i];
      auto* const label = new QLabel(text_of(field.name));
      auto* const box = new QComboBox;
      box->setObjectName(QStringLiteral("only ") + text_of(field.name));
      box->setAccessibleName(text_of(field.name));
      box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
      box->addItem(tr("best over all values"));
      for (const std::string& value : field.values)
        box->addItem(text_of(core::shown_value(field.name, value)), text_of("=" + value));
      label->setBuddy(box);
      const int row = static_cast<int>(i) / kFiltersInARow,
                column = 2 * (static_cast<int>(i) % kFiltersInARow);
      layout->addWidget(label, row, column);
      layout->addWidget(box, row, column + 1);
      layout->setColumnStretch(column + 1, 1);
      connect(box, &QComboBox::currentIndexChanged, this, [this, box, name = field.name] {
        const std::string value = box->currentData().toString().toStdString();
        choice_.only.erase(name);
        if (!value.empty()) choice_.only[name] = value.substr(1);
        emit changed();
      });
    }
    filters_->setVisible(!shown.empty());
  }
  for (auto* const box : filters_->findChildren<QComboBox*>()) {
    const QSignalBlocker quiet(box);
    const auto chosen = choice_.only.find(box->accessibleName().toStdString());
    const int at = chosen == choice_.only.end() ? 0 : box->findData(text_of("=" + chosen->second));
    box->setCurrentIndex(std::max(0, at));
  }
}

}  // namespace tutti::gui
