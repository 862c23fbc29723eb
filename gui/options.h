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
  QString file;           ///< a timeline, a scenario or a sweep to open; empty: none
  QString second;         ///< a timeline to compare with, or to overlay on the sweep; empty: none
  bool sweep = false;     ///< the file is a sweep
  bool svg = false;       ///< the file is an SVG picture, which is drawn as a PNG
  QString x, by, cost;    ///< axes and cost of a sweep's plot; empty: the default
  bool one_line = false;  ///< plot a sweep as a single line
  bool run = false;       ///< true: run the scenario at once
  std::optional<Align> align;  ///< the alignment of the two timelines
  int error = 0;               ///< row in the list of largest errors to show, from 1 on; 0: none
  QString screenshot;          ///< picture to write instead of showing a window; empty: none
  QSize size;                  ///< size of the window; empty: as last time
  bool dark = false;
  std::optional<double> from_us, to_us;  ///< range of the run to show
  std::optional<double> at_us;           ///< the position of the time cursor
  QString device;                        ///< device to select in the topology, such as "w0/gpu1"
  QString find;                          ///< search text for spans; the first match is selected
};

/// Parses the command line. For --help and --version, prints them and ends the program. ERRORS:
/// options that are invalid whatever the files contain, as a message.
tl::expected<Options, QString> read_options(const QCoreApplication& app);

/// Moves the view to the requested place, once all is open. Returns what was requested but not
/// found, one line each.
QStringList show_place(MainWindow& window, const Options& options);

}  // namespace tutti::gui
