#include "core/explore/sweep_store.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/edit/old_form_text.h"

namespace tutti::core {
namespace {

/// SQLite's application id of the database: the characters "TuSw". Tutti and the command `file`
/// recognise a sweep by this id.
constexpr std::int64_t kApplication = 0x54755377;
constexpr std::int64_t kFormat = 1;
/// The message of a point whose run was stopped early.
constexpr const char* kStoppedEarly =
    "stopped early: the step time is the mean of the steps simulated so far";
/// The SQL condition that is true for the rows of points whose runs were stopped early.
constexpr const char* kIsStopped = "status = 'done' AND message <> ''";

constexpr const char* kTables =
    "CREATE TABLE sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE setting (position INTEGER PRIMARY KEY, said TEXT NOT NULL);"
    "CREATE TABLE axis (axis INTEGER, place INTEGER, field TEXT NOT NULL, PRIMARY KEY (axis, "
    "place));"
    "CREATE TABLE axis_row (axis INTEGER, row INTEGER, place INTEGER, value TEXT NOT NULL,"
    " PRIMARY KEY (axis, row, place)) WITHOUT ROWID;"
    "CREATE TABLE file (kind INTEGER, name TEXT, path TEXT NOT NULL, text TEXT NOT NULL, PRIMARY "
    "KEY (kind, name));";

std::string point_table(const Space& space) {
  std::string sql = "CREATE TABLE point (point INTEGER PRIMARY KEY";
  for (const std::string& field : space.fields()) sql += ", " + quoted(field) + " TEXT NOT NULL";
  sql += ", status TEXT NOT NULL, message TEXT NOT NULL";
  for (const Cost& cost : kCosts) sql += fmt::format(", {}_ps INTEGER", cost.name);
  return sql + ", packs INTEGER, seed INTEGER)";
}

/// Returns the SQL statement that creates a view for users' queries. In the view, numeric values
/// are numbers instead of texts, and times are in milliseconds.
std::string result_view(const Space& space) {
  std::string sql = "CREATE VIEW result AS SELECT point";
  for (const std::string& field : space.fields()) {
    const auto parsed = parse_override("axis", field + "=");
    const FieldType* const type = parsed ? field_type(parsed->path) : nullptr;
    const std::string name = quoted(field);
    const bool whole = type && type->kind == FieldType::Kind::kWhole;
    if (whole || (type && type->kind == FieldType::Kind::kNumber)) {
      sql += fmt::format(", CAST(nullif({0}, '') AS {1}) AS {0}", name, whole ? "INTEGER" : "REAL");
    } else {
      sql += ", " + name;
    }
  }
  sql += ", status, message";
  for (const Cost& cost : kCosts) sql += fmt::format(", {0}_ps / 1e9 AS {0}_ms", cost.name);
  return sql + ", packs, seed FROM point";
}

/// Runs the statement `sql` once. `bind` is called first to set the statement's parameters.
template <class Bind>
Expected<void> with(Database& database, const std::string& sql, Bind bind) {
  auto statement = database.prepare(sql);
  if (!statement) return tl::make_unexpected(statement.error());
  bind(*statement);
  return statement->run();
}

/// Calls `row` for every row that a query returns.
template <class Row>
Expected<void> rows(Database& database, const std::string& sql, Row row) {
  auto statement = database.prepare(sql);
  if (!statement) return tl::make_unexpected(statement.error());
  while (true) {
    const auto more = statement->step();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return {};
    row(*statement);
  }
}

/// Returns the key of an axis's title in the table `sweep`, which contains only titles that are not
/// empty.
std::string title_name(std::size_t axis) { return fmt::format("axis_{}_title", axis); }

Expected<SweepInfo> read_info(Database& database) {
  SweepInfo info;
  bool whole = true;
  // Row numbers must be 0, 1, 2, …. Otherwise a forged file with a huge row number could make the
  // program allocate too much memory.
  const auto next = [&whole](std::int64_t number, auto& list) {
    if (number == std::ssize(list)) list.emplace_back();
    whole = whole && number >= 0 && number + 1 == std::ssize(list);
    return whole;
  };
  std::map<std::string, std::string> values;
  Expected<void> read = rows(database, "SELECT name, value FROM sweep",
                             [&](const Statement& row) { values[row.text(0)] = row.text(1); });
  if (read) {
    read = rows(database, "SELECT said FROM setting ORDER BY position",
                [&](const Statement& row) { info.set.push_back(row.text(0)); });
  }
  Problems problems;
  if (read) {
    read = rows(database, "SELECT axis, field FROM axis ORDER BY axis, place",
                [&](const Statement& row) {
                  if (!next(row.integer(0), info.axes)) return;
                  Axis& axis = info.axes.back();
                  const auto field = parse_override("axis", row.text(1) + "=");
                  if (!field) return problems.add(field.error());
                  axis.fields.push_back(row.text(1));
                  axis.paths.push_back(field->path);
                });
  }
  if (read) {
    read = rows(database, "SELECT axis, row, value FROM axis_row ORDER BY axis, row, place",
                [&](const Statement& row) {
                  const std::int64_t a = row.integer(0);
                  whole = whole && a >= 0 && a < std::ssize(info.axes);
                  if (!whole) return;
                  auto& axis_rows = info.axes[a].rows;
                  if (next(row.integer(1), axis_rows)) axis_rows.back().push_back(row.text(2));
                });
  }
  if (!read) return tl::make_unexpected(read.error());
  if (!problems.empty()) return problems.take();
  for (const Axis& axis : info.axes) {
    for (const auto& row : axis.rows) whole = whole && row.size() == axis.fields.size();
  }
  if (!whole)
    return tl::make_unexpected(
        Error::request({ProblemCode::kDamaged}, "this sweep is damaged", {database.path(), 0, 0}));
  info.version = values["tutti_version"];
  info.scenario_file = values["scenario_file"];
  info.scenario_text = values["scenario_text"];
  for (std::size_t a = 0; a < info.axes.size(); ++a) {
    const auto title = values.find(title_name(a));
    if (title != values.end()) info.axes[a].title = title->second;
  }
  return info;
}

/// A difference between two sweeps: the command-line option or message in which they differ, and a
/// description.
struct Difference {
  std::string field;
  std::string text;
};
std::optional<Difference> scenario_difference(const SweepInfo& there, const SweepInfo& requested) {
  if (there.version != requested.version)
    return Difference{"--version",
                      fmt::format("the sweep was created by Tutti {}, but this program is Tutti {}",
                                  there.version, requested.version)};
  const auto in_present_form = [](const std::string& text) {
    const auto converted = convert_text(text);
    return converted ? converted->text : text;
  };
  if (there.scenario_text != requested.scenario_text &&
      in_present_form(there.scenario_text) != in_present_form(requested.scenario_text))
    return Difference{"Scenario",
                      fmt::format("the text of scenario {} differs", there.scenario_file)};
  if (there.set != requested.set) return Difference{"--set", "the --set options differ"};
  return std::nullopt;
}

std::optional<Difference> difference(const SweepInfo& there, const SweepInfo& requested) {
  if (auto other = scenario_difference(there, requested)) return other;
  const auto fields = [](const SweepInfo& info) {
    std::vector<std::string> all;
    for (const Axis& axis : info.axes)
      all.insert(all.end(), axis.fields.begin(), axis.fields.end());
    return fmt::format("{}", fmt::join(all, ", "));
  };
  if (fields(there) != fields(requested))
    return Difference{"--over", fmt::format("the sweep varies {}", fields(there))};
  for (std::size_t a = 0; a < there.axes.size(); ++a) {
    if (there.axes.size() != requested.axes.size() || there.axes[a].rows != requested.axes[a].rows)
      return Difference{
          "--over", fmt::format("the values of {} differ", fmt::join(there.axes[a].fields, ", "))};
  }
  return std::nullopt;
}

/// Returns true if the file contains a sweep, and false if it is empty. ERRORS: the file has other
/// content.
Expected<bool> is_sweep(Database& database) {
  // Another program may create the sweep between the following queries. The check is nevertheless
  // safe, because that program commits the tables and their content in one transaction.
  const auto tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tl::make_unexpected(tables.error());
  const auto application = database.number("PRAGMA application_id");
  if (!application) return tl::make_unexpected(application.error());
  const auto format = database.number("PRAGMA user_version");
  if (!format) return tl::make_unexpected(format.error());
  if (**application == 0 && **tables == 0) return false;
  if (**application != kApplication) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kWrongType},
                       "this database was not written by tutti sweep; choose another file",
                       {database.path(), 0, 0}));
  }
  if (**format != kFormat) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnsupported},
                       fmt::format("the file of this sweep has format {}, but this program reads "
                                   "only format {}; run the sweep again",
                                   **format, kFormat),
                       {database.path(), 0, 0}));
  }
  const auto damaged = [&](const std::string& what) {
    return tl::make_unexpected(
        Error::run({ProblemCode::kDamaged}, fmt::format("{}: {}", database.path(), what)));
  };
  const auto programs = database.programs();
  if (!programs) return tl::make_unexpected(programs.error());
  if (*programs > 0)
    return damaged(
        "the file contains views, triggers or virtual tables, which tutti sweep never creates; "
        "another program has changed it");
  for (const char* const table : {"sweep", "setting", "axis", "axis_row", "file", "point"}) {
    const auto there = database.has_table(table);
    if (!there) return tl::make_unexpected(there.error());
    if (!*there)
      return damaged(fmt::format("this sweep is damaged: it has no table \"{}\"", table));
  }
  return true;
}

}  // namespace

