// The window on Qt's offscreen platform: opening what is whole, broken and not there; every action by its shortcut; what the
// mouse does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QApplication>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>
#include <fstream>
#include <set>

#include "core/schedule/step.h"
#include "core/timeline/writer.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/picture_file.h"
#include "tests/support/program.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::SpanKind;
using core::Time;
using testing::HasSubstr;

constexpr Time kMs = core::milliseconds(1);

/// Two workers with two GPUs each, two steps of 100 ms: computation, a pack in flight, two lanes; two links; a path.
std::string timeline() {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario = "small";
  run.executor = "simulated";
  run.version = "0";
  run.steps = 2;
  run.packs = {{{"a", "b"}, core::Bytes(1000), "float32"}};
  run.layers = {"conv1", "conv2"};
  writer.begin(run);
  core::TrackId id = 0;
  for (std::int32_t worker = 0; worker < 2; ++worker) {
    for (const char* device : {"gpu0", "gpu1"}) {
      for (int row = 0; row < 4; ++row) {
        const auto kind = row == 0   ? core::TrackKind::kCompute
                          : row == 1 ? core::TrackKind::kPacks
                                     : core::TrackKind::kLane;
        writer.track({id, kind, worker, device, 0, row < 2 ? -1 : row - 2});
        for (std::int32_t step = 0; step < 2; ++step) {
          const Time begin = kMs * (100 * step);
          const auto add = [&](std::int32_t what, int from, int to, std::int32_t pack, std::int64_t index) {
            Span span;
            span.start = begin + kMs * from;
            span.duration = kMs * (to - from);
            span.kind = what;
            span.step = step;
            span.pack = pack;
            span.index = index;
            span.bytes = core::Bytes(row >= 2 ? 500 : 0);
            if (what == static_cast<std::int32_t>(core::StepKind::kReceive)) {
              span.peer = id + (device[3] == '0' ? 4 : -4);  // the same lane of the other device
              span.peer_index = 0;
            }
            writer.span(id, span);
          };
          if (row == 0) {
            add(SpanKind::kFirstCompute, 0, 30, -1, 0);
            add(SpanKind::kFirstCompute + 1, 30, 80, -1, 1);
          } else if (row == 1) {
            add(SpanKind::kPackInFlight, 70, 100, 0, 0);
          } else {
            add(static_cast<std::int32_t>(core::StepKind::kSend), 70, 80, 0, 0);
            add(static_cast<std::int32_t>(core::StepKind::kReceive), 80, 100, 0, 1);
          }
        }
        ++id;
      }
    }
  }
  for (std::int32_t step = 0; step < 2; ++step) {
    core::StepRecord record;
    record.step = step;
    record.start = kMs * (100 * step);
    record.end = record.start + kMs * 100;
    writer.step(record);
    writer.pack({step, 0, record.start + kMs * 70, record.start + kMs * 70, record.start + kMs * 70, record.end});
  }
  core::LinkRecord link;
  link.name = "w0/nic0 out";
  link.bandwidth = core::bandwidth_from_gb_per_s(1);
  link.bin_width = kMs;
  link.bins.assign(200, 500'000);
  writer.link(link);
  core::PathPiece piece;
  piece.kind = SpanKind::kFirstCompute;
  piece.device = "w1/gpu0";
  piece.start = kMs * 100;
  piece.end = kMs * 130;
  writer.path(piece);
  piece.kind = SpanKind::kPackInFlight;
  piece.pack = 0;
  piece.start = kMs * 170;
  piece.end = kMs * 200;
  writer.path(piece);
  writer.end();
  return out.str();
}

class Window : public testing::Test {
 protected:
  Window() { QSettings().clear(); }

  std::string write(const std::string& name, const std::string& bytes) { return folder_.write(name, bytes); }

  /// True if it opened; else what was said is in said_.
  bool open(const std::string& path) {
    QSignalSpy opened(&window_, &MainWindow::opened), failed(&window_, &MainWindow::failed);
    window_.show();
    window_.open(QString::fromStdString(path));
    for (int i = 0; i < 1000 && opened.isEmpty() && failed.isEmpty(); ++i) QTest::qWait(10);
    said_ = failed.isEmpty() ? std::string() : failed.front().front().toString().toStdString();
    return !opened.isEmpty();
  }
  void open_small() { ASSERT_TRUE(open(write("small.tutti", timeline()))) << said_; }

  TimelineView& view() { return window_.timeline(); }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) { QTest::keyClick(&view(), key, with); }
  /// The middle of the line of that key, at a time.
  QPoint point(const std::string& key, Time t) {
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

TEST_F(Window, ShowsATimelineWithAllItsRows) {
  open_small();
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  EXPECT_EQ(view().view().range(), (TimeRange{Time(), kMs * 200}));
  std::set<std::string> keys;
  for (const Line& line : view().layout_of_lines().lines()) keys.insert(line.key);
  for (const char* key : {"steps", "critical path", "worker 0", "worker 0/gpu0", "worker 0/gpu0/compute",
                          "worker 1/gpu1/packs", "worker 0/gpu0/lanes", "links", "links/w0/nic0 out"})
    EXPECT_TRUE(keys.contains(key)) << key;
}

TEST_F(Window, FilesThatAreBrokenEmptyOrNotThereAreAMessageAndWhatWasOpenStays) {
  open_small();
  const std::string whole = timeline();
  EXPECT_FALSE(open(folder_.file("nothing.tutti")));
  EXPECT_THAT(said_, HasSubstr("nothing.tutti"));
  EXPECT_FALSE(open(write("empty.tutti", "")));
  EXPECT_FALSE(said_.empty());
  EXPECT_FALSE(open(write("text.tutti", "a letter to a friend")));
  EXPECT_FALSE(said_.empty());
  EXPECT_FALSE(open(folder_.path()));
  EXPECT_FALSE(said_.empty());
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  // Cut off anywhere: what is whole is shown, or it is said why not.
  for (std::size_t length = 8; length < whole.size(); length += 37) {
    if (open(write("cut.tutti", whole.substr(0, length)))) {
      EXPECT_FALSE(view().trace()->complete());
      EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("ends before its index"));
    } else {
      EXPECT_FALSE(said_.empty());
    }
  }
  for (std::size_t at = 8; at < whole.size(); at += 29) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    open(write("damaged.tutti", damaged));
    window_.grab();
  }
}

