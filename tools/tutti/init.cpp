// Writes a scenario from which users learn the format. The scenario is assembled from pieces of
// text, because a printed protobuf message would have no comments. The text is then parsed like any
// scenario. The parser checks all names and limits, so an unknown model or machine is reported as
// in other commands. Defaults fit the machine: NCCL if it has GPUs, and measured layer times if the
// library has a profile of the model on such a device. The size of a dragonfly's groups grows with
// the number of nodes, so that the number of links between groups is small enough to simulate.

#include "tools/tutti/init.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/cluster/machine.h"
#include "core/cluster/machine_file.h"
#include "core/scenario/network_reader.h"
#include "core/scenario/scenario.h"
#include "core/text/report.h"
#include "core/workload/model.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/output_file.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Library;
using core::ProblemCode;

struct NamedList {
  const char* name;
  std::vector<std::string> entries;
};
/// Returns the names that scenarios can use.
std::vector<NamedList> lists_of(const Library& library) {
  return {{"machines", library.names(Library::Kind::kMachine)},
          {"links", library.names(Library::Kind::kLink)},
          {"models", library.names(Library::Kind::kModel)},
          {"layer_times", library.names(Library::Kind::kLayerTimes)},
          {"algorithms", core::algorithm_names()},
          {"custom_algorithms", library.names(Library::Kind::kAlgorithm)}};
}

std::string list_text(const Library& library) {
  std::string text;
  for (const NamedList& list : lists_of(library)) {
    std::string heading = list.name;
    std::replace(heading.begin(), heading.end(), '_', ' ');
    text += heading + ":\n";
    for (const std::string& name : list.entries) text += "  " + name + '\n';
  }
  return text;
}

std::string list_json(const Library& library) {
  core::Report report;
  for (const NamedList& list : lists_of(library)) report.add(list.name, list.entries);
  return result_json(report);
}

/// Returns the name of a shipped profile with the model's layer times on the machine's GPUs, such
/// as "…_v100" for "dgx1-v100"; empty if there is none.
std::string profile_of(const Library& library, const std::string& model,
                       const std::string& machine) {
  for (const std::string& name : library.names(Library::Kind::kLayerTimes)) {
    if (!name.starts_with(model + "_")) continue;
    const std::string device = name.substr(model.size() + 1);
    if (machine.find(device) != std::string::npos) return name;
  }
  return "";
}

/// Returns "nccl" if the machine has GPUs, and otherwise "ring", which works everywhere. If the
/// machine cannot be read, this is reported later.
std::string usual_algorithm(const InitOptions& options, const Library& library) {
  const auto file = library.find(Library::Kind::kMachine, options.machine, options.output);
  if (!file) return "ring";
  const auto machine = core::load_machine(*file);
  return machine && !(*machine)->gpus().empty() ? "nccl" : "ring";
}

/// The networks that the user can request by name. The user can edit the shapes of these networks
/// later.
const std::vector<std::string> kNetworks{"one_switch", "rails", "fat_tree", "dragonfly"};

struct DragonflyOptions {
  std::int64_t workers = 4, routers = 4, links = 1;
};

/// Returns a dragonfly of groups of 4 routers with 4 workers each, with links between every two
/// groups. If these small groups would have too many links to simulate, the groups are larger, and
/// the number of workers per router is half the number of routers per group.
DragonflyOptions dragonfly_of(std::int64_t nodes) {
  constexpr std::int64_t kMaxRouters = 4096;
  DragonflyOptions best;
  double least = 0;
  for (DragonflyOptions shape; shape.routers <= kMaxRouters; shape.routers *= 2) {
    shape.workers = std::max<std::int64_t>(4, shape.routers / 2);
    const std::int64_t of_group = shape.routers * shape.workers;
    const std::int64_t groups = (nodes + of_group - 1) / of_group;
    shape.links = std::max<std::int64_t>(1, (groups - 1 + shape.routers - 1) / shape.routers);
    const double all = static_cast<double>(groups * shape.routers) *
                       static_cast<double>(shape.routers - 1 + shape.links);
    if (least == 0 || all < least) {
      least = all;
      best = shape;
    }
    if (all <= static_cast<double>(core::kMaxSwitchLinks)) break;
  }
  return best;
}

/// Returns the network's shape for this number of workers: a fat tree with 8 spines and 16 workers
/// per leaf, or dragonfly_of().
std::string shape_text(const InitOptions& options) {
  if (options.network == "fat_tree") {
    return "    # Each leaf switch has several workers with their cards; spines connect the "
           "leaves.\n"
           "    fat_tree { workers_per_leaf: 16 spines: 8 oversubscription: 1 }\n";
  }
  if (options.network != "dragonfly") return "";
  const DragonflyOptions shape = dragonfly_of(options.nodes);
  return fmt::format(
      "    dragonfly {{ workers_per_router: {} routers_per_group: {} global_links_per_router: {} "
      "}}\n",
      shape.workers, shape.routers, shape.links);
}

