// Overrides edit the scenario's text instead of its parsed values, so the result is again a text
// that can be saved, edited or sent to workers, with all its comments. However, read_scenario()
// then reports errors at positions in the changed text, which the user does not see. Therefore the
// origin of every byte of the changed text is stored. The origin is either an offset in the
// original text or the override that wrote the byte. If a problem is at a byte of the original
// text, its original position is reported. If a problem is at a byte that an override wrote, the
// text of the override is reported.
//
// field_edits.cpp computes the edits of single fields, and old_form_text.cpp converts paths of
// older forms. Values are checked when the changed text is read.

#include "core/edit/overrides.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "core/edit/field_edits.h"
#include "core/edit/old_form_text.h"

namespace tutti::core {
namespace {

const Schema& schema() {
  static const Schema scenario = Schema::scenario();
  return scenario;
}

/// The text of a scenario after changes, with the origin of each byte.
class ChangedText {
 public:
  explicit ChangedText(std::string text) : text_(std::move(text)), origins_(text_.size()) {
    for (std::size_t i = 0; i < origins_.size(); ++i)
      origins_[i] = {static_cast<std::ptrdiff_t>(i), 0};
  }
  explicit ChangedText(ConvertedText converted) : text_(std::move(converted.text)) {
    for (const std::size_t origin : converted.origins)
      origins_.push_back({static_cast<std::ptrdiff_t>(origin), 0});
  }

  [[nodiscard]] const std::string& text() const { return text_; }

  void apply(const TextEdits& edits, std::size_t by) {
    // The last edit is applied first, so that the offsets of all earlier edits stay valid.
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
      const auto at = origins_.begin() + edit->at;
      const auto behind = origins_.erase(at, at + static_cast<std::ptrdiff_t>(edit->removed));
      origins_.insert(behind, edit->inserted.size(), Origin{-1, by});
    }
    text_ = with_edits(std::move(text_), edits);
  }

  /// The origin of a byte: its offset in the original text, or the change that wrote the byte.
  struct Origin {
    std::ptrdiff_t offset = -1;  ///< -1: written by `change`
    std::size_t change = 0;
  };
  /// Returns the origin of a byte. If `offset` is the end of the text, returns the end of the
  /// original text.
  [[nodiscard]] Origin origin(std::size_t offset, std::size_t size_before) const {
    return offset < origins_.size() ? origins_[offset]
                                    : Origin{static_cast<std::ptrdiff_t>(size_before), 0};
  }

 private:
  std::string text_;
  std::vector<Origin> origins_;
};

/// Converts the locations of problems in the changed text: to locations in the original text or, if
/// an override wrote the text there, to the name of this override.
Error at_original_places(const Error& error, const std::string& text, const std::string& path,
                         const ChangedText& changed, const std::vector<Override>& overrides) {
  const TextPlaces before(text);
  const TextPlaces after(changed.text());
  std::vector<Problem> problems = error.problems();
  for (Problem& problem : problems) {
    if (problem.where.file != path || problem.where.line == 0) continue;
    const std::size_t at = after.offset({problem.where.line, problem.where.column});
    const ChangedText::Origin origin = changed.origin(at, text.size());
    if (origin.offset < 0) {
      problem.text = fmt::format("{}: {}", overrides[origin.change].label, problem.text);
      problem.where = Location();
    } else {
      const Position place = before.position(static_cast<std::size_t>(origin.offset));
      problem.where = {path, place.line, place.column};
    }
  }
  return Error(error.kind(), std::move(problems));
}

/// Parses a step such as "workers[1]".
std::optional<PathStep> parse_step(const std::string& written) {
  const std::size_t bracket = written.find('[');
  PathStep step{written.substr(0, bracket), 0};
  if (bracket == std::string::npos) return step;
  if (written.back() != ']') return std::nullopt;
  const char* const end = written.data() + written.size() - 1;
  const auto [stop, status] = std::from_chars(written.data() + bracket + 1, end, step.index);
  if (status != std::errc() || stop != end || step.index < 0) return std::nullopt;
  return step;
}

/// Appends the paths of all fields that are called `name` within `message`, whose own path is
/// `prefix`.
void find_fields(const MessageType& message, std::string_view name, const std::string& prefix,
                 std::vector<std::string>& paths) {
  for (const FieldType& field : message.fields) {
    if (field.name == name) paths.push_back(prefix + field.name);
    if (field.message) find_fields(*field.message, name, prefix + field.name + '.', paths);
  }
}

/// Returns a suffix for a message with the shortest full paths of fields that have this name:
/// `; did you mean strategy.shards?`. Returns an empty text if there are none.
std::string full_paths_of(std::string_view name) {
  std::vector<std::string> paths;
  find_fields(schema().root(), name, "", paths);
  const auto depth = [](const std::string& path) {
    return std::count(path.begin(), path.end(), '.');
  };
  std::stable_sort(paths.begin(), paths.end(),
                   [&](const std::string& a, const std::string& b) { return depth(a) < depth(b); });
  constexpr std::size_t kMaxPaths = 3;
  while (paths.size() > kMaxPaths || (!paths.empty() && depth(paths.back()) > depth(paths.front())))
    paths.pop_back();
  return paths.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(paths, " or "));
}

}  // namespace

