#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <tl/expected.hpp>

#include "gui/model/alignment.h"

class QCommandLineParser;
class QCoreApplication;

namespace tutti::gui {

class MainWindow;

/// What was asked for on the command line.
struct Options {
  QString file;                ///< a timeline, a scenario or a sweep; empty: the window alone
  QString second;              ///< a timeline to be shown beside it, or put over the sweep; empty: none
  bool sweep = false;          ///< the file is one
  bool svg = false;            ///< the file is a picture, which is drawn as another one
  QString x, by, cost;         ///< of a sweep, what to draw; empty: as it comes
  bool one_line = false;       ///< of a sweep
  bool run = false;            ///< the scenario, at once
  std::optional<Align> align;  ///< of the two
  int error = 0;               ///< of the list of largest errors, from 1 on; 0: none
  QString screenshot;          ///< picture to write instead of showing a window; empty: none
  QSize size;                  ///< of the window; empty: as it was last
  bool dark = false;
  std::optional<double> from_us, to_us;  ///< what part of the run to show
  std::optional<double> at_us;           ///< where the time cursor is
  QString device;                        ///< "w0/gpu1": selected in the topology
  QString find;                          ///< spans to look for: the first is selected
};

/// ERRORS: in words, of what cannot be whatever the files hold. (Help and version are shown, and the program ends.)
tl::expected<Options, QString> read_options(const QCoreApplication& app);

/// Goes to the place that was asked for, once all is open. Answers what was asked for and is not there, a line each.
QStringList show_place(MainWindow& window, const Options& options);

}  // namespace tutti::gui
