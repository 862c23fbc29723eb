// Tests of what users rely on in the window: nothing is lost, nothing is stale, nothing is hidden.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QTableWidget>
#include <QTextBrowser>
#include <QTimer>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/base/file.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/writer.h"
#include "gui/paint/palette.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/file_watch.h"
#include "gui/widgets/legend_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/table.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/clusters.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;

std::string text_with(const QWidget& window, const char* name) {
  const auto* const label = window.findChild<QLabel*>(QString::fromLatin1(name));
  return label ? label->text().toStdString() : "no such label";
}

TEST_F(Window, ATimelineThatChangesOnDiskIsOfferedForReload) {
  const std::string path = write("small.tutti", small_timeline());
  ASSERT_TRUE(open(path));
  view().show_range({kMs * 20, kMs * 60});
  EXPECT_FALSE(window_.notice().isVisible());
  QTest::qWait(20);
  std::string other = small_timeline();
  ASSERT_NE(other.find("small"), std::string::npos);
  write("other.tutti", other + "damaged");
  std::filesystem::rename(folder_.file("other.tutti"), path);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.notice().isVisible(); }, 5000));
  EXPECT_THAT(window_.notice().text().toStdString(), HasSubstr("small.tutti has changed on disk"));
  QSignalSpy opened(&window_, &MainWindow::opened);
  window_.notice().button().click();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !opened.isEmpty(); }, 5000));
  EXPECT_FALSE(window_.notice().isVisible());
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 20, kMs * 60})) << "the view stays";
}

TEST_F(Window, AnOverwrittenTimelineIsNotReportedAsDamaged) {
  const std::string path = write("small.tutti", small_timeline());
  ASSERT_TRUE(open(path));
  write("small.tutti", std::string(100, 'x'));
  const auto span = view().trace()->span(0, 0);
  ASSERT_FALSE(span);
  EXPECT_THAT(span.error().message(), HasSubstr("has changed since it was opened; reload it"));
}

TEST_F(Window, MarksOfTwoWindowsOnOneFileAreKept) {
  const std::string path = write("small.tutti", small_timeline());
  ASSERT_TRUE(open(path));
  MainWindow other;
  ASSERT_FALSE(why_not_opened(other, [&] { other.open(QString::fromStdString(path)); }));
  view().select_range(TimeRange{kMs * 20, kMs * 30});
  window_.actions_of().find(QStringLiteral("mark"))->trigger();
  other.timeline().select_range(TimeRange{kMs * 50, kMs * 60});
  other.actions_of().find(QStringLiteral("mark"))->trigger();
  EXPECT_EQ(other.marks().marks().all().size(), 2u);
  ASSERT_TRUE(open(path));
  EXPECT_EQ(window_.marks().marks().all().size(), 2u);
}

TEST_F(Window, TabMovesTheFocusOutOfPanels) {
  open_small();
  for (const char* const name : {"details", "numbers"}) {
    auto* const table =
        window_.findChild<QDockWidget*>(QString::fromLatin1(name))->findChild<QTableWidget*>();
    ASSERT_GT(table->rowCount(), 1);
    table->setFocus();
    table->setCurrentCell(0, 0);
    QTest::keyClick(table, Qt::Key_Tab);
    EXPECT_FALSE(table->hasFocus()) << name;
  }
}

TEST_F(Window, CopiesWholeRowsAndSortsNumerically) {
  open_small();
  auto* const table = window_.numbers().findChild<QTableWidget*>();
  ASSERT_EQ(table->rowCount(), 5);
  emit table->horizontalHeader()->sectionClicked(1);
  emit table->horizontalHeader()->sectionClicked(1);  // the smallest first
  std::vector<int> counts;
  for (int row = 0; row < table->rowCount(); ++row)
    counts.push_back(table->item(row, 1)->text().toInt());
  EXPECT_EQ(counts, (std::vector<int>{8, 8, 8, 16, 16})) << "as numbers, not as texts";
  view().filter(QStringLiteral("gpu1"));
  EXPECT_EQ(table->item(4, 1)->text(), QStringLiteral("8")) << "it stays sorted";
  table->selectRow(0);
  table->setFocus();
  QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
  const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
  ASSERT_EQ(lines.size(), 3);
  EXPECT_TRUE(lines[0].startsWith(QStringLiteral("kind\tcount\tsum")));
  EXPECT_EQ(lines[1].count(QLatin1Char('\t')), 8);
}

