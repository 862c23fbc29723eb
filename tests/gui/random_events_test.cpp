// Sends random events to windows with each kind of document: keys, clicks, drags, the wheel, new
// sizes, and actions of the menus. The window must not crash (most mistakes show under
// AddressSanitizer), must not lose its place outside of the run, and must still respond afterwards.
//
// TUTTI_EVENTS sets the number of events of all kinds of documents together, TUTTI_EVENTS_SEED the
// seed of the first. Each event is written to the file TUTTI_EVENTS_LOG before it is sent, so that
// the last line names the event that crashed. tools/window_events.sh runs the full form.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QContextMenuEvent>
#include <QDialog>
#include <QDir>
#include <QDrag>
#include <QPointer>
#include <QScopeGuard>
#include <QTimer>
#include <QWheelEvent>
#include <array>
#include <fstream>

#include "core/base/random.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/window/main_window.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"

namespace tutti::gui {
namespace {

constexpr int kKinds = 5;  // of documents

int number_of(const char* variable, int otherwise) {
  return qEnvironmentVariableIsSet(variable) ? qEnvironmentVariableIntValue(variable) : otherwise;
}

/// Closes dialogs and questions as soon as they appear, since they block the test, and file dialogs
/// could write anywhere. Also closes menus that block the event which opened them, such as the menu
/// of a scroll bar; other menus stay open and get events.
class ClosesDialogs : public QTimer {
 public:
  ClosesDialogs() {
    connect(this, &QTimer::timeout, this, [this] {
      if (auto* const dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget()))
        dialog->reject();
      if (!in_event) return;
      QDrag::cancel();  // a drag of selected text waits for the button's release
      if (QWidget* const popup = QApplication::activePopupWidget()) popup->close();
    });
    start(0);
  }
  bool in_event = false;  ///< true: an event is being handled, so the timer fires in its own loop
};

/// Sends random events to a window.
class Monkey {
 public:
  Monkey(MainWindow& window, std::uint64_t seed)
      : window_(window),
        random_(seed),
        log_(qEnvironmentVariable("TUTTI_EVENTS_LOG").toStdString(), std::ios::app) {
    log_ << "seed " << seed << std::endl;
  }

  void act() {
    QWidget* const widget = any_widget();
    if (!widget) return;
    log_ << widget->metaObject()->className() << ' ' << widget->objectName().toStdString() << ' ';
    switch (below(10)) {
      case 0:
      case 1:
      case 2: return press_key(*widget);
      case 3:
      case 4: return click(*widget);
      case 5: return drag(*widget);
      case 6: return turn_wheel(*widget);
      case 7: return resize();
      default: return trigger();
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(n))); }

  QWidget* any_widget() {
    if (QWidget* const popup = QApplication::activePopupWidget()) return popup;
    QWidget* const focused = QApplication::focusWidget();
    if (focused && focused->window() == &window_ && below(3) == 0) return focused;
    std::vector<QWidget*> visible{&window_};
    for (QWidget* const widget : window_.findChildren<QWidget*>()) {
      if (widget->isVisible() && widget->isEnabled() && widget->width() > 0 && widget->height() > 0)
        visible.push_back(widget);
    }
    return visible[static_cast<std::size_t>(below(static_cast<int>(visible.size())))];
  }
  QPoint any_point(const QWidget& widget) {
    return {below(std::max(1, widget.width())), below(std::max(1, widget.height()))};
  }
  Qt::KeyboardModifiers any_modifiers() {
    Qt::KeyboardModifiers with;
    if (below(4) == 0) with |= Qt::ShiftModifier;
    if (below(5) == 0) with |= Qt::ControlModifier;
    if (below(8) == 0) with |= Qt::AltModifier;
    return with;
  }