std::optional<std::string> difference_of_scenarios(const SweepInfo& a, const SweepInfo& b) {
  const auto found = scenario_difference(a, b);
  return found ? std::optional(found->text) : std::nullopt;
}

SweepStore::SweepStore(Database database, SweepInfo info, Space space)
    : database_(std::make_unique<Database>(std::move(database))),
      info_(std::move(info)),
      space_(std::make_unique<const Space>(std::move(space))) {}

Expected<SweepStore> SweepStore::open(const std::string& path, Database::Mode mode) {
  auto database = Database::open(path, mode);
  if (!database) return tl::make_unexpected(database.error());
  const auto sweep = is_sweep(*database);
  if (!sweep) return tl::make_unexpected(sweep.error());
  if (!*sweep)
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing}, "this database is empty", {path, 0, 0}));
  auto info = read_info(*database);
  if (!info) return tl::make_unexpected(info.error());
  auto space = Space::of(info->axes);
  if (!space) return tl::make_unexpected(space.error());
  return SweepStore(std::move(*database), std::move(*info), std::move(*space));
}

Expected<SweepStore> SweepStore::resume(const std::string& path, const SweepInfo& info) {
  auto space = Space::of(info.axes);
  if (!space) return tl::make_unexpected(space.error());
  auto database = Database::open(path, Database::Mode::kWrite);
  if (!database) return tl::make_unexpected(database.error());
  const auto sweep = is_sweep(*database);
  if (!sweep) return tl::make_unexpected(sweep.error());
  if (*sweep) {
    const auto there = read_info(*database);
    if (!there) return tl::make_unexpected(there.error());
    if (const auto other = difference(*there, info)) {
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict, other->field},
          fmt::format(
              "this file holds another sweep: {}; name another file with -o{}, or remove this file",
              other->text,
              other->field == "--over" ? fmt::format(" (--reuse {} copies the results of points "
                                                     "that both sweeps have)",
                                                     path)
                                       : ""),
          {path, 0, 0}));
    }
  }
  // With write-ahead logging, a commit only appends to a separate file. Committed rows are kept if
  // the program is killed, although the commit does not wait for the disk.
  if (const auto set = database->log_ahead(); !set) return tl::make_unexpected(set.error());
  SweepStore store(std::move(*database), info, std::move(*space));
  if (!*sweep) {
    const auto created = store.create();
    if (!created) return tl::make_unexpected(created.error());
    // Another program has created a sweep in this file in the meantime. resume() checks whether it
    // is the same sweep.
    if (!*created) return resume(path, info);
  }
  return store;
}

