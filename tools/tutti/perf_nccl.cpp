#include "tools/tutti/perf_nccl.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/cluster/machine_file.h"
#include "core/measured/nccl_tests.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/searched_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/system_of_topology.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/prediction.h"
#include "core/nccl/topology_file.h"
#include "core/nccl/uniform_graphs.h"
#include "tools/tutti/json.h"
#include "tools/tutti/perf_table.h"
#include "tools/tutti/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
namespace nccl = core::nccl;

/// One size.
struct Row {
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< elements as the collective is told them
  nccl::Prediction time;
  nccl::ErrorBand band;
  std::optional<nccl::Choice> choice;       ///< nothing of sends and receives
  std::vector<nccl::Candidate> candidates;  ///< likewise none
  std::optional<double> measured_us;        ///< of the log

  [[nodiscard]] double algbw() const { return static_cast<double>(bytes) / time.us() / 1e3; }
};

struct Subject {
  std::string machine;
  nccl::System system;
  nccl::Settings settings;
  nccl::Communicator comm;
};

nccl::ElementType element_type(core::DataType type) {
  switch (type) {
    case core::DataType::kFloat32: return nccl::ElementType::kFloat32;
    case core::DataType::kFloat64: return nccl::ElementType::kFloat64;
    case core::DataType::kFloat16: return nccl::ElementType::kFloat16;
    case core::DataType::kBfloat16: return nccl::ElementType::kBfloat16;
    case core::DataType::kInt32: return nccl::ElementType::kInt32;
    case core::DataType::kInt64: return nccl::ElementType::kInt64;
  }
  return nccl::ElementType::kFloat32;
}

Expected<std::vector<std::pair<std::string, std::string>>> variables(const std::vector<std::string>& set) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& one : set) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || !one.starts_with("NCCL_"))
      return tl::make_unexpected(Error::request(
          fmt::format("--set {}: with --cluster, expected one of NCCL's variables, such as NCCL_ALGO=Ring", one)));
    all.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return all;
}

Expected<std::shared_ptr<const core::Machine>> machine_of(const std::string& name, const core::Library& library) {
  const auto file = library.read(core::Library::Kind::kMachine, name, "");
  if (!file) return tl::make_unexpected(file.error());
  if (!*file) {
    const std::vector<std::string> names = library.names(core::Library::Kind::kMachine);
    return tl::make_unexpected(
        Error::request(fmt::format("--cluster {}: there is no such machine{}", name, core::did_you_mean(name, names))));
  }
  return core::read_machine((*file)->text, (*file)->path);
}

/// Machines that NCCL wrote down: their graphs are searched.
Expected<Subject> subject_of_topology(const NcclPerfOptions& options, nccl::Version version, nccl::Settings settings) {
  auto topology = nccl::load_topology(options.cluster);
  if (!topology) return tl::make_unexpected(topology.error());
  const int gpus = topology->count(nccl::NodeKind::kGpu);
  if (options.gpus.value_or(1) < 1 || options.gpus.value_or(1) > gpus)
    return tl::make_unexpected(
        Error::request(fmt::format("--gpus {}: expected 1 to {}, as many as the file has", *options.gpus, gpus)));
  if (options.gpus) {
    std::vector<int> ranks(static_cast<std::size_t>(*options.gpus));
    std::iota(ranks.begin(), ranks.end(), 0);
    topology = nccl::with_ranks(*topology, ranks);
  }
  if (settings.ib_disabled.value_or(false))
    return tl::make_unexpected(
        Error::request("--set NCCL_IB_DISABLE: it changes the cards, which the file says; say --network tcp"));
  const auto search = nccl::search_settings(settings);
  if (!search) return tl::make_unexpected(search.error());
  const auto found = search_graphs(*topology, options.nodes, *search);
  if (!found) return tl::make_unexpected(found.error());
  const auto system = system_of(*topology, *found, options.nodes, options.network);
  if (!system) return tl::make_unexpected(system.error());
  if (system->ranks() < 2)
    return tl::make_unexpected(Error::request("one GPU alone moves nothing: --nodes or --gpus above 1"));
  const auto comm = communicator_of(*topology, *found, options.nodes, settings, version);
  if (!comm) return tl::make_unexpected(comm.error());
  return Subject{std::filesystem::path(options.cluster).stem().string(), *system, std::move(settings), *comm};
}

