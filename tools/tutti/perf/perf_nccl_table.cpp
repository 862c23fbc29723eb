// Prints predictions in the format of nccl-tests, with the columns for out-of-place results, so
// that predictions and measurements can be compared line by line. Additional columns of Tutti
// follow: NCCL's choice, the channels and threads, NCCL's own estimate, and the error band. If a
// log is given, columns with the measured time and the error follow. Sections below the table are
// printed only if they have content: times that were raised to the bound of a link, settings that
// are faster than NCCL's choice according to the model, and the comparison with the log. The option
// --explain adds the candidates of every size. The JSON has the same values. The file perf_nccl.cpp
// makes the predictions.

#include "tools/tutti/perf/perf_nccl_table.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/median.h"
#include "core/measured/nccl_tests.h"
#include "core/nccl/collnet.h"
#include "core/nccl/newest_release.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/perf_columns.h"
#include "tools/tutti/perf/perf_table.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

namespace nccl = core::nccl;
using core::Report;
using core::ReportValue;

std::string how(const NcclPerfRow& row) {
  if (row.choice && !row.choice->symmetric.empty()) return std::string(row.choice->symmetric);
  return row.choice ? fmt::format("{}/{}", to_string(row.choice->algorithm),
                                  to_string(row.choice->protocol))
                    : "send/recv";
}

class Printer {
 public:
  Printer(const NcclPerfRequest& request, const NcclPerfSubject& subject)
      : request_(request),
        subject_(subject),
        columns_(columns(!request.options.against.empty()), line_width()) {
    factor_ = core::busbw_factor(request.collective, subject.comm.ranks);
  }

  [[nodiscard]] std::string text(const std::vector<NcclPerfRow>& rows) const {
    std::string out = heading();
    const bool against = !request_.options.against.empty();
    out += columns_.titles();
    double sum = 0;
    for (const NcclPerfRow& row : rows) {
      sum += row.algbw() * factor_;
      out += line(row);
    }
    out += fmt::format("# Avg bus bandwidth    : {:g}\n", sum / static_cast<double>(rows.size()));
    out += capped(rows);
    out += quicker(rows);
    if (request_.options.explain) {
      for (const NcclPerfRow& row : rows) out += explained(row);
    }
    if (against) out += compared(rows);
    return out;
  }

  [[nodiscard]] std::string json(const std::vector<NcclPerfRow>& rows) const {
    Report report{{"collective", core::to_string(request_.collective)},
                  {"backend", "nccl-model"},
                  {"cluster", fmt::format("{} x {}", subject_.comm.nodes, subject_.machine)},
                  {"nccl_version", to_string(subject_.comm.version)},
                  {"driving", to_string(subject_.system.driving)},
                  {"network_reduces", subject_.comm.collnet},
                  {"ranks", subject_.comm.ranks}};
    if (core::has_root(request_.collective)) report.add("root", request_.root);
    report.add("calibration", core::unless_empty(request_.options.calibration));
    report.add("type", core::to_string(request_.type));
    if (const auto& notes = subject_.settings.notes; !notes.empty()) report.add("notes", notes);
    return result_json(report.add(
        "rows", core::list_of(rows, [&](const NcclPerfRow& row) { return row_report(row); })));
  }