std::string network_text(const InitOptions& options) {
  std::string kind = options.network;
  for (char& c : kind) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const bool switches = options.network == "fat_tree" || options.network == "dragonfly";
  std::string text = fmt::format("  network {{\n    kind: {}\n", kind);
  if (!options.link.empty()) {
    text += fmt::format("    link: \"{}\"  # kind of link; tutti init --list lists all kinds\n",
                        options.link);
  } else {
    text +=
        "    # Latency in one direction, from network card to network card: about 1.5 µs for "
        "InfiniBand,\n"
        "    # 15 to 30 µs for TCP over Ethernet. A kind of link can be named instead, such as\n"
        "    # link: \"edr\".\n";
    text += "    latency_us: 1.5\n";
    if (switches) text += "    switch_us: 0.2  # every further switch\n";
  }
  return text + shape_text(options) + "  }\n";
}

/// True if the model's file states FLOPs or times of a variable. An unreadable model counts as one
/// that states them; reading the scenario reports the error.
bool states_computation(const Library& library, const InitOptions& options) {
  const auto path = library.find(Library::Kind::kModel, options.model, options.output);
  const auto model = path ? core::load_model(*path) : core::Expected<core::Model>(core::Model{});
  if (!path || !model) return true;
  return std::any_of(model->variables.begin(), model->variables.end(), [](const auto& one) {
    return one.forward_flops || one.backward_flops || one.forward || one.backward;
  });
}

std::string scenario_text(const InitOptions& options, const std::string& profile,
                          bool states_computation) {
  const std::string how = options.servers > 0
                              ? fmt::format("variables on {} servers", options.servers)
                              : fmt::format("gradients reduced by {}", options.algorithm);
  std::string text =
      fmt::format("# {} on {} × {}, {}.\n", options.model, options.nodes, options.machine, how);
  text += "# Every field is explained in core/proto/scenario.proto and docs/scenarios.md.\n\n";
  text += fmt::format("cluster {{\n  workers {{ machine: \"{}\" count: {} }}\n", options.machine,
                      options.nodes);
  if (options.servers > 0)
    text += fmt::format("  workers {{ machine: \"cpu-host\" count: {} server: true }}\n",
                        options.servers);
  if (options.nodes + options.servers > 1) text += network_text(options);
  text += "}\n\nworkload {\n";
  text += fmt::format("  model: \"{}\"\n", options.model);
  if (!profile.empty()) {
    text +=
        "  # Measured times per layer. To compute times from FLOPs and the device's rate instead, "
        "replace layer_times by batch.\n";
    text += fmt::format("  layer_times: \"{}\"\n", profile);
  } else if (!states_computation) {
    text +=
        "  # The model states neither FLOPs nor times, so computation takes no time here. Measure "
        "the times of\n  # both passes, and set forward_ms and backward_ms.\n";
  } else {
    text +=
        "  # The number of samples per replica and forward pass.\n"
        "  # Times are computed from FLOPs. flops_efficiency sets the share of the peak rate.\n";
    text += "  # For better accuracy, measure the times and set forward_ms and backward_ms.\n";
    text += "  batch: 32\n";
    text +=
        "  # The precision of the layers; by default, the type of the variables. BFLOAT16: mixed "
        "precision.\n  # precision: BFLOAT16  # or TF32, FLOAT16, FLOAT8\n"
        "  # channels_last: true   # NHWC, which is faster for convolutions on tensor cores\n";
  }
  text += "}\n\nstrategy {\n";
  if (options.servers > 0) {
    text += "  # The replicas of one worker are synchronous; different workers are asynchronous.\n";
    text += "  tensorflow { parameter_server { placement: ROUND_ROBIN } }\n  reduction: MEAN\n";
  } else {
    text += fmt::format("  algorithm: \"{}\"\n", options.algorithm);
    text +=
        "  # A pack is closed when it exceeds this size. 0: one pack. Without this field, every "
        "gradient travels separately.\n";
    text += "  bytes_per_pack: 26214400\n";
  }
  text += "}\n\nrun { steps: 3 }\n";
  return text;
}

}  // namespace

std::string scenario_to_start_from(InitOptions options, const Library& library) {
  if (options.algorithm.empty() && options.servers == 0)
    options.algorithm = usual_algorithm(options, library);
  return scenario_text(options, profile_of(library, options.model, options.machine),
                       states_computation(library, options));
}