Expected<bool> SweepStore::create() {
  Database& database = *database_;
  Expected<void> made = database.run("BEGIN IMMEDIATE");
  if (!made) return tl::make_unexpected(made.error());
  const auto there = is_sweep(database);
  if (!there || *there) {
    static_cast<void>(database.run("ROLLBACK"));
    if (!there) return tl::make_unexpected(there.error());
    return false;
  }
  const auto then = [&](auto&& next) {
    if (made) made = next();
  };
  then([&] { return database.run(kTables); });
  then([&] { return database.run(point_table(*space_)); });
  then([&] { return database.run(result_view(*space_)); });
  const std::pair<const char*, const std::string&> values[] = {
      {"tutti_version", info_.version},
      {"scenario_file", info_.scenario_file},
      {"scenario_text", info_.scenario_text}};
  for (const auto& value : values) {
    then([&] {
      return with(database, "INSERT INTO sweep VALUES (?1, ?2)",
                  [&](Statement& s) { s.bind(1, value.first).bind(2, value.second); });
    });
  }
  for (const std::string& setting : info_.set) {
    then([&] {
      return with(database, "INSERT INTO setting (said) VALUES (?1)",
                  [&](Statement& s) { s.bind(1, setting); });
    });
  }
  for (std::size_t a = 0; a < info_.axes.size(); ++a) {
    const Axis& axis = info_.axes[a];
    const auto number = static_cast<std::int64_t>(a);
    if (!axis.title.empty()) {
      then([&] {
        return with(database, "INSERT INTO sweep VALUES (?1, ?2)",
                    [&](Statement& s) { s.bind(1, title_name(a)).bind(2, axis.title); });
      });
    }
    for (std::size_t f = 0; f < axis.fields.size(); ++f) {
      then([&] {
        return with(database, "INSERT INTO axis VALUES (?1, ?2, ?3)", [&](Statement& s) {
          s.bind(1, number).bind(2, static_cast<std::int64_t>(f)).bind(3, axis.fields[f]);
        });
      });
    }
    then([&]() -> Expected<void> {
      auto insert = database.prepare("INSERT INTO axis_row VALUES (?1, ?2, ?3, ?4)");
      if (!insert) return tl::make_unexpected(insert.error());
      for (std::size_t r = 0; r < axis.rows.size(); ++r) {
        for (std::size_t f = 0; f < axis.fields.size(); ++f) {
          insert->bind(1, number)
              .bind(2, static_cast<std::int64_t>(r))
              .bind(3, static_cast<std::int64_t>(f));
          insert->bind(4, axis.rows[r][f]);
          if (auto ran = insert->run(); !ran) return ran;
        }
      }
      return {};
    });
  }
  then([&] { return database.run(fmt::format("PRAGMA application_id = {}", kApplication)); });
  then([&] { return database.run(fmt::format("PRAGMA user_version = {}", kFormat)); });
  then([&] { return database.run("COMMIT"); });
  if (made) return true;
  static_cast<void>(database.run("ROLLBACK"));
  return tl::make_unexpected(made.error());
}

