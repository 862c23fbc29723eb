#include "gui/editor/run_bar.h"
#include "gui/widgets/tell.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QResizeEvent>
#include <QSettings>
#include <QStandardItemModel>
#include <QToolButton>
#include <algorithm>

#include "gui/trace/guarded.h"

namespace tutti::gui {

namespace {

constexpr auto kSetting = "backend";

QToolButton* button(const QString& sign, const QString& text, const QString& help) {
  auto* const made = new QToolButton;
  made->setText(sign + QLatin1Char(' ') + text);
  made->setAccessibleName(text);
  made->setToolTip(help);
  made->setAccessibleDescription(help);
  made->setFocusPolicy(Qt::StrongFocus);
  return made;
}

}  // namespace

RunBar::RunBar(std::vector<Backend> backends, QWidget* parent)
    : QWidget(parent),
      backends_(std::move(backends)),
      missing_(backends_.size()),
      choice_(new QComboBox),
      run_(button(QStringLiteral("▶"), tr("Run"), tr("Run the scenario (F5)"))),
      stop_(button(QStringLiteral("■"), tr("Stop"),
                   tr("Stop the run and keep its completed steps (Shift+F5 or Esc)"))),
      progress_(new QProgressBar),
      words_(new QLabel),
      title_(new QLabel) {
  auto* const rows = new QVBoxLayout(this);
  rows->setContentsMargins(6, 6, 6, 0);
  rows->addWidget(title_);
  auto* const row = new QHBoxLayout;
  rows->addLayout(row);
  title_->setTextFormat(Qt::PlainText);
  QFont bold = font();
  bold.setBold(true);
  title_->setFont(bold);
  // A long title must not make the editor wider than the timeline next to it.
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  choice_->setAccessibleName(tr("Run by"));
  choice_->setToolTip(tr("Executor of the scenario"));
  constexpr int kMinCharacters = 12;
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice_->setMinimumContentsLength(kMinCharacters);
  for (const Backend& backend : backends_)
    choice_->addItem(QString::fromStdString(backend.name), QString::fromStdString(backend.id));
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress"));
  words_->setAccessibleName(tr("Progress of the run"));
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  constexpr int kWidestChoice = 320, kMost = 1000;
  choice_->setMaximumWidth(kWidestChoice);
  row->addWidget(choice_, kMost);
  row->addWidget(run_);
  row->addWidget(stop_);
  row->addStretch(1);
  auto* const how = new QHBoxLayout;
  rows->addLayout(how);
  how->addWidget(words_, 1);
  how->addWidget(progress_);
  progress_->setFixedWidth(160);
  words_->hide();
  connect(run_, &QToolButton::clicked, this, &RunBar::run_wanted);
  connect(stop_, &QToolButton::clicked, this, &RunBar::stop_wanted);
  connect(choice_, &QComboBox::activated, this,
          [this] { QSettings().setValue(QLatin1String(kSetting), choice_->currentData()); });
  show_running(false);
  looking_ = std::jthread([this, all = backends_] {
    std::vector<std::string> missing;
    for (const Backend& backend : all) {
      std::string why;
      const auto thrown = guarded([&] { why = backend.missing ? backend.missing() : ""; });
      missing.push_back(thrown ? thrown->message() : why);
    }
    tell(this, [this, missing] { look(missing); });
  });
}

RunBar::~RunBar() {
  if (looking_.joinable()) looking_.join();
}

void RunBar::look(const std::vector<std::string>& missing) {
  missing_ = missing;
  auto* const model = qobject_cast<QStandardItemModel*>(choice_->model());
  for (std::size_t i = 0; i < backends_.size(); ++i) {
    QStandardItem* const item = model->item(static_cast<int>(i));
    const QString why = QString::fromStdString(missing_[i]);
    item->setEnabled(why.isEmpty());
    item->setToolTip(why);
    item->setAccessibleDescription(why);
    if (!why.isEmpty())
      item->setText(tr("%1 — not available").arg(QString::fromStdString(backends_[i].name)));
  }
  choose(QSettings().value(QLatin1String(kSetting)).toString().toStdString());
  emit looked();
}

void RunBar::choose(const std::string& id) {
  for (std::size_t i = 0; i < backends_.size(); ++i) {
    if (backends_[i].id == id && missing_[i].empty()) choice_->setCurrentIndex(static_cast<int>(i));
  }
}

QString RunBar::missing(const std::string& id) const {
  for (std::size_t i = 0; i < backends_.size(); ++i) {
    if (backends_[i].id == id) return QString::fromStdString(missing_[i]);
  }
  return {};
}

const Backend* RunBar::backend() const {
  const int at = choice_->currentIndex();
  return at >= 0 && missing_[at].empty() ? &backends_[at] : nullptr;
}

QString RunBar::why() const {
  const int at = choice_->currentIndex();
  return at < 0 ? tr("this window cannot run scenarios") : QString::fromStdString(missing_[at]);
}

void RunBar::show_title(const QString& title) {
  title_text_ = title;
  title_->setToolTip(title);
  elide_title();
}

void RunBar::elide_title() {
  title_->setText(
      title_->fontMetrics().elidedText(title_text_, Qt::ElideMiddle, std::max(1, title_->width())));
}

void RunBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layout()->activate();  // gives the title its new width
  elide_title();
}

void RunBar::show_running(bool running) {
  run_->setEnabled(!running && !backends_.empty());
  stop_->setEnabled(running);
  choice_->setEnabled(!running);
  progress_->setVisible(running);
  progress_->setValue(0);
}

void RunBar::show_progress(const QString& words, double share) {
  progress_->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * 1000));
  show_words(words);
}

void RunBar::show_words(const QString& words) {
  words_->setText(words);
  words_->setVisible(!words.isEmpty());
}

QString RunBar::words() const { return words_->text(); }

}  // namespace tutti::gui