 private:
  [[nodiscard]] std::string heading() const {
    const nccl::System& s = subject_.system;
    // If some GPUs of a machine reach each other only over the network, NCCL counts the machine as
    // several nodes.
    const std::string nodes = s.nodes == subject_.machines
                                  ? ""
                                  : fmt::format("which NCCL counts as {} nodes of ", s.nodes);
    std::string text = fmt::format(
        "# {} with NCCL {} on {} x {}, {}{} GPU{} each, {} ranks\n",
        core::to_string(request_.collective), describe(subject_.comm.version), subject_.machines,
        subject_.machine, nodes, s.gpus, s.gpus == 1 ? "" : "s", subject_.comm.ranks);
    if (s.nodes > 1)
      text += fmt::format("# network {}, {} card{} of {:g} GB/s per node\n", to_string(s.transport),
                          s.nics, s.nics == 1 ? "" : "s", s.nic_gb_per_s);
    if (s.driving != nccl::Driving::kProcessPerGpu)
      text += s.driving == nccl::Driving::kOneThread
                  ? "# driving: one thread calls NCCL for all GPUs of a node\n"
                  : "# driving: one process per node has a thread for every GPU\n";
    text += of_collnet();
    const nccl::Graphs& g = subject_.comm.graphs;
    text += fmt::format("# channels {} (ring {} x {:g}/{:g} GB/s, tree {} x {:g}/{:g}",
                        subject_.comm.channels, g.ring.channels, g.ring.bw_intra, g.ring.bw_inter,
                        g.tree.channels, g.tree.bw_intra, g.tree.bw_inter);
    if (g.nvls.channels > 0)
      text += fmt::format(", NVLS {} x {:g}/{:g}, {} blocks", g.nvls.channels, g.nvls.bw_intra,
                          g.nvls.bw_inter, subject_.comm.nvls_channels);
    text += ")\n";
    for (const std::string& note : subject_.settings.notes)
      text += fmt::format("# note: {}\n", note);
    return text +
           (request_.options.calibration.empty()
                ? "# time: Tutti's prediction; estimate: NCCL's own estimate for its choice; band: "
                  "range in which 80 % of measured times are expected\n"
                : fmt::format(
                      "# time: Tutti's prediction, corrected by {}; estimate: NCCL's own estimate "
                      "for its choice; band: range in which 80 % of measured times are expected\n",
                      request_.options.calibration));
  }

  /// Returns a remark that says how NCCL_COLLNET_ENABLE=1 affects the predictions; empty if the
  /// variable is not set.
  [[nodiscard]] std::string of_collnet() const {
    if (!subject_.settings.collnet.value_or(false)) return "";
    if (subject_.comm.collnet)
      return "# NCCL_COLLNET_ENABLE=1: Tutti assumes that the network can reduce (SHARP switches, "
             "their manager and the plugin); the parameters of SHARP are published values, not "
             "fitted to measurements; the error bands are those of networks without SHARP\n";
    std::string why = nccl::why_no_sharp(subject_.system);
    const std::int64_t least = subject_.settings.collnet_nodes.value_or(2);
    if (why.empty() && subject_.comm.nodes < least)
      why = fmt::format("{} nodes are fewer than NCCL_COLLNET_NODE_THRESHOLD, {}",
                        subject_.comm.nodes, least);
    if (why.empty() && subject_.comm.ranks_of_node() > 8) why = "a node has more than 8 GPUs";
    if (why.empty())
      why = "no network card is marked as able to reduce (coll=\"1\" in a topology file)";
    return fmt::format("# NCCL_COLLNET_ENABLE=1 changes nothing: {}\n", why);
  }

  [[nodiscard]] std::string line(const NcclPerfRow& row) const {
    std::vector<std::string> cells = {
        std::to_string(row.bytes),
        std::to_string(row.count),
        std::string(core::nccl_name(request_.type)),
        core::reduces(request_.collective) ? request_.op : "none",
        std::to_string(core::has_root(request_.collective) ? request_.root : -1),
        perf_number(row.time.us()),
        perf_number(row.algbw()),
        perf_number(row.algbw() * factor_),
        "N/A",
        how(row),
        row.choice ? std::to_string(row.choice->channels) : "",
        row.choice ? std::to_string(row.choice->threads) : "",
        row.choice ? perf_number(row.choice->estimate_us) : "",
        fmt::format("{}..{}", perf_number(row.time.us() * row.band.low),
                    perf_number(row.time.us() * row.band.high))};
    if (!request_.options.against.empty()) {
      cells.push_back(row.measured_us ? perf_number(*row.measured_us) : "");
      cells.push_back(row.measured_us
                          ? fmt::format("{:+.1f}%", 100 * (row.time.us() / *row.measured_us - 1))
                          : "");
    }
    return columns_.row(cells);
  }

  static std::vector<PerfColumn> columns(bool against) {
    std::vector<PerfColumn> columns = perf_columns_of_request();
    add_perf_half(columns, "out-of-place");
    columns.push_back({"choice", "", 16, 2});
    columns.push_back({"channels", "", 8, 9});
    columns.push_back({"threads", "", 7, 10});
    columns.push_back({"estimate", "(us)", 9, 8});
    columns.push_back({"band", "(us)", 15});
    if (against) {
      columns.push_back({"measured", "(us)", 10});
      columns.push_back({"error", "", 8});
    }
    return columns;
  }

