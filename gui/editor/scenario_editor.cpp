// The text is the only state. Form, problems, summary and recovery file are derived from the text.
// Every change of the text has three effects. The form is updated immediately (for a large text
// after a pause), a thread checks the scenario, and the recovery file is written within a second.
// An edit in the form becomes an edit of the text. The edit is dropped if the form shows an older
// text. An edit in the form moves the cursor of the text. `applying_` prevents this movement from
// changing the selection in the form. While the text cannot be parsed, the form is frozen and shows
// the last text that could be parsed. The history of the text is the only undo history.
//
// ScenarioFile reads and writes files, recovery.cpp manages the recovery folder, and
// scenario_check.cpp finds the positions of problems.

#include "gui/editor/scenario_editor.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTextDocument>
#include <QTimer>
#include <QVBoxLayout>

#include "core/edit/old_form_text.h"
#include "gui/editor/form_view.h"
#include "gui/editor/text_editor.h"
#include "gui/paint/focus.h"
#include "gui/widgets/focus_frame.h"

namespace tutti::gui {

namespace {

/// Below this width in pixels, the form is above the text.
constexpr int kWide = 760;

/// Maximum delay in ms between a change of the text and the update of the recovery file.
constexpr int kKeepAfterMs = 1000;

QString shown_problem(const core::Problem& problem, const QString& own) {
  const core::Location& where = problem.where;
  const QString words = QString::fromStdString(problem.text);
  const QString file = QString::fromStdString(where.file);
  const QString line = where.line > 0 ? QObject::tr("line %1: ").arg(where.line) : QString();
  return file.isEmpty() || file == own ? line + words : file + QStringLiteral(", ") + line + words;
}

/// Returns the comment of the field, or else of its message, in the schema. A group without
/// comments is described by its fields.
QString description_of(const core::FieldType& type) {
  if (!type.help.empty() || !type.message) return QString::fromStdString(type.help);
  if (!type.message->help.empty()) return QString::fromStdString(type.message->help);
  QStringList fields;
  for (const core::FieldType& field : type.message->fields)
    fields.append(QString::fromStdString(field.name));
  return QObject::tr("A group with the fields %1.").arg(fields.join(QStringLiteral(", ")));
}

/// A scroll area that shows whether it has the focus. Its keys have priority over the window's
/// shortcuts, which use the same keys.
class KeyScrollArea : public QScrollArea {
 public:
  KeyScrollArea() {
    constexpr int kFocusFrame = 2;
    setFrameShape(NoFrame);
    setViewportMargins(kFocusFrame, kFocusFrame, kFocusFrame, kFocusFrame);
  }