TEST_F(Window, ASearchCountsAndUnderlinesItsMatches) {
  window_.resize(1280, 2000);  // so that all rows are in view
  open_small();
  view().open_all();
  auto* const line = window_.findChild<QLineEdit*>(QStringLiteral("find"));
  auto* const bar = window_.findChild<SearchBar*>();
  line->setText(QStringLiteral("receive >1ms"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return text_with(window_, "matches") == "16 matches"; }, 2000));
  window_.grab();
  EXPECT_EQ(bar->highlights().drawn(), 16);
  EXPECT_FALSE(view().selected()) << "typing changes nothing";
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(text_with(window_, "matches"), "1 of 16");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(text_with(window_, "matches"), "2 of 16");
  line->setText(QStringLiteral("receive >1s"));
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(text_with(window_, "matches"), "no match");
  line->clear();
  window_.grab();
  EXPECT_EQ(bar->highlights().drawn(), 0);
}

TEST_F(Window, TheLegendHasEveryKindAndSearchesForIt) {
  open_small();
  EXPECT_TRUE(window_.legend().isVisible());
  ASSERT_EQ(window_.legend().kinds().size(), 5u);
  const QRect box = window_.legend().box_of(0);
  ASSERT_FALSE(box.isEmpty());
  QTest::mouseClick(&window_.legend(), Qt::LeftButton, {}, box.center());
  ASSERT_TRUE(view().selected());
  const SpanRow& spans = view().trace()->rows()[view().selected()->row].spans;
  EXPECT_EQ(spans.kind(view().selected()->index), window_.legend().kinds().front());
  window_.actions_of().find(QStringLiteral("legend"))->trigger();
  EXPECT_FALSE(window_.legend().isVisible());
}

TEST_F(Window, TheDarkThemeAppliesToDialogsMenusAndFloatingPanels) {
  open_small();
  window_.set_dark(true);
  const auto is_dark = [](const QWidget& widget) {
    return widget.palette().color(QPalette::Base).lightness() < 60 &&
           widget.palette().color(QPalette::Window).lightness() < 60;
  };
  window_.actions_of().find(QStringLiteral("help"))->trigger();
  QWidget* const help = QApplication::activeModalWidget();
  ASSERT_TRUE(help);
  EXPECT_TRUE(is_dark(*help));
  EXPECT_TRUE(is_dark(*help->findChild<QTextBrowser*>()));
  help->close();
  auto* const numbers = window_.findChild<QDockWidget*>(QStringLiteral("numbers"));
  numbers->setFloating(true);
  EXPECT_TRUE(is_dark(*numbers));
  EXPECT_TRUE(is_dark(*numbers->findChild<QTableWidget*>()));
  window_.set_dark(false);
  EXPECT_FALSE(is_dark(*numbers));
}

TEST_F(Window, TextsOfWidgetsAreReadableInBothThemes) {
  for (const bool dark : {false, true}) {
    const QPalette colours = palette_of(dark ? dark_theme() : light_theme(), dark);
    const auto readable = [&](QPalette::ColorRole text, QPalette::ColorRole on) {
      EXPECT_GE(contrast(colours.color(text).rgb(), colours.color(on).rgb()), 4.5)
          << (dark ? "dark " : "light ") << text << " on " << on;
    };
    readable(QPalette::Text, QPalette::Base);
    readable(QPalette::Text, QPalette::AlternateBase);
    readable(QPalette::WindowText, QPalette::Window);
    readable(QPalette::ButtonText, QPalette::Button);
    readable(QPalette::ToolTipText, QPalette::ToolTipBase);
    readable(QPalette::PlaceholderText, QPalette::Base);
    readable(QPalette::Link, QPalette::Base);
    readable(QPalette::Link, QPalette::Window);
    readable(QPalette::HighlightedText, QPalette::Highlight);
  }
}

