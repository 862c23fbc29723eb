// tutti-view: the window, as a program of its own, so that `tutti` needs no Qt. `tutti view` starts it.

#include <fcntl.h>
#include <unistd.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QSocketNotifier>
#include <QTemporaryDir>
#include <QTimer>
#include <csignal>
#include <cstdio>
#include <optional>
#include <tl/expected.hpp>
#include <utility>

#include "core/base/version.h"
#include "gui/model/file_kind.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/beside_panel.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/time_cursor.h"
#include "gui/workshop.h"

namespace {

/// Qt talks about folders and displays that it would like to have.
void only_what_is_grave(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(text));
}

/// While one exists, SIGTERM, SIGINT and SIGHUP end the event loop instead of the program, so that a run is ended, and its
/// processes and files go, as if the window had been closed.
class EndsBySignal {
 public:
  explicit EndsBySignal(QApplication& app) {
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) return;
    notifier_.emplace(pipe_[0], QSocketNotifier::Read);
    QObject::connect(&*notifier_, &QSocketNotifier::activated, &app, [] { QApplication::exit(1); });
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
    }
  }
  EndsBySignal(const EndsBySignal&) = delete;
  EndsBySignal& operator=(const EndsBySignal&) = delete;

 private:
  /// A signal handler reaches nothing but globals. Whoever sends a second signal does not want to wait.
  static void on_signal(int number) {
    std::signal(number, SIG_DFL);
    static_cast<void>(!::write(pipe_[1], "", 1));
  }

  static inline int pipe_[2] = {-1, -1};
  std::optional<QSocketNotifier> notifier_;
};

/// What was asked for on the command line.
struct Options {
  QString file;                            ///< a timeline or a scenario; empty: the window alone
  QString second;                          ///< a timeline to be shown beside it; empty: none
  bool run = false;                        ///< the scenario, at once
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
  const auto run = option("run", "Run the scenario at once and show its timeline", "");
  const auto find = option("find", "Select the first span that fits: \"pack 3\", \"receive gpu1\"", "words");
  const auto align =
      option("align", "Two timelines by what they have in common: start, step (default) or pack", "what");
  const auto error =
      option("error", "Of two timelines, go to the largest error, or the next largest, …: 1, 2, …", "number");
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("Shows a timeline that tutti simulate or tutti run wrote; or two, the second beside the first; or "
                     "opens a scenario to change and run."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("file"), QStringLiteral("Timeline or scenario file"),
                               QStringLiteral("[file [second timeline]]"));
  parser.addOptions({picture, size, dark, run, from, to, at, device, find, align, error});
  const auto wrong = [](const QString& why) { return tl::make_unexpected(why); };
  if (!parser.parse(app.arguments()))
    return wrong(parser.errorText() + QStringLiteral("; tutti view --help tells more"));
  if (parser.isSet(QStringLiteral("help"))) parser.showHelp(0);
  if (parser.isSet(QStringLiteral("version"))) parser.showVersion();
  Options options;
  const QStringList files = parser.positionalArguments();
  options.screenshot = parser.value(picture);
  if (files.size() > 2)
    return wrong(QStringLiteral("expected one timeline or scenario, or two timelines; tutti view --help tells more"));
  options.file = files.value(0);
  options.second = files.value(1);
  options.run = parser.isSet(run);
  const auto is_scenario = [](const QString& file) {
    return tutti::gui::file_kind(file.toStdString()) == tutti::gui::FileKind::kScenario;
  };
  if (options.run && (files.isEmpty() || !is_scenario(files.front())))
    return wrong(QStringLiteral("--run runs a scenario; name one"));
  if (files.size() == 2 && (is_scenario(files[0]) || is_scenario(files[1])))
    return wrong(QStringLiteral("two files are shown beside each other if both are timelines"));
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
  if (!view.trace()) return;
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

/// Once open (at once if nothing is to be opened): draws, writes and ends, without a display if there is none.
int write_screenshot(QApplication& app, tutti::gui::MainWindow& window, const QString& picture, bool empty) {
  using tutti::gui::MainWindow;
  QObject::connect(&window, &MainWindow::failed, &app, [](const QString& why) {
    std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(why));
    QApplication::exit(2);
  });
  const auto take = [&window, picture] {
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
  };
  QObject::connect(&window, &MainWindow::opened, &app, take);
  if (empty) take();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  // A worker that is gone, and a file beyond what is allowed, show as errors of the write.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
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
  tutti::gui::MainWindow window(tutti::gui::make_workshop(tutti::gui::own_worker_program()));
  const EndsBySignal ends_by_signal(app);
  if (!options->size.isEmpty()) window.resize(options->size);
  if (options->dark) window.set_dark(true);
  QObject::connect(
      &window, &tutti::gui::MainWindow::opened, &app, [&] { show_place(window, *options); }, Qt::SingleShotConnection);
  window.show();
  if (options->align) window.beside().align(*options->align);
  if (options->run) {
    window.open_and_run(options->file);
  } else if (!options->second.isEmpty()) {
    window.open_both(options->file, options->second);
  } else if (!options->file.isEmpty()) {
    window.open(options->file);
  }
  return screenshot ? write_screenshot(app, window, options->screenshot, options->file.isEmpty())
                    : QApplication::exec();
}
