#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <tl/expected.hpp>

#include "gui/comparison/alignment.h"

class QCommandLineParser;
class QCoreApplication;

namespace tutti::gui {

class MainWindow;

/// The command line options.
struct Options {
  QString file;    ///< the timeline, scenario or sweep to open; empty: none
  QString second;  ///< the timeline to compare with `file`, or to overlay on the sweep; empty: none
  bool sweep = false;          ///< true: the file is a sweep
  bool svg = false;            ///< true: the file is an SVG picture, which is converted to PNG
  QString x, by, cost;         ///< fields and cost of a sweep's plot; empty: the default
  bool one_line = false;       ///< true: the plot of the sweep has a single line
  bool run = false;            ///< true: run the scenario as soon as it is open
  std::optional<Align> align;  ///< the alignment of two timelines
  int error = 0;               ///< the error to show, counted from the largest error (1); 0: none
  QString screenshot;          ///< the picture to write instead of showing a window; empty: none
  QSize size;                  ///< the size of the window; empty: as in the last session
  bool dark = false;
  std::optional<double> from_us, to_us;  ///< the range of the run to show, in µs
  std::optional<double> at_us;           ///< the position of the time cursor, in µs
  QString device;            ///< the device to select in the topology, such as "w0/gpu1"
  QString panel;             ///< the panel to show, such as "communication"; empty: none
  QString query;             ///< the SQL query to run in the query panel; empty: none
  QStringList commands;      ///< the commands to execute when the files are open, such as "path"
  QString find;              ///< the text to search for; the first matching span is selected
  bool delete_file = false;  ///< true: delete the timeline when the window closes
  int opened_fd = -1;        ///< the file descriptor to which a byte is written when the file is
                             ///< open; -1: none
};

/// Parses the command line. If --help or --version is given, prints the help text or the version
/// and exits. Returns an error message if the options are invalid. Options whose validity depends
/// on the content of the files are checked later.
tl::expected<Options, QString> read_options(const QCoreApplication& app);

/// Moves the view to the range, the cursor and the selection that the options request. To be called
/// when the files are open. Returns one line for each requested item that was not found.
QStringList show_place(MainWindow& window, const Options& options);

/// Executes the commands that the options request, in order. To be called after show_place().
/// Returns one line for each command that does not exist or is not available. Commands may open
/// dialogs and wait until they are closed.
QStringList execute_commands(MainWindow& window, const Options& options);

}  // namespace tutti::gui