TEST_F(Window, MenusHaveSectionsAndCheckMarks) {
  open_small();
  std::map<std::string, int> separators;
  for (QMenu* const menu : window_.menuBar()->findChildren<QMenu*>()) {
    for (const QAction* const action : menu->actions())
      separators[menu->title().toStdString()] += action->isSeparator();
  }
  for (const char* const menu : {"&File", "&View", "&Select", "R&ows", "&Help"})
    EXPECT_GT(separators[menu], 0) << menu;
  QAction* const path = window_.actions_of().find(QStringLiteral("path"));
  EXPECT_FALSE(path->isChecked());
  press(Qt::Key_P);
  EXPECT_TRUE(view().path_only());
  EXPECT_TRUE(path->isChecked());
  EXPECT_TRUE(window_.actions_of().find(QStringLiteral("counters"))->isChecked());
  EXPECT_TRUE(window_.actions_of().find(QStringLiteral("align-step"))->isChecked());
  window_.actions_of().find(QStringLiteral("align-pack"))->trigger();
  EXPECT_FALSE(window_.actions_of().find(QStringLiteral("align-step"))->isChecked());
  window_.actions_of().find(QStringLiteral("about"))->trigger();
  auto* const about = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
  ASSERT_TRUE(about);
  EXPECT_THAT(about->text().toStdString(), HasSubstr("Tutti"));
  about->close();
}

TEST_F(Window, AltWithALetterHasOneMeaning) {
  std::map<QString, std::string> keys;
  const auto add = [&](const QString& key, const QString& what) {
    if (key.size() != 5 || !key.startsWith(QLatin1String("Alt+"))) return;
    const auto [other, is_new] = keys.try_emplace(key, what.toStdString());
    EXPECT_TRUE(is_new) << key.toStdString() << " is of " << other->second << " and "
                        << what.toStdString();
  };
  for (const QAction* const menu : window_.menuBar()->actions())
    add(QKeySequence::mnemonic(menu->text()).toString(), menu->text());
  for (const Actions::Group& group : window_.actions_of().groups()) {
    for (const QAction* const action : group.actions) {
      for (const QKeySequence& key : action->shortcuts()) add(key.toString(), action->text());
    }
  }
  EXPECT_GE(keys.size(), 12u);
}

TEST_F(Window, AnExportProposesANameBesideTheTimeline) {
  const std::string path = write("small.tutti", small_timeline());
  ASSERT_TRUE(open(path));
  EXPECT_EQ(window_.proposed_name(QStringLiteral(".png")).toStdString(), folder_.file("small.png"));
}

TEST_F(Window, TheContextMenuIsForTheSpanUnderTheMouse) {
  open_small();
  const QPoint position = point("worker 0/gpu0/compute", kMs * 10);
  QContextMenuEvent event(QContextMenuEvent::Mouse, position, view().mapToGlobal(position));
  QApplication::sendEvent(&view(), &event);
  ASSERT_TRUE(view().selected());
  auto* const menu = window_.findChild<QMenu*>(QStringLiteral("span menu"));
  ASSERT_TRUE(menu);
  QAction* all = nullptr;
  for (QAction* const action : menu->actions()) {
    if (action->text().startsWith(QStringLiteral("Find all"))) all = action;
  }
  ASSERT_TRUE(all);
  EXPECT_EQ(all->text(), QStringLiteral("Find all “forward”"));
  all->trigger();
  EXPECT_EQ(text_with(window_, "matches"), "2 of 8");
  menu->close();
}

TEST_F(Window, TheCriticalPathKeepsItsColours) {
  window_.resize(1280, 2000);
  open_small();
  view().set_path_only(true);
  const QImage picture = view().picture(view().size(), 1);
  const QPoint on = point("worker 1/gpu0/compute", kMs * 120),
               off = point("worker 0/gpu0/compute", kMs * 120);
  const auto look = light_theme().spans[core::SpanKind::kFirstCompute].colour;
  EXPECT_EQ(picture.pixel(on.x(), on.y() + 7), look);
  EXPECT_NE(picture.pixel(off.x(), off.y() + 7), look);
  press(Qt::Key_P);
}

