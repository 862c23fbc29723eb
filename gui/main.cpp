// tutti-view: the window, as a program of its own, so that `tutti` needs no Qt. `tutti view` starts it.

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <optional>
#include <tl/expected.hpp>
#include <utility>

#include "core/base/version.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/beside_panel.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/time_cursor.h"

namespace {

/// Qt talks about folders and displays that it would like to have.
void only_what_is_grave(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(text));
}

/// What was asked for on the command line.
struct Options {
  QString timeline;                        ///< empty: the window alone
  QString second;                          ///< to be shown beside it; empty: none
  std::optional<tutti::gui::Align> align;  ///< of the two
  int error = 0;                           ///< of the list of largest errors, from 1 on; 0: none
  QString screenshot;                      ///< picture to write instead of showing a window; empty: none
  QSize size;                              ///< of the window; empty: as it was last
  bool dark = false;
  std::optional<double> from_us, to_us;  ///< what part of the run to show
  std::optional<double> at_us;           ///< where the time cursor is
  QString device;                        ///< "w0/gpu1": selected in the topology
  QString find;                          ///< spans to look for: the first is selected
};

/// ERRORS: in words.
tl::expected<Options, QString> read_options(const QCoreApplication& app) {
  const auto option = [](const char* name, const char* help, const char* value) {
    return QCommandLineOption(QString::fromLatin1(name), QString::fromUtf8(help), QString::fromLatin1(value));
  };
  const auto picture = option(
      "screenshot",
      "Write a picture of the window (PNG; SVG: of its timeline) to this file instead of showing it; needs no display",
      "file");
  const auto size = option("size", "Of the window, such as 1600x900", "size");
  const auto dark = option("dark", "Dark colours", "");
  const auto from = option("from-us", "Show the run from this time on", "time");
  const auto to = option("to-us", "Show the run up to this time", "time");
  const auto at = option("at-us", "Put the time cursor at this time", "time");
  const auto device = option("device", "Look at what this device holds, such as w0/gpu1", "name");
  const auto find = option("find", "Select the first span that fits: \"pack 3\", \"receive gpu1\"", "words");
  const auto align =
      option("align", "Two timelines by what they have in common: start, step (default) or pack", "what");
  const auto error =
      option("error", "Of two timelines, go to the largest error, or the next largest, …: 1, 2, …", "number");
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("Shows a timeline that tutti simulate or tutti run wrote; or two, the second beside the first."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("timeline"), QStringLiteral("Timeline file"),
                               QStringLiteral("[timeline [second]]"));
  parser.addOptions({picture, size, dark, from, to, at, device, find, align, error});
  const auto wrong = [](const QString& why) { return tl::make_unexpected(why); };
  if (!parser.parse(app.arguments()))
    return wrong(parser.errorText() + QStringLiteral("; tutti view --help tells more"));
  if (parser.isSet(QStringLiteral("help"))) parser.showHelp(0);
  if (parser.isSet(QStringLiteral("version"))) parser.showVersion();
  Options options;
  const QStringList files = parser.positionalArguments();
  options.screenshot = parser.value(picture);
  if (files.size() > 2 || (parser.isSet(picture) && files.isEmpty()))
    return wrong(QStringLiteral("expected one timeline, or two; tutti view --help tells more"));
  options.timeline = files.value(0);
  options.second = files.value(1);
  if (parser.isSet(error)) {
    options.error = parser.value(error).toInt();
    if (options.error < 1)
      return wrong(QStringLiteral("--error %1: expected a number from 1 on").arg(parser.value(error)));
    if (options.second.isEmpty()) return wrong(QStringLiteral("--error needs two timelines"));
  }
  if (parser.isSet(align)) {
    options.align = tutti::gui::parse_align(parser.value(align).toStdString());
    if (!options.align)
      return wrong(QStringLiteral("--align %1: expected start, step or pack").arg(parser.value(align)));
    if (options.second.isEmpty()) return wrong(QStringLiteral("--align needs two timelines"));
  }
  options.dark = parser.isSet(dark);
  options.find = parser.value(find);
  if (parser.isSet(size)) {
    const QStringList sides = parser.value(size).split(QLatin1Char('x'));
    options.size = QSize(sides.value(0).toInt(), sides.value(1).toInt());
    if (sides.size() != 2 || !QRect(200, 150, 9801, 9851).contains(options.size.width(), options.size.height()))
      return wrong(QStringLiteral("--size %1: expected WIDTHxHEIGHT, such as 1600x900").arg(parser.value(size)));
  }
  options.device = parser.value(device);
  for (const auto& [given, time] :
       {std::pair(&from, &options.from_us), std::pair(&to, &options.to_us), std::pair(&at, &options.at_us)}) {
    bool number = false;
    if (!parser.isSet(*given)) continue;
    *time = parser.value(*given).toDouble(&number);
    if (!number || !(**time >= 0 && **time < 9e12))
      return wrong(
          QStringLiteral("--%1 %2: expected microseconds from 0 on").arg(given->names().front(), parser.value(*given)));
  }
  if (options.from_us.value_or(0) >= options.to_us.value_or(9e12))
    return wrong(QStringLiteral("--from-us %1 is not before --to-us %2").arg(*options.from_us).arg(*options.to_us));
  return options;
}