Expected<Subject> subject_of(const NcclPerfRequest& request, const Environment& environment) {
  const NcclPerfOptions& options = request.options;
  if (options.nodes < 1 || options.nodes > 100'000)
    return tl::make_unexpected(Error::request("--nodes: expected a number from 1 to 100000"));
  const auto version = nccl::parse_version(options.version.value_or(to_string(nccl::kDefaultVersion)));
  if (!version) return tl::make_unexpected(version.error());
  const auto set = variables(request.set);
  if (!set) return tl::make_unexpected(set.error());
  auto settings = nccl::read_settings(*set, *version);
  if (!settings) return tl::make_unexpected(settings.error());
  if (options.cluster.ends_with(".xml")) return subject_of_topology(options, *version, std::move(*settings));
  if (const auto of_search = settings->of_the_search(); !of_search.empty())
    return tl::make_unexpected(
        Error::request(fmt::format("--set {}: it changes the paths that NCCL's search finds, which are counted here "
                                   "for paths as they are by default",
                                   of_search.front())));
  const auto machine = machine_of(options.cluster, environment.library);
  if (!machine) return tl::make_unexpected(machine.error());
  auto system = nccl::system_of(**machine, options.nodes, options.gpus, options.network);
  if (!system) return tl::make_unexpected(system.error());
  if (system->ranks() < 2)
    return tl::make_unexpected(Error::request("one GPU alone moves nothing: --nodes or --gpus above 1"));
  auto comm = nccl::uniform_communicator(*system, *version, *settings);
  if (!comm) return tl::make_unexpected(comm.error());
  return Subject{(*machine)->name(), *system, std::move(*settings), std::move(*comm)};
}

/// Measured times by bytes, out of place where the log has that.
Expected<std::map<std::int64_t, double>> measured(const NcclPerfRequest& request, std::int64_t ranks) {
  const auto tables = core::load_nccl_tests(request.options.against);
  if (!tables) return tl::make_unexpected(tables.error());
  std::map<std::int64_t, double> times;
  Error refused = Error::request("");
  for (const core::NcclTestsTable& table : *tables) {
    const auto kind = core::check_collective(table, ranks);
    if (!kind) {
      refused = kind.error();
      continue;
    }
    if (*kind != request.collective) {
      refused = Error::request(fmt::format("it is of {}, not of {}", to_string(*kind), to_string(request.collective)),
                               table.where);
      continue;
    }
    for (const core::NcclTestsRow& row : table.rows) {
      const auto& timing = row.out_of_place ? row.out_of_place : row.in_place;
      if (timing) times.emplace(row.bytes, timing->us);
    }
  }
  if (times.empty()) return tl::make_unexpected(refused);
  return times;
}

std::string how(const Row& row) {
  return row.choice ? fmt::format("{}/{}", to_string(row.choice->algorithm), to_string(row.choice->protocol))
                    : "send/recv";
}

class Printer {
 public:
  Printer(const NcclPerfRequest& request, const Subject& subject) : request_(request), subject_(subject) {
    factor_ = core::busbw_factor(request.collective, subject.comm.ranks);
  }

  [[nodiscard]] std::string text(const std::vector<Row>& rows) const {
    std::string out = heading();
    const bool against = !request_.options.against.empty();
    out += fmt::format("#\n# {:>12} {:>13} {:>9} {:>7} {:>6} {:>35}\n", "", "", "", "", "", "out-of-place");
    out +=
        fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6} {:>16} {:>8} {:>7} {:>9} {:>15}{}\n",
                    "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "choice", "channels",
                    "threads", "estimate", "band", against ? fmt::format(" {:>10} {:>8}", "measured", "error") : "");
    out += fmt::format("# {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6} {:>16} {:>8} {:>7} {:>9} {:>15}{}\n",
                       "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "", "", "", "(us)", "(us)",
                       against ? fmt::format(" {:>10} {:>8}", "(us)", "") : "");
    double sum = 0;
    for (const Row& row : rows) {
      sum += row.algbw() * factor_;
      out += line(row);
    }
    out += fmt::format("# Avg bus bandwidth    : {:g}\n", sum / static_cast<double>(rows.size()));
    if (request_.options.explain) {
      for (const Row& row : rows) out += explained(row);
    }
    if (against) out += compared(rows);
    return out;
  }

  [[nodiscard]] std::string json(const std::vector<Row>& rows) const {
    Json json;
    json.object([&] {
      json.field("collective", core::to_string(request_.collective));
      json.field("backend", "nccl-model");
      json.field("cluster", std::string_view(fmt::format("{} x {}", subject_.comm.nodes, subject_.machine)));
      json.field("nccl_version", std::string_view(to_string(subject_.comm.version)));
      json.field("ranks", std::int64_t{subject_.comm.ranks});
      json.field("type", core::to_string(request_.type));
      json.key("rows").array(rows, [&](const Row& row) { json_row(json, row); });
    });
    return json.text();
  }

 private:
  [[nodiscard]] std::string heading() const {
    const nccl::System& s = subject_.system;
    std::string text = fmt::format("# {} as NCCL {} does it on {} x {}, {} GPU{} each, {} ranks\n",
                                   core::to_string(request_.collective), to_string(subject_.comm.version), s.nodes,
                                   subject_.machine, s.gpus, s.gpus == 1 ? "" : "s", subject_.comm.ranks);
    if (s.nodes > 1)
      text += fmt::format("# network {}, {} cards of {:g} GB/s per node\n", nccl::to_string(s.transport), s.nics,
                          s.nic_gb_per_s);
    const nccl::Graphs& g = subject_.comm.graphs;
    text += fmt::format("# channels {} (ring {} x {:g}/{:g} GB/s, tree {} x {:g}/{:g}", subject_.comm.channels,
                        g.ring.channels, g.ring.bw_intra, g.ring.bw_inter, g.tree.channels, g.tree.bw_intra,
                        g.tree.bw_inter);
    if (g.nvls.channels > 0)
      text += fmt::format(", NVLS {} x {:g}/{:g}, {} blocks", g.nvls.channels, g.nvls.bw_intra, g.nvls.bw_inter,
                          subject_.comm.nvls_channels);
    return text +
           ")\n# time: Tutti's prediction; estimate: what NCCL itself reckons with when it chooses; band: where eight "
           "of ten measurements "
           "lay\n";
  }

  [[nodiscard]] static std::string number(double value) {
    return fmt::format("{:.{}f}", value, value >= 10'000 ? 0 : value >= 1'000 ? 1 : value >= 0.1 ? 2 : 3);
  }

  [[nodiscard]] std::string line(const Row& row) const {
    std::string out = fmt::format(
        "  {:>12} {:>13} {:>9} {:>7} {:>6} {:>10} {:>8} {:>8} {:>6} {:>16} {:>8} {:>7} {:>9} {:>15}", row.bytes,
        row.count, core::nccl_name(request_.type), core::reduces(request_.collective) ? request_.op : "none",
        core::has_root(request_.collective) ? 0 : -1, number(row.time.us()), number(row.algbw()),
        number(row.algbw() * factor_), "N/A", how(row), row.choice ? fmt::format("{}", row.choice->channels) : "",
        row.choice ? fmt::format("{}", row.choice->threads) : "", row.choice ? number(row.choice->estimate_us) : "",
        fmt::format("{}..{}", number(row.time.us() * row.band.low), number(row.time.us() * row.band.high)));
    if (!request_.options.against.empty())
      out += row.measured_us ? fmt::format(" {:>10} {:>+7.1f}%", number(*row.measured_us),
                                           100 * (row.time.us() / *row.measured_us - 1))
                             : fmt::format(" {:>10} {:>8}", "", "");
    return out + "\n";
  }

  /// All that could be chosen, and why the winner won.
  [[nodiscard]] std::string explained(const Row& row) const {
    std::string out = fmt::format("\n{} bytes\n", row.bytes);
    out += fmt::format("  predicted {} us: launch {}, hops {}, fill {}, transfer {} through {}\n",
                       number(row.time.us()), number(row.time.launch), number(row.time.hops), number(row.time.fill),
                       number(row.time.transfer), row.time.narrowest);
    if (!row.choice) return out + "  NCCL makes it of sends and receives, for which it has no cost model\n";
    Table table({"<candidate", "latency us", "GB/s", "estimate us", "<"});
    const nccl::Candidate* second = nullptr;
    std::map<std::string, std::vector<std::string>> off;
    for (const nccl::Candidate& one : row.candidates) {
      const std::string name = fmt::format("{}/{}", to_string(one.algorithm), to_string(one.protocol));
      if (one.off) {
        off[one.off].push_back(name);
        continue;
      }
      const bool chosen = one.algorithm == row.choice->algorithm && one.protocol == row.choice->protocol;
      if (!chosen && (!second || one.time_us < second->time_us)) second = &one;
      table.row({name, fmt::format("{:.2f}", one.latency_us), fmt::format("{:.3f}", one.bandwidth),
                 fmt::format("{:.3f}", one.time_us), chosen ? "chosen" : ""});
    }
    out += table.text(2);
    if (second) {
      const double more = 100 * (second->time_us / row.choice->estimate_us - 1);
      out += fmt::format("  {} has the least estimate; {}/{} would take {:.1f} % more\n", how(row),
                         to_string(second->algorithm), to_string(second->protocol), more);
    } else {
      out += fmt::format("  {} is all there is\n", how(row));
    }
    for (const auto& [why, names] : off) {
      if (why == "not of this collective" || why == "this algorithm has only Simple") continue;
      out += fmt::format("  not to be had: {} ({})\n", fmt::join(names, ", "), why);
    }
    return out;
  }

  [[nodiscard]] static std::string compared(const std::vector<Row>& rows) {
    std::vector<double> errors;
    for (const Row& row : rows) {
      if (row.measured_us) errors.push_back(std::abs(row.time.us() / *row.measured_us - 1));
    }
    if (errors.empty()) return "# no size of the log is among these\n";
    std::sort(errors.begin(), errors.end());
    double sum = 0;
    for (const double error : errors) sum += error;
    return fmt::format("# against the log: {} sizes, median error {:.1f} %, mean {:.1f} %\n", errors.size(),
                       100 * errors[errors.size() / 2], 100 * sum / static_cast<double>(errors.size()));
  }

  void json_row(Json& json, const Row& row) const {
    json.object([&] {
      json.field("bytes", row.bytes);
      json.field("count", row.count);
      json.field("time_us", row.time.us());
      json.field("algbw_gb_per_s", row.algbw());
      json.field("busbw_gb_per_s", row.algbw() * factor_);
      const auto or_null = [&](const char* name, auto value) {
        json.key(name);
        row.choice ? json.value(value) : json.null();
      };
      const nccl::Choice choice = row.choice.value_or(nccl::Choice());
      or_null("algorithm", to_string(choice.algorithm));
      or_null("protocol", to_string(choice.protocol));
      or_null("channels", choice.channels);
      or_null("threads", choice.threads);
      or_null("nccl_estimate_us", static_cast<double>(choice.estimate_us));
      json.field("time_low_us", row.time.us() * row.band.low);
      json.field("time_high_us", row.time.us() * row.band.high);
      if (row.measured_us) json.field("measured_us", *row.measured_us);
      if (request_.options.explain) json_explained(json, row);
    });
  }

  static void json_explained(Json& json, const Row& row) {
    json.field("launch_us", row.time.launch);
    json.field("hops_us", row.time.hops);
    json.field("fill_us", row.time.fill);
    json.field("transfer_us", row.time.transfer);
    json.field("narrowest", row.time.narrowest);
    json.key("candidates").array(row.candidates, [&](const nccl::Candidate& one) {
      json.object([&] {
        json.field("algorithm", to_string(one.algorithm));
        json.field("protocol", to_string(one.protocol));
        json.key("off");
        one.off ? json.value(one.off) : json.null();
        if (one.off) return;
        json.field("latency_us", static_cast<double>(one.latency_us));
        json.field("bandwidth_gb_per_s", static_cast<double>(one.bandwidth));
        json.field("estimate_us", static_cast<double>(one.time_us));
      });
    });
  }

  const NcclPerfRequest& request_;
  const Subject& subject_;
  double factor_ = 1;
};

}  // namespace