TEST_F(Window, TheMainStepOfTwoRanksHasAColourOfItsOwn) {
  window_.resize(1280, 1200);
  ASSERT_TRUE(open(
      write("two.tutti", test::simulated(core::read_text_file(test::source_folder() +
                                                              "/scenarios/01_two_ranks.textproto")
                                             .value()))));
  view().open_all();
  SpanId longest{view().trace()->rows().size(), 0};
  core::Time length;
  for (std::size_t r = 0; r < view().trace()->rows().size(); ++r) {
    const Trace::Row& row = view().trace()->rows()[r];
    for (SpanRow::Index i = 0; row.track.kind == core::TrackKind::kLane && i < row.spans.size();
         ++i) {
      if (row.spans.duration(i) <= length) continue;
      length = row.spans.duration(i);
      longest = {r, i};
    }
  }
  ASSERT_GT(length, core::Time());
  const SpanRow& spans = view().trace()->rows()[longest.row].spans;
  EXPECT_EQ(core::span_name(spans.kind(longest.index)), "receive-reduce-copy-send");
  const SpanLooks& looks = light_theme().spans;
  const QRect box = view().box_of(longest);
  ASSERT_GT(box.width(), 20);
  // Right of the part that waits, below the label.
  const QRgb drawn =
      view().picture(view().size(), 1).pixel(box.right() - 4, box.bottom() - 2) | 0xff000000;
  EXPECT_EQ(drawn, looks[static_cast<std::size_t>(spans.kind(longest.index))].colour);
  EXPECT_NE(drawn, looks.back().colour) << "the colour of unknown kinds";
}

TEST_F(Window, TouchingSpansHaveBordersAndTheirWaitsArePale) {
  window_.resize(1280, 720);
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, -1});
  constexpr int kSpans = 13;
  for (int i = 0; i < kSpans; ++i) {
    core::Span span;
    span.start = kMs * (10 * i);
    span.duration = kMs * 10;
    span.wait = kMs * 4;
    span.kind = core::SpanKind::kFirstCompute;
    writer.span(0, span);
  }
  writer.end();
  ASSERT_TRUE(open(write("touching.tutti", out.str())));
  const QImage image = view().picture(view().size(), 1);
  const SpanLook& look = light_theme().spans[core::SpanKind::kFirstCompute];
  for (std::uint32_t i = 0; i < kSpans; ++i) {
    const QRect box = view().box_of({0, i});
    ASSERT_GT(box.width(), 25);
    const auto pixel = [&](int x) { return image.pixel(x, box.bottom() - 3) | 0xff000000; };
    bool has_border = false;
    for (int x = box.left() - 1; x <= box.left() + 1; ++x)
      has_border |= qGray(pixel(x)) < qGray(look.colour);
    EXPECT_TRUE(has_border) << i;
    EXPECT_EQ(pixel(box.left() + box.width() / 5), look.waiting) << i;
    EXPECT_EQ(pixel(box.right() - box.width() / 5), look.colour) << i;
  }
}

TEST_F(Window, LabelsOfLowBarsAreReadable) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, -1});
  core::Span span;
  span.duration = kMs * 100;
  span.kind = core::SpanKind::kFirstCompute + static_cast<int>(core::ComputeKind::kHostGap);
  writer.span(0, span);
  writer.end();
  ASSERT_TRUE(open(write("gap.tutti", out.str())));
  for (const bool dark : {false, true}) {
    window_.set_dark(dark);
    const Theme& theme = dark ? dark_theme() : light_theme();
    const QImage image = view().picture(view().size(), 1);
    const QRect box = view().box_of({0, 0});
    // The label is in the middle of the bar. Its text has the contrast of a text on the bar, since
    // no pixel near the text has the colour of the background.
    for (int x = box.center().x() - 10; x <= box.center().x() + 10; ++x) {
      for (int y = box.top() + 2; y < box.bottom() - 1; ++y) {
        const QRgb pixel = image.pixel(x, y) | 0xff000000;
        ASSERT_NE(pixel, theme.background) << x << ' ' << y;
        ASSERT_NE(pixel, theme.band) << x << ' ' << y;
      }
    }
    EXPECT_EQ(image.pixel(box.left() + 5, box.center().y()) | 0xff000000,
              theme.spans[static_cast<std::size_t>(span.kind)].colour);
  }
}