TEST_F(Window, WhatIsNoFileIsAMessageAtOnce) {
  // A pipe that nobody writes to: whoever read it would wait for ever, and its window with it.
  const std::string pipe = folder_.file("pipe.tutti");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, folder_.path(), std::string("/dev/zero")}) {
    EXPECT_FALSE(open(name));
    EXPECT_THAT(said_, testing::AllOf(HasSubstr(name), HasSubstr("this is a"), HasSubstr("in a file")));
  }
  ASSERT_EQ(::mkfifo(folder_.file("small.tutti.marks").c_str(), 0600), 0);
  open_small();
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("this is a pipe"));
}

TEST_F(Window, WhatIsDamagedOrCutOffIsToldAsThatAndOnce) {
  const std::string whole = timeline();
  std::string damaged = whole;
  damaged.replace(9, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  ASSERT_TRUE(open(write("damaged.tutti", damaged))) << said_;
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("the file is damaged at byte 8: 1 of its"));
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  EXPECT_FALSE(open(write("nothing.tutti", whole.substr(0, 20))));
  EXPECT_THAT(said_, HasSubstr("nothing in this timeline is whole"));
  // The header alone, and then tracks alone: there is nothing to draw.
  EXPECT_FALSE(open(write("header.tutti", whole.substr(0, 120))));
  EXPECT_THAT(said_, HasSubstr("nothing that could be drawn is whole in this timeline of small"));
}

