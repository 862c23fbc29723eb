#include "gui/widgets/welcome_page.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/widgets/last_session.h"
#include "gui/widgets/recent_files.h"

namespace tutti::gui {

namespace {

constexpr int kColumns = 4;  ///< maximum number of columns
constexpr int kBetween = 12;
constexpr int kCardWidth = 296;
constexpr qsizetype kMaxAbout = 220;
constexpr int kMaxRecent = 5;

/// Shortens a text so that it fits on a card. The result ends with a complete sentence or word.
QString shortened(const QString& text) {
  if (text.size() <= kMaxAbout) return text;
  const QString head = text.left(kMaxAbout);
  const qsizetype sentence = head.lastIndexOf(QStringLiteral(". "));
  if (sentence > kMaxAbout / 5) return head.left(sentence + 1);
  return head.left(head.lastIndexOf(QLatin1Char(' '))) + QStringLiteral(" …");
}

}  // namespace

WelcomePage::WelcomePage(const std::vector<Example>& examples,
                         const ExampleSimulations::MakeExecutor& simulate,
                         const core::Library& library, QWidget* parent)
    : QScrollArea(parent),
      restore_(new QPushButton),
      recent_(new QLabel),
      has_pictures_(simulate != nullptr) {
  setFrameShape(NoFrame);
  setWidgetResizable(true);
  auto* const page = new QWidget;
  setWidget(page);
  auto* const layout = new QVBoxLayout(page);
  layout->addStretch(2);
  auto* const text =
      new QLabel(tr("<h2>What will a training step cost, and why?</h2><p>A <b>scenario</b> "
                    "describes the machines, the model and how gradients are reduced; running it "
                    "produces a <b>timeline</b>.</p>"));
  text->setAlignment(Qt::AlignCenter);
  text->setWordWrap(true);
  layout->addWidget(text);
  auto* const buttons = new QHBoxLayout;
  auto* const open = new QPushButton(tr("&Open a timeline or a scenario…"));
  connect(open, &QPushButton::clicked, this, &WelcomePage::open_wanted);
  auto* const start = new QPushButton(tr("&New scenario"));
  connect(start, &QPushButton::clicked, this, &WelcomePage::new_wanted);
  restore_->setObjectName(QStringLiteral("continue"));
  connect(restore_, &QPushButton::clicked, this, &WelcomePage::restore_wanted);
  buttons->addStretch(1);
  buttons->addWidget(restore_);
  buttons->addWidget(open);
  buttons->addWidget(start);
  buttons->addStretch(1);
  layout->addLayout(buttons);
  recent_->setAlignment(Qt::AlignCenter);
  recent_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  recent_->setAccessibleName(tr("Recent files"));
  connect(recent_, &QLabel::linkActivated, this, &WelcomePage::file_wanted);
  layout->addWidget(recent_);
  if (!examples.empty()) {
    auto* const head =
        new QLabel(tr("Try an example: a click (or Ctrl+1, Ctrl+2, …) opens and runs it."));
    head->setAlignment(Qt::AlignCenter);
    layout->addWidget(head);
  }
  auto* const middle = new QHBoxLayout;
  middle->addStretch(1);
  middle->addLayout(make_groups(examples));
  middle->addStretch(1);
  layout->addLayout(middle);
  layout->addSpacing(12);
  auto* const hint = new QLabel(tr(
      "<p>… or drop a file here. <b>Ctrl+P</b> lists all commands, <b>?</b> shows the keys.</p>"));
  hint->setAlignment(Qt::AlignCenter);
  layout->addWidget(hint);
  layout->addStretch(3);
  if (!has_pictures_) return;
  simulations_ = std::make_unique<ExampleSimulations>(
      shown_, library, simulate,
      [this](std::size_t example) {
        return !pictures_[static_cast<qsizetype>(example)]->visibleRegion().isEmpty();
      },
      [this](std::size_t example, const core::Expected<Miniature>& made) {
        pictures_[static_cast<qsizetype>(example)]->show_miniature(made);
      });
}

void WelcomePage::set_theme(const Theme& theme) {
  for (ExamplePicture* const picture : pictures_) picture->set_theme(theme);
}

void WelcomePage::finish_pictures() {
  if (simulations_) simulations_->finish();
}

/// Creates the cards of the examples, grouped below the questions that they answer. The order of
/// questions is that of their first examples. All cards of one question have the same height.
QVBoxLayout* WelcomePage::make_groups(const std::vector<Example>& examples) {
  auto* const groups = new QVBoxLayout;
  groups->setSpacing(kBetween);
  std::vector<std::string> questions;
  for (const Example& example : examples) {
    if (std::find(questions.begin(), questions.end(), example.question) == questions.end())
      questions.push_back(example.question);
  }
  for (const std::string& question : questions) {
    if (!question.empty()) {
      auto* const head = new QLabel(
          QStringLiteral("<b>%1</b>").arg(QString::fromStdString(question).toHtmlEscaped()));
      head->setObjectName(QStringLiteral("question"));
      groups->addWidget(head);
    }
    Group group{new QGridLayout, {}};
    group.grid->setSpacing(kBetween);
    for (const Example& example : examples) {
      if (example.question != question) continue;
      group.cards.append(make_card(example));
      shown_.push_back(example);
    }
    int height = 0;
    for (const QPushButton* const card : group.cards)
      height = std::max(height, card->minimumHeight());
    for (QPushButton* const card : group.cards) card->setFixedHeight(height);
    groups->addLayout(group.grid);
    groups_.push_back(std::move(group));
  }
  place_cards(kColumns);
  return groups;
}

/// Lists the recently opened files as links; hides the list if there are none.
void WelcomePage::show_recent() {
  QString text;
  for (const QString& path : recent_files().mid(0, kMaxRecent)) {
    if (!QFileInfo::exists(path)) continue;
    text += QStringLiteral("<br><a href=\"%1\">%2</a> <small>%3</small>")
                .arg(path.toHtmlEscaped(), QFileInfo(path).fileName().toHtmlEscaped(),
                     QFileInfo(path).path().toHtmlEscaped());
  }
  recent_->setText(text.isEmpty() ? QString() : tr("<b>Recent files</b>") + text);
  recent_->setVisible(!text.isEmpty());
}

void WelcomePage::showEvent(QShowEvent* event) {
  show_recent();
  const LastSession last = LastSession::read();
  restore_->setVisible(!last.empty());
  if (!last.empty()) {
    restore_->setText(tr("&Continue with %1").arg(last.name()));
    restore_->setToolTip(
        tr("Open the files of the last session again, with the same view "
           "(Ctrl+Shift+T)"));
  }
  QScrollArea::showEvent(event);
  start_pictures();
}

/// Starts to simulate the examples in view, when their widgets have their places.
void WelcomePage::start_pictures() {
  if (!simulations_) return;
  QMetaObject::invokeMethod(
      this,
      [this] {
        if (isVisible()) simulations_->start();
      },
      Qt::QueuedConnection);
}

void WelcomePage::scrollContentsBy(int dx, int dy) {
  QScrollArea::scrollContentsBy(dx, dy);
  start_pictures();
}

/// Ends the simulations, since another simulation may be about to run.
void WelcomePage::hideEvent(QHideEvent* event) {
  if (simulations_) simulations_->stop();
  QScrollArea::hideEvent(event);
}

/// Places as many cards side by side as the width allows.
void WelcomePage::place_cards(int columns) {
  if (columns == columns_) return;
  columns_ = columns;
  for (const Group& group : groups_) {
    for (int i = 0; i < group.cards.size(); ++i)
      group.grid->addWidget(group.cards[i], i / columns, i % columns, Qt::AlignLeft);
    group.grid->setColumnStretch(kColumns, 1);  // so that cards of all groups are aligned
  }
}

void WelcomePage::resizeEvent(QResizeEvent* event) {
  // Width of the margins and the scroll bar.
  constexpr int kMargin = 44;
  place_cards(std::clamp((width() - kMargin + kBetween) / (kCardWidth + kBetween), 1, kColumns));
  QScrollArea::resizeEvent(event);
  start_pictures();
}

QPushButton* WelcomePage::make_card(const Example& example) {
  auto* const card = new QPushButton;
  const QString title = QString::fromStdString(example.title),
                about = QString::fromStdString(example.about);
  card->setObjectName(QStringLiteral("example card %1").arg(example.number));
  card->setAccessibleName(tr("Example %1: %2").arg(example.number).arg(title));
  card->setAccessibleDescription(about);
  card->setToolTip(about);
  auto* const rows = new QVBoxLayout(card);
  rows->setContentsMargins(14, 12, 14, 12);
  auto* const heading = new QLabel(QStringLiteral("<big><b>%1&nbsp;&nbsp;%2</b></big>")
                                       .arg(example.number)
                                       .arg(title.toHtmlEscaped()));
  auto* const body = new QLabel(shortened(about));
  body->setTextFormat(Qt::PlainText);
  body->setWordWrap(true);
  body->setAlignment(Qt::AlignTop);
  for (QLabel* const label : {heading, body}) label->setAttribute(Qt::WA_TransparentForMouseEvents);
  rows->addWidget(heading);
  if (has_pictures_) {
    pictures_.append(new ExamplePicture);
    rows->addWidget(pictures_.back());
  }
  rows->addWidget(body, 1);
  card->setFixedWidth(kCardWidth);
  card->setMinimumHeight(rows->heightForWidth(kCardWidth) + 8);
  connect(card, &QPushButton::clicked, this,
          [this, path = QString::fromStdString(example.path)] { emit example_wanted(path); });
  return card;
}

}  // namespace tutti::gui
