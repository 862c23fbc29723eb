// A tuner plugin searches the lines of its table from the top. A line matches a call if the
// collective is the same and the size, the number of nodes and the number of ranks match (-1
// matches all numbers). The first matching line that is possible for the call applies: its
// algorithm, protocol and number of channels replace NCCL's. A line may be impossible for some
// calls; for example, NVLS cannot multiply. If no line matches, libnccl-tuner-tutti.so leaves the
// choice to NCCL, but NVIDIA's example plugin uses one channel. The table therefore has lines for
// all sizes of every collective. If a recommended algorithm supports only some types or operations,
// another line covers the remaining calls.

#include "core/advice/nccl_tuner_table.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/advice/lanes.h"
#include "core/base/version.h"
#include "core/calibrate/cluster_figures.h"
#include "core/edit/overrides.h"
#include "core/nccl/channels.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/tuner/tuner.h"
#include "core/nccl/tuning/choices_by_size.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;
template <class T>
using OrWhy = tl::expected<T, std::string>;

using tuner_table::Reader;
using tuner_table::Row;
using tuner_table::Table;

/// The oldest releases of NCCL that can load the plugins. libnccl-tuner-tutti.so implements the
/// tuner interfaces from v2 on. The first example plugin that reads files is in NCCL 2.27.7. This
/// example plugin implements interface v4, which NCCL supports from 2.24 on.
constexpr nccl::Version kOldest{2, 21, 0};
constexpr nccl::Version kOldestWithExample{2, 24, 0};

/// True if the lines of a table have the effect of the environment variable, so that it need not be
/// set.
bool is_in_lines(const std::string& variable) {
  static const std::set<std::string> names{"NCCL_ALGO", "NCCL_PROTO", "NCCL_MIN_NCHANNELS",
                                           "NCCL_MAX_NCHANNELS"};
  return names.contains(variable);
}

/// A communicator, and NCCL's cost model of it under given environment variables.
struct Tuned {
  nccl::Communicator communicator;
  nccl::Model model;
};

OrWhy<Tuned> tuned(const nccl::Communicator& like, const Scenario& scenario,
                   const Variables& variables, std::optional<int> channels) {
  auto settings = nccl::read_settings(variables, like.version);
  if (!settings) return tl::make_unexpected(settings.error().problems().front().text);
  // Exclude symmetric kernels, because NCCL does not ask the tuner before it uses them.
  if (scenario.nccl.settings.buffers != nccl::Buffers::kPlain)
    settings->buffers = nccl::Buffers::kRegistered;
  if (const auto& tuner = scenario.nccl.settings.tuner; tuner && tuner->why_not(like).empty())
    settings->tuner = tuner;
  set_nccl_channels(*settings, channels);
  nccl::Communicator communicator = like;
  nccl::count_channels(communicator, *settings);
  nccl::Model model = nccl::tune(communicator, *settings);
  return Tuned{std::move(communicator), model};
}

/// True if the algorithm is possible for every type and operation.
bool always_possible(nccl::Algorithm algorithm) {
  return algorithm == nccl::Algorithm::kRing || algorithm == nccl::Algorithm::kTree;
}

/// Returns the lines of one collective. The first lines contain NCCL's choices for calls with
/// `type` and `reduction`, one line for each range of sizes. If these choices may be impossible for
/// averages or products, lines for averages and products follow.
OrWhy<std::vector<nccl::ChoiceRange>> lines_of(const Tuned& nccl, nccl::Function function,
                                               DataType type, Reduction reduction) {
  std::vector<nccl::ChoiceRange> lines;
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  std::vector<nccl::ChoiceRange> open{{0, kLargest, {}}};  // ranges of sizes that need another line
  bool first = true;
  for (const Reduction one : {reduction, Reduction::kMean, Reduction::kProduct}) {
    const auto ranges = nccl::choices_by_size(nccl.communicator, nccl.model,
                                              {function, 0, nccl::element_type(type), one});
    // The variables may exclude all algorithms for an operation that the scenario does not use,
    // which is not an error.
    if (!ranges && first) return tl::make_unexpected(ranges.error().problems().front().text);
    if (!ranges) break;
    std::vector<nccl::ChoiceRange> still_open;
    for (const nccl::ChoiceRange& range : *ranges) {
      for (const nccl::ChoiceRange& gap : open) {
        const std::int64_t from = std::max(range.first, gap.first),
                           to = std::min(range.last, gap.last);
        if (from > to) continue;
        const bool again = !first && range.choice.algorithm == gap.choice.algorithm &&
                           range.choice.protocol == gap.choice.protocol;
        if (!again) lines.push_back({from, to, range.choice});
        if (!always_possible(range.choice.algorithm))
          still_open.push_back({from, to, range.choice});
      }
    }
    open = std::move(still_open);
    first = false;
  }
  return lines;
}

