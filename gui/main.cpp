// tutti-view: the window, as a program of its own, so that `tutti` needs no Qt. `tutti view` starts it.

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>

#include "core/base/version.h"
#include "gui/widgets/main_window.h"

namespace {

/// Without a display Qt talks about what it would do with one.
void only_what_is_grave(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(text));
}

/// Opens, draws, writes and ends, without a display if there is none.
int write_screenshot(QApplication& app, tutti::gui::MainWindow& window, const QString& picture,
                     const QString& timeline) {
  using tutti::gui::MainWindow;
  QObject::connect(&window, &MainWindow::failed, &app, [](const QString& why) {
    std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(why));
    QApplication::exit(2);
  });
  QObject::connect(&window, &MainWindow::opened, &app, [&window, picture] {
    // Once more through the event loop: only then everything has its size.
    QTimer::singleShot(0, &window, [&window, picture] {
      const bool written = window.grab().save(picture);
      if (!written) std::fprintf(stderr, "tutti: %s cannot be written\n", qUtf8Printable(picture));
      QApplication::exit(written ? 0 : 1);
    });
  });
  window.show();
  window.open(timeline);
  return QApplication::exec();
}

/// And not for help or the version, which need no display.
bool asks_for_a_window(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray word(argv[i]);
    if (word == "-h" || word == "--help" || word == "-v" || word == "--version") return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool screenshot = false;
  for (int i = 1; i < argc; ++i) screenshot = screenshot || QByteArray(argv[i]).startsWith("--screenshot");
  const bool no_display = qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") &&
                          qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
  if (no_display && !screenshot && asks_for_a_window(argc, argv)) {
    std::fprintf(stderr, "tutti: there is no display here (DISPLAY is not set); --screenshot FILE writes a picture\n");
    return 2;
  }
  if (no_display) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (screenshot) qInstallMessageHandler(only_what_is_grave);
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tutti"));
  QApplication::setApplicationName(QStringLiteral("tutti-view"));
  QApplication::setApplicationVersion(QString::fromUtf8(tutti::core::version().data()));
  // A picture is the same whoever asks for it, and leaves no trace in anyone's settings.
  const QTemporaryDir settings;
  if (screenshot) QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Shows a timeline that tutti simulate or tutti run wrote"));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("timeline"), QStringLiteral("Timeline file"),
                               QStringLiteral("[timeline]"));
  const QCommandLineOption picture(
      QStringLiteral("screenshot"),
      QStringLiteral("Write a picture of the window to this file (PNG) and end; needs no display"),
      QStringLiteral("file"));
  const QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Of the window, such as 1600x900"),
                                QStringLiteral("size"));
  const QCommandLineOption dark(QStringLiteral("dark"), QStringLiteral("Dark colours"));
  parser.addOptions({picture, size, dark});
  parser.process(app);
  const QStringList files = parser.positionalArguments();
  if (files.size() > 1 || (parser.isSet(picture) && files.isEmpty())) {
    std::fprintf(stderr, "tutti: expected one timeline; tutti-view --help tells more\n");
    return 2;
  }
  tutti::gui::MainWindow window;
  if (parser.isSet(size)) {
    const QStringList sides = parser.value(size).split(QLatin1Char('x'));
    const int width = sides.value(0).toInt(), height = sides.value(1).toInt();
    if (sides.size() != 2 || width < 200 || height < 150 || width > 10'000 || height > 10'000) {
      std::fprintf(stderr, "tutti: --size %s: expected WIDTHxHEIGHT, such as 1600x900\n",
                   qUtf8Printable(parser.value(size)));
      return 2;
    }
    window.resize(width, height);
  }
  if (parser.isSet(dark)) window.set_dark(true);
  if (parser.isSet(picture)) return write_screenshot(app, window, parser.value(picture), files.front());
  window.show();
  if (!files.isEmpty()) window.open(files.front());
  return QApplication::exec();
}