TEST_F(Window, KeysZoomMoveAndGoBack) {
  open_small();
  const TimeRange all = view().view().range();
  press(Qt::Key_W);
  EXPECT_LT(view().view().range().length(), all.length());
  const TimeRange near = view().view().range();
  press(Qt::Key_D);
  EXPECT_GT(view().view().range().from, near.from);
  EXPECT_EQ(view().view().range().length(), near.length());
  press(Qt::Key_A);
  EXPECT_EQ(view().view().range(), near);
  press(Qt::Key_S);
  EXPECT_GT(view().view().range().length(), near.length());
  press(Qt::Key_Home);
  EXPECT_EQ(view().view().range(), all);
  view().show_range({kMs * 10, kMs * 20});
  view().show_range({kMs * 50, kMs * 60});
  press(Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 10, kMs * 20}));
  press(Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 50, kMs * 60}));
}

TEST_F(Window, ClicksSelectAndKeysGoOnFromThere) {
  open_small();
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu1/compute", kMs * 10));
  ASSERT_TRUE(view().selected());
  const SpanId forward = *view().selected();
  EXPECT_EQ(view().trace()->rows()[forward.row].track.device, "gpu1");
  EXPECT_EQ(forward.index, 0u);
  press(Qt::Key_Period);
  EXPECT_EQ(view().selected(), (SpanId{forward.row, 1}));
  press(Qt::Key_Comma);
  EXPECT_EQ(view().selected(), forward);
  press(Qt::Key_F);
  EXPECT_LT(view().view().range().length(), kMs * 60);
  EXPECT_GE(view().view().range().length(), kMs * 30);
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selected());
}

TEST_F(Window, DraggingSelectsARangeWithAltItZoomsWithTheMiddleButtonItMoves) {
  open_small();
  const QPoint from = point("worker 0/gpu0/compute", kMs * 50), to = point("worker 0/gpu0/compute", kMs * 150);
  const auto drag = [&](Qt::MouseButton button, Qt::KeyboardModifiers with) {
    QTest::mousePress(&view(), button, with, from);
    QMouseEvent move(QEvent::MouseMove, to, view().mapToGlobal(to), Qt::NoButton, button, with);
    QApplication::sendEvent(&view(), &move);
    QTest::mouseRelease(&view(), button, with, to);
  };
  drag(Qt::LeftButton, Qt::NoModifier);
  ASSERT_TRUE(view().range());
  EXPECT_NEAR(core::to_ms(view().range()->from), 50, 1);
  EXPECT_NEAR(core::to_ms(view().range()->to), 150, 1);
  EXPECT_EQ(view().view().range(), (TimeRange{Time(), kMs * 200}));
  press(Qt::Key_Escape);
  drag(Qt::LeftButton, Qt::AltModifier);
  EXPECT_FALSE(view().range());
  EXPECT_NEAR(core::to_ms(view().view().range().from), 50, 1);
  EXPECT_NEAR(core::to_ms(view().view().range().to), 150, 1);
  drag(Qt::MiddleButton, Qt::NoModifier);
  EXPECT_LT(core::to_ms(view().view().range().from), 1);
}

TEST_F(Window, TheKeyboardAloneReachesEveryRowAndGroup) {
  open_small();
  view().setFocus();
  press(Qt::Key_Plus, Qt::ControlModifier);
  std::set<std::size_t> rows;
  const std::size_t lines = view().layout_of_lines().lines().size();
  for (std::size_t i = 0; i < lines; ++i) {
    press(Qt::Key_Down);
    if (view().selected()) rows.insert(view().selected()->row);
  }
  EXPECT_EQ(rows.size(), view().trace()->rows().size());
  for (std::size_t i = 0; i < lines; ++i) press(Qt::Key_Up);
  for (int i = 0; i < 6; ++i) press(Qt::Key_Down);  // steps, path, counters, two of them, worker 0, its first device
  press(Qt::Key_O);
  EXPECT_LT(view().layout_of_lines().lines().size(), lines) << "worker 0/gpu0 is closed";
  press(Qt::Key_O);
  EXPECT_EQ(view().layout_of_lines().lines().size(), lines);
}