/// Goes to the place that was asked for.
void show_place(tutti::gui::MainWindow& window, const Options& options) {
  using tutti::core::Time;
  tutti::gui::TimelineView& view = window.timeline();
  const auto time = [](double us) { return Time(static_cast<std::int64_t>(us * 1e6)); };
  const Time end = view.view().run_length();
  if (options.from_us || options.to_us)
    view.show_range({time(options.from_us.value_or(0)), options.to_us ? time(*options.to_us) : end});
  if (!options.find.isEmpty()) window.find(options.find);
  if (options.error > 0 && !window.beside().go_to_error(options.error - 1))
    std::fprintf(stderr, "tutti: there are not %d errors to go to\n", options.error);
  if (options.at_us) window.cursor().set_moment(time(*options.at_us));
  if (!options.device.isEmpty() || !options.screenshot.isEmpty()) window.traffic().wait();
  if (options.device.isEmpty() || window.topology().select_device(options.device)) return;
  std::fprintf(stderr, "tutti: --device %s: the timeline has no such device (w0/gpu1 is one's form)\n",
               qUtf8Printable(options.device));
  if (!options.screenshot.isEmpty()) QApplication::exit(2);
}

/// Once open: draws, writes and ends, without a display if there is none.
int write_screenshot(QApplication& app, tutti::gui::MainWindow& window, const QString& picture) {
  using tutti::gui::MainWindow;
  QObject::connect(&window, &MainWindow::failed, &app, [](const QString& why) {
    std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(why));
    QApplication::exit(2);
  });
  QObject::connect(&window, &MainWindow::opened, &app, [&window, picture] {
    // Once more through the event loop: only then everything has its size.
    QTimer::singleShot(0, &window, [&window, picture] {
      window.messages().look_around();
      QString wrong;
      if (picture.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        wrong = tutti::gui::write_picture(window.timeline(), picture);
      } else if (!window.grab().save(picture)) {
        wrong = picture + QStringLiteral(" cannot be written");
      }
      if (!wrong.isEmpty()) std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(wrong));
      QApplication::exit(wrong.isEmpty() ? 0 : 1);
    });
  });
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  qInstallMessageHandler(only_what_is_grave);
  const auto options = [&] {
    const QCoreApplication app(argc, argv);
    QCoreApplication::setApplicationVersion(QString::fromUtf8(tutti::core::version().data()));
    return read_options(app);
  }();
  if (!options) {
    std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(options.error()));
    return 2;
  }
  const bool screenshot = !options->screenshot.isEmpty();
  const bool no_display = qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") &&
                          qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
  if (no_display && !screenshot) {
    std::fprintf(stderr, "tutti: there is no display here (DISPLAY is not set); --screenshot FILE writes a picture\n");
    return 2;
  }
  if (no_display) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tutti"));
  QApplication::setApplicationName(QStringLiteral("tutti-view"));
  // A picture is the same whoever asks for it, and leaves no trace in anyone's settings.
  const QTemporaryDir settings;
  if (screenshot) QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
  tutti::gui::MainWindow window;
  if (!options->size.isEmpty()) window.resize(options->size);
  if (options->dark) window.set_dark(true);
  QObject::connect(
      &window, &tutti::gui::MainWindow::opened, &app, [&] { show_place(window, *options); }, Qt::SingleShotConnection);
  window.show();
  if (options->align) window.beside().align(*options->align);
  if (!options->second.isEmpty()) {
    window.open(options->timeline, options->second);
  } else if (!options->timeline.isEmpty()) {
    window.open(options->timeline);
  }
  return screenshot ? write_screenshot(app, window, options->screenshot) : QApplication::exec();
}
