// tutti-view: the window, as a separate program, so that `tutti` does not depend on Qt. `tutti
// view` starts it.

#include <fcntl.h>
#include <unistd.h>

#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QIcon>
#include <QScreen>
#include <QSettings>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTimer>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/version.h"
#include "gui/executors.h"
#include "gui/options.h"
#include "gui/trace/marks.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/recent_files.h"
#include "gui/widgets/welcome_page.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace {

/// Prints only serious messages of Qt. Qt also warns about missing folders and displays. If Qt
/// cannot use the display, ends the program, because Qt would abort it.
void print_serious_messages(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtFatalMsg && text.contains(QLatin1String("platform plugin"))) {
    const QByteArray display =
        qgetenv("DISPLAY").isEmpty() ? qgetenv("WAYLAND_DISPLAY") : qgetenv("DISPLAY");
    std::fprintf(stderr,
                 "tutti: the display %s cannot be opened; check that it exists and that this user "
                 "may use it (over ssh: ssh -X), or use --screenshot FILE to write a picture "
                 "without a display\n",
                 display.constData());
    std::_Exit(2);
  }
  if (type == QtCriticalMsg || type == QtFatalMsg)
    std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(text));
}

/// While an object of this class exists, SIGTERM, SIGINT and SIGHUP end the event loop instead of
/// the program. Runs and queries are then stopped, and their processes and files are removed, as if
/// the window had been closed.
class EndsBySignal {
 public:
  explicit EndsBySignal(QApplication& app) {
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) return;
    notifier_.emplace(pipe_[0], QSocketNotifier::Read);
    QObject::connect(&*notifier_, &QSocketNotifier::activated, &app, [this] {
      received_ = true;
      QApplication::exit(1);
    });
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
    }
  }
  EndsBySignal(const EndsBySignal&) = delete;
  EndsBySignal& operator=(const EndsBySignal&) = delete;

  /// Returns true if a signal has ended the event loop.
  [[nodiscard]] bool received() const { return received_; }

 private:
  /// `interrupted` is a global variable because a signal handler cannot access other data. (A
  /// second signal ends the program immediately.)
  static void on_signal(int number) {
    std::signal(number, SIG_DFL);
    static_cast<void>(!::write(pipe_[1], "", 1));
  }

  static inline int pipe_[2] = {-1, -1};
  std::optional<QSocketNotifier> notifier_;
  bool received_ = false;
};

/// Deletes a temporary timeline, its marks and its folder (if it is empty then) when the program
/// ends.
class DeletedFile {
 public:
  /// `path`: the timeline; empty: nothing is deleted.
  explicit DeletedFile(const QString& path)
      : path_(path.isEmpty() ? QString() : QFileInfo(path).absoluteFilePath()) {}
  ~DeletedFile() {
    if (path_.isEmpty()) return;
    QFile::remove(path_);
    QFile::remove(QString::fromStdString(tutti::gui::Marks::path_of(path_.toStdString())));
    static_cast<void>(::rmdir(QFile::encodeName(QFileInfo(path_).path()).constData()));
    tutti::gui::forget_file(path_);
  }
  DeletedFile(const DeletedFile&) = delete;
  DeletedFile& operator=(const DeletedFile&) = delete;

 private:
  QString path_;
};

void say(const QString& what) { std::fprintf(stderr, "tutti: %s\n", qUtf8Printable(what)); }

/// Returns an error message if the window does not have the requested size; else an empty text.
/// (The panels need a minimum of space.)
QString wrong_size(const tutti::gui::MainWindow& window, const QSize& wanted) {
  if (wanted.isEmpty() || window.size() == wanted) return {};
  const QSize least = window.minimumSizeHint().expandedTo(window.minimumSize());
  return QStringLiteral("--size %1x%2: this view needs at least %3x%4")
      .arg(wanted.width())
      .arg(wanted.height())
      .arg(least.width())
      .arg(least.height());
}

/// Processes events until all panels have their final sizes: a panel that changes its size can
/// change the sizes of others, such as the legend.
void settle_sizes() {
  constexpr int kMaxRounds = 3;
  for (int i = 0; i < kMaxRounds; ++i) QApplication::processEvents();
}

