// The form is a list of rows, each with a field and its values. Values are written as for `tutti
// sweep --over`, and the same function parses them. The window and the command line therefore
// accept the same texts and report the same errors. The function check() reads the whole form after
// every keystroke. The limit of 200,000 values keeps check() fast. The form offers all fields of
// the schema. The most useful fields come first. The form only describes a sweep (order());
// SweepPanel runs it and shows the results.

#include "gui/sweep/sweep_form.h"

#include <QComboBox>
#include <QCompleter>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/format.h"
#include "core/base/version.h"
#include "core/edit/schema.h"
#include "core/explore/axis.h"
#include "core/explore/space.h"

namespace tutti::gui {

namespace {

/// The maximum number of points of a sweep in the form, because a larger sweep cannot be plotted,
/// and checking it at every keystroke would be slow. The command line accepts larger sweeps.
constexpr std::int64_t kMaxValues = 200'000;

/// The fields that are varied most often.
const QStringList& common_fields() {
  static const QStringList fields{QStringLiteral("strategy.bytes_per_pack"),
                                  QStringLiteral("strategy.num_packs"),
                                  QStringLiteral("strategy.algorithm"),
                                  QStringLiteral("strategy.shards"),
                                  QStringLiteral("strategy.all_reduce_merge_scope"),
                                  QStringLiteral("cluster.workers.count"),
                                  QStringLiteral("cluster.workers.machine"),
                                  QStringLiteral("cluster.network.bandwidth_gb_per_s"),
                                  QStringLiteral("cluster.network.latency_us"),
                                  QStringLiteral("workload.model"),
                                  QStringLiteral("workload.batch")};
  return fields;
}

void collect(const core::MessageType& message, const QString& inside, QStringList& names) {
  for (const core::FieldType& field : message.fields) {
    const QString name = inside + QString::fromStdString(field.name);
    if (field.message) {
      collect(*field.message, name + QLatin1Char('.'), names);
    } else {
      names << name;
    }
  }
}

/// The fields of the schema. The fields that are varied most often come first.
const QStringList& all_fields() {
  static const QStringList fields = [] {
    QStringList known;
    collect(core::Schema::scenario().root(), {}, known);
    QStringList names;
    for (const QString& name : common_fields()) {
      if (known.removeAll(name) > 0) names << name;
    }
    return names + known;
  }();
  return fields;
}

}  // namespace

SweepForm::SweepForm(QWidget* parent)
    : QWidget(parent),
      title_(new QLabel),
      list_(new QVBoxLayout),
      mode_(new QComboBox),
      evaluations_(new QSpinBox),
      file_(new QLineEdit),
      words_(new QLabel),
      run_(new QPushButton(tr("&Run the sweep"))) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 6);
  title_->setWordWrap(true);
  layout->addWidget(title_);
  list_->setSpacing(2);
  layout->addLayout(list_);
  auto* const more = new QPushButton(tr("Another fiel&d"));
  more->setObjectName(QStringLiteral("another field"));
  connect(more, &QPushButton::clicked, this, [this] {
    add_row({}, {});
    rows_.back().field->setFocus();
  });
  mode_->setAccessibleName(tr("What is tried"));
  mode_->setObjectName(QStringLiteral("mode"));
  mode_->addItem(tr("every combination"));
  mode_->addItem(tr("search for the best settings (tune)"));
  evaluations_->setRange(1, 1'000'000);
  evaluations_->setValue(100);
  evaluations_->setPrefix(tr("at most "));
  evaluations_->setSuffix(tr(" points"));
  evaluations_->setAccessibleName(tr("Points of a search"));
  evaluations_->hide();
  connect(mode_, &QComboBox::currentIndexChanged, this, [this](int mode) {
    evaluations_->setVisible(mode == 1);
    check();
  });
  auto* const second = new QHBoxLayout;
  second->addWidget(more);
  second->addStretch(1);
  second->addWidget(mode_);
  second->addWidget(evaluations_);
  layout->addLayout(second);
  auto* const third = new QHBoxLayout;
  auto* const label = new QLabel(tr("Results &go to"));
  label->setBuddy(file_);
  file_->setAccessibleName(tr("File for the results"));
  file_->setObjectName(QStringLiteral("sweep file"));
  auto* const choose = new QToolButton;
  choose->setText(QStringLiteral("…"));
  choose->setAccessibleName(tr("Choose the file"));
  connect(choose, &QToolButton::clicked, this, &SweepForm::choose_file);
  third->addWidget(label);
  third->addWidget(file_, 1);
  third->addWidget(choose);
  layout->addLayout(third);
  auto* const fourth = new QHBoxLayout;
  words_->setWordWrap(true);
  auto* const close = new QPushButton(tr("C&lose"));
  connect(close, &QPushButton::clicked, this, &SweepForm::closed);
  run_->setObjectName(QStringLiteral("run sweep"));
  connect(run_, &QPushButton::clicked, this, &SweepForm::run_wanted);
  connect(file_, &QLineEdit::returnPressed, this, &SweepForm::run_wanted);
  fourth->addWidget(words_, 1);
  fourth->addWidget(close);
  fourth->addWidget(run_);
  layout->addLayout(fourth);
  add_row(common_fields().front(), QStringLiteral("1MiB..64MiB*2"));
}