class Lines {
 public:
  void add(nccl::Function function, const std::vector<nccl::ChoiceRange>& ranges,
           std::int64_t nodes, std::int64_t ranks) {
    for (const nccl::ChoiceRange& range : ranges) {
      Row row;
      row.collective = static_cast<int>(function);
      row.min_bytes = static_cast<std::uint64_t>(range.first);
      row.max_bytes = static_cast<std::uint64_t>(range.last);
      row.algorithm = static_cast<int>(range.choice.algorithm);
      row.protocol = static_cast<int>(range.choice.protocol);
      row.channels = range.choice.channels;
      row.nodes = static_cast<int>(nodes);
      row.ranks = static_cast<int>(ranks);
      table.rows.push_back(row);
    }
  }
  OrWhy<void> add_all(const Tuned& nccl, DataType type, std::int64_t nodes, std::int64_t ranks,
                      bool all_reduces = true) {
    for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
      const auto function = static_cast<nccl::Function>(f);
      if (function == nccl::Function::kAllReduce && !all_reduces) continue;
      const auto lines = lines_of(nccl, function, type, Reduction::kSum);
      if (!lines) return tl::make_unexpected(lines.error());
      add(function, *lines, nodes, ranks);
    }
    return {};
  }

  Table table;
};

/// Returns lines that make NCCL execute all-reduces as rings. The number of channels for each range
/// of sizes is that of the scenario's packs with these sizes.
std::vector<nccl::ChoiceRange> as_rings(const Scenario& scenario) {
  // Size in bytes and number of channels of each pack.
  std::vector<std::pair<std::int64_t, int>> sizes;
  for (const Pack& pack : scenario.plan.packs)
    sizes.emplace_back(scenario.plan.collective(pack).bytes().count(), lanes_of(scenario, pack));
  std::sort(sizes.begin(), sizes.end());
  std::vector<nccl::ChoiceRange> lines;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool last = i + 1 == sizes.size();
    if (!last && sizes[i + 1].second == sizes[i].second) continue;
    const std::int64_t to = last ? std::numeric_limits<std::int64_t>::max() : sizes[i].first;
    lines.push_back({from, to, {nccl::Algorithm::kRing, nccl::Protocol::kSimple, sizes[i].second}});
    from = last ? to : to + 1;
  }
  return lines;
}

/// Returns the communicator that reduces the gradients. If the scenario simulates NCCL as rings,
/// reads the scenario again with NCCL's cost model to make the communicator. Returns an error if
/// NCCL's cost model does not know the machine.
OrWhy<std::shared_ptr<const nccl::Communicator>> communicator_of(const Scenario& scenario,
                                                                 const Library& library) {
  const auto of = [](const Scenario& read) {
    const auto& time = read.plan.collective(read.plan.packs.front()).nccl;
    return time ? time->communicator : nullptr;
  };
  if (auto known = of(scenario)) return known;
  std::string why = scenario.why_rings;
  if (why.empty()) {
    const auto modelled = read_scenario(scenario.text, scenario.file, library,
                                        {*parse_override("tune", "run.nccl=CALIBRATED")});
    if (modelled && !modelled->plan.packs.empty()) {
      if (auto known = of(*modelled)) return known;
      why = modelled->why_rings;
    }
  }
  return tl::make_unexpected(
      "Tutti cannot predict what NCCL chooses for other collectives on this system" +
      (why.empty() ? why : ": " + why));
}

/// Returns the environment variables that must be set in addition to the table.
Variables without_lines(const Variables& variables) {
  Variables others;
  for (const auto& one : variables) {
    if (!is_in_lines(one.first)) others.push_back(one);
  }
  return others;
}

}  // namespace