TEST_F(Window, NumbersAreOfAllOrOfEachDevice) {
  open_small();
  view().select_range(TimeRange{Time(), kMs * 100});
  auto* const numbers = window_.findChild<NumbersPanel*>();
  ASSERT_TRUE(numbers);
  const auto row = [&](const QString& name) {
    for (int r = 0; r < numbers->table().rowCount(); ++r) {
      if (numbers->table().item(r, 0)->text() != name) continue;
      QStringList texts;
      for (int c = 1; c < numbers->table().columnCount(); ++c) texts.append(numbers->table().item(r, c)->text());
      return texts.join(QLatin1Char('|')).toStdString();
    }
    return std::string("no such row");
  };
  // Lanes of closed groups count too: 8 lanes that receive 500 bytes in 20 of 100 ms.
  EXPECT_EQ(row(QStringLiteral("receive")), "8|160 ms|20.0 ms|20.0 ms|20.0 ms|20.0 ms|20.0 %|4.00 KB");
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_EQ(row(QStringLiteral("w1/gpu0, receive")), "2|40.0 ms|20.0 ms|20.0 ms|20.0 ms|20.0 ms|20.0 %|1.00 KB");
  EXPECT_THAT(numbers->csv().toStdString(), HasSubstr("\"w1/gpu0\",receive,2,40000.000000,20000.000000,20000.000000,"
                                                      "20000.000000,20000.000000,0.200000,1000\n"));
}

TEST_F(Window, GroupsClosePinsStayAndFiltersHide) {
  open_small();
  const auto has = [&](const std::string& key) {
    const auto& lines = view().layout_of_lines().lines();
    return std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return line.key == key; });
  };
  QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(20, point("worker 0/gpu0", Time()).y()));
  EXPECT_FALSE(has("worker 0/gpu0/compute"));
  EXPECT_TRUE(has("worker 0/gpu1/compute"));
  press(Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_TRUE(has("worker 0/gpu0/lanes/lane 1"));
  press(Qt::Key_Minus, Qt::ControlModifier);
  EXPECT_FALSE(has("worker 0/gpu0"));
  press(Qt::Key_Plus, Qt::ControlModifier);
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 1/gpu0/compute", kMs * 10));
  press(Qt::Key_T, Qt::ControlModifier);
  EXPECT_EQ(view().layout_of_lines().lines().front().key, "worker 1/gpu0/compute");
  EXPECT_GT(view().layout_of_lines().pinned_height(), 0);
  view().filter(QStringLiteral("GPU1/packs"));
  EXPECT_TRUE(has("worker 0/gpu1/packs"));
  EXPECT_TRUE(has("worker 1/gpu0/compute")) << "it is pinned";
  EXPECT_FALSE(has("worker 0/gpu1/compute"));
}

TEST_F(Window, SearchGoesFromSpanToSpanAndAround) {
  open_small();
  press(Qt::Key_F, Qt::ControlModifier);
  QWidget* const line = QApplication::focusWidget();
  ASSERT_TRUE(line);
  QTest::keyClicks(line, QStringLiteral("receive gpu1"));
  std::vector<SpanId> found;
  for (int i = 0; i < 9; ++i) {
    QTest::keyClick(line, Qt::Key_Return);
    ASSERT_TRUE(view().selected());
    found.push_back(*view().selected());
  }
  EXPECT_EQ(found[8], found[0]) << "8 spans, and around";
  for (const SpanId& span : found) {
    EXPECT_EQ(view().trace()->rows()[span.row].track.device, "gpu1");
    EXPECT_EQ(view().trace()->rows()[span.row].spans.kind(span.index), static_cast<int>(core::StepKind::kReceive));
  }
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("8 spans"));
  window_.actions_of().find(QStringLiteral("find-previous"))->trigger();
  EXPECT_EQ(*view().selected(), found[7]);
  auto* const durations = window_.findChild<FoundPanel*>();
  ASSERT_TRUE(durations && durations->isVisible());
  ASSERT_EQ(durations->durations().bins.size(), 1u) << "all last 20 ms";
  EXPECT_EQ(durations->durations().bins.front().spans, 8);
  QTest::mouseClick(durations, Qt::LeftButton, {}, durations->bar(0).center());
  EXPECT_THAT(window_.status_text().toStdString(),
              HasSubstr("8 spans are “receive gpu1 >17179.869184us <34359.738368us”"));
}

