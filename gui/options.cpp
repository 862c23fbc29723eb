// The command line is handled in two phases. The function read_options() parses the command line
// before the window exists. The function read_options() checks all rules that depend only on the
// options and on the kinds of files, so that a mistake ends the program with a message. The
// function read_options() calls one function for each group of options, and stops at the first
// problem. The function show_place() is called when the files are open. The function show_place()
// applies the options that specify a position, such as --find or --device, and reports every
// request that cannot be satisfied. The table kOptions lists all options with their help texts. The
// table kPlaces lists the options that need a timeline.

#include "gui/options.h"

#include <fcntl.h>

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QRect>
#include <algorithm>
#include <utility>

#include "core/base/format.h"
#include "gui/documents/file_kind.h"
#include "gui/documents/sweep_curves.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/communication_panel.h"
#include "gui/widgets/query_panel.h"
#include "gui/widgets/time_cursor.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

using core::Time;

namespace {

/// The maximum time that the user can specify: longer than any run, but in picoseconds it fits into
/// 64 bits.
constexpr double kMaxMicroseconds = 9e12;

struct Option {
  const char* name;
  const char* help;
  const char*
      value;  ///< the name of the option's value in the help text; empty: the option has no value
};

constexpr Option kOptions[] = {
    {"screenshot",
     "Write a picture to this file instead of opening the window: .png shows the whole window, "
     ".svg only the timeline or plot; needs no display",
     "file"},
    {"size", "Size of the window in pixels, such as 1600x900", "size"},
    {"dark", "Dark colours", ""},
    {"run", "Run the scenario at once and show its timeline", ""},
    {"from-us", "Start of the visible time range, in microseconds", "time"},
    {"to-us", "End of the visible time range, in microseconds", "time"},
    {"at-us", "Position of the time cursor, in microseconds", "time"},
    {"device", "Show which parts of a pack a device, such as w0/gpu1, holds in the first timeline",
     "name"},
    {"find",
     "Search term, such as \"pack 3\" or \"receive gpu1\"; the first matching span is selected",
     "words"},
    {"panel", "Panel to show: %1", "name"},  // %1: panel_names()
    {"query", "SQL query of the timeline to run in the query panel", "sql"},
    {"command",
     "Execute a command of the window after opening, such as path or help; \"list\" prints all "
     "commands; may be repeated",
     "id"},
    {"align",
     "Align two timelines at the start of the run (start), at the start of each training step "
     "(step; default), or also at each pack (pack)",
     "what"},
    {"x", "Field on the x axis of a sweep's plot, such as strategy.bytes_per_pack", "field"},
    {"by", "Field whose values become the curves of a sweep's plot (\"\" for a single curve)",
     "field"},
    {"cost",
     "Quantity on the y axis of a sweep's plot: step_time (default), exposed_communication, "
     "speed_up, …",
     "cost"},
    {"error", "Select the N-th largest difference between two timelines: 1, 2, …", "number"},
    {"delete-file",
     "When the window closes, delete the timeline, its marks and, if it is then empty, its folder; "
     "for programs that open a temporary file",
     ""},
    {"opened-fd",
     "Write a byte to this file descriptor when the window shows the given file, and exit with an "
     "error message if that file cannot be opened; for programs that start the window",
     "number"}};

/// The options that specify a position in a timeline.
constexpr const char* kPlaces[] = {"from-us", "to-us", "at-us", "device", "find", "panel", "query"};

constexpr const char* kPanels[] = {"details",       "numbers", "marks", "found",   "differences",
                                   "communication", "query",   "path",  "topology"};

QString panel_names() {
  QStringList names;
  for (const char* const panel : kPanels) names << QString::fromLatin1(panel);
  return names.join(QStringLiteral(", "));
}

using OptionError = std::optional<QString>;

QString value(const QCommandLineParser& parser, const char* name) {
  return parser.value(QString::fromLatin1(name));
}
bool is_set(const QCommandLineParser& parser, const char* name) {
  return parser.isSet(QString::fromLatin1(name));
}

bool is_of(const QString& file, FileKind wanted) {
  const auto kind = file_kind(file.toStdString());
  return kind && *kind == wanted;
}
bool is_scenario(const QString& file) { return is_of(file, FileKind::kScenario); }

OptionError read_files(const QCommandLineParser& parser, Options& options) {
  const QStringList files = parser.positionalArguments();
  if (files.size() > 2)
    return QStringLiteral(
        "expected one timeline, scenario or sweep, or two timelines; see tutti view --help");
  options.file = files.value(0);
  options.second = files.value(1);
  options.run = is_set(parser, "run");
  const bool scenario = !files.isEmpty() && is_scenario(files.front());
  if (options.run && !scenario)
    return QStringLiteral("--run needs a scenario; name a scenario file");
  options.sweep = !files.isEmpty() && is_of(files.front(), FileKind::kSweep);
  if (files.size() == 2) {
    const auto second = file_kind(files[1].toStdString());
    if (!second) return QString::fromStdString(second.error().message());
    if (scenario || *second != FileKind::kTimeline)
      return QStringLiteral("with two files, name two timelines, or a sweep and a timeline");
  }
  options.delete_file = is_set(parser, "delete-file");
  if (options.delete_file && (files.size() != 1 || !is_of(files.front(), FileKind::kTimeline)))
    return QStringLiteral("--delete-file needs one timeline; name one");
  options.svg =
      files.size() == 1 && files.front().endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
  if (options.svg &&
      !value(parser, "screenshot").endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
    return QStringLiteral(
        "an .svg plot can only be converted to a PNG; give --screenshot FILE.png");
  for (const char* const place : kPlaces) {
    if (!is_set(parser, place)) continue;
    const QString name = QString::fromLatin1(place);
    if (files.isEmpty() || options.sweep)
      return QStringLiteral("--%1 needs a timeline; name one").arg(name);
    if (scenario && !options.run)
      return QStringLiteral("--%1 needs a timeline; name a timeline, or run a scenario with --run")
          .arg(name);
  }
  return std::nullopt;
}

OptionError read_sweep_looks(const QCommandLineParser& parser, Options& options) {
  for (const auto& [name, field] : {std::pair("x", &options.x), std::pair("by", &options.by),
                                    std::pair("cost", &options.cost)}) {
    *field = value(parser, name);
    if (is_set(parser, name) && !options.sweep)
      return QStringLiteral("--%1 needs a sweep; name one").arg(QString::fromLatin1(name));
  }
  options.one_line = is_set(parser, "by") && options.by.isEmpty();
  if (options.cost.isEmpty() || find_sweep_cost(options.cost.toStdString())) return std::nullopt;
  QStringList names;
  for (const SweepCost& cost : sweep_costs()) names << QString::fromLatin1(cost.id);
  return QStringLiteral("--cost %1: expected one of %2")
      .arg(options.cost, names.join(QStringLiteral(", ")));
}

OptionError read_two(const QCommandLineParser& parser, Options& options) {
  for (const char* const name : {"error", "align"}) {
    if (is_set(parser, name) && (options.second.isEmpty() || options.sweep))
      return QStringLiteral("--%1 needs two timelines").arg(QString::fromLatin1(name));
  }
  if (is_set(parser, "error")) {
    options.error = value(parser, "error").toInt();
    if (options.error < 1)
      return QStringLiteral("--error %1: expected a number of at least 1")
          .arg(value(parser, "error"));
  }
  if (is_set(parser, "align")) {
    options.align = parse_align(value(parser, "align").toStdString());
    if (!options.align)
      return QStringLiteral("--align %1: expected start, step or pack").arg(value(parser, "align"));
  }
  return std::nullopt;
}

OptionError read_looks(const QCommandLineParser& parser, Options& options) {
  options.dark = is_set(parser, "dark");
  if (is_set(parser, "opened-fd")) {
    bool number = false;
    options.opened_fd = value(parser, "opened-fd").toInt(&number);
    if (!number || ::fcntl(options.opened_fd, F_GETFD) < 0)
      return QStringLiteral("--opened-fd %1: expected the number of an open file descriptor")
          .arg(value(parser, "opened-fd"));
  }
  options.screenshot = value(parser, "screenshot");
  if (is_set(parser, "screenshot")) {
    const QString& name = options.screenshot;
    if (name.isEmpty()) return QStringLiteral("--screenshot: name the file to write");
    const bool svg = name.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    if (!svg && !name.endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
      return QStringLiteral("--screenshot %1: expected a name that ends in .png or .svg").arg(name);
    if (svg && (options.file.isEmpty() || (is_scenario(options.file) && !options.run)))
      return QStringLiteral(
                 "--screenshot %1: an .svg picture needs a timeline or a sweep; name one, or use "
                 ".png")
          .arg(name);
  }
  if (!is_set(parser, "size")) return std::nullopt;
  const QStringList sides = value(parser, "size").split(QLatin1Char('x'));
  options.size = QSize(sides.value(0).toInt(), sides.value(1).toInt());
  if (sides.size() != 2 ||
      !QRect(1, 1, 10'000, 10'000).contains(options.size.width(), options.size.height()))
    return QStringLiteral("--size %1: expected WIDTHxHEIGHT, such as 1600x900")
        .arg(value(parser, "size"));
  return std::nullopt;
}

OptionError read_place(const QCommandLineParser& parser, Options& options) {
  options.find = value(parser, "find");
  options.device = value(parser, "device");
  options.query = value(parser, "query");
  options.panel = value(parser, "panel");
  options.commands = parser.values(QStringLiteral("command"));
  const bool known =
      std::find(std::begin(kPanels), std::end(kPanels), options.panel) != std::end(kPanels);
  if (is_set(parser, "panel") && !known)
    return QStringLiteral("--panel %1: expected one of %2").arg(options.panel, panel_names());
  for (const char* const name : {"find", "device", "query"}) {
    if (is_set(parser, name) && value(parser, name).trimmed().isEmpty())
      return QStringLiteral("--%1: the value is empty").arg(QString::fromLatin1(name));
  }
  for (const auto& [name, time] :
       {std::pair("from-us", &options.from_us), std::pair("to-us", &options.to_us),
        std::pair("at-us", &options.at_us)}) {
    if (!is_set(parser, name)) continue;
    bool number = false;
    *time = value(parser, name).toDouble(&number);
    if (!number || !(**time >= 0 && **time < kMaxMicroseconds))
      return QStringLiteral("--%1 %2: expected microseconds, at least 0")
          .arg(QString::fromLatin1(name), value(parser, name));
  }
  if (options.to_us && options.from_us.value_or(0) >= *options.to_us) {
    return options.from_us
               ? QStringLiteral("--from-us %1 is not before --to-us %2")
                     .arg(value(parser, "from-us"), value(parser, "to-us"))
               : QStringLiteral("--to-us %1: expected a time above 0").arg(value(parser, "to-us"));
  }
  return std::nullopt;
}

Time time_of(double us) { return Time(static_cast<std::int64_t>(us * 1e6)); }

/// Returns a message for each time on the command line that is after the end of the run.
QStringList beyond_the_end(const Options& options, Time end) {
  QStringList missing;
  for (const auto& [name, time] :
       {std::pair("from-us", &options.from_us), std::pair("to-us", &options.to_us),
        std::pair("at-us", &options.at_us)}) {
    if (*time && time_of(**time) > end) {
      missing << QStringLiteral("--%1 %2: the timeline ends at %3 µs")
                     .arg(QString::fromLatin1(name), QString::number(**time, 'g', 15),
                          QString::number(static_cast<double>(end.count()) / 1e6, 'g', 15));
    }
  }
  return missing;
}

/// Selects the span that --find has found, but keeps the visible range that other options have set.
QString find(MainWindow& window, const Options& options, const std::optional<TimeRange>& range) {
  TimelineView& view = window.timeline();
  if (!window.find(options.find))
    return QStringLiteral("--find %1: no span matches").arg(options.find);
  if (!range) return {};
  const SpanId found = *view.selected();
  const SpanRow& spans = view.trace()->rows()[found.row].spans;
  const bool inside = spans.start(found.index) < range->to && spans.end(found.index) >= range->from;
  view.show_range(*range);
  return inside ? QString()
                : QStringLiteral("--find %1: the first matching span is not between %2 and %3")
                      .arg(options.find, QString::fromStdString(core::show(range->from)),
                           QString::fromStdString(core::show(range->to)));
}

}  // namespace

tl::expected<Options, QString> read_options(const QCoreApplication& app) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("Shows a timeline that tutti simulate or tutti run has written, compares two\n"
                     "timelines, opens a scenario to edit and run it, or plots the results of\n"
                     "tutti sweep or tutti tune --database, even while this command runs. If the\n"
                     "first file is a sweep and the second file is the timeline of a real run,\n"
                     "the run is drawn into the plot of the sweep as a measured point."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("file"),
                               QStringLiteral("Timeline, scenario or sweep"),
                               QStringLiteral("[file [second timeline]]"));
  for (const Option& option : kOptions)
    parser.addOption({QString::fromLatin1(option.name),
                      QString::fromUtf8(option.help).replace(QStringLiteral("%1"), panel_names()),
                      QString::fromLatin1(option.value)});
  if (!parser.parse(app.arguments()))
    return tl::make_unexpected(parser.errorText() + QStringLiteral("; see tutti view --help"));
  if (is_set(parser, "help")) parser.showHelp(0);
  if (is_set(parser, "version")) parser.showVersion();
  Options options;
  for (const auto& read : {read_files, read_sweep_looks, read_two, read_looks, read_place}) {
    if (const OptionError wrong = read(parser, options)) return tl::make_unexpected(*wrong);
  }
  return options;
}

/// Shows the panels of --panel and --query. Returns an error message; empty if there is none.
static QString show_panels(MainWindow& window, const Options& options) {
  const auto show = [&](const QString& panel) {
    const QString id =
        panel == QStringLiteral("topology") ? panel : QStringLiteral("panel-") + panel;
    QAction* const action = window.actions_of().find(id);
    if (action->isChecked()) action->trigger();  // shown again, it comes to the front
    action->trigger();
    QCoreApplication::processEvents();
  };
  if (!options.panel.isEmpty()) show(options.panel);
  window.communication().finish();
  if (options.query.isEmpty()) return {};
  if (options.panel != QStringLiteral("query")) show(QStringLiteral("query"));
  window.query().set_query(options.query);
  window.query().run();
  window.query().wait();
  return window.query().failed() ? QStringLiteral("--query: ") + window.query().message()
                                 : QString();
}

/// Applies the options of a sweep.
static QStringList show_plot(MainWindow& window, const Options& options) {
  SweepChoice choice;
  choice.x = options.x.toStdString();
  if (!options.by.isEmpty() || options.one_line) choice.by = options.by.toStdString();
  if (!options.cost.isEmpty()) choice.cost = options.cost.toStdString();
  QStringList missing;
  for (const auto& [name, field] : {std::pair("x", &options.x), std::pair("by", &options.by)}) {
    QStringList names;
    for (const SweepField& known : fields_of(*window.sweep().data()))
      names << QString::fromStdString(known.name);
    if (!field->isEmpty() && !names.contains(*field))
      missing << QStringLiteral(
                     "--%1 %2: this field does not vary in the sweep; expected one of %3")
                     .arg(QString::fromLatin1(name), *field, names.join(QStringLiteral(", ")));
  }
  window.sweep().choose(choice);
  return missing;
}

QStringList show_place(MainWindow& window, const Options& options) {
  if (options.sweep && window.sweep().data()) return show_plot(window, options);
  TimelineView& view = window.timeline();
  if (!view.trace()) return {};
  const Time end = view.view().run_length();
  QStringList missing = beyond_the_end(options, end);
  if (!missing.isEmpty()) return missing;
  std::optional<TimeRange> range;
  if (options.from_us || options.to_us) {
    view.show_range(
        {time_of(options.from_us.value_or(0)), options.to_us ? time_of(*options.to_us) : end});
    range = view.view().range();
  }
  if (!options.find.isEmpty()) {
    if (const QString wrong = find(window, options, range); !wrong.isEmpty()) missing << wrong;
  }
  if (options.error > 0 && !window.comparison().go_to_error(options.error - 1))
    missing << QStringLiteral("--error %1: the list of differences has only %2")
                   .arg(options.error)
                   .arg(window.comparison().errors());
  if (const QString wrong = show_panels(window, options); !wrong.isEmpty()) missing << wrong;
  if (options.at_us) window.cursor().set_moment(time_of(*options.at_us));
  if (!options.device.isEmpty()) window.topology().parentWidget()->show();
  if (!options.device.isEmpty() || !options.screenshot.isEmpty()) window.traffic().wait();
  if (!options.device.isEmpty() && !window.topology().select_device(options.device)) {
    missing << QStringLiteral(
                   "--device %1: the timeline has no such device (expected a name such as w0/gpu1)")
                   .arg(options.device);
  }
  return missing;
}

QStringList execute_commands(MainWindow& window, const Options& options) {
  QStringList missing;
  for (const QString& id : options.commands) {
    QAction* const action = window.actions_of().find(id);
    if (!action) {
      missing << QStringLiteral(
                     "--command %1: there is no such command; --command list prints all commands")
                     .arg(id);
    } else if (!action->isEnabled()) {
      missing << QStringLiteral("--command %1: this command is not available for the given files")
                     .arg(id);
    } else {
      action->trigger();
    }
  }
  return missing;
}

}  // namespace tutti::gui