  void press_key(QWidget& widget) {
    constexpr std::array kKeys{
        Qt::Key_Tab,   Qt::Key_Backtab, Qt::Key_Up,     Qt::Key_Down,        Qt::Key_Left,
        Qt::Key_Right, Qt::Key_Home,    Qt::Key_End,    Qt::Key_PageUp,      Qt::Key_PageDown,
        Qt::Key_Enter, Qt::Key_Return,  Qt::Key_Escape, Qt::Key_Space,       Qt::Key_Delete,
        Qt::Key_F2,    Qt::Key_F3,      Qt::Key_F4,     Qt::Key_F6,          Qt::Key_F8,
        Qt::Key_W,     Qt::Key_S,       Qt::Key_A,      Qt::Key_D,           Qt::Key_P,
        Qt::Key_F,     Qt::Key_M,       Qt::Key_O,      Qt::Key_X,           Qt::Key_V,
        Qt::Key_C,     Qt::Key_Z,       Qt::Key_E,      Qt::Key_I,           Qt::Key_T,
        Qt::Key_1,     Qt::Key_8,       Qt::Key_9,      Qt::Key_BracketLeft, Qt::Key_Backspace};
    const Qt::Key key = kKeys[static_cast<std::size_t>(below(kKeys.size()))];
    const Qt::KeyboardModifiers with = any_modifiers();
    log_ << "key " << std::hex << key << ' ' << int(with) << std::dec << std::endl;
    QTest::keyClick(&widget, key, with);
  }
  void click(QWidget& widget) {
    const QPoint at = any_point(widget);
    const bool right = below(5) == 0;
    log_ << (right ? "right click " : "click ") << at.x() << ' ' << at.y() << std::endl;
    if (right) {
      QContextMenuEvent menu(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
      QApplication::sendEvent(&widget, &menu);
    } else if (below(6) == 0) {
      QTest::mouseDClick(&widget, Qt::LeftButton, any_modifiers(), at);
    } else {
      QTest::mouseClick(&widget, Qt::LeftButton, any_modifiers(), at);
    }
  }
  void drag(QWidget& widget) {
    const QPoint from = any_point(widget), to = any_point(widget);
    const Qt::MouseButton button = below(4) == 0 ? Qt::MiddleButton : Qt::LeftButton;
    const Qt::KeyboardModifiers with = any_modifiers();
    log_ << "drag " << from.x() << ' ' << from.y() << ' ' << to.x() << ' ' << to.y() << std::endl;
    const QPointer<QWidget> target(&widget);
    QTest::mousePress(&widget, button, with, from);
    for (int i = 1; i <= 3 && target; ++i) {
      const QPoint at = from + (to - from) * i / 3;
      QMouseEvent move(QEvent::MouseMove, at, widget.mapToGlobal(at), Qt::NoButton, button, with);
      QApplication::sendEvent(&widget, &move);
    }
    if (target) QTest::mouseRelease(&widget, button, with, to);
  }
  void turn_wheel(QWidget& widget) {
    const QPoint at = any_point(widget);
    const QPoint turn(below(3) == 0 ? 120 * (below(5) - 2) : 0, 120 * (below(7) - 3));
    log_ << "wheel " << turn.x() << ' ' << turn.y() << std::endl;
    QWheelEvent wheel(at, widget.mapToGlobal(at), {}, turn, Qt::NoButton, any_modifiers(),
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &wheel);
  }
  void resize() {
    const QSize size(200 + below(1800), 150 + below(1000));
    log_ << "size " << size.width() << ' ' << size.height() << std::endl;
    window_.resize(size);
  }
  void trigger() {
    std::vector<QAction*> all;
    for (const Actions::Group& group : window_.actions_of().groups()) {
      for (QAction* const action : group.actions) {
        const QString id = action->objectName();
        // Examples replace the document, and would run for a long time.
        if (id != QStringLiteral("quit") && !id.startsWith(QStringLiteral("example")))
          all.push_back(action);
      }
    }
    QAction* const action = all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    log_ << "action " << action->objectName().toStdString() << std::endl;
    action->trigger();
  }

  MainWindow& window_;
  core::Random random_;
  std::ofstream log_;
};

class RandomEvents : public Editor {
 protected:
  // The window stores sweeps of examples in the home folder.
  RandomEvents() { qputenv("HOME", QByteArray::fromStdString(folder_.path())); }

  /// Sends this kind's share of the events to the window.
  void play(std::uint64_t kind) {
    const int events = number_of("TUTTI_EVENTS", 300) / kKinds;
    const auto seed = static_cast<std::uint64_t>(number_of("TUTTI_EVENTS_SEED", 1));
    SCOPED_TRACE("TUTTI_EVENTS_SEED=" + std::to_string(seed));
    // A random name of a file is relative to the current folder.
    const QString before = QDir::currentPath();
    QDir::setCurrent(QString::fromStdString(folder_.path()));
    const auto back = qScopeGuard([&] { QDir::setCurrent(before); });
    ClosesDialogs closes;
    Monkey monkey(*window_, 1000 * seed + kind);
    for (int i = 0; i < events; ++i) {
      closes.in_event = true;
      monkey.act();
      closes.in_event = false;
      QApplication::processEvents();
      if (!window_->isVisible()) window_->show();
      check(i);
      if (HasFailure()) return;
    }
    while (QWidget* const popup = QApplication::activePopupWidget()) popup->close();
    stop_runs();
    responds();
  }

