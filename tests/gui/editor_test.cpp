// The scenario editor on Qt's offscreen platform. The form and the text must always show the same
// scenario, whichever of them is edited, and problems are marked in both.

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>
#include <filesystem>

#include "core/base/random.h"
#include "core/lowering/sparse_plan.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/library_folder.h"
#include "core/scenario/scenario.h"
#include "core/text/bind.h"
#include "gui/editor/form_view.h"
#include "gui/editor/text_editor.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/support/clusters.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string read(const std::string& text, proto::Scenario& message) {
  core::Problems problems;
  core::SourceMap sources("f");
  core::bind(core::parse_document(text, "f", problems).root, message, sources, problems);
  return problems.empty() ? "" : problems.take().value().message();
}

TEST_F(Editor, SavingAnUneditedScenarioDoesNotChangeIt) {
  for (const auto& entry : fs::directory_iterator(test::source_folder() + "/scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    open(entry.path().string());
    EXPECT_EQ(said_, "");
    EXPECT_EQ(text(), file_text(entry.path().string()));
    EXPECT_FALSE(editor().changed());
    EXPECT_THAT(editor().card_text().toStdString(), HasSubstr("on every rank"));
    const auto scenario =
        core::load_scenario(entry.path().string(), core::Library(core::library_folder()));
    ASSERT_TRUE(scenario) << scenario.error().message();
    // There are lower bounds only for all-reduces of whole gradients over all replicas.
    const bool split = scenario->plan.partition.has_value();
    const bool bounded =
        !split && !scenario->strategy.servers && !core::has_slices(scenario->workload);
    EXPECT_THAT(editor().card_text().toStdString(), HasSubstr(bounded ? "bound by" : "unknown"));
    if (!split) {
      EXPECT_THAT(editor().card_text().toStdString(), Not(HasSubstr("hold the same part")));
    }
    EXPECT_TRUE(editor().problem_texts().isEmpty());
  }
  for (const std::string content :
       {"# a\r\nname: \"x\"\r\n", "\xEF\xBB\xBFname: \"\xC2\xA0é\"", "run{steps:1}\n\n\n", ""}) {
    const std::string file = own("own.textproto", content);
    set(path({{"run", 0}, {"seed", 0}}), QStringLiteral("5"));
    act("undo");
    act("save");
    EXPECT_EQ(file_text(file), content);
  }
}

TEST_F(Editor, FormEditsChangeTheTextInPlaceAndShareItsUndo) {
  open(shipped("04_resnet50_ring"));
  const std::string before = text();
  set(path({{"workload", 0}, {"batch", 0}}), QStringLiteral("64"));
  std::string expected = before;
  expected.replace(expected.find("batch: 32"), 9, "batch: 64");
  EXPECT_EQ(text(), expected);
  EXPECT_TRUE(editor().changed());
  EXPECT_TRUE(window_->isWindowModified());
  set(path({{"strategy", 0}, {"reduction", 0}}), QString());
  EXPECT_EQ(text().find("reduction"), std::string::npos);
  act("undo");
  EXPECT_EQ(text(), expected);
  EXPECT_EQ(shown(path({{"strategy", 0}, {"reduction", 0}})), QStringLiteral("MEAN"));
  // Undo also reverts typed text.
  act("text");
  press(Qt::Key_End, Qt::ControlModifier);
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("run { steps: 7 }"));
  QTest::qWait(10);
  EXPECT_EQ(shown(path({{"run", 0}, {"steps", 0}})), QStringLiteral("7"));
  while (editor().changed()) act("undo");
  QTest::qWait(10);
  EXPECT_EQ(text(), before);
  EXPECT_EQ(shown(path({{"workload", 0}, {"batch", 0}})), QStringLiteral("32"));
  EXPECT_FALSE(form().written(form().index_of(path({{"run", 0}}))));
  act("redo");
  EXPECT_EQ(text(), expected);
}