Expected<Override> parse_override(const std::string& option, const std::string& written) {
  Override made;
  made.label = option + " " + written;
  const auto wrong = [&](ProblemCode code, const std::string& what) {
    return tl::make_unexpected(Error::request({code, option}, made.label + ": " + what));
  };
  const std::size_t equals = written.find('=');
  if (equals == std::string::npos || equals == 0)
    return wrong(ProblemCode::kSyntax, "expected FIELD=VALUE, such as strategy.shards=4");
  made.value = written.substr(equals + 1);
  const MessageType* message = &schema().root();
  std::size_t from = 0;
  while (from <= equals) {
    const std::size_t to = std::min(written.find('.', from), equals);
    const std::string name = written.substr(from, to - from);
    const auto step = parse_step(name);
    if (!step)
      return wrong(
          ProblemCode::kSyntax,
          fmt::format("\"{}\" has no index in its brackets; expected an index, such as [0]", name));
    const std::string inside = made.path.empty() ? "a scenario" : to_string(made.path);
    const FieldType* field = message ? message->find(step->field) : nullptr;
    if (!field && to_string(made.path) == "strategy") {
      // The field may be one of an older form.
      const FieldPath old_form{made.path.front(), *step};
      if (const FieldPath now = present_path(old_form); now != old_form) field = field_type(now);
    }
    if (!field) {
      std::vector<std::string> names;
      for (const FieldType& known : message ? message->fields : std::vector<FieldType>())
        names.push_back(known.name);
      // A frequent mistake is to omit the message: shards=4 instead of strategy.shards=4.
      std::string hint = made.path.empty() ? full_paths_of(step->field) : "";
      if (hint.empty()) hint = did_you_mean(step->field, names);
      if (hint.empty()) hint = fmt::format("; its fields are {}", fmt::join(names, ", "));
      return wrong(message ? ProblemCode::kUnknownField : ProblemCode::kWrongType,
                   message ? fmt::format("{} has no field \"{}\"{}", inside, step->field, hint)
                           : fmt::format("{} is a single value, so it has no fields", inside));
    }
    if (!field->repeated && step->index != 0)
      return wrong(ProblemCode::kWrongType, fmt::format("{} is no list", to_string({*step})));
    made.path.push_back(*step);
    // Do not convert a path of an older form here, because the current path may depend on the
    // scenario's text.
    if (message->find(step->field)) made.path.back().field = field->name;
    message = field->message;
    from = to + 1;
  }
  if (message && !made.value.empty() && made.value != "{}") {
    std::string example = message->fields.empty() ? "" : message->fields.front().name;
    // A frequent mistake is strategy=horovod for strategy.horovod={}.
    if (const FieldType* const named = message->find(made.value); named && named->message)
      return wrong(
          ProblemCode::kWrongType,
          fmt::format("{0} is a message; to add {1} with the defaults of its fields, write "
                      "{0}.{1}={{}}",
                      to_string(made.path), made.value));
    return wrong(ProblemCode::kWrongType,
                 fmt::format("{0} is a message; set one of its fields, such as {0}.{1}, or set "
                             "{0}={{}} for the default of every field",
                             to_string(made.path), example));
  }
  return made;
}

const FieldType* field_type(const FieldPath& path) {
  const MessageType* message = &schema().root();
  const FieldType* field = nullptr;
  for (const PathStep& step : present_path(path)) {
    field = message ? message->find(step.field) : nullptr;
    if (!field) return nullptr;
    message = field->message;
  }
  return field;
}