/// Returns a timeline of computation on these devices, given as worker and name, with `spans` spans
/// of 1 µs each.
std::string computation(const std::vector<std::pair<int, std::string>>& devices, int spans = 10) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  core::TrackId id = 0;
  for (const auto& [worker, device] : devices) {
    writer.track({id, core::TrackKind::kCompute, worker, device, 0, -1});
    for (int i = 0; i < spans; ++i) {
      core::Span span;
      span.start = core::microseconds(2 * i);
      span.duration = core::microseconds(1);
      span.kind = core::SpanKind::kFirstCompute;
      writer.span(id, span);
    }
    ++id;
  }
  writer.end();
  return out.str();
}

TEST_F(Window, ATimelineThatChangesWhileItIsOpenedIsOfferedForReload) {
  const std::string path = write("small.tutti", small_timeline());
  // The view gets the timeline after the file was read, and before the window watches the file.
  QObject::connect(
      &view(), &TimelineView::trace_changed, &view(),
      [&] { write("small.tutti", small_timeline() + "more"); }, Qt::SingleShotConnection);
  ASSERT_TRUE(open(path));
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_.notice().isVisible(); }, 5000));
}

TEST_F(Window, AFileIsWatchedInABusyFolderAndBeforeItExists) {
  const std::string path = folder_.file("later.tutti");
  FileWatch watch;
  QSignalSpy changed(&watch, &FileWatch::changed);
  watch.watch(QString::fromStdString(path));
  write("later.tutti", "a");
  ASSERT_TRUE(QTest::qWaitFor([&] { return changed.size() == 1; }, 5000)) << "it was absent";
  write("later.tutti", "ab");
  // Another program changes other files of the folder all the time.
  int writes = 0;
  QTimer busy;
  QObject::connect(&busy, &QTimer::timeout, &busy,
                   [&] { write("other" + std::to_string(++writes), "x"); });
  busy.start(20);
  EXPECT_TRUE(QTest::qWaitFor([&] { return changed.size() == 2; }, 5000));
  EXPECT_GT(writes, 5);
}

TEST_F(Window, UnrecordedPartsAreHatchedWithANote) {
  const std::string text = test::small_scenario("algorithm: \"ring\"", 2, 2);
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  record.from = core::microseconds(100);
  record.to = core::microseconds(200);
  ASSERT_TRUE(open(write("part.tutti", test::simulated(text, record))));
  EXPECT_EQ(view().trace()->recorded(), (TimeRange{record.from, record.to}));
  EXPECT_THAT(window_.status_text().toStdString(),
              HasSubstr("recorded only the spans from 0.1 ms to 0.2 ms"));
  // Hatching changes colours of the part of a row that has no spans.
  const QPoint position = point("worker 0/gpu0/compute", core::microseconds(20));
  const QImage image = view().grab().toImage();
  std::set<QRgb> colours;
  for (int x = position.x() - 8; x < position.x() + 8; ++x)
    colours.insert(image.pixel(x, position.y() - 4));
  EXPECT_GT(colours.size(), 1u);
  record = {};
  record.level = core::RecordLevel::kSteps;
  record.most_spans = 40;
  ASSERT_TRUE(open(write("limited.tutti", test::simulated(text, record))));
  EXPECT_TRUE(view().trace()->recorded());
  EXPECT_THAT(window_.status_text().toStdString(),
              HasSubstr("because at most 40 spans are recorded"));
}