TEST_F(Editor, TheFormCanBeFilledWithTheKeyboard) {
  own("own.textproto", "# mine\n");
  act("form");
  FormView& view = editor().form();
  view.setCurrentIndex(form().index_of(path({{"run", 0}})));
  press(Qt::Key_Right);  // opens the group; here it is not the timeline's key
  press(Qt::Key_Down);
  press(Qt::Key_Return);
  auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(line);
  EXPECT_EQ(line->placeholderText(), QStringLiteral("3"));
  QTest::keyClicks(line, QStringLiteral("9"));
  press(Qt::Key_Return);
  EXPECT_EQ(text(), "# mine\nrun { steps: 9 }\n");
  view.setFocus();
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"network_model", 0}})));
  press(Qt::Key_Return);
  auto* const box = qobject_cast<QComboBox*>(QApplication::focusWidget());
  ASSERT_TRUE(box);
  QTest::keyClick(box, Qt::Key_Down);
  press(Qt::Key_Return);
  view.setFocus();
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"seed", 0}})));
  EXPECT_EQ(text(), "# mine\nrun { steps: 9 network_model: FIFO }\n");
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"steps", 0}})));
  press(Qt::Key_Delete);
  EXPECT_EQ(text(), "# mine\nrun { network_model: FIFO }\n");
  view.setCurrentIndex(form().index_of(path({{"cluster", 0}, {"workers", 0}})));
  press(Qt::Key_Insert);
  press(Qt::Key_Insert);
  EXPECT_THAT(text(), HasSubstr("cluster { workers {} workers {} }"));
  EXPECT_EQ(form().rowCount(form().index_of(path({{"cluster", 0}, {"workers", 0}})).parent()), 3)
      << "and what adds one";
}