  /// Checks what holds after every event.
  void check(int event) {
    const TimelineView& view = window_->timeline();
    if (!view.trace()) return;
    const TimeRange& range = view.view().range();
    EXPECT_GE(range.from, core::Time()) << event;
    EXPECT_LT(range.from, range.to) << event;
    EXPECT_LE(range.to, view.view().run_length()) << event;
    if (const auto& selected = view.range()) {
      EXPECT_LE(selected->from, selected->to) << event;
    }
    if (view.selected()) {
      ASSERT_LT(view.selected()->row, view.trace()->rows().size()) << event;
      ASSERT_LT(view.selected()->index, view.trace()->rows()[view.selected()->row].spans.size());
    }
    const Layout& layout = view.layout_of_lines();
    int top = 0;
    for (const Line& line : layout.lines()) {
      EXPECT_EQ(line.top, top) << event << ' ' << line.key;
      top = line.bottom();
    }
  }

  void stop_runs() {
    if (QAction* const stop = window_->actions_of().find(QStringLiteral("stop"))) stop->trigger();
    window_->sweep().stop_and_wait();
    QApplication::processEvents();
  }

  /// The window still does what keys ask for.
  void responds() {
    TimelineView& view = window_->timeline();
    window_->resize(1280, 800);
    QApplication::processEvents();
    if (!view.trace() || !view.isVisible()) return;
    window_->actions_of().find(QStringLiteral("fit-all"))->trigger();
    EXPECT_EQ(view.view().range(), (TimeRange{core::Time(), view.view().run_length()}));
    window_->actions_of().find(QStringLiteral("zoom-in"))->trigger();
    view.settle();
    EXPECT_LT(view.view().range().length(), view.view().run_length());
    EXPECT_FALSE(window_->grab().isNull());
  }

  std::string ring() {
    return folder_.write("ring.tutti",
                         test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)));
  }
};

TEST_F(RandomEvents, DoNotCrashTheTimeline) {
  open(ring());
  ASSERT_TRUE(window_->timeline().trace()) << said_;
  play(0);
}

TEST_F(RandomEvents, DoNotCrashTheComparison) {
  const std::string other = folder_.write(
      "other.tutti",
      test::simulated(test::small_scenario("algorithm: \"ring\" bytes_per_pack: 0", 2, 2)));
  opened_ = failed_ = 0;
  window_->open_both(QString::fromStdString(ring()), QString::fromStdString(other));
  ASSERT_TRUE(ran()) << said_;
  ASSERT_TRUE(
      until([&] { return window_->timeline().trace() && window_->timeline().trace()->parts(); }));
  play(1);
}

TEST_F(RandomEvents, DoNotCrashTheScenarioEditor) {
  own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  play(2);
}

TEST_F(RandomEvents, DoNotCrashTheSweep) {
  const test::Outcome made =
      test::run_tutti({"sweep", shipped("01_two_ranks"), "--over", "strategy.launch_us=1..32*2",
                       "-o", folder_.file("a.sweep")});
  ASSERT_EQ(made.status, 0) << made.err;
  open(folder_.file("a.sweep"));
  ASSERT_TRUE(window_->sweep().data()) << said_;
  play(3);
  // The sweep panel still opens and shows a sweep.
  open(folder_.file("a.sweep"));
  ASSERT_TRUE(window_->sweep().data()) << said_;
  EXPECT_EQ(window_->sweep().data()->path, folder_.file("a.sweep"));
  EXPECT_FALSE(window_->sweep().csv().isEmpty());
}

TEST_F(RandomEvents, DoNotCrashAnImportedTrace) {
  const std::string trace = test::source_folder() + "/tests/data/traces/kineto_rank0.json";
  const test::Outcome made = test::run_tutti({"import", trace, "-o", folder_.file("trace.tutti")});
  ASSERT_EQ(made.status, 0) << made.err;
  open(folder_.file("trace.tutti"));
  ASSERT_TRUE(window_->timeline().trace()) << said_;
  play(4);
}

}  // namespace
}  // namespace tutti::gui