tl::expected<NcclTunerTable, std::string> nccl_tuner_table(const Scenario& recommended,
                                                           const Library& library, Reader reader) {
  const auto communicator = communicator_of(recommended, library);
  if (!communicator) return tl::make_unexpected(communicator.error());
  const nccl::Communicator& comm = **communicator;
  const bool example = reader == Reader::kNvidiaExample;
  if (example && comm.version < kOldestWithExample)
    return tl::make_unexpected(fmt::format(
        "NCCL {} cannot load NVIDIA's example tuner plugin, which needs NCCL 2.24 or later",
        to_string(comm.version)));
  if (comm.version < kOldest)
    return tl::make_unexpected(fmt::format(
        "NCCL {} does not load tuner plugins with state per communicator; use NCCL 2.21 or later",
        to_string(comm.version)));
  const Variables variables = recommended.nccl.variables;
  const auto own = tuned(comm, recommended, without_lines(variables), std::nullopt);
  if (!own) return tl::make_unexpected(own.error());
  const Collective& gradients = recommended.plan.collective(recommended.plan.packs.front());

  std::vector<nccl::ChoiceRange> all_reduces;
  if (gradients.nccl) {
    const auto chosen = tuned(comm, recommended, variables, recommended.strategy.channels);
    if (!chosen) return tl::make_unexpected(chosen.error());
    auto lines = lines_of(*chosen, nccl::Function::kAllReduce, gradients.type,
                          recommended.strategy.reduction_by_nccl());
    if (!lines) return tl::make_unexpected(lines.error());
    all_reduces = std::move(*lines);
  } else {
    all_reduces = as_rings(recommended);
  }

  Lines lines;
  lines.table.reader = reader;
  lines.table.remarks = {
      fmt::format("made by Tutti {} for {}", core::version(), recommended.name),
      fmt::format("NCCL {}, {}", to_string(comm.version), describe(*recommended.cluster)),
      fmt::format("all-reduces between all {} GPUs of {} nodes use the recommended choices; other "
                  "collectives use the choices that NCCL would make",
                  comm.ranks, comm.nodes)};
  lines.add(nccl::Function::kAllReduce, all_reduces, comm.nodes, comm.ranks);
  std::set<std::pair<int, int>> seen{{comm.nodes, comm.ranks}};
  for (const PlannedExchange& exchange : recommended.plan.exchanges) {
    if (!recommended.plan.collective(exchange).nccl) continue;
    const nccl::Communicator& other = *recommended.plan.collective(exchange).nccl->communicator;
    if (!seen.emplace(other.nodes, other.ranks).second) continue;
    const auto channels = recommended.communicators[exchange.communicator].strategy.channels;
    const auto its_own = tuned(other, recommended, variables, channels);
    if (!its_own) return tl::make_unexpected(its_own.error());
    if (auto added = lines.add_all(*its_own, gradients.type, other.nodes, other.ranks); !added)
      return tl::make_unexpected(added.error());
  }
  // Add lines for the calls that the recommended algorithm does not support, such as averages.
  const int nodes = example ? tuner_table::kAny : comm.nodes;
  const int ranks = example ? tuner_table::kAny : comm.ranks;
  if (auto added = lines.add_all(*own, gradients.type, nodes, ranks, example); !added)
    return tl::make_unexpected(added.error());

  NcclTunerTable made;
  made.remark =
      "this table replaces NCCL_ALGO, NCCL_PROTO, NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS. Sizes "
      "in the table are in bytes. All-reduces between all GPUs use the recommended choices, and "
      "other collectives use the choices that NCCL would make";
  if (example)
    made.remark +=
        ". The table lists the other collectives too, because NVIDIA's example plugin gives only "
        "one channel to a collective that matches no line. The lines also apply to communicators "
        "of other sizes";
  int most = 0;
  for (const nccl::ChoiceRange& line : all_reduces) most = std::max(most, line.choice.channels);
  const bool by_switch = own->communicator.nvls_channels >= most;
  if (most > own->communicator.channels && !by_switch)
    made.remark += fmt::format(
        ". The choices in the table use up to {0} channels, which NCCL creates only with "
        "NCCL_MIN_NCHANNELS={0}",
        most);
  made.table = std::move(lines.table);
  return made;
}

}  // namespace tutti::core