TEST_F(Window, MessagesAreFollowedAndDrawnWhileTheyAreFew) {
  open_small();
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu0/lanes/lane 1", kMs * 75));
  ASSERT_TRUE(view().selected());
  const SpanId sender = *view().selected();
  ASSERT_EQ(window_.messages().of_selection().size(), 1u);
  EXPECT_EQ(window_.messages().of_selection().front().sent, kMs * 70);
  press(Qt::Key_BracketRight);
  ASSERT_NE(*view().selected(), sender);
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].track.device, "gpu1");
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].track.lane, 1);
  press(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), sender);
  press(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), sender) << "it received nothing";
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("received nothing"));
  window_.messages().look_around();
  EXPECT_EQ(window_.messages().in_view().size(), 16u);
  press(Qt::Key_G);
  EXPECT_TRUE(window_.messages().in_view().empty());
}

TEST_F(Window, MarksAreNamedKeptBesideTheFileAndGoneTo) {
  const std::string path = write("small.tutti", timeline());
  ASSERT_TRUE(open(path));
  view().select_range(TimeRange{kMs * 20, kMs * 30});
  press(Qt::Key_M);
  ASSERT_EQ(window_.marks().marks().all().size(), 1u);
  QApplication::processEvents();
  auto* const name = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(name);
  EXPECT_EQ(name->text(), QStringLiteral("mark 1"));
  QTest::keyClick(name, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClicks(name, QStringLiteral("here it stalls"));
  QTest::keyClick(name, Qt::Key_Return);
  QApplication::processEvents();
  EXPECT_EQ(window_.marks().marks().all().front(), (Mark{{kMs * 20, kMs * 30}, "here it stalls"}));
  view().select_range(std::nullopt);
  view().show_range({kMs * 100, kMs * 140});
  press(Qt::Key_M);
  EXPECT_EQ(window_.marks().marks().all().size(), 2u);
  const std::string kept = folder_.read("small.tutti.marks");
  EXPECT_THAT(kept, HasSubstr("here it stalls"));
  window_.actions_of().find(QStringLiteral("mark-next"))->trigger();
  EXPECT_LE(view().view().range().from, kMs * 20);
  EXPECT_EQ(view().range(), (TimeRange{kMs * 20, kMs * 30}));
  window_.actions_of().find(QStringLiteral("mark-delete"))->trigger();
  EXPECT_EQ(window_.marks().marks().all().size(), 1u);
  ASSERT_TRUE(open(path));
  EXPECT_EQ(window_.marks().marks().all().size(), 1u) << "read from beside the file";
  write("small.tutti.marks", "mark { from: 3 }");
  ASSERT_TRUE(open(path));
  EXPECT_TRUE(window_.marks().marks().all().empty());
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("small.tutti.marks:1:8"));
  press(Qt::Key_M);
  EXPECT_EQ(folder_.read("small.tutti.marks"), "mark { from: 3 }") << "a file that is wrong is its owner's";
}

TEST_F(Window, WhatIsSeenIsWrittenAsPixelsAndAsShapes) {
  const QString png = QString::fromStdString(folder_.file("a.png")),
                svg = QString::fromStdString(folder_.file("a.svg"));
  EXPECT_EQ(write_picture(view(), png), QStringLiteral("no timeline is open"));
  open_small();
  EXPECT_EQ(write_picture(view(), png), QString());
  EXPECT_EQ(QImage(png).size(), view().size() * 2);
  EXPECT_EQ(write_picture(view(), svg), QString());
  const std::string text = folder_.read("a.svg");
  EXPECT_THAT(text, testing::AllOf(HasSubstr("<svg"), HasSubstr("worker 1"), HasSubstr("step 0"), HasSubstr("pack 0")));
  EXPECT_THAT(text, testing::Not(HasSubstr("<image"))) << "shapes, not pixels";
  EXPECT_THAT(write_picture(view(), QStringLiteral("/nowhere/a.png")).toStdString(), HasSubstr("/nowhere/a.png"));
}