TEST_F(Editor, OneEnterTakesOverAValueThatIsSuggested) {
  own("own.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  act("form");
  const core::FieldPath algorithm = path({{"strategy", 0}, {"algorithm", 0}});
  editor().form().setCurrentIndex(form().index_of(algorithm));
  press(Qt::Key_Return);
  auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(line);
  QTest::keyClicks(line, QStringLiteral("psgpu"));
  QWidget* const list = line->completer()->popup();
  ASSERT_TRUE(QTest::qWaitFor([&] { return list->isVisible(); }, 5000)) << "psgpu is suggested";
  QTest::keyClick(list, Qt::Key_Return);
  QApplication::processEvents();
  EXPECT_EQ(shown(algorithm), QStringLiteral("psgpu"));
  EXPECT_TRUE(QTest::qWaitFor([&] { return editor().form().hasFocus(); }, 5000));
}

TEST_F(Editor, AValueThatIsBeingTypedIsUsedByARunAndSaved) {
  const std::string file = own("own.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  const core::FieldPath steps = path({{"run", 0}, {"steps", 0}});
  const auto type = [&](const char* value) {
    act("form");
    editor().form().setCurrentIndex(form().index_of(steps));
    press(Qt::Key_Return);
    auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    ASSERT_TRUE(line);
    line->selectAll();
    QTest::keyClicks(line, QString::fromLatin1(value));
  };
  type("4");
  press(Qt::Key_F5);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().trace()->steps().size(), 4u);
  type("5");
  press(Qt::Key_S, Qt::ControlModifier);
  EXPECT_THAT(file_text(file), HasSubstr("steps: 5"));
}

TEST_F(Editor, LongDescriptionsOfFieldsCanBeScrolled) {
  window_->resize(1280, 720);
  open(shipped("04_resnet50_ring"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  editor().form().setCurrentIndex(form().index_of(path({{"strategy", 0}, {"algorithm", 0}})));
  QApplication::processEvents();
  auto* const about = editor().findChild<QScrollArea*>(QStringLiteral("about"));
  ASSERT_TRUE(about);
  EXPECT_GT(about->verticalScrollBar()->maximum(), 0) << "the text does not fit";
  EXPECT_GT(editor().form().viewport()->height(), 100) << "and leaves room for the form";
  about->setFocus();
  QTest::keyClick(about, Qt::Key_Down);
  EXPECT_GT(about->verticalScrollBar()->value(), 0);
  editor().form().setCurrentIndex(form().index_of(path({{"workload", 0}, {"batch", 0}})));
  EXPECT_EQ(about->verticalScrollBar()->value(), 0);
  const auto background = [&] {
    QApplication::processEvents();
    return qGray(about->viewport()->grab().toImage().pixel(2, 2));
  };
  EXPECT_GT(background(), 180);
  window_->set_dark(true);
  EXPECT_LT(background(), 80);
}

TEST_F(Editor, TheSearchFieldFiltersTheFormByFieldNames) {
  own("own.textproto", "# mine\n");
  FormView& view = editor().form();
  const auto hidden = [&](std::initializer_list<core::PathStep> steps) {
    const QModelIndex at = form().index_of(path(steps));
    return view.isRowHidden(at.row(), at.parent());
  };
  act("find-field");
  auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(line);
  QTest::keyClicks(line, QStringLiteral("network model"));
  EXPECT_FALSE(hidden({{"run", 0}, {"network_model", 0}}));
  EXPECT_TRUE(view.isExpanded(form().index_of(path({{"run", 0}})).siblingAtColumn(0)));
  EXPECT_TRUE(hidden({{"run", 0}, {"steps", 0}}));
  EXPECT_TRUE(hidden({{"strategy", 0}}));
  line->setText(QStringLiteral("STRATEGY"));
  EXPECT_FALSE(hidden({{"strategy", 0}, {"algorithm", 0}})) << "a message is shown with its fields";
  EXPECT_TRUE(hidden({{"run", 0}}));
  line->setText(QStringLiteral("nosuchfield"));
  EXPECT_TRUE(hidden({{"strategy", 0}}));
  line->clear();
  EXPECT_FALSE(hidden({{"strategy", 0}}));
  EXPECT_FALSE(hidden({{"run", 0}, {"steps", 0}}));
  press(Qt::Key_Return);
  EXPECT_TRUE(view.hasFocus());
  // Enter goes to the first field that matches.
  act("find-field");
  QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("network_model"));
  press(Qt::Key_Return);
  EXPECT_EQ(view.currentIndex().siblingAtColumn(FormModel::kName),
            form().index_of(path({{"run", 0}, {"network_model", 0}})).siblingAtColumn(0));
}

TEST_F(Editor, TheTextMatchesTheFormAfterRandomEdits) {
  core::Random random(9);
  for (const char* name : {"01_two_ranks", "06_resnet50_nccl"}) {
    own("own.textproto", file_text(shipped(name)));
    const std::string before = text();
    for (int i = 0; i < 60; ++i) {
      // Selects a random line of the form.
      QModelIndex at;
      while (form().hasChildren(at) && (!at.isValid() || random.below(5) != 0))
        at = form().index(
            static_cast<int>(random.below(static_cast<std::uint64_t>(form().rowCount(at)))), 0, at);
      const QModelIndex value = at.siblingAtColumn(FormModel::kValue);
      if (form().can_add(at)) {
        form().add(at);
      } else if (random.below(3) == 0) {
        form().remove(at);
      } else if (form().flags(value) & Qt::ItemIsEditable) {
        const core::FieldType& type = *form().type(at);
        const QString typed = type.choices.empty()
                                  ? QString::number(random.below(100))
                                  : QString::fromStdString(type.choices.back().name);
        const core::FieldPath field = form().path(at);
        form().setData(value, typed, Qt::EditRole);
        EXPECT_EQ(shown(field), typed) << text();
      }
      // The form must show the same as the text, line by line.
      const core::ScenarioText now(text(), core::Schema::scenario());
      ASSERT_FALSE(now.broken()) << text();
      ASSERT_EQ(
          form().rowCount(form().index_of(path({{"workload", 0}, {"variable", 0}})).parent()) > 0,
          true);
    }
    for (int i = 0; i < 200 && text() != before; ++i) act("undo");
    EXPECT_EQ(text(), before);
    proto::Scenario first, last;
    EXPECT_EQ(read(before, first), "");
    EXPECT_EQ(read(text(), last), "");
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(first, last));
    while (editor().changed()) act("undo");
  }
}

TEST_F(Editor, ErrorsAreMarkedInFormAndTextAndListed) {
  open(shipped("04_resnet50_ring"));
  const core::FieldPath batch = path({{"workload", 0}, {"batch", 0}});
  set(batch, QStringLiteral("thirty"));
  wait_for_check();
  ASSERT_EQ(editor().problem_texts().size(), 1);
  EXPECT_THAT(editor().problem_texts()[0].toStdString(), StartsWith("line 19: batch: "));
  const QModelIndex at = form().index_of(batch);
  EXPECT_THAT(form().problem(at).toStdString(), HasSubstr("\"thirty\""));
  EXPECT_THAT(at.data(Qt::AccessibleTextRole).toString().toStdString(),
              HasSubstr("problem: batch: "));
  EXPECT_THAT(at.data(Qt::AccessibleDescriptionRole).toString().toStdString(),
              HasSubstr("replica"));
  EXPECT_THAT(editor().card_text().toStdString(), HasSubstr("one problem"));
  bool underlined = false;
  for (const QTextEdit::ExtraSelection& mark : editor().text_editor().extraSelections())
    underlined |= mark.cursor.selectedText() == QStringLiteral("\"thirty\"") &&
                  mark.format.underlineStyle() == QTextCharFormat::WaveUnderline;
  EXPECT_TRUE(underlined);
  editor().text_editor().moveCursor(QTextCursor::Start);
  act("problem-next");
  EXPECT_EQ(editor().text_editor().textCursor().blockNumber(), 18);
  EXPECT_EQ(form().path(editor().form().currentIndex()), batch);
  // Running the scenario reports the same problem at the same place, and opens no timeline.
  act("run");
  EXPECT_FALSE(ran());
  EXPECT_THAT(said_, HasSubstr("04_resnet50_ring.textproto:19:"));
  EXPECT_EQ(editor().problem_texts().size(), 1);
  act("undo");
  wait_for_check();
  EXPECT_TRUE(editor().problem_texts().isEmpty());
  EXPECT_EQ(form().problem(at), QString());
}

TEST_F(Editor, ErrorsThatAreUndoneDisappearEverywhere) {
  const auto problems = [&] {
    int rows = 0;
    for (const auto* const list : editor().findChildren<QListWidget*>())
      rows += list->isVisible() ? list->count() : 0;
    return rows;
  };
  const auto underlines = [&] {
    const auto marks = editor().text_editor().extraSelections();
    return std::count_if(marks.begin(), marks.end(), [](const QTextEdit::ExtraSelection& mark) {
      return mark.format.underlineStyle() == QTextCharFormat::WaveUnderline;
    });
  };
  const std::string right = test::small_scenario("algorithm: \"ring\"", 2, 2);
  own("own.textproto", right);
  ASSERT_TRUE(until([&] { return editor().card_text().contains(QStringLiteral("4 GPUs")); }))
      << editor().card_text().toStdString();
  const QString facts = editor().card_text();
  TextEditor& field = editor().text_editor();
  act("text");
  ASSERT_TRUE(field.hasFocus());
  // An unknown field, and a text that cannot be parsed.
  for (const char* const wrong : {"run { stepz: 5 }", "run {"}) {
    field.moveCursor(QTextCursor::End);
    QTest::keyClicks(&field, QString::fromLatin1(wrong));
    ASSERT_TRUE(until([&] { return problems() > 0; })) << wrong;
    EXPECT_GT(underlines(), 0);
    press(Qt::Key_F5);
    ASSERT_FALSE(ran());
    EXPECT_NE(session().bar().words(), QString());
    EXPECT_NE(window_->status_text(), QString());
    while (editor().changed()) QTest::keyClick(&field, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(text(), right);
    EXPECT_TRUE(until([&] { return problems() == 0; })) << wrong;
    EXPECT_EQ(underlines(), 0) << wrong;
    EXPECT_EQ(session().bar().words(), QString()) << "above the form";
    EXPECT_EQ(window_->status_text(), QString()) << "in the status bar";
    EXPECT_TRUE(until([&] { return editor().card_text() == facts; }));
  }
}

TEST_F(Editor, OldFieldsAreRewrittenOnlyOnRequest) {
  const std::string before = "# mine\nstrategy {\n  mirrored { num_packs: 2 }\n}\n";
  own("own.textproto", before);
  QLabel* link = nullptr;
  for (QLabel* const label : editor().findChildren<QLabel*>()) {
    if (label->text().contains(QStringLiteral("href=\"convert\""))) link = label;
  }
  ASSERT_NE(link, nullptr);
  EXPECT_FALSE(link->isHidden());
  const core::FieldPath packs =
      path({{"strategy", 0}, {"tensorflow", 0}, {"mirrored", 0}, {"num_packs", 0}});
  EXPECT_EQ(text(), before) << "nothing is changed without a request";
  emit link->linkActivated(QStringLiteral("convert"));
  QTest::qWait(10);
  EXPECT_EQ(text(), "# mine\nstrategy {\n  tensorflow { mirrored { num_packs: 2 } }\n}\n");
  EXPECT_EQ(shown(packs), QStringLiteral("2"));
  EXPECT_TRUE(link->isHidden());
  editor().text_editor().undo();
  QTest::qWait(10);
  EXPECT_EQ(text(), before);
}

TEST_F(Editor, TheFormIsDisabledWhileTheTextHasSyntaxErrors) {
  own("own.textproto", "run { steps: 5 }\n");
  act("text");
  editor().text_editor().moveCursor(QTextCursor::End);
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("strategy {"));
  QTest::qWait(10);
  const QModelIndex steps =
      form().index_of(path({{"run", 0}, {"steps", 0}})).siblingAtColumn(FormModel::kValue);
  EXPECT_EQ(shown(path({{"run", 0}, {"steps", 0}})), QStringLiteral("5"));
  EXPECT_FALSE(form().flags(steps) & Qt::ItemIsEditable);
  EXPECT_FALSE(form().setData(steps, 6, Qt::EditRole));
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("}"));
  QTest::qWait(10);
  EXPECT_TRUE(form().flags(steps) & Qt::ItemIsEditable);
}

}  // namespace
}  // namespace tutti::gui
