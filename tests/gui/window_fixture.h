#pragma once

#include <gtest/gtest.h>

#include <QSettings>
#include <QTest>

#include "gui/window/main_window.h"
#include "tests/gui/window_hands.h"
#include "tests/support/program.h"

namespace tutti::gui {

inline constexpr core::Time kMs = core::milliseconds(1);

/// Returns a timeline of two workers with two GPUs each, and two steps of 100 ms. It has
/// computation, a pack in flight, two lanes, two links, and a critical path.
std::string small_timeline();

/// A fixture with a window that shows timelines.
class Window : public testing::Test {
 protected:
  Window() { QSettings().clear(); }

  std::string write(const std::string& name, const std::string& bytes) {
    return folder_.write(name, bytes);
  }

  /// Opens a file. Returns true if it was opened; else said_ has the message.
  bool open(const std::string& path) {
    const auto why = why_not_opened(window_, [&] { window_.open(QString::fromStdString(path)); });
    said_ = why.value_or("");
    return !why;
  }
  void open_small() { ASSERT_TRUE(open(write("small.tutti", small_timeline()))) << said_; }

  TimelineView& view() { return window_.timeline(); }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QTest::keyClick(&view(), key, with);
  }
  /// Returns the point in the middle of the line with this key, at a time.
  QPoint point(const std::string& key, core::Time t) {
    const QRect lines = lines_rect(view().size());
    for (const Line& line : view().layout_of_lines().lines()) {
      if (line.key == key)
        return {lines.left() + pixel_at(view().view().range(), t, lines.width()),
                lines.top() + line.top + line.height / 2};
    }
    ADD_FAILURE() << "no line " << key;
    return {};
  }

  test::TemporaryFolder folder_;
  MainWindow window_;
  std::string said_;
};

}  // namespace tutti::gui