Expected<std::vector<bool>> SweepStore::done() {
  std::vector<bool> done(space_->size());
  const auto read =
      rows(*database_, fmt::format("SELECT point FROM point WHERE NOT ({})", kIsStopped),
           [&](const Statement& row) {
             const std::int64_t point = row.integer(0);
             if (point >= 0 && point < space_->size()) done[point] = true;
           });
  if (!read) return tl::make_unexpected(read.error());
  return done;
}

Expected<void> SweepStore::add(std::int64_t point, const Outcome& outcome) {
  const std::vector<std::string> values = space_->values(point);
  if (!insert_) {
    std::string sql = "INSERT OR IGNORE INTO point VALUES (?1";
    for (std::size_t i = 0; i < values.size() + 2 + kCosts.size() + 2; ++i)
      sql += fmt::format(", ?{}", i + 2);
    auto insert = database_->prepare(sql + ")");
    if (!insert) return tl::make_unexpected(insert.error());
    insert_ = std::make_unique<Statement>(std::move(*insert));
  }
  if (!outcome.stopped) {
    if (!delete_stopped_) {
      auto prepared =
          database_->prepare(fmt::format("DELETE FROM point WHERE point = ?1 AND {}", kIsStopped));
      if (!prepared) return tl::make_unexpected(prepared.error());
      delete_stopped_ = std::make_unique<Statement>(std::move(*prepared));
    }
    if (auto gone = delete_stopped_->bind(1, point).run(); !gone) return gone;
  }
  int parameter = 1;
  insert_->bind(parameter++, point);
  for (const std::string& value : values) insert_->bind(parameter++, value);
  insert_->bind(parameter++, to_string(outcome.status));
  insert_->bind(parameter++, outcome.stopped ? std::string_view(kStoppedEarly) : outcome.message);
  const bool done = outcome.status == Outcome::Status::kDone;
  for (const Cost& cost : kCosts) {
    done ? insert_->bind(parameter, (outcome.*cost.time).count()) : insert_->bind_null(parameter);
    ++parameter;
  }
  for (const std::int64_t number : {outcome.packs, static_cast<std::int64_t>(outcome.seed)}) {
    done ? insert_->bind(parameter, number) : insert_->bind_null(parameter);
    ++parameter;
  }
  return insert_->run();
}