  /// Lists the sizes for which the model predicted less time than the bound of some link.
  [[nodiscard]] static std::string capped(const std::vector<NcclPerfRow>& rows) {
    std::string out;
    for (const NcclPerfRow& row : rows) {
      if (row.time.capped_at.empty()) continue;
      out += fmt::format("#   {} B: {} us, which {} needs\n", row.bytes, perf_number(row.time.us()),
                         row.time.capped_at);
    }
    return out.empty()
               ? ""
               : "# For the following sizes, the model predicted less time than the lower bound, "
                 "which is the time that a link needs for the bytes; the times of these rows were "
                 "raised to the bound. Possible causes are a link that is too slow in the machine "
                 "file, and a calibration with times that the links do not allow. If neither is "
                 "the case, the model is wrong; please report this.\n" +
                     out;
  }

  /// Lists settings with which NCCL is faster. Consecutive sizes with the same setting share a
  /// line.
  [[nodiscard]] static std::string quicker(const std::vector<NcclPerfRow>& rows) {
    std::string out;
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      end = first + 1;
      if (!rows[first].quicker) continue;
      while (end < rows.size() && rows[end].quicker &&
             rows[end].quicker->set == rows[first].quicker->set)
        ++end;
      const NcclPerfRow& least = rows[first];
      const NcclPerfRow& most = rows[end - 1];
      const auto from_to = [&](auto of) {
        return end - first == 1 ? of(least) : fmt::format("{} to {}", of(least), of(most));
      };
      out +=
          fmt::format("#   {} B: {} would take {} us instead of {}\n",
                      from_to([](const NcclPerfRow& row) { return std::to_string(row.bytes); }),
                      least.quicker->set,
                      from_to([](const NcclPerfRow& row) { return perf_number(row.quicker->us); }),
                      from_to([](const NcclPerfRow& row) { return perf_number(row.time.us()); }));
    }
    return out.empty()
               ? ""
               : "# the model predicts that these settings are faster than NCCL's choice, even if "
                 "NCCL's choice takes only the time at the low end of its error band:\n" +
                     out;
  }

  /// Lists all candidates, and the reason for NCCL's choice.
  [[nodiscard]] std::string explained(const NcclPerfRow& row) const {
    std::string out = fmt::format("\n{} bytes\n", row.bytes);
    const std::string narrowest = row.time.narrowest;
    out += fmt::format("  predicted {} us: launch {}, hops {}, fill {}, transfer {}{}\n",
                       perf_number(row.time.us()), perf_number(row.time.launch),
                       perf_number(row.time.hops), perf_number(row.time.fill),
                       perf_number(row.time.transfer),
                       narrowest.empty() ? "" : " through " + narrowest);
    if (row.choice && !row.choice->symmetric.empty())
      return out +
             fmt::format(
                 "  NCCL executes {} on symmetric buffers, and prefers this to all algorithms\n",
                 row.choice->symmetric);
    if (!row.choice)
      return out +
             "  NCCL implements this collective with sends and receives, for which NCCL has no "
             "cost model\n";
    Table table({"<candidate", "latency us", "GB/s", "estimate us", "<"});
    const nccl::Candidate* second = nullptr;
    std::map<std::string, std::vector<std::string>> off;
    for (const nccl::Candidate& one : row.candidates) {
      const std::string name =
          fmt::format("{}/{}", to_string(one.algorithm), to_string(one.protocol));
      if (one.off) {
        off[one.off].push_back(name);
        continue;
      }
      const bool chosen =
          one.algorithm == row.choice->algorithm && one.protocol == row.choice->protocol;
      if (!chosen && (!second || one.time_us < second->time_us)) second = &one;
      table.row({name, fmt::format("{:.2f}", one.latency_us), fmt::format("{:.3f}", one.bandwidth),
                 fmt::format("{:.3f}", one.time_us), chosen ? "chosen" : ""});
    }
    out += table.text(2);
    if (row.choice->tuned) {
      out +=
          fmt::format("  the tuner chooses {} with {} channels\n", how(row), row.choice->channels);
    } else if (second) {
      const double more = 100 * (second->time_us / row.choice->estimate_us - 1);
      out += fmt::format("  {} has the lowest estimate; the estimate of {}/{} is {:.1f} % higher\n",
                         how(row), to_string(second->algorithm), to_string(second->protocol), more);
    } else {
      out += fmt::format("  {} is the only possible choice\n", how(row));
    }
    for (const auto& [why, names] : off) {
      if (why == "does not support this collective" ||
          why == "this algorithm supports only protocol Simple")
        continue;
      out += fmt::format("  not available: {} ({})\n", fmt::join(names, ", "), why);
    }
    return out;
  }

  [[nodiscard]] static std::string compared(const std::vector<NcclPerfRow>& rows) {
    std::vector<double> errors;
    for (const NcclPerfRow& row : rows) {
      if (row.measured_us) errors.push_back(std::abs(row.time.us() / *row.measured_us - 1));
    }
    if (errors.empty()) return "# the log has none of these sizes\n";
    double sum = 0;
    for (const double error : errors) sum += error;
    return fmt::format("# compared with the log: {} sizes, median error {:.1f} %, mean {:.1f} %\n",
                       errors.size(), 100 * core::median(errors),
                       100 * sum / static_cast<double>(errors.size()));
  }

  [[nodiscard]] Report row_report(const NcclPerfRow& row) const {
    const auto of_choice = [&row](auto value) {
      return row.choice ? ReportValue(value(*row.choice)) : ReportValue(nullptr);
    };
    Report report{
        {"bytes", row.bytes},
        {"count", row.count},
        {"time_us", row.time.us()},
        {"algbw_gb_per_s", row.algbw()},
        {"busbw_gb_per_s", row.algbw() * factor_},
        {"algorithm", of_choice([](const nccl::Choice& c) { return to_string(c.algorithm); })},
        {"protocol", of_choice([](const nccl::Choice& c) { return to_string(c.protocol); })},
        {"channels", of_choice([](const nccl::Choice& c) { return c.channels; })},
        {"by_tuner", of_choice([](const nccl::Choice& c) { return c.tuned; })},
        {"symmetric", of_choice([](const nccl::Choice& c) {
           return core::unless_empty(std::string(c.symmetric));
         })},
        {"threads", of_choice([](const nccl::Choice& c) { return c.threads; })},
        {"nccl_estimate_us", of_choice([](const nccl::Choice& c) { return c.estimate_us; })},
        {"time_low_us", row.time.us() * row.band.low},
        {"time_high_us", row.time.us() * row.band.high},
        {"capped_at_bound", core::unless_empty(row.time.capped_at)}};
    if (row.quicker)
      report.add("quicker", Report{{"set", row.quicker->set}, {"time_us", row.quicker->us}});
    report.add("measured_us", row.measured_us);
    return request_.options.explain ? report.add(explanation_report(row)) : report;
  }

  static Report explanation_report(const NcclPerfRow& row) {
    const auto candidate = [](const nccl::Candidate& one) {
      Report report{{"algorithm", to_string(one.algorithm)},
                    {"protocol", to_string(one.protocol)},
                    {"off", one.off ? ReportValue(one.off) : ReportValue(nullptr)}};
      if (one.off) return report;
      return report.add("latency_us", one.latency_us)
          .add("bandwidth_gb_per_s", one.bandwidth)
          .add("estimate_us", one.time_us);
    };
    return {{"launch_us", row.time.launch},
            {"hops_us", row.time.hops},
            {"fill_us", row.time.fill},
            {"transfer_us", row.time.transfer},
            {"narrowest", row.time.narrowest},
            {"candidates", core::list_of(row.candidates, candidate)}};
  }

  const NcclPerfRequest& request_;
  const NcclPerfSubject& subject_;
  PerfColumns columns_;
  double factor_ = 1;
};

}  // namespace

std::string nccl_perf_table(const NcclPerfRequest& request, const NcclPerfSubject& subject,
                            const std::vector<NcclPerfRow>& rows) {
  const Printer printer(request, subject);
  return request.format == Format::kJson ? printer.json(rows) : printer.text(rows);
}

}  // namespace tutti::tools