TEST_F(Window, TheCriticalPathIsWalkedPieceByPiece) {
  open_small();
  press(Qt::Key_Greater, Qt::ShiftModifier);
  window_.actions_of().find(QStringLiteral("path-next"))->trigger();
  window_.actions_of().find(QStringLiteral("path-previous"))->trigger();
  ASSERT_TRUE(view().selected());
  const SpanId first = *view().selected();
  EXPECT_EQ(view().trace()->rows()[first.row].track.worker, 1);
  EXPECT_EQ(view().trace()->rows()[first.row].spans.kind(first.index), static_cast<int>(SpanKind::kFirstCompute));
  window_.actions_of().find(QStringLiteral("path-next"))->trigger();
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].spans.kind(view().selected()->index),
            static_cast<int>(SpanKind::kPackInFlight));
  press(Qt::Key_P);
  EXPECT_TRUE(view().path_only());
}

TEST_F(Window, EveryActionHasAWordAndNoShortcutIsTakenTwice) {
  std::set<QString> keys, ids;
  for (const Actions::Group& group : window_.actions_of().groups()) {
    for (QAction* const action : group.actions) {
      EXPECT_FALSE(action->text().isEmpty());
      EXPECT_FALSE(action->shortcuts().isEmpty()) << action->text().toStdString();
      EXPECT_TRUE(ids.insert(action->objectName()).second) << action->objectName().toStdString();
      for (const QKeySequence& key : action->shortcuts())
        EXPECT_TRUE(keys.insert(key.toString()).second) << key.toString().toStdString();
    }
  }
}

TEST_F(Window, EveryActionThatAsksForNoFileCanBeDoneWithAndWithoutATimeline) {
  for (const bool with : {false, true}) {
    if (with) open_small();
    for (const Actions::Group& group : window_.actions_of().groups()) {
      for (QAction* const action : group.actions) {
        const QString id = action->objectName();
        if (id == QLatin1String("quit") || id == QLatin1String("open") || id == QLatin1String("open-beside") ||
            id.startsWith(QLatin1String("export")) || id.startsWith(QLatin1String("save")))
          continue;
        action->trigger();
        QApplication::processEvents();
        if (QWidget* const dialog = QApplication::activeModalWidget()) dialog->close();
      }
    }
    window_.grab();
  }
}

TEST_F(Window, ThemesAreRememberedAndDifferent) {
  open_small();
  window_.set_dark(false);
  const QImage light = view().picture({800, 600}, 1);
  window_.set_dark(true);
  const QImage dark = view().picture({800, 600}, 1);
  EXPECT_GT(qGray(light.pixel(2, 590)), 200);
  EXPECT_LT(qGray(dark.pixel(2, 590)), 60);
  EXPECT_FALSE(QSettings().contains(QStringLiteral("dark"))) << "nobody has chosen it";
  window_.actions_of().find(QStringLiteral("dark"))->trigger();
  EXPECT_FALSE(QSettings().value(QStringLiteral("dark"), true).toBool());
}

TEST_F(Window, ClosingWhileOpeningEndsIt) {
  const std::string path = write("small.tutti", timeline());
  window_.show();
  window_.open(QString::fromStdString(path));
  window_.close();
  QTest::qWait(20);
}

}  // namespace
}  // namespace tutti::gui

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  tutti::test::TemporaryFolder settings;
  qputenv("TMPDIR", QByteArray::fromStdString(settings.path()));  // nobody else's files are looked at
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, QString::fromStdString(settings.path()));
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tutti-tests"));
  QApplication::setApplicationName(QStringLiteral("window"));
  return RUN_ALL_TESTS();
}