 protected:
  bool event(QEvent* event) override {
    if (event->type() == QEvent::ShortcutOverride) {
      switch (static_cast<QKeyEvent*>(event)->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_PageUp:
        case Qt::Key_PageDown: event->accept(); return true;
        default: break;
      }
    }
    // This event is for the margins. The viewport has an event of its own.
    if (event->type() == QEvent::Paint) {
      QPainter painter(this);
      paint_focus(painter, *this);
      return true;
    }
    return QScrollArea::event(event);
  }
};

}  // namespace

ScenarioEditor::ScenarioEditor(const core::Library& library, QString recovery_folder,
                               QWidget* parent)
    : QWidget(parent),
      schema_(core::Schema::scenario()),
      library_(library),
      recovery_folder_(std::move(recovery_folder)),
      recovery_(recovery_folder_),
      read_(std::make_shared<core::ScenarioText>("", schema_)),
      checker_(library, schema_),
      model_(new FormModel(schema_, this)),
      filter_(new QLineEdit),
      form_(new FormView(*model_, library_)),
      text_(new TextEditor),
      sides_(new QSplitter),
      card_(new QLabel),
      about_(new KeyScrollArea),
      help_(new QLabel),
      broken_(new QLabel),
      list_(new QListWidget),
      follow_(new QTimer(this)),
      keep_(new QTimer(this)) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  card_->setAccessibleName(tr("Facts about the scenario"));
  card_->setWordWrap(true);
  card_->setTextFormat(Qt::RichText);
  card_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  card_->setContentsMargins(6, 4, 6, 4);
  layout->addWidget(card_);
  sides_->addWidget(make_form_side());
  sides_->addWidget(make_text_side());
  sides_->setChildrenCollapsible(false);
  sides_->setStretchFactor(0, 3);
  sides_->setStretchFactor(1, 2);
  layout->addWidget(sides_, 1);
  follow_->setSingleShot(true);
  connect(follow_, &QTimer::timeout, this, &ScenarioEditor::follow_text);
  keep_->setSingleShot(true);
  keep_->setInterval(kKeepAfterMs);
  connect(keep_, &QTimer::timeout, this, &ScenarioEditor::keep_changes);
  connect(text_->document(), &QTextDocument::contentsChanged, this, &ScenarioEditor::text_changed);
  connect(text_->document(), &QTextDocument::modificationChanged, this,
          &ScenarioEditor::title_changed);
  connect(text_, &QPlainTextEdit::cursorPositionChanged, this, [this] {
    if (applying_ || !text_->hasFocus() || follow_->isActive()) return;
    const QModelIndex at = model_->index_of(read_->path_at(text_->cursor_byte()));
    if (at.isValid()) form_->setCurrentIndex(at);
  });
  connect(model_, &FormModel::edited, this, &ScenarioEditor::apply);
  connect(broken_, &QLabel::linkActivated, this, &ScenarioEditor::convert);
  connect(form_, &FormView::current_changed, this, &ScenarioEditor::show_field);
  connect(&checker_, &Checker::checked, this, &ScenarioEditor::show_checked);
  connect(list_, &QListWidget::itemActivated, this, [this] { go_to_problem(list_->currentRow()); });
  connect(list_, &QListWidget::itemClicked, this, [this] { go_to_problem(list_->currentRow()); });
}

ScenarioEditor::~ScenarioEditor() {
  if (keep_->isActive() && changed()) static_cast<void>(recovery_.keep(unsaved()));
}

QWidget* ScenarioEditor::make_form_side() {
  auto* const side = new QWidget;
  auto* const layout = new QVBoxLayout(side);
  layout->setContentsMargins(0, 0, 0, 0);
  broken_->setWordWrap(true);
  broken_->setContentsMargins(6, 4, 6, 4);
  broken_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  broken_->hide();
  layout->addWidget(broken_);
  layout->addWidget(filter_);
  layout->addWidget(form_, 1);
  filter_->setPlaceholderText(tr("Find a field: algorithm, network, …  (Ctrl+Shift+F)"));
  filter_->setAccessibleName(tr("Show only fields whose names contain these words"));
  filter_->setClearButtonEnabled(true);
  filter_->setObjectName(QStringLiteral("field filter"));
  connect(filter_, &QLineEdit::textChanged, this, &ScenarioEditor::filter_form);
  connect(filter_, &QLineEdit::returnPressed, form_, [this] {
    form_->setFocus();
    form_->go_to_first_match();
  });
  help_->setAccessibleName(tr("About the field"));
  help_->setWordWrap(true);
  help_->setTextFormat(Qt::PlainText);
  help_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  help_->setAlignment(Qt::AlignTop);
  help_->setContentsMargins(6, 4, 6, 4);
  about_->setWidget(help_);
  about_->setWidgetResizable(true);
  about_->setObjectName(QStringLiteral("about"));
  about_->setAccessibleName(tr("About the field"));
  about_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  layout->addWidget(about_);
  return side;
}

void ScenarioEditor::filter_form(const QString& text) {
  const int matches = form_->filter(text);
  if (text.trimmed().isEmpty() || matches > 0) return show_field();
  help_->setText(tr("No field has “%1” in its name.").arg(text.trimmed()));
}

QWidget* ScenarioEditor::make_text_side() {
  auto* const side = new QSplitter(Qt::Vertical);
  list_->setAccessibleName(tr("Problems"));
  list_->setWordWrap(true);
  for (QAbstractScrollArea* const area :
       {static_cast<QAbstractScrollArea*>(form_), static_cast<QAbstractScrollArea*>(text_),
        static_cast<QAbstractScrollArea*>(list_)})
    frame_while_focused(*area);
  side->addWidget(text_);
  side->addWidget(list_);
  side->setStretchFactor(0, 4);
  side->setStretchFactor(1, 1);
  side->setChildrenCollapsible(false);
  list_->setMinimumHeight(3 * fontMetrics().lineSpacing());
  list_->hide();
  return side;
}

