#include "core/nccl/time/error_bands.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/number.h"
#include "core/text/csv.h"

namespace tutti::core::nccl {
namespace {

constexpr std::array<const char*, 2> kNodes = {"one node", "several nodes"};

/// The collectives that have their own factor. Scatter uses the factor of gather.
constexpr std::array kCollectives = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce,        CollectiveKind::kAllToAll,
                                     CollectiveKind::kSendReceive,   CollectiveKind::kGather};

// The index of the first factor of each group of properties.
constexpr std::size_t kFirstNetwork = 0;
constexpr std::size_t kFirstDriving = kFirstNetwork + 3;
constexpr std::size_t kFirstCollective = kFirstDriving + 3;
constexpr std::size_t kFirstGpu = kFirstCollective + kCollectives.size();
static_assert(kFirstGpu + 2 == ErrorBands::kFactors);

template <std::size_t n>
std::size_t index_of(const std::array<const char*, n>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

BandFacts band_facts(const System& system, CollectiveKind kind, const Parameters& parameters) {
  const bool far = system.nodes > 1;
  return {far ? known_from(parameters.systems(system.transport)) : KnownFrom::kSeveral,
          system.driving, kind, system.nearest_gpu};
}

std::size_t ErrorBands::size_of(std::int64_t bytes) {
  if (bytes < 64 << 10) return 0;
  if (bytes < 1 << 20) return 1;
  return bytes < 64 << 20 ? 2 : 3;
}

ErrorBands::ErrorBands()
    : factors_{{{"network", "several systems"},
                {"network", "one system"},
                {"network", "no system"},
                {"driving", "process_per_gpu"},
                {"driving", "thread_per_gpu"},
                {"driving", "one_thread"},
                {"collective", "all_reduce"},
                {"collective", "all_gather"},
                {"collective", "reduce_scatter"},
                {"collective", "broadcast"},
                {"collective", "reduce"},
                {"collective", "alltoall"},
                {"collective", "sendrecv"},
                {"collective", "gather and scatter"},
                {"gpu", "known model"},
                {"gpu", "nearest known model"}}} {}

std::array<std::size_t, 4> ErrorBands::factors_of(const BandFacts& facts) {
  const auto kind =
      std::find(kCollectives.begin(), kCollectives.end() - 1, facts.kind) - kCollectives.begin();
  return {kFirstNetwork + static_cast<std::size_t>(facts.network),
          kFirstDriving + static_cast<std::size_t>(facts.driving),
          kFirstCollective + static_cast<std::size_t>(kind),
          kFirstGpu + (facts.nearest_gpu ? 1 : 0)};
}

ErrorBand ErrorBands::of(int nodes, std::int64_t bytes, const BandFacts& facts) const {
  ErrorBand band = bands_[nodes > 1 ? 1 : 0][size_of(bytes)];
  double factor = 1;
  for (const std::size_t k : factors_of(facts)) factor *= factors_[k].value;
  if (factor != 1) band = {std::pow(band.low, factor), std::pow(band.high, factor)};
  return band;
}

Expected<ErrorBands> ErrorBands::parse(std::string_view text, const std::string& file) {
  Problems problems;
  const CsvTable table = parse_csv(text, file, problems);
  const std::vector<const char*> columns{"part", "name", "low", "high", "widen"};
  const std::vector<std::size_t> at = table.required(columns, file, problems);
  if (!problems.empty()) return problems.take();
  ErrorBands made;
  std::vector<bool> set(2 * kSizes + kFactors);
  for (const CsvTable::Row& line : table.rows) {
    const auto cell = [&](std::size_t c) { return line.cells[at[c]]; };
    const auto where = [&](std::size_t c) {
      return Location{file, cell(c).at.line, cell(c).at.column};
    };
    const auto number = [&](std::size_t c, double& to) {
      if (const auto read = read_number(cell(c).text, where(c), columns[c], 1e-3, 1e3, problems))
        to = *read;
    };
    const std::size_t nodes = index_of(kNodes, cell(0).text),
                      size = index_of(kSizeNames, cell(1).text);
    const auto factor = std::find_if(
        made.factors_.begin(), made.factors_.end(),
        [&](const Factor& one) { return one.by == cell(0).text && one.name == cell(1).text; });
    std::size_t place = 0;
    if (nodes < kNodes.size() && size < kSizes) {
      place = nodes * kSizes + size;
      ErrorBand& band = made.bands_[nodes][size];
      number(2, band.low);
      number(3, band.high);
      if (band.low > band.high)
        problems.add({ProblemCode::kConflict, "low"}, where(2), "low is above high");
    } else if (factor != made.factors_.end()) {
      place = 2 * kSizes + static_cast<std::size_t>(factor - made.factors_.begin());
      number(4, factor->value);
    } else {
      problems.add(
          {ProblemCode::kUnknownName, columns[0]}, where(0),
          "part and name of this row are unknown; expected part \"one node\" or \"several "
          "nodes\" with a name such as \"{}\", or a row with a known factor (column widen)",
          kSizeNames[0]);
      continue;
    }
    if (set[place])
      problems.add({ProblemCode::kDuplicate, columns[0]}, where(0),
                   "the row {}, {} is listed twice", cell(0).text, cell(1).text);
    set[place] = true;
  }
  if (std::find(set.begin(), set.end(), false) != set.end())
    problems.add({ProblemCode::kMissing}, {file, 0, 0}, "a band is missing");
  if (!problems.empty()) return problems.take();
  return made;
}

Expected<ErrorBands> ErrorBands::load(const std::string& library_folder) {
  const std::string path = library_folder + "/nccl_error.csv";
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return parse(*text, path);
}

std::string ErrorBands::to_csv() const {
  std::string text = "part,name,low,high,widen\n";
  for (std::size_t nodes = 0; nodes < kNodes.size(); ++nodes) {
    for (std::size_t size = 0; size < kSizes; ++size) {
      const ErrorBand& band = bands_[nodes][size];
      text += fmt::format("{},{},{:.3f},{:.3f},1\n", kNodes[nodes], kSizeNames[size], band.low,
                          band.high);
    }
  }
  for (const Factor& one : factors_)
    text += fmt::format("{},{},1,1,{:.3f}\n", one.by, one.name, one.value);
  return text;
}

}  // namespace tutti::core::nccl