namespace {

/// A question about one of the options.
struct Question {
  std::string text;
  std::function<std::string()> usual;  ///< returns the answer that an empty line selects
  std::vector<std::string> names{};    ///< the names that "?" lists
  /// Stores an answer, and returns ""; for an invalid answer, returns the reason.
  std::function<std::string(const std::string&)> accept;
  std::function<bool()> applies = [] { return true; };  ///< false: the question is omitted
};

/// Asks the user questions on a stream, and reads the answers from another stream.
class Questions {
 public:
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Asks all questions that apply, until each has a valid answer. "<" returns to the previous
  /// question. Returns false if the input ends.
  bool ask(const std::vector<Question>& questions) {
    out_ << "Press Enter to accept the answer in brackets; < returns to the previous question.\n";
    std::vector<std::size_t> answered;
    for (std::size_t i = 0; i < questions.size();) {
      if (!questions[i].applies()) {
        ++i;
        continue;
      }
      const auto answer = ask(questions[i]);
      if (!answer) return false;
      if (*answer != kBack) {
        answered.push_back(i++);
      } else if (answered.empty()) {
        out_ << "  this is the first question\n";
      } else {
        i = answered.back();
        answered.pop_back();
      }
    }
    return true;
  }

 private:
  static constexpr const char* kBack = "<";

  /// Asks a question repeatedly until the answer is valid or kBack. Returns nullopt if the input
  /// ends.
  std::optional<std::string> ask(const Question& question) {
    while (true) {
      const std::string usual = question.usual();
      out_ << question.text << " [" << usual
           << (question.names.empty() ? "]: " : ", ? lists all]: ") << std::flush;
      std::string answer;
      if (!std::getline(in_, answer)) return std::nullopt;
      const std::size_t first = std::min(answer.find_first_not_of(" \t\r"), answer.size());
      answer = answer.substr(first, answer.find_last_not_of(" \t\r") + 1 - first);
      if (answer.empty()) answer = usual;
      if (answer == kBack) return answer;
      if (answer == "?" && !question.names.empty()) {
        for (const std::string& name : question.names) out_ << "  " << name << '\n';
        continue;
      }
      const std::string wrong = question.accept(answer);
      if (wrong.empty()) return answer;
      out_ << "  " << wrong << '\n';
    }
  }

  std::istream& in_;
  std::ostream& out_;
};

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Returns the first name of a scenario that no existing file has: "vgg16.textproto",
/// "vgg16_2.textproto", …
std::string free_name(const std::string& stem) {
  std::string name = stem + ".textproto";
  for (int i = 2; file_exists(name); ++i) name = fmt::format("{}_{}.textproto", stem, i);
  return name;
}

/// Returns a function that stores a user's answer in `chosen`. The function accepts the names of
/// this kind, and paths of files that the library finds.
auto known_in(const Library& library, Library::Kind kind, std::string& chosen) {
  return [&library, kind, &chosen](const std::string& answer) -> std::string {
    const std::vector<std::string> names = library.names(kind);
    if (std::find(names.begin(), names.end(), answer) == names.end() &&
        !library.find(kind, answer, ""))
      return fmt::format("\"{}\" is neither a name nor a file{}; ? lists the names", answer,
                         core::did_you_mean(answer, names));
    chosen = answer;
    return "";
  };
}

/// Returns a function that stores a user's answer in `chosen`. The function accepts one of `names`.
auto one_of(std::vector<std::string> names, std::string what, std::string& chosen) {
  return [names, what, &chosen](const std::string& answer) -> std::string {
    if (std::find(names.begin(), names.end(), answer) == names.end())
      return fmt::format("there is no {} \"{}\"{}; ? lists the names", what, answer,
                         core::did_you_mean(answer, names));
    chosen = answer;
    return "";
  };
}

}  // namespace