void SweepForm::add_row(const QString& field, const QString& values) {
  Row row;
  row.widget = new QWidget;
  auto* const layout = new QHBoxLayout(row.widget);
  layout->setContentsMargins(0, 0, 0, 0);
  row.field = new QComboBox;
  row.field->setEditable(true);
  row.field->setInsertPolicy(QComboBox::NoInsert);
  row.field->addItems(all_fields());
  row.field->setCurrentText(field);
  row.field->completer()->setFilterMode(Qt::MatchContains);
  row.field->completer()->setCompletionMode(QCompleter::PopupCompletion);
  row.field->setAccessibleName(tr("Field that varies"));
  row.field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  row.field->setMinimumContentsLength(12);
  row.values = new QLineEdit(values);
  row.values->setPlaceholderText(tr("1,2,4 or 64KiB..256MiB*2 or 2..16+2"));
  row.values->setAccessibleName(tr("Its values"));
  constexpr int kCharacters = 15;  // such as 1MiB..128MiB*2
  row.values->setMinimumWidth(row.values->fontMetrics().averageCharWidth() * kCharacters);
  row.values->setToolTip(
      tr("A list with commas. A..B*F is a range from A to B with factor F, and A..B+S a range with "
         "step S. Bytes may be written as 64KiB or 25MB. An empty value between two commas leaves "
         "the field unset."));
  auto* const remove = new QToolButton;
  remove->setText(QStringLiteral("−"));
  remove->setAccessibleName(tr("Without this field"));
  layout->addWidget(row.field, 5);
  layout->addWidget(new QLabel(QStringLiteral("=")));
  layout->addWidget(row.values, 4);
  layout->addWidget(remove);
  connect(remove, &QToolButton::clicked, this, [this, widget = row.widget] { remove_row(widget); });
  connect(row.field, &QComboBox::currentTextChanged, this, &SweepForm::check);
  connect(row.values, &QLineEdit::textChanged, this, &SweepForm::check);
  connect(row.values, &QLineEdit::returnPressed, this, &SweepForm::run_wanted);
  list_->addWidget(row.widget);
  rows_.push_back(row);
  check();
}

void SweepForm::remove_row(const QWidget* widget) {
  const auto row = std::find_if(rows_.begin(), rows_.end(),
                                [&](const Row& one) { return one.widget == widget; });
  if (row == rows_.end()) return;
  row->widget->hide();
  row->widget->deleteLater();
  rows_.erase(row);
  check();
}

void SweepForm::set_fields(const std::vector<std::pair<QString, QString>>& fields) {
  while (!rows_.empty()) remove_row(rows_.back().widget);
  for (const auto& [field, values] : fields) add_row(field, values);
  check();
}

void SweepForm::set_search(bool search) { mode_->setCurrentIndex(search ? 1 : 0); }

void SweepForm::start(const std::string& text, const std::string& path,
                      const std::vector<std::string>& set, const QString& file) {
  text_ = text;
  path_ = path;
  set_ = set;
  file_->setText(file);
  const QString name = QFileInfo(QString::fromStdString(path)).fileName();
  title_->setText(tr("<b>Fields of %1 to vary</b>")
                      .arg((name.isEmpty() ? tr("this scenario") : name).toHtmlEscaped()));
  check();
  if (rows_.empty()) return;
  rows_.front().values->setFocus();
  rows_.front().values->selectAll();
}

core::Expected<SweepOrder> SweepForm::order() const {
  SweepOrder order;
  order.info.version = core::version();
  order.info.scenario_file = path_;
  order.info.scenario_text = text_;
  order.info.set = set_;
  order.search = mode_->currentIndex() == 1;
  order.evaluations = evaluations_->value();
  order.file = file_->text().toStdString();
  for (const Row& row : rows_) {
    const std::string field = row.field->currentText().trimmed().toStdString();
    const std::string values = row.values->text().trimmed().toStdString();
    if (field.empty() && values.empty()) continue;
    auto axis = core::parse_axis("vary", field + "=" + values, kMaxValues);
    if (!axis) return tl::make_unexpected(axis.error());
    order.info.axes.push_back(std::move(*axis));
  }
  if (order.info.axes.empty() && !order.search)
    return tl::make_unexpected(core::Error::request("no field varies; add a field and its values"));
  const auto space = core::Space::of(order.info.axes);
  if (!space) return tl::make_unexpected(space.error());
  if (order.file.empty())
    return tl::make_unexpected(core::Error::request("name a file for the results"));
  return order;
}

QString SweepForm::words() const { return words_->text(); }

void SweepForm::check() {
  const auto filled = order();
  run_->setEnabled(filled.has_value());
  run_->setText(mode_->currentIndex() == 1 ? tr("&Run the search") : tr("&Run the sweep"));
  if (!filled) return words_->setText(QString::fromStdString(filled.error().message()));
  if (filled->info.axes.empty())
    return words_->setText(tr("varies pack sizes, algorithms and shards, as tutti tune does"));
  std::int64_t points = 1;
  for (const core::Axis& axis : filled->info.axes) points *= std::ssize(axis.rows);
  const QString there = QFileInfo::exists(file_->text())
                            ? tr("; the sweep in this file will be continued")
                            : QString();
  words_->setText(tr("%1 points%2").arg(QString::fromStdString(core::show_count(points)), there));
}

void SweepForm::choose_file() {
  const QString chosen = QFileDialog::getSaveFileName(
      this, tr("File for the results of the sweep"), file_->text(),
      tr("Sweeps (*.sweep);;All files (*)"), nullptr, QFileDialog::DontConfirmOverwrite);
  if (!chosen.isEmpty()) file_->setText(chosen);
  check();
}

}  // namespace tutti::gui