TEST_F(Window, TheLegendHasRoomForEveryKindAndForWaits) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, -1});
  std::set<std::string> names;
  for (std::int32_t kind = 1; kind <= core::SpanKind::kExchange; ++kind) {
    if (!names.insert(core::span_name(kind)).second) continue;
    core::Span span;
    span.start = kMs * kind;
    span.duration = kMs;
    span.wait = core::microseconds(500);
    span.kind = kind;
    writer.span(0, span);
  }
  writer.end();
  window_.resize(1280, 800);
  ASSERT_TRUE(open(write("kinds.tutti", out.str())));
  const LegendStrip& legend = window_.legend();
  // An earlier test may have hidden it.
  if (legend.isHidden()) window_.actions_of().find(QStringLiteral("legend"))->trigger();
  ASSERT_EQ(legend.kinds().size(), names.size());
  ASSERT_TRUE(QTest::qWaitFor([&] { return legend.height() == legend.sizeHint().height(); }, 5000));
  EXPECT_GT(legend.height(), 2 * legend.fontMetrics().height()) << "one line is not enough";
  EXPECT_EQ(window_.size(), QSize(1280, 800)) << "the window does not grow";
  QRegion covered;
  for (std::size_t i = 0; i < legend.kinds().size(); ++i) {
    const QRect box = legend.box_of(i);
    EXPECT_TRUE(legend.rect().contains(box)) << i;
    EXPECT_FALSE(covered.intersects(box)) << i;
    covered += box;
  }
  EXPECT_FALSE(legend.box_of_waits().isEmpty());
  EXPECT_TRUE(legend.rect().contains(legend.box_of_waits()));
  EXPECT_FALSE(covered.intersects(legend.box_of_waits()));
  open_small();
  EXPECT_TRUE(QTest::qWaitFor([&] { return legend.height() < 30; }, 5000)) << "one line is enough";
}

TEST_F(Window, MarksAreListedButNotSavedIfTheirFileIsInvalid) {
  ASSERT_TRUE(open(write("small.tutti", small_timeline())));
  for (const int at : {20, 50, 80}) {
    view().select_range(TimeRange{kMs * at, kMs * (at + 5)});
    window_.actions_of().find(QStringLiteral("mark"))->trigger();
  }
  write("small.tutti.marks", "these are no marks");
  auto* const list = window_.marks().findChild<QTableWidget*>();
  for (const std::size_t left : {2u, 1u}) {
    list->setCurrentCell(0, 0);
    window_.actions_of().find(QStringLiteral("mark-delete"))->trigger();
    ASSERT_EQ(window_.marks().marks().all().size(), left);
    ASSERT_EQ(list->rowCount(), static_cast<int>(left));
    for (std::size_t i = 0; i < left; ++i)
      EXPECT_EQ(list->item(static_cast<int>(i), 0)->text().toStdString(),
                window_.marks().marks().all()[i].text);
  }
  EXPECT_EQ(window_.marks().marks().all()[0].at.from, kMs * 80);
  EXPECT_EQ(folder_.read("small.tutti.marks"), "these are no marks") << "it is not overwritten";
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("the marks are not saved"));
}

TEST_F(Window, OnlyTheRowsOfTheDeviceOfTheSpanAreShown) {
  ASSERT_TRUE(open(
      write("many.tutti", computation({{0, "gpu1"}, {0, "gpu10"}, {1, "gpu1"}, {11, "gpu1"}}))));
  auto* const bar = window_.findChild<SearchBar*>();
  bar->hide();
  const QPoint position =
      point("worker 1/gpu1/compute", core::microseconds(4) + core::nanoseconds(500));
  QContextMenuEvent event(QContextMenuEvent::Mouse, position, view().mapToGlobal(position));
  QApplication::sendEvent(&view(), &event);
  auto* const menu = window_.findChild<QMenu*>(QStringLiteral("span menu"));
  ASSERT_TRUE(menu);
  for (QAction* const action : menu->actions()) {
    if (action->text() == QStringLiteral("Show only rows of worker 1/gpu1")) action->trigger();
  }
  menu->close();
  std::vector<std::string> rows;
  for (const Line& line : view().layout_of_lines().lines()) {
    if (line.kind == Line::Kind::kSpans) rows.push_back(line.key);
  }
  EXPECT_EQ(rows, std::vector<std::string>{"worker 1/gpu1/compute"});
  EXPECT_TRUE(bar->isVisible()) << "the filter can be seen and cleared";
}

TEST_F(Window, MatchesAreUnderlinedUpToTheLimitWithinARow) {
  ASSERT_TRUE(open(write("many.tutti", computation({{0, "gpu0"}}, 150'000))));
  window_.findChild<QLineEdit*>(QStringLiteral("find"))->setText(QStringLiteral("forward"));
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return text_with(window_, "matches") == "150000 matches"; }, 5000));
  window_.grab();
  EXPECT_GT(window_.findChild<SearchBar*>()->highlights().drawn(), 10);
}

}  // namespace
}  // namespace tutti::gui