void ScenarioEditor::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const Qt::Orientation wanted = width() < kWide ? Qt::Vertical : Qt::Horizontal;
  const bool is_new = sides_->orientation() != wanted;
  sides_->setOrientation(wanted);
  const bool narrow = wanted == Qt::Vertical;
  // Side by side, form and text have the same width. If the form is above the text, the form gets
  // 60 % of the height.
  if (is_new)
    sides_->setSizes(narrow ? QList<int>{600, 400} : QList<int>{width() / 2, width() / 2});
  about_->setFixedHeight((narrow ? 4 : 6) * fontMetrics().lineSpacing());
  if (is_new && !facts_.empty()) show_facts();
}

// --- form and text ---

void ScenarioEditor::text_changed() {
  if (!keep_->isActive()) keep_->start();
  // A large text is not parsed at every keystroke, but after a pause.
  constexpr int kLarge = 100'000, kLargePauseMs = 250;
  follow_->start(text_->document()->characterCount() > kLarge && !applying_ ? kLargePauseMs : 0);
  checker_.check(text(), path().toStdString());
  emit edited();
}

void ScenarioEditor::follow_text() {
  follow_->stop();
  auto now = std::make_shared<core::ScenarioText>(text(), schema_);
  const bool old_form = !now->broken() && core::next_move(now->root());
  broken_->setVisible(now->broken() || old_form);
  if (old_form)
    broken_->setText(
        tr("Some fields of this text have an older form, so they do not appear in the form below. "
           "<a href=\"convert\">Rewrite them</a>"));
  model_->set_frozen(now->broken().has_value());
  if (now->broken()) {
    const core::Problem& first = now->broken()->problems().front();
    return broken_->setText(
        tr("The text cannot be parsed: %1. The form is updated once the text is valid.")
            .arg(shown_problem(first, {})));
  }
  read_ = now;
  model_->show_text(now);
  show_field();
}

void ScenarioEditor::convert() {
  const std::string now = text();
  const auto converted = core::convert_text(now);
  if (converted) text_->apply({{0, now.size(), converted->text}});
}

void ScenarioEditor::apply(const core::TextEdits& edits, const core::FieldPath& field) {
  // The edits refer to the text that the form shows, so drop them if the text has changed since.
  if (read_->text() != text()) return follow_text();
  applying_ = true;
  text_->apply(edits);
  follow_text();
  applying_ = false;
  const QModelIndex at = model_->index_of(field);
  if (!at.isValid()) return;
  form_->expand(at);
  form_->setCurrentIndex(at.siblingAtColumn(form_->currentIndex().column()));
  form_->scrollTo(at);
}

/// Shows a description of the field that is selected in the form: its meaning, its problem, and its
/// location in the text.
void ScenarioEditor::show_field() {
  const QModelIndex at = form_->currentIndex();
  if (!at.isValid()) return;
  const QString wrong = model_->problem(at);
  const QString about = description_of(*model_->type(at));
  help_->setText(wrong.isEmpty() ? about : wrong + QStringLiteral("\n\n") + about);
  help_->setAccessibleDescription(help_->text());
  about_->verticalScrollBar()->setValue(0);
  const core::Value* const value =
      model_->line(at) == FormModel::Line::kAdd ? nullptr : read_->find(model_->path(at));
  text_->show_range(value && read_->text() == text() ? read_->range(*value)
                                                     : core::ScenarioText::Range{});
}

// --- problems and the card ---

void ScenarioEditor::show_checked(const CheckedScenario& result) {
  show_problems(result.problems);
  show_card(result.card);
  emit checked();
}

void ScenarioEditor::show_error(const core::Error& error) {
  show_problems(placed(error, path().toStdString(), core::ScenarioText(text(), schema_)));
}

void ScenarioEditor::show_problems(std::vector<PlacedProblem> problems) {
  problems_ = std::move(problems);
  std::vector<core::ScenarioText::Range> ranges;
  list_->clear();
  for (const PlacedProblem& problem : problems_) {
    ranges.push_back(problem.text);
    list_->addItem(shown_problem(problem.problem, path()));
  }
  list_->setVisible(!problems_.empty());
  text_->underline(std::move(ranges));
  model_->show_problems(problems_);
  show_field();
}