std::optional<InitOptions> ask_for_scenario(std::istream& in, std::ostream& out,
                                            const Library& library) {
  InitOptions chosen;
  const auto several = [&] { return chosen.nodes > 1; };
  const auto number_of_nodes = [&](const std::string& answer) -> std::string {
    // Limit the number, because the scenario's field for it has 32 bits.
    const auto number = core::whole_number<std::int32_t>(answer);
    if (!number || *number < 1)
      return fmt::format("expected a whole number from 1 to {}",
                         std::numeric_limits<std::int32_t>::max());
    chosen.nodes = *number;
    return "";
  };
  const auto new_file = [&](const std::string& answer) -> std::string {
    if (file_exists(answer)) return "this file exists; name another file";
    chosen.output = answer;
    return "";
  };
  const auto algorithms = core::algorithm_names();
  const std::vector<Question> questions{
      {"Model", [&] { return chosen.model; }, library.names(Library::Kind::kModel),
       known_in(library, Library::Kind::kModel, chosen.model)},
      {"Machine", [&] { return chosen.machine; }, library.names(Library::Kind::kMachine),
       known_in(library, Library::Kind::kMachine, chosen.machine)},
      {"Number of machines", [&] { return fmt::format("{}", chosen.nodes); }, {}, number_of_nodes},
      {"Network between the machines", [&] { return chosen.network; }, kNetworks,
       one_of(kNetworks, "network", chosen.network), several},
      {"Kind of network link",
       [&] { return chosen.link.empty() ? std::string("edr") : chosen.link; },
       library.names(Library::Kind::kLink), known_in(library, Library::Kind::kLink, chosen.link),
       several},
      {"All-reduce algorithm", [&] { return usual_algorithm(chosen, library); }, algorithms,
       one_of(algorithms, "algorithm", chosen.algorithm)},
      {"File to write",
       [&] { return free_name(std::filesystem::path(chosen.model).stem().string()); },
       {},
       new_file}};
  if (!Questions(in, out).ask(questions)) return std::nullopt;
  // The user may have returned to the number of machines after the questions about the network.
  if (!several()) {
    chosen.network = InitOptions().network;
    chosen.link.clear();
  }
  return chosen;
}

int init(const InitOptions& options, const Environment& environment) {
  const Library& library = environment.library;
  if (options == InitOptions() && capture() == nullptr && isatty(STDIN_FILENO) != 0 &&
      isatty(STDOUT_FILENO) != 0) {
    const auto chosen = ask_for_scenario(std::cin, std::cout, library);
    if (chosen) return init(*chosen, environment);
    std::fputc('\n', stdout);
    return refuse(
        {ProblemCode::kMissing},
        "no scenario was written, because the input ended before all questions were answered");
  }
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const bool as_json = *format == Format::kJson;
  if (options.list) return print_out(as_json ? list_json(library) : list_text(library));
  if (options.nodes < 1)
    return refuse({ProblemCode::kTooSmall, "--nodes"}, "--nodes {}: expected 1 or more",
                  options.nodes);
  constexpr std::int64_t kMaxServers = 10'000;
  if (options.servers < 0 || options.servers > kMaxServers)
    return refuse(out_of_range("--servers", options.servers, kMaxServers),
                  "--servers {}: expected 0 to {}", options.servers, kMaxServers);
  if (options.servers > 0 && !options.algorithm.empty())
    return refuse({ProblemCode::kConflict, "--servers"},
                  "--servers reduces gradients on servers, and --algorithm reduces gradients "
                  "without servers; keep one of these options");
  if (std::find(kNetworks.begin(), kNetworks.end(), options.network) == kNetworks.end()) {
    return refuse({ProblemCode::kUnknownName, "--network"}, "--network {}: there are {}",
                  options.network, fmt::join(kNetworks, ", "));
  }
  if (options.nodes == 1 && options.servers == 0 &&
      (!options.link.empty() || options.network != InitOptions().network))
    return refuse(
        {ProblemCode::kUnused, "--nodes"},
        "--network and --link connect workers, but there is only one worker; set --nodes above 1");
  const std::string target =
      options.output.empty() || options.output == "-" ? "(the new scenario)" : options.output;
  const std::string text = scenario_to_start_from(options, library);
  // Check that the output is a valid scenario, which also detects errors in the request.
  const auto scenario = core::read_scenario(text, target, library);
  if (!scenario) {
    // There is no scenario file yet, so errors in it have no locations. Errors in other files, such
    // as a model in CSV, keep theirs.
    std::vector<core::Problem> problems = scenario.error().problems();
    for (core::Problem& problem : problems) {
      if (problem.where.file == target) problem.where = core::Location();
    }
    return report(Error(core::ErrorKind::kRequest, std::move(problems)));
  }
  if (options.output.empty() || options.output == "-")
    return print_out(as_json ? result_json(core::Report{{"scenario", text}}) : text);
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(options.output, ignored)) {
    return report(Error::request({ProblemCode::kConflict, "-o"},
                                 "this file exists; --force overwrites it",
                                 {options.output, 0, 0}));
  }
  std::vector<std::string> inputs;
  if (const auto model = library.find(Library::Kind::kModel, options.model, options.output))
    inputs.push_back(*model);
  if (const auto machine = library.find(Library::Kind::kMachine, options.machine, options.output))
    inputs.push_back(*machine);
  if (const auto link = library.find(Library::Kind::kLink, options.link, options.output))
    inputs.push_back(*link);
  if (const auto written = write_file(options.output, inputs, text); !written)
    return report(written.error());
  if (as_json) return print_out(result_json(core::Report{{"written", options.output}}));
  print_note(fmt::format("written: {}; next: tutti simulate {}\n", options.output, options.output));
  return kDone;
}

}  // namespace tutti::tools