const char* NcclPerfOptions::first_given() const {
  if (nodes != 1) return "--nodes";
  if (gpus) return "--gpus";
  if (network) return "--network";
  if (version) return "--nccl-version";
  if (explain) return "--explain";
  return against.empty() ? nullptr : "--against";
}

int perf_nccl(const NcclPerfRequest& request, const Environment& environment) {
  const auto subject = subject_of(request, environment);
  if (!subject) return report(subject.error());
  const auto parameters = nccl::Parameters::load(environment.library.folder());
  if (!parameters) return report(parameters.error());
  const auto bands = nccl::ErrorBands::load(environment.library.folder());
  if (!bands) return report(bands.error());
  std::map<std::int64_t, double> log;
  if (!request.options.against.empty()) {
    auto times = measured(request, subject->comm.ranks);
    if (!times) return report(times.error());
    log = std::move(*times);
  }
  const auto function = nccl::function_of(request.collective);
  const nccl::Model model = nccl::tune(subject->comm, subject->settings);
  std::vector<Row> rows;
  for (const std::int64_t asked : request.sizes) {
    const std::int64_t elements = rounded_elements(request.collective, subject->comm.ranks, asked, request.type);
    Row row;
    row.bytes = elements * core::size_of(request.type).count();
    if (row.bytes == 0 || (!rows.empty() && rows.back().bytes == row.bytes)) continue;
    row.count = core::has_blocks(request.collective) ? elements / subject->comm.ranks : elements;
    row.band = bands->of(subject->comm.nodes, row.bytes);
    if (function) {
      const nccl::Operation operation{*function, row.bytes, element_type(request.type), request.reduction};
      const auto choice = nccl::choose(subject->comm, model, operation);
      if (!choice) return report(choice.error());
      row.choice = *choice;
      if (request.options.explain) row.candidates = nccl::candidates(subject->comm, model, operation);
      row.time = nccl::predict(subject->system, subject->comm, operation, *choice, *parameters);
    } else {
      row.time = nccl::predict_sends(subject->system, subject->comm, request.collective, row.bytes, *parameters);
    }
    if (const auto found = log.find(row.bytes); found != log.end()) row.measured_us = found->second;
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    return report(
        Error::request(fmt::format("-e: {} between {} ranks needs at least {} bytes, 16 for each",
                                   to_string(request.collective), subject->comm.ranks, 16 * subject->comm.ranks)));
  const Printer printer(request, *subject);
  return print_out(request.format == Format::kJson ? printer.json(rows) : printer.text(rows));
}

}  // namespace tutti::tools
