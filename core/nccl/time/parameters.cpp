// The parameters are stored in one flat list, so that a fit can change all of them without knowing
// their meaning. The index of a parameter is computed from its kind, its row (generation of GPUs,
// transport, or release of NCCL) and its enumerator. A new parameter therefore needs an enumerator,
// a name, and an initial value in every row. Systems with similar hardware use the same row:
// InfiniBand and RoCE, or Ampere and Ada.
//
// A file must contain every parameter exactly once. Otherwise, parameters that are missing in a
// file of another version would get initial values without a warning. `how` is more than a comment.
// Error bands depend on the number of systems to which a network's parameter was fitted; systems()
// reads this number from the text. The equations of the model are in prediction.cpp.

#include "core/nccl/time/parameters.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/number.h"
#include "core/text/csv.h"

namespace tutti::core::nccl {
namespace {

struct Figure {
  const char* name;
  const char* unit;
};

constexpr Figure kGpu[kGpuFigures] = {{"hop_ll", "us"},
                                      {"hop_ll128", "us"},
                                      {"hop_simple", "us"},
                                      {"channel_ll", "GB/s"},
                                      {"channel_ll128", "GB/s"},
                                      {"channel_simple", "GB/s"},
                                      {"nvlink_share", "1"},
                                      {"tree_share", "1"},
                                      {"nvls_latency", "us"},
                                      {"nvls_share", "1"},
                                      {"pass", "us"},
                                      {"peer_channel", "GB/s"},
                                      {"nvls_fill", "1"},
                                      {"rack_share", "1"},
                                      {"copy", "GB/s"},
                                      {"launch_ll", "us"},
                                      {"launch_ll128", "us"},
                                      {"launch_simple", "us"},
                                      {"launch_sends", "us"}};
constexpr Figure kNet[kNetFigures] = {
    {"hop_ll", "us"},       {"hop_ll128", "us"},      {"hop_simple", "us"}, {"share", "1"},
    {"channel_ll", "GB/s"}, {"peer_channel", "GB/s"}, {"message", "us"},    {"crowd", "1"},
    {"shuffle_share", "1"}, {"rendezvous", "us"}};
constexpr Figure kHost[kHostFigures] = {{"issue", "us"}};
constexpr Figure kPcie[kPcieFigures] = {{"hop_ll", "us"},      {"hop_simple", "us"},
                                        {"share", "1"},        {"share_through_host", "1"},
                                        {"hop_to_card", "us"}, {"share_to_card", "1"}};
constexpr Figure kRelease[kReleaseFigures] = {{"message", "us"}, {"channel", "us"}};
constexpr Figure kSharp[kSharpFigures] = {{"share", "1"}, {"hop", "us"}, {"level", "us"}};

static_assert(kGpu[kGpuFigures - 1].name != nullptr && kHost[kHostFigures - 1].name != nullptr &&
              kNet[kNetFigures - 1].name != nullptr && kPcie[kPcieFigures - 1].name != nullptr &&
              kRelease[kReleaseFigures - 1].name != nullptr);  // every parameter has a name

/// The generations that have their own parameters. Other generations use the parameters of the
/// nearest generation.
constexpr const char* kGenerations[] = {"volta", "ampere", "hopper", "blackwell"};
constexpr std::size_t kGenerationCount = std::size(kGenerations);
constexpr const char* kTransports[] = {"verbs", "efa", "slingshot", "tcpx", "tcpxo", "tcp"};
constexpr std::size_t kTransportCount = std::size(kTransports);
constexpr const char* kReleases[] = {"until_2_21", "since_2_22"};

/// The index at which each kind of parameters begins.
constexpr std::size_t kGpuBegin = 0;
constexpr std::size_t kNetBegin = kGpuBegin + kGenerationCount * kGpuFigures;
constexpr std::size_t kPcieBegin = kNetBegin + kTransportCount * kNetFigures;
constexpr std::size_t kHostBegin = kPcieBegin + kPcieFigures;
constexpr std::size_t kReleaseBegin = kHostBegin + kHostFigures;
constexpr std::size_t kSharpBegin = kReleaseBegin + std::size(kReleases) * kReleaseFigures;
constexpr std::size_t kEnd = kSharpBegin + kSharpFigures;

/// The values of the SHARP parameters. These values are published, not fitted; measured tables of
/// networks with SHARP are used only for validation.
constexpr double kSharpStart[kSharpFigures] = {0.8, 31, 1.4};
constexpr const char* kSharpHow[kSharpFigures] = {
    "published: 20 of an HDR card's 25 GB/s (NVIDIA/nccl issue 320; comment of 2023-01-03)",
    "published: NCCL's own value for CollNetDirect (NVIDIA/nccl src/graph/tuning.cc; since 2.19)",
    ("published: 2.83 us for 8 bytes on 128 hosts with two switch levels (Graham et al.; SHArP; "
     "COMHPC 2016)")};

std::size_t row(GpuGeneration generation) {
  switch (generation) {
    case GpuGeneration::kPascal:
    case GpuGeneration::kVolta:
    case GpuGeneration::kTuring: return 0;
    case GpuGeneration::kAmpere:
    case GpuGeneration::kAda: return 1;
    case GpuGeneration::kHopper: return 2;
    case GpuGeneration::kBlackwell: return 3;
  }
  return 0;
}

/// Returns the row of a transport. InfiniBand and RoCE have the same row, because they use the same
/// cards and verbs. So do all generations of EFA; without RDMA, data passes through host memory,
/// which is a limit of PCIe (PcieFigure::kThroughHost).
std::size_t row(Transport transport) {
  switch (transport) {
    case Transport::kNone:
    case Transport::kInfiniband:
    case Transport::kRoce: return 0;
    case Transport::kEfa:
    case Transport::kEfaV1:
    case Transport::kEfaV2:
    case Transport::kEfaV3:
    case Transport::kEfaV4:
    case Transport::kEfaCopies: return 1;
    case Transport::kSlingshot: return 2;
    case Transport::kTcpx: return 3;
    case Transport::kTcpxo: return 4;
    case Transport::kTcp: return 5;
  }
  return 0;
}

/// Returns the index of a network's parameter.
constexpr std::size_t net_index(std::size_t row, NetFigure figure) {
  return kNetBegin + row * kNetFigures + static_cast<std::size_t>(figure);
}

}  // namespace

Parameters Parameters::initial() {
  // Hop latencies and channel rates are NCCL's own values, except for EFA: its latency is that of
  // the network (15.5 us, AWS) and of the same software as over verbs (3.5, 8 and 19 us). Without
  // GPUDirect, both directions share the rate of PCIe. The ratios of NCCL's rates to the
  // vendors' rates are computed from NCCL's topo.h (for example, 20 of 25 GB/s).
  constexpr double kGpuStart[kGenerationCount][kGpuFigures] = {
      {1.0, 2.5, 3.0, 8, 15, 20, 0.9, 0.6, 25, 0.7, 2, 18, 1.5, 0.8, 300, 6.6, 8.4, 8.4, 7},
      {1.0, 2.5, 3.0, 12, 18, 24, 0.75, 0.6, 25, 0.7, 2, 18, 1.5, 0.8, 550, 6.6, 8.4, 8.4, 7},
      {0.6, 2.5, 2.5, 15, 30, 40, 0.78, 0.6, 15, 0.68, 2, 30, 1.5, 0.8, 950, 6.6, 8.4, 8.4, 7},
      {0.6, 2.5, 2.5, 20, 40, 60, 0.78, 0.6, 20, 0.68, 2, 40, 1.5, 0.8, 1500, 6.6, 8.4, 8.4, 7}};
  constexpr double kNetStart[kTransportCount][kNetFigures] = {
      {5, 8, 20, 0.96, 2, 25, 2, 0.01, 0.95, 0.5}, {19, 23, 34, 0.96, 1, 8, 5, 0.01, 0.9, 5},
      {7, 20, 25, 0.9, 1, 10, 3, 0.05, 0.7, 8},    {40, 50, 80, 0.6, 1, 10, 5, 0.01, 0.9, 5},
      {40, 50, 80, 0.9, 1, 10, 5, 0.01, 0.9, 5},   {40, 50, 80, 0.5, 0.5, 3, 10, 0.01, 0.8, 5}};
  constexpr double kHostStart[kHostFigures] = {3};
  constexpr double kPcieStart[kPcieFigures] = {1.0, 4, 0.7, 0.5, 3, 0.8};
  constexpr double kReleaseStart[std::size(kReleases)][kReleaseFigures] = {{0.8, 0.7}, {0.2, 0.2}};
  Parameters made;
  const auto add = [&](const std::string& of, const Figure& figure, double value,
                       const char* kind = nullptr) {
    const std::string name = fmt::format("{}.{}", of, figure.name);
    made.all_.push_back({name, value, figure.unit, "assumed",
                         kind == nullptr ? name : fmt::format("{}.{}", kind, figure.name)});
  };
  for (std::size_t g = 0; g < kGenerationCount; ++g) {
    for (std::size_t f = 0; f < kGpuFigures; ++f)
      add(kGenerations[g], kGpu[f], kGpuStart[g][f], "gpu");
  }
  for (std::size_t t = 0; t < kTransportCount; ++t) {
    for (std::size_t f = 0; f < kNetFigures; ++f)
      add(kTransports[t], kNet[f], kNetStart[t][f], "net");
  }
  for (std::size_t f = 0; f < kPcieFigures; ++f) add("pcie", kPcie[f], kPcieStart[f]);
  for (std::size_t f = 0; f < kHostFigures; ++f) add("host", kHost[f], kHostStart[f]);
  for (std::size_t r = 0; r < std::size(kReleases); ++r) {
    for (std::size_t f = 0; f < kReleaseFigures; ++f)
      add(kReleases[r], kRelease[f], kReleaseStart[r][f]);
  }
  for (std::size_t f = 0; f < kSharpFigures; ++f) {
    add("sharp", kSharp[f], kSharpStart[f]);
    made.all_.back().how = kSharpHow[f];
  }
  TUTTI_CHECK(made.all_.size() == kEnd, "the number of the time model's parameters is wrong");
  return made;
}

double Parameters::of(HostFigure figure) const {
  return all_[kHostBegin + static_cast<std::size_t>(figure)].value;
}

double Parameters::of(ReleaseFigure figure, const Version& version) const {
  const std::size_t release = version < Version{2, 22, 0} ? 0 : 1;
  return all_[kReleaseBegin + release * kReleaseFigures + static_cast<std::size_t>(figure)].value;
}

double Parameters::of(SharpFigure figure) const {
  return all_[kSharpBegin + static_cast<std::size_t>(figure)].value;
}

double Parameters::of(GpuGeneration generation, GpuFigure figure) const {
  return all_[kGpuBegin + row(generation) * kGpuFigures + static_cast<std::size_t>(figure)].value;
}

double Parameters::of(Transport transport, NetFigure figure) const {
  return all_[net_index(row(transport), figure)].value;
}

double Parameters::of(PcieFigure figure) const {
  return all_[kPcieBegin + static_cast<std::size_t>(figure)].value;
}

void Parameters::use_parameters_of(GpuGeneration other, GpuGeneration generation) {
  for (std::size_t f = 0; f < kGpuFigures; ++f)
    all_[kGpuBegin + row(generation) * kGpuFigures + f].value =
        all_[kGpuBegin + row(other) * kGpuFigures + f].value;
}

std::size_t Parameters::systems(Transport transport) const {
  // The parameters of EFA are fitted to the first generation; those of later generations follow
  // from data sheets.
  if (is_efa_with_rdma(transport) && transport > Transport::kEfaV1) return 0;
  // The text has the form "fitted to 966 rows of 12 systems".
  const std::string& how = all_[net_index(row(transport), NetFigure::kShare)].how;
  const std::size_t at = how.find(" rows of ");
  if (!how.starts_with("fitted") || at == std::string::npos) return 0;
  std::size_t count = 0;
  const char* const begin = how.data() + at + std::string_view(" rows of ").size();
  std::from_chars(begin, how.data() + how.size(), count);
  return count;
}

bool Parameters::is_measured(Transport transport) const {
  if (is_efa_with_rdma(transport) && transport > Transport::kEfaV1) return false;
  return !all_[net_index(row(transport), NetFigure::kShare)].how.starts_with("assumed");
}

Expected<Parameters> Parameters::parse(std::string_view text, const std::string& file) {
  Problems problems;
  const CsvTable table = parse_csv(text, file, problems);
  const std::vector<std::size_t> at =
      table.required({"name", "value", "unit", "how"}, file, problems);
  if (!problems.empty()) return problems.take();
  Parameters made = initial();
  std::vector<bool> set(made.all_.size());
  for (const CsvTable::Row& line : table.rows) {
    const auto cell = [&](std::size_t c) { return line.cells[at[c]]; };
    const Location where{file, cell(0).at.line, cell(0).at.column};
    const auto found = std::find_if(made.all_.begin(), made.all_.end(),
                                    [&](const Parameter& p) { return p.name == cell(0).text; });
    if (found == made.all_.end()) {
      problems.add({ProblemCode::kUnknownName, "name"}, where,
                   "the time model has no parameter \"{}\"", cell(0).text);
      continue;
    }
    const std::size_t index = found - made.all_.begin();
    if (set[index])
      problems.add({ProblemCode::kDuplicate, found->name}, where, "{} is listed twice",
                   found->name);
    set[index] = true;
    const auto value = read_number(cell(1).text, where, "value", 1e-9, 1e9, problems);
    if (value) found->value = *value;
    if (cell(2).text != found->unit)
      problems.add({ProblemCode::kConflict, "unit"}, where, "{} is in {}, not {}", found->name,
                   found->unit, cell(2).text);
    found->how = cell(3).text;
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set[i])
      problems.add({ProblemCode::kMissing, made.all_[i].name}, {file, 0, 0}, "{} is missing",
                   made.all_[i].name);
  }
  if (!problems.empty()) return problems.take();
  return made;
}

Expected<Parameters> Parameters::load(const std::string& library_folder) {
  const std::string path = library_folder + "/nccl_time.csv";
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return parse(*text, path);
}

std::string Parameters::to_csv() const {
  std::string text = "name,value,unit,how\n";
  for (const Parameter& p : all_)
    text += fmt::format("{},{:.4g},{},{}\n", p.name, p.value, p.unit, p.how);
  return text;
}

}  // namespace tutti::core::nccl
