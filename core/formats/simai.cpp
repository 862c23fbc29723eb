// The first line names the parallelism, and its parameters as pairs of a name and a number. The
// second line is the number of rows. A row has 12 columns, which blanks or tabs separate:
//
//     name dependency | compute collective bytes of the forward pass
//                     | … of input gradients | … of weight gradients | update
//
// Newer writers omit the colon after pp_comm, so names are compared without colons.

#include "core/formats/simai.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

/// The limits on times and sizes.
constexpr std::int64_t kMaxSimaiNanoseconds = std::int64_t{1} << 42;
constexpr std::int64_t kMaxSimaiBytes = std::int64_t{1} << 46;
constexpr std::int64_t kMaxSimaiRows = std::int64_t{1} << 24;
constexpr std::int64_t kMaxSimaiGpus = std::int64_t{1} << 24;
constexpr std::size_t kSimaiColumns = 12;

constexpr std::array<std::string_view, 3> kSimaiPolicies{"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                         "HYBRID_TRANSFORMER", "MICRO"};
constexpr std::array<std::string_view, 8> kOtherPolicies{"DATA",
                                                         "MODEL",
                                                         "HYBRID_DATA_MODEL",
                                                         "HYBRID_MODEL_DATA",
                                                         "HYBRID_DLRM",
                                                         "HYBRID_DLRM_ENHANCED",
                                                         "HYBRID_CUSTOMIZED",
                                                         "DISTRIBUTED_INFERENCE"};

template <class Names>
bool lists_name(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct SimaiWord {
  std::string_view text;
  int column = 1;
};

std::vector<SimaiWord> simai_words(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<SimaiWord> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

class SimaiReader {
 public:
  SimaiReader(ByteInput& input, const std::string& name, RecordCounts& counts)
      : lines_(input, name), counts_(counts) {}

  Expected<void> read(const std::function<Expected<void>(const SimaiHeader&)>& begin,
                      const std::function<Expected<void>(const SimaiLayer&)>& take) {
    auto header = read_header();
    if (!header) return tl::make_unexpected(header.error());
    if (auto taken = begin(*header); !taken) return taken;
    std::int64_t rows = 0;
    while (true) {
      const auto words = next_words();
      if (words.empty()) break;
      if (++rows > header->layers)
        return lines_.fail({ProblemCode::kConflict, "SimAI"}, 1,
                           "line 2 states {} rows, but this is row {}", header->layers, rows);
      const auto layer = read_layer(words);
      if (!layer) return tl::make_unexpected(layer.error());
      counts_.use("layer");
      if (auto taken = take(*layer); !taken) return taken;
    }
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    if (rows < header->layers)
      return lines_.fail(
          {ProblemCode::kMissing, "SimAI"}, 0,
          "the file ends after {} rows, but line 2 states {} rows; is the file truncated?", rows,
          header->layers);
    return {};
  }

 private:
  /// Returns the words of the next line that is not blank; empty at the end of the file.
  std::vector<SimaiWord> next_words() {
    while (const auto line = lines_.next()) {
      line_ = *line;
      auto words = simai_words(line_);
      if (!words.empty()) return words;
    }
    return {};
  }

  Expected<std::int64_t> number(const SimaiWord& word, std::string_view what, std::int64_t least,
                                std::int64_t most) const {
    const auto value = whole_number<std::int64_t>(word.text);
    if (value && *value >= least && *value <= most) return *value;
    return lines_.fail({ProblemCode::kInvalid, "SimAI"}, word.column,
                       "{}: expected a whole number from {} to {}, got {}", what, least, most,
                       word.text.substr(0, 40));
  }

  Expected<SimaiHeader> read_header() {
    SimaiHeader header;
    const auto words = next_words();
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    if (words.empty()) return lines_.fail({ProblemCode::kMissing, "SimAI"}, 0, "the file is empty");
    header.parallelism = words[0].text.substr(0, 80);
    if (lists_name(kOtherPolicies, words[0].text))
      return lines_.fail(
          {ProblemCode::kUnsupported, "SimAI"}, words[0].column,
          "a workload with the parallelism {} assigns its collectives to dimensions of ASTRA-sim's "
          "network, and does not state the number of GPUs; expected the parallelism {}; hint: "
          "convert the file with Chakra's chakra_converter Text, and import the Chakra trace",
          words[0].text, fmt::join(kSimaiPolicies, " or "));
    if (!lists_name(kSimaiPolicies, words[0].text))
      return lines_.fail({ProblemCode::kSyntax, "SimAI"}, words[0].column,
                         "this is not a workload of SimAI: expected line 1 to begin with {}",
                         fmt::join(kSimaiPolicies, " or "));
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      std::string_view key = words[i].text;
      if (key.ends_with(':')) key.remove_suffix(1);
      if (key == "checkpoints" || key == "checkpoint_initiates") {
        const auto all = number(words[i + 1], key, 0, kMaxSimaiRows);
        if (!all) return tl::make_unexpected(all.error());
        if (*all > 0)
          return lines_.fail({ProblemCode::kUnsupported, "SimAI"}, words[i].column,
                             "{}: recomputation of activations is not supported; hint: add the "
                             "recomputation to the rows, and write {} 0",
                             key, words[i].text);
        continue;
      }
      std::int64_t* const to = key == "model_parallel_NPU_group" ? &header.tensor_parallel
                               : key == "ep"                     ? &header.expert_parallel
                               : key == "pp"                     ? &header.pipeline_parallel
                               : key == "all_gpus"               ? &header.gpus
                                                                 : nullptr;
      if (to == nullptr) continue;
      const auto value = number(words[i + 1], key, 1, kMaxSimaiGpus);
      if (!value) return tl::make_unexpected(value.error());
      *to = *value;
      ++i;
    }
    header.line = lines_.number();
    const std::int64_t model = header.tensor_parallel * header.pipeline_parallel;
    if (header.gpus % model != 0 || header.gpus / model % header.expert_parallel != 0)
      return lines_.fail(
          {ProblemCode::kConflict, "SimAI"}, 1,
          "all_gpus ({}) must be a multiple of model_parallel_NPU_group · pp · ep ({} · {} "
          "· {})",
          header.gpus, header.tensor_parallel, header.pipeline_parallel, header.expert_parallel);
    const auto count = next_words();
    if (count.size() != 1)
      return lines_.fail({ProblemCode::kSyntax, "SimAI"}, 1,
                         "expected line 2 to contain only the number of rows");
    const auto rows = number(count[0], "number of rows", 1, kMaxSimaiRows);
    if (!rows) return tl::make_unexpected(rows.error());
    header.layers = *rows;
    return header;
  }

  Expected<SimaiCollective> read_collective(const SimaiWord& kind, const SimaiWord& bytes) const {
    using Kind = SimaiCollective::Kind;
    using Group = SimaiCollective::Group;
    SimaiCollective one;
    std::string_view name = kind.text;
    if (name.ends_with("_DP_EP")) {
      one.group = Group::kDataOfExperts;
      name.remove_suffix(6);
    } else if (name.ends_with("_EP")) {
      one.group = Group::kExpert;
      name.remove_suffix(3);
    }
    if (name == "ALLREDUCE") {
      one.kind = Kind::kAllReduce;
    } else if (name == "ALLGATHER") {
      one.kind = Kind::kAllGather;
    } else if (name == "REDUCESCATTER") {
      one.kind = Kind::kReduceScatter;
    } else if (name == "ALLTOALL") {
      one.kind = Kind::kAllToAll;
    } else if (kind.text != "NONE") {
      return lines_.fail(
          {ProblemCode::kUnknownName, "SimAI"}, kind.column,
          "{}: expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, without a "
          "suffix or with _EP or _DP_EP",
          kind.text.substr(0, 40));
    }
    const auto size = number(bytes, "size of a collective", 0, kMaxSimaiBytes);
    if (!size) return tl::make_unexpected(size.error());
    one.bytes = *size;
    if (one.bytes == 0) one.kind = Kind::kNone;
    return one;
  }

  Expected<SimaiLayer> read_layer(const std::vector<SimaiWord>& words) const {
    if (words.size() != kSimaiColumns)
      return lines_.fail({ProblemCode::kSyntax, "SimAI"}, words.front().column,
                         "expected {} columns, got {}", kSimaiColumns, words.size());
    SimaiLayer layer;
    layer.line = lines_.number();
    layer.name = words[0].text.substr(0, 200);
    std::size_t column = 2;  // the second column is a dependency, which ASTRA-sim does not use
    for (SimaiPass* const pass : {&layer.forward, &layer.input_gradient, &layer.weight_gradient}) {
      const auto time = number(words[column], "compute time", 0, kMaxSimaiNanoseconds);
      if (!time) return tl::make_unexpected(time.error());
      // Writers put 1 in place of 0, because ASTRA-sim cannot wait for no time.
      pass->compute_ns = *time > 1 ? *time : 0;
      const auto collective = read_collective(words[column + 1], words[column + 2]);
      if (!collective) return tl::make_unexpected(collective.error());
      pass->collective = *collective;
      column += 3;
    }
    const auto update = number(words[column], "update time", 0, kMaxSimaiNanoseconds);
    if (!update) return tl::make_unexpected(update.error());
    layer.update_ns = *update;
    return layer;
  }

  LineStream lines_;
  RecordCounts& counts_;
  std::string line_;
};

}  // namespace

bool is_simai(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const auto words = simai_words(text.substr(0, end));
  if (words.empty() ||
      (!lists_name(kSimaiPolicies, words[0].text) && !lists_name(kOtherPolicies, words[0].text)))
    return false;
  const auto count = simai_words(text.substr(end + 1, text.find('\n', end + 1) - end - 1));
  return count.size() == 1 && whole_number<std::int64_t>(count[0].text);
}

Expected<void> read_simai(ByteInput& input, const std::string& name,
                          const std::function<Expected<void>(const SimaiHeader&)>& begin,
                          const std::function<Expected<void>(const SimaiLayer&)>& take,
                          RecordCounts& counts) {
  return SimaiReader(input, name, counts).read(begin, take);
}

}  // namespace tutti::core