void ScenarioEditor::show_card(const std::optional<Card>& card) {
  facts_ = card ? card->facts : decltype(facts_)();
  if (!card) {
    card_->setToolTip({});
    const auto count = problems_.size();
    card_->setText(
        count == 0
            ? tr("checking …")
            : tr("<b>%1 to fix</b> before the scenario can run (F8 goes to the next problem)")
                  .arg(count == 1 ? tr("one problem") : tr("%1 problems").arg(count)));
    return;
  }
  show_facts();
}

/// Shows the facts about the scenario: as a table, or, if the editor is narrow, as a paragraph
/// without the reasons of the bounds, which the tooltip then shows.
void ScenarioEditor::show_facts() {
  QString html = QStringLiteral("<table cellspacing=\"0\" cellpadding=\"1\">");
  QStringList brief;
  for (const auto& [what, value] : facts_) {
    const QString all = QString::fromStdString(value),
                  begin = all.section(QStringLiteral(": "), 0, 0);
    const bool is_bound = what.starts_with("lower bound");
    brief.append((is_bound             ? QString::fromStdString(what) + QLatin1Char(' ') + begin
                  : what == "bound by" ? tr("bound by %1").arg(begin)
                                       : all)
                     .toHtmlEscaped());
    html += QStringLiteral(
                "<tr><td style=\"white-space: nowrap; padding-right: 12px; color: "
                "%3\">%1</td><td>%2</td></tr>")
                .arg(QString::fromStdString(what).toHtmlEscaped(),
                     QString::fromStdString(value).toHtmlEscaped(),
                     palette().color(QPalette::PlaceholderText).name());
  }
  html += QStringLiteral("</table>");
  const bool narrow = width() < kWide;
  card_->setText(narrow ? brief.join(QStringLiteral(" · ")) : html);
  card_->setToolTip(narrow ? html : QString());
}

QString ScenarioEditor::card_text() const { return card_->text(); }

QStringList ScenarioEditor::problem_texts() const {
  QStringList texts;
  for (int row = 0; row < list_->count(); ++row) texts.append(list_->item(row)->text());
  return texts;
}

void ScenarioEditor::go_to_problem(int number) {
  if (number < 0 || number >= static_cast<int>(problems_.size())) return;
  const PlacedProblem& problem = problems_[number];
  list_->setCurrentRow(number);
  const QModelIndex at = model_->index_of(problem.field);
  if (at.isValid()) {
    form_->setCurrentIndex(at);
    form_->scrollTo(at);
  }
  if (problem.text.to > 0) text_->go_to(problem.text.from);
  emit status_message(list_->item(number)->text());
}

void ScenarioEditor::next_problem(int step) {
  const int count = static_cast<int>(problems_.size());
  if (count == 0) return emit status_message(tr("there are no problems"));
  const int at = list_->currentRow();
  go_to_problem(at < 0 ? (step > 0 ? 0 : count - 1) : (at + step + count) % count);
}

void ScenarioEditor::add_actions(Actions& actions) {
  const QString group = tr("Sc&enario");
  actions.add(group, "undo", tr("Un&do"), QStringLiteral("Ctrl+Z"), [this] { text_->undo(); });
  actions.add(group, "redo", tr("&Redo"), QStringLiteral("Ctrl+Shift+Z; Ctrl+Y"),
              [this] { text_->redo(); });
  actions.add(group, "form", tr("To the &form"), QStringLiteral("F6"),
              [this] { form_->setFocus(); });
  actions.add(group, "find-field", tr("F&ind a field"), QStringLiteral("Ctrl+Shift+F"),
              [this] { filter_->setFocus(); });
  actions.add(group, "text", tr("To the &text"), QStringLiteral("Shift+F6"),
              [this] { text_->setFocus(); });
  actions.add(group, "problem-next", tr("&Next problem"), QStringLiteral("F8"),
              [this] { next_problem(1); });
  actions.add(group, "problem-previous", tr("&Previous problem"), QStringLiteral("Shift+F8"),
              [this] { next_problem(-1); });
}

}  // namespace tutti::gui