/// Writes the picture. Returns an error message; empty on success.
QString write_window(tutti::gui::MainWindow& window, const tutti::gui::Options& options) {
  window.messages().update_visible();
  window.numbers().finish();
  if (window.welcome().isVisible()) window.welcome().finish_pictures();
  if (options.screenshot.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
    return window.write_shown(options.screenshot);
  return tutti::gui::picture_of_window(window).save(options.screenshot)
             ? QString()
             : options.screenshot + QStringLiteral(" cannot be written");
}

/// Prints the ids of all commands for --command, with their texts.
void print_commands(const tutti::gui::MainWindow& window) {
  for (const tutti::gui::Actions::Group& group : window.actions_of().groups()) {
    for (const QAction* const action : group.actions)
      std::printf("%-20s  %s\n", qUtf8Printable(action->objectName()),
                  qUtf8Printable(QString(action->text()).remove(QLatin1Char('&'))));
  }
}

/// Returns the directory in which this user's windows keep unsaved changes.
QString recovery_folder() {
  const QString data = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
  return data.isEmpty() ? QString() : data + QStringLiteral("/recovery");
}

/// Draws and writes the picture once all files are open, and then ends the program. No display is
/// needed. If a requested item is missing, prints an error and writes no picture.
int write_screenshot(QApplication& app, tutti::gui::MainWindow& window,
                     const tutti::gui::Options& options) {
  using tutti::gui::MainWindow;
  const auto refuse = [](const QString& why) {
    say(why);
    QApplication::exit(2);
  };
  QObject::connect(&window, &MainWindow::failed, &app, refuse);
  const auto take = [&window, &options, refuse] {
    const QStringList missing = tutti::gui::show_place(window, options);
    for (const QString& why : missing) refuse(why);
    if (!missing.isEmpty()) return;
    // Return to the event loop once more, since only then all widgets have their sizes. A command
    // may open a dialog with an event loop of its own, so the timer starts before the commands.
    const auto wrong_commands = std::make_shared<QStringList>();
    QTimer::singleShot(0, &window, [&window, &options, refuse, wrong_commands] {
      for (const QString& why : *wrong_commands) refuse(why);
      if (!wrong_commands->isEmpty()) return;
      settle_sizes();
      if (const QString wrong = wrong_size(window, options.size); !wrong.isEmpty())
        return refuse(wrong);
      const QString wrong = write_window(window, options);
      if (!wrong.isEmpty()) say(wrong);
      QApplication::exit(wrong.isEmpty() ? 0 : 1);
    });
    *wrong_commands = tutti::gui::execute_commands(window, options);
  };
  QObject::connect(&window, &MainWindow::opened, &app, take, Qt::SingleShotConnection);
  // A command can wait for a dialog, so even without a file the event loop has to run first.
  if (options.file.isEmpty()) QTimer::singleShot(0, &window, take);
  return QApplication::exec();
}

/// Shows the window. Requested items that are missing are reported in the window and on stderr.
int show_window(QApplication& app, tutti::gui::MainWindow& window,
                const tutti::gui::Options& options) {
  if (options.file.isEmpty())
    QTimer::singleShot(0, &window, [&window] {
      window.offer_recovery();
      window.offer_session();
    });
  // A program that started the window waits until the file is open, and shows the error if there is
  // one.
  if (options.opened_fd >= 0) {
    QObject::connect(&window, &tutti::gui::MainWindow::failed, &app, [](const QString& why) {
      say(why);
      QApplication::exit(2);
    });
  }
  const auto go = [&app, &window, &options] {
    if (options.opened_fd >= 0) {
      QObject::disconnect(&window, &tutti::gui::MainWindow::failed, &app, nullptr);
      static_cast<void>(!::write(options.opened_fd, "", 1));
      ::close(options.opened_fd);
    }
    const QStringList missing =
        tutti::gui::show_place(window, options) + tutti::gui::execute_commands(window, options);
    for (const QString& why : missing) say(why);
    if (!missing.isEmpty()) window.tell(missing.join(QStringLiteral("; ")));
  };
  QObject::connect(&window, &tutti::gui::MainWindow::opened, &app, go, Qt::SingleShotConnection);
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  // Without these signals, write calls return an error if a worker is lost, or if the limit of the
  // file size is exceeded.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  qInstallMessageHandler(print_serious_messages);
  const auto options = [&] {
    const QCoreApplication app(argc, argv);
    QCoreApplication::setApplicationVersion(QString::fromUtf8(tutti::core::version().data()));
    return tutti::gui::read_options(app);
  }();
  if (!options) {
    say(options.error());
    return 2;
  }
  const bool screenshot = !options->screenshot.isEmpty();
  const bool no_display = qEnvironmentVariableIsEmpty("DISPLAY") &&
                          qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") &&
                          qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
  const bool lists_commands = options->commands.contains(QStringLiteral("list"));
  if (no_display && !screenshot && !lists_commands) {
    say(
        QStringLiteral("there is no display (DISPLAY is not set); to write a picture without a "
                       "display, use --screenshot FILE"));
    return 2;
  }
  if (no_display) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (options->svg) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  const DeletedFile deleted(options->delete_file ? options->file : QString());
  if (options->svg) {
    const QString wrong = tutti::gui::draw_svg(options->file, options->screenshot);
    if (!wrong.isEmpty()) say(wrong);
    return wrong.isEmpty() ? 0 : 2;
  }
  QApplication::setOrganizationName(QStringLiteral("tutti"));
  QApplication::setApplicationName(QStringLiteral("tutti-view"));
  QApplication::setDesktopFileName(QStringLiteral("tutti-view"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/tutti.svg")));
  // A picture must not depend on the user's settings, and making it must not change the settings.
  const QTemporaryDir settings;
  if (screenshot)
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
  tutti::gui::Executors executors = tutti::gui::make_executors(tutti::gui::own_worker_program());
  if (!screenshot) executors.recovery_folder = recovery_folder();
  executors.draw_examples = true;
  tutti::gui::MainWindow window(std::move(executors));
  if (lists_commands) {
    print_commands(window);
    return 0;
  }
  const EndsBySignal ends_by_signal(app);
  if (!options->size.isEmpty()) {
    window.resize(options->size);
  } else if (!screenshot) {
    window.fit_to_screen(window.screen()->availableGeometry().size());
  }
  if (options->dark) window.set_dark(true);
  window.show();
  if (options->align) window.comparison().align(*options->align);
  if (options->run) {
    window.open_and_run(options->file);
  } else if (!options->second.isEmpty()) {
    window.open_both(options->file, options->second);
  } else if (!options->file.isEmpty()) {
    window.open(options->file);
  }
  const int status =
      screenshot ? write_screenshot(app, window, *options) : show_window(app, window, *options);
  return ends_by_signal.received() ? 1 : status;
}
