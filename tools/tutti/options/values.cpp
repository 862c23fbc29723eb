// The table in this file has the kind of value of every option. The kind determines the placeholder
// in help texts and manual pages, and the completions of shells. The table is separate from the
// definitions of options, because options of the same name have the same meaning in nearly all
// commands.
// For an exception, there is a row with the name of the command, which must precede the general
// row, because the first matching row is used. A test checks that every option with a value has a
// row.

#include "tools/tutti/options/values.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "core/base/error.h"
#include "real/join/launcher.h"

namespace tutti::tools {
namespace {

using Kind = OptionValue::Kind;

/// The kind of value of an option, either in all commands or in one command.
struct Row {
  const char* option;
  OptionValue value;
  const char* command = "";
};

/// Returns the rows. If an option has several rows, the first row that matches the command is used.
const std::vector<Row>& rows() {
  static const OptionValue kScenario{Kind::kFile, "SCENARIO", {"textproto", "json"}};
  static const OptionValue kTimeline{Kind::kFile, "TIMELINE", {"tutti"}};
  static const OptionValue kNewTimeline{Kind::kFile, "TIMELINE", {"tutti"}, true};
  static const OptionValue kCount{Kind::kNumber, "N"};
  static const OptionValue kMicroseconds{Kind::kNumber, "US"};
  static const OptionValue kSeconds{Kind::kNumber, "SECONDS"};
  static const OptionValue kAddress{Kind::kText, "HOST:PORT"};
  static const OptionValue kSize{Kind::kText, "SIZE"};
  static const auto file = [](std::vector<std::string> endings) {
    return OptionValue{Kind::kFile, "FILE", std::move(endings)};
  };
  static const auto written = [](std::vector<std::string> endings) {
    return OptionValue{Kind::kFile, "FILE", std::move(endings), true};
  };
  static const auto one_of = [](std::vector<std::string> choices) {
    return OptionValue{Kind::kChoice, fmt::format("{}", fmt::join(choices, "|")), choices};
  };
  static const std::vector<Row> all{
      {"scenario", {Kind::kFile, "SCENARIO", {"textproto", "json", "sweep"}}, "sweep"},
      {"scenario", kScenario},
      {"files", {Kind::kFile, "FILE", {"textproto", "json"}}, "convert"},
      {"files", {Kind::kFile, "FILE", {"tutti", "json", "gz", "log", "pb", "txt"}}, "compare"},
      {"files", {Kind::kFile, "FILE", {"tutti", "json", "gz", "log", "pb", "txt"}}, "report"},
      {"traces", {Kind::kFile, "TRACE", {"json", "gz", "sqlite", "log", "pb", "txt"}}},
      {"files", {Kind::kFile, "FILE", {}}},
      {"file", {Kind::kFile, "FILE", {"xml"}}, "import nccl-topology"},
      {"file", {Kind::kFile, "FILE", {"json"}}},
      {"timeline", {Kind::kFile, "TIMELINE", {"tutti", "textproto"}}},
      {"shell", one_of({"bash", "zsh", "fish"})},
      {"command", {Kind::kCommand, "COMMAND"}},

      {"--format", one_of({"text", "json"})},
      {"--color", one_of({"auto", "always", "never"})},
      {"--set", {Kind::kText, "NCCL_NAME=VALUE"}, "calibrate"},
      {"--set", {Kind::kText, "NCCL_NAME=VALUE"}, "import nccl-topology"},
      {"--set", {Kind::kSetting, "FIELD=VALUE"}},
      {"--over", {Kind::kFieldValues, "FIELD=VALUES"}},
      {"--x", {Kind::kField, "FIELD"}},
      {"--by", {Kind::kField, "FIELD"}},
      {"--machine", {Kind::kMachine, "MACHINE"}},
      {"--cluster", {Kind::kMachine, "MACHINE"}},
      {"--devices", {Kind::kMachine, "MACHINE"}},
      {"--model", {Kind::kModel, "MODEL"}},
      {"--link", {Kind::kLink, "LINK"}},
      {"--algorithm", {Kind::kAlgorithm, "ALGORITHM"}},
      {"--network",
       one_of({"infiniband", "roce", "efa", "efa_v1", "efa_v2", "efa_v3", "efa_v4",
               "efa_without_rdma", "slingshot", "tcpx", "tcpxo", "tcp"}),
       "perf"},
      {"--network",
       one_of({"infiniband", "roce", "efa", "efa_v1", "efa_v2", "efa_v3", "efa_v4",
               "efa_without_rdma", "slingshot", "tcpx", "tcpxo", "tcp"}),
       "calibrate"},
      {"--network", one_of({"one_switch", "rails", "fat_tree", "dragonfly"})},
      {"--network-model", one_of({"fifo", "ideal", "fair"})},
      {"--interference", one_of({"auto", "on", "off"})},
      {"--nccl", one_of({"calibrated", "rings"})},
      {"--fold", one_of({"auto", "on", "off"})},
      {"--remember", one_of({"auto", "on", "off"})},
      {"--record", one_of({"none", "packs", "steps"})},
      {"--backend", one_of({"tcp", "cuda", "nccl"}), "run"},
      {"--backend", one_of({"sim", "tcp", "cuda", "nccl"})},
      {"--transport", one_of({"tcp", "shm"})},
      {"--compute", one_of({"sleep", "busy"})},
      {"--place", one_of({"out", "in", "both"})},
      {"--op", one_of({"sum", "prod", "max", "min", "avg"})},
      {"--type",
       {Kind::kChoice,
        "float32|float64|float16|bfloat16|int32|int64",
        {"float32", "float64", "float16", "bfloat16", "int32", "int64"},
        false,
        {"float", "double", "half", "bf16"}}},
      {"--collective", one_of({"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
                               "alltoall", "gather", "scatter", "sendrecv"})},
      {"--tuner", {Kind::kFile, "none|aws_ofi|FILE", {"csv"}}},
      {"--instance", {Kind::kText, "INSTANCE"}},
      {"--buffers", one_of({"plain", "registered", "symmetric"})},
      {"--algorithms", {Kind::kAlgorithms, "ALGORITHM,…"}},
      {"--emit", one_of({"nccl-tuner", "scenario"})},
      {"--promise", file({"json"})},
      {"--driving", one_of({"process_per_gpu", "thread_per_gpu", "one_thread"})},
      {"--launcher", {Kind::kText, "LAUNCHER"}},
      {"--to",
       one_of({"perfetto", "csv", "svg", "msccl", "mscclpp", "chakra", "goal", "goal-binary"})},
      {"--table", one_of({"spans", "packs", "steps", "links", "path"})},
      {"--cost", one_of({"step_time", "forward", "backward", "other_compute", "communication",
                         "exposed_communication", "slowed_by_communication", "least_step_time",
                         "least_communication"})},
      {"--nccl-version", {Kind::kText, "VERSION"}},
      {"--ofi-plugin", {Kind::kText, "VERSION"}},
      {"--cards-per-gpu", one_of({"1/4", "1/2", "1", "2", "4"})},
      {"--card-gbit-per-s", {Kind::kNumber, "RATE"}},
      {"--name", {Kind::kText, "NAME"}},
      {"--keep", {Kind::kText, "PARAMETER"}},
      {"--calibrate-on", {Kind::kText, "TABLE,…"}},

      {"--timeline", kNewTimeline},
      {"--run", kTimeline},
      {"--calibration", file({"calibration"})},
      {"--log", file({"txt", "log", "json"})},
      {"--tf-config", file({"json"})},
      {"--points", file({"csv"})},
      {"--measured", file({"csv"})},
      {"--reuse", file({"sweep"})},
      {"--csv", written({"csv"})},
      {"--json", written({"json"})},
      {"--plot", written({"svg", "png"})},
      {"--graph", written({"svg", "dot"})},
      {"--graph-file", file({"xml"})},
      {"--database", written({"sweep"})},
      {"--tables", file({"csv"})},
      {"--trace", file({"json", "gz", "sqlite", "pb"})},
      {"--meta", file({"json"})},
      {"--noise", file({"csv"})},
      {"--times", file({"csv"})},
      {"--spread", file({"csv"})},
      {"--report", written({"html"})},
      {"--against", file({})},
      {"--groups", file({"json"})},
      {"--secret-file", file({})},
      {"--output", written({"sweep"}), "sweep"},
      {"--output", written({"html"}), "report"},
      {"--output", written({"textproto", "tutti", "log"})},
      {"--rendezvous", written({})},
      {"--folder", {Kind::kFolder, "FOLDER"}},

      {"--rows", kCount},
      {"--nodes", kCount},
      {"--gpus", kCount},
      {"--servers", kCount},
      {"--steps", kCount},
      {"--seed", kCount},
      {"--ranks", kCount},
      {"--threads", kCount},
      {"--evaluations", kCount},
      {"--max-spans", kCount},
      {"--pack", kCount},
      {"--exchange", kCount},
      {"--streams", kCount},
      {"--worker-network", {Kind::kText, "ADDRESS/BITS"}},
      {"--tls", {Kind::kFolder, "secret|FOLDER"}},
      {"--root", kCount},
      {"--iters", kCount},
      {"--warmup_iters", kCount},
      {"--check", kCount},
      {"--blocking", kCount},
      {"--nthreads", kCount},
      {"--local_register", kCount},
      {"--within", {Kind::kNumber, "PERCENT"}},
      {"--worker", kCount},
      {"--child-of", kCount},
      {"--workers", {Kind::kText, "FIRST-LAST"}},
      {"--minbytes", kSize},
      {"--bytes", kSize},
      {"--maxbytes", kSize},
      {"--stepbytes", kSize},
      {"--stepfactor", {Kind::kNumber, "FACTOR"}},
      {"--time-scale", {Kind::kNumber, "FACTOR"}},
      {"--from-us", kMicroseconds},
      {"--to-us", kMicroseconds},
      {"--timeout-seconds", kSeconds},
      {"--wait-seconds", kSeconds},
      {"--listen", kAddress},
      {"--join", kAddress},
  };
  return all;
}

std::string long_name(const CLI::Option& option) {
  return option.get_positional() && option.get_lnames().empty() ? option.get_single_name()
         : option.get_lnames().empty()                          ? option.get_single_name()
                                       : "--" + option.get_lnames().front();
}

}  // namespace

std::string command_name(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string before = command_name(*command.get_parent());
  return before.empty() ? command.get_name() : before + " " + command.get_name();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::optional<OptionValue> value_of(const CLI::App& command, const CLI::Option& option) {
  if (!takes_value(option)) return std::nullopt;
  const std::string name = long_name(option);
  const std::string of = command_name(command);
  const auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& r) {
    return name == r.option && (r.command[0] == '\0' || of == r.command);
  });
  return row == rows().end() ? std::nullopt : std::optional(row->value);
}

void name_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const auto value = value_of(app, *option);
    // Help texts show a positional argument by its name, so CLI11 must not append the placeholder.
    if (value && !option->get_positional()) option->type_name(value->placeholder);
    if (value && option->get_positional()) option->type_name("");
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    name_values(*command);
}

}  // namespace tutti::tools