namespace {

/// True if the override sets num_packs to 0, which is equivalent to leaving num_packs unset.
bool disables_packing(const Override& change) {
  return change.path.back().field == "num_packs" && change.value == "0";
}

/// Removes the messages around `field` if they are empty. Overrides written for the older form rely
/// on this: there, removing the last field of a framework also removed the framework.
void remove_empty(ChangedText& changed, const FieldPath& field, std::size_t by) {
  for (FieldPath around(field.begin(), field.end() - 1); around.size() > 1; around.pop_back()) {
    const ScenarioText now(changed.text(), schema());
    const Value* const message = now.find(around);
    if (!message || !message->fields.empty()) return;
    if (const auto edits = remove_field(now, around)) changed.apply(*edits, by);
  }
}

/// Returns the earlier override that set a field which setting `path` would remove; nullopt if
/// there is none.
std::optional<std::size_t> excluded_override(const ScenarioText& now, const FieldPath& path,
                                             const std::vector<FieldPath>& set) {
  for (const FieldPath& excluded : excluded_by(now, path)) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      const FieldPath& before = set[i];
      if (before.size() >= excluded.size() &&
          std::equal(excluded.begin(), excluded.end(), before.begin()))
        return i;
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library, const std::vector<Override>& overrides) {
  if (overrides.empty()) return read_scenario(text, path, library);
  auto converted = convert_text(text);
  ChangedText changed = converted ? ChangedText(std::move(*converted)) : ChangedText(text);
  std::vector<FieldPath> set;  // the field that each override has set; empty if it has set none
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const ScenarioText now(changed.text(), schema());
    // read_scenario() reports why the text cannot be parsed.
    if (now.broken()) return read_scenario(text, path, library);
    const FieldPath field = present_path(overrides[i].path, &now);
    const auto excluded =
        overrides[i].value.empty() ? std::nullopt : excluded_override(now, field, set);
    set.push_back(overrides[i].value.empty() ? FieldPath() : field);
    if (excluded && disables_packing(overrides[i])) continue;
    if (excluded && !disables_packing(overrides[*excluded]))
      return tl::make_unexpected(
          Error::request(fmt::format("{}: conflicts with {}; set only one of them",
                                     overrides[i].label, overrides[*excluded].label)));
    const auto edits = set_field(now, field, overrides[i].value);
    if (!edits) {
      const Problem& problem = edits.error().problems().front();
      return tl::make_unexpected(
          Error::request(problem.kind, fmt::format("{}: {}", overrides[i].label, problem.text)));
    }
    changed.apply(*edits, i);
    if (overrides[i].value.empty() && field != overrides[i].path) remove_empty(changed, field, i);
  }
  auto scenario = read_scenario(changed.text(), path, library);
  if (!scenario)
    return tl::make_unexpected(
        at_original_places(scenario.error(), text, path, changed, overrides));
  return scenario;
}

namespace {

/// The groups of workers in the text of a scenario.
struct WorkerGroups {
  std::vector<int> training, serving;
};

WorkerGroups worker_groups(const std::string& text) {
  WorkerGroups found;
  const ScenarioText scenario(text, schema());
  if (scenario.broken()) return found;
  const int groups = scenario.count({{"cluster", 0}, {"workers", 0}});
  for (int g = 0; g < groups; ++g) {
    const Value* const server = scenario.find({{"cluster", 0}, {"workers", g}, {"server", 0}});
    (server && server->text == "true" ? found.serving : found.training).push_back(g);
  }
  return found;
}

/// Adds an override of the number of workers, if there is exactly one group.
void add_count(std::vector<Override>& changes, const std::vector<int>& groups, std::int64_t wanted,
               const std::string& label) {
  if (groups.size() != 1) return;
  const FieldPath count{{"cluster", 0}, {"workers", groups.front()}, {"count", 0}};
  changes.push_back({count, std::to_string(wanted), label});
}

}  // namespace

std::vector<Override> workers_of(const ClusterSpec& cluster, const std::string& text) {
  const WorkerGroups groups = worker_groups(text);
  std::vector<Override> changes;
  const std::int64_t workers = *worker_count(cluster, "worker");
  add_count(changes, groups.training, workers,
            fmt::format("TF_CONFIG, which has {} workers", workers));
  if (const std::int64_t servers = cluster.tasks("ps"); servers > 0)
    add_count(changes, groups.serving, servers,
              fmt::format("TF_CONFIG, which has {} tasks of job ps", servers));
  return changes;
}

std::vector<Override> workers_for(std::int64_t workers, const std::string& text,
                                  const std::string& label) {
  std::vector<Override> changes;
  add_count(changes, worker_groups(text).training, workers, label);
  return changes;
}

Expected<void> check_workers(const ClusterSpec& cluster, const Scenario& scenario) {
  const std::int64_t wanted = *worker_count(cluster, "worker");
  const std::int64_t there = scenario.cluster->workers() - scenario.cluster->servers();
  if (there == wanted) return {};
  return tl::make_unexpected(Error::request(
      {ProblemCode::kConflict, "Workers.count"},
      fmt::format("the cluster has {} workers, but TF_CONFIG has {}; set the number of workers of "
                  "each kind in the scenario or in the file of the cluster (Tutti cannot do this, "
                  "because the cluster has several kinds of workers or is in a file of its own)",
                  there, wanted),
      {scenario.file, 0, 0}));
}

}  // namespace tutti::core