Expected<void> SweepStore::each(const std::function<void(std::int64_t, const Outcome&)>& row) {
  std::string sql = "SELECT point, status, message";
  for (const Cost& cost : kCosts) sql += fmt::format(", {}_ps", cost.name);
  return rows(
      *database_, sql + ", packs, seed FROM point ORDER BY point", [&](const Statement& found) {
        Outcome outcome;
        const std::string status = found.text(1);
        if (status == to_string(Outcome::Status::kRefused))
          outcome.status = Outcome::Status::kRefused;
        if (status == to_string(Outcome::Status::kFailed))
          outcome.status = Outcome::Status::kFailed;
        outcome.message = found.text(2);
        outcome.stopped = outcome.status == Outcome::Status::kDone && !outcome.message.empty();
        int column = 3;
        for (const Cost& cost : kCosts) outcome.*cost.time = Time(found.integer(column++));
        outcome.packs = found.integer(column++);
        outcome.seed = static_cast<std::uint64_t>(found.integer(column));
        const std::int64_t point = found.integer(0);
        if (point >= 0 && point < space_->size()) row(point, outcome);
      });
}

Expected<void> SweepStore::add_measured(const Measured& measured) {
  // Create the table now, because the file of a sweep without measurements does not have it.
  if (auto made = database_->run(
          "CREATE TABLE IF NOT EXISTS measured (point INTEGER, source TEXT, said TEXT NOT NULL, "
          "step_time_ps INTEGER NOT NULL, PRIMARY KEY (source))");
      !made)
    return made;
  return with(*database_, "INSERT OR REPLACE INTO measured VALUES (?1, ?2, ?3, ?4)",
              [&](Statement& s) {
                s.bind(1, measured.point)
                    .bind(2, measured.source)
                    .bind(3, measured.program)
                    .bind(4, measured.step.count());
              });
}

Expected<std::vector<SweepStore::Measured>> SweepStore::measured() {
  std::vector<Measured> all;
  const auto table =
      database_->number("SELECT count(*) FROM sqlite_master WHERE name = 'measured'");
  if (!table) return tl::make_unexpected(table.error());
  if (table->value_or(0) == 0) return all;
  const auto read = rows(
      *database_, "SELECT point, source, said, step_time_ps FROM measured ORDER BY point, source",
      [&](const Statement& row) {
        const std::int64_t point = row.integer(0);
        if (point < 0 || point >= space_->size() || row.integer(3) <= 0) return;
        all.push_back({point, Time(row.integer(3)), row.text(1), row.text(2)});
      });
  if (!read) return tl::make_unexpected(read.error());
  return all;
}

Expected<std::int64_t> SweepStore::version() {
  const auto number = database_->number("PRAGMA data_version");
  if (!number) return tl::make_unexpected(number.error());
  return number->value_or(0);
}

Expected<void> SweepStore::remember(const Library::File& file) {
  bool same = true, known = false;
  {
    auto find = database_->prepare("SELECT text FROM file WHERE kind = ?1 AND name = ?2");
    if (!find) return tl::make_unexpected(find.error());
    const auto row = find->bind(1, static_cast<std::int64_t>(file.kind)).bind(2, file.name).step();
    if (!row) return tl::make_unexpected(row.error());
    known = *row;
    same = !known || find->text(0) == file.text;
  }
  if (!same) {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kConflict}, fmt::format("{} has changed since the sweep in {} was started; "
                                              "start a new sweep in another file (-o FILE)",
                                              file.path, database_->path())));
  }
  if (known) return {};
  return with(*database_, "INSERT INTO file VALUES (?1, ?2, ?3, ?4)", [&](Statement& s) {
    s.bind(1, static_cast<std::int64_t>(file.kind))
        .bind(2, file.name)
        .bind(3, file.path)
        .bind(4, file.text);
  });
}

Expected<std::vector<Library::File>> SweepStore::files() {
  std::vector<Library::File> files;
  const auto read = rows(
      *database_, "SELECT kind, name, path, text FROM file ORDER BY kind, name",
      [&](const Statement& row) {
        const std::int64_t kind = row.integer(0);
        if (kind < 0 || kind > static_cast<int>(Library::Kind::kAlgorithm)) return;
        files.push_back({static_cast<Library::Kind>(kind), row.text(1), row.text(2), row.text(3)});
      });
  if (!read) return tl::make_unexpected(read.error());
  return files;
}

}  // namespace tutti::core
