// Each line is parsed independently. The prefix of a line identifies the process and the thread
// that wrote it. The beginning of its text identifies the kind of line.

#include "core/formats/nccl_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/number.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::string_view kInfo = "NCCL INFO ";

/// Returns the text after `label`, up to a blank or one of "]),;". Returns nullopt if the label
/// does not occur.
std::optional<std::string_view> word_behind(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_of(" ]),;"));
}

std::int64_t number_behind(std::string_view text, std::string_view label) {
  const auto word = word_behind(text, label);
  if (!word) return -1;
  const auto number = whole_number<std::int64_t>(*word);
  return number && *number >= 0 && *number < std::int64_t{1} << 50 ? *number : -1;
}

bool is_pointer(std::string_view word) { return word.starts_with("0x") && word.size() <= 20; }

std::string lower(std::string_view text) {
  std::string made(text.substr(0, 32));
  for (char& c : made) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return made;
}

/// Returns the name of an algorithm. `word` is the name or, in releases before 2.24, a number.
std::string algorithm_name(std::string_view word) {
  constexpr std::array<const char*, 7> kNames{
      "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
  const auto number = whole_number<std::size_t>(word);
  return number && *number < kNames.size() ? kNames[*number] : lower(word);
}
std::string protocol_name(std::string_view word) {
  constexpr std::array<const char*, 3> kNames{"ll", "ll128", "simple"};
  const auto number = whole_number<std::size_t>(word);
  return number && *number < kNames.size() ? kNames[*number] : lower(word);
}

class NcclLineReader {
 public:
  NcclLineReader(const std::function<void(const NcclLogLine&)>& take, RecordCounts& counts)
      : take_(take), counts_(counts) {}

  /// Reads a line. Returns false if NCCL did not write the line.
  bool read(std::string_view line, int number) {
    line = without_colors(line);
    // "NCCL version 2.21.5+cuda12.4", "RCCL version : 2.26.6-HEAD:f224e2c"
    if (const std::size_t at = line.find("CCL version ");
        at != std::string_view::npos && at > 0 && (line[at - 1] == 'N' || line[at - 1] == 'R')) {
      made_ = {};
      made_.line = number;
      made_.kind = NcclLogLine::Kind::kVersion;
      made_.is_rccl = line[at - 1] == 'R';
      std::string_view version = line.substr(at + 12);
      if (version.starts_with(": ")) version.remove_prefix(2);
      version = version.substr(0, version.find_first_not_of("0123456789."));
      if (!version.empty() && version.size() <= 16) give(version);
      return true;
    }
    const std::size_t info = line.find(kInfo);
    if (info == std::string_view::npos) {
      if (line.find("algbw") != std::string_view::npos &&
          line.find("busbw") != std::string_view::npos) {
        made_ = {};
        made_.line = number;
        made_.kind = NcclLogLine::Kind::kTestTable;
        give();
      }
      if (line.find("NCCL WARN") == std::string_view::npos) return false;
      counts_.ignore("warning");
      return true;
    }
    if (line.find(kInfo, info + kInfo.size()) != std::string_view::npos) {
      counts_.incomplete("line with the messages of two threads");
      return true;
    }
    made_ = {};
    made_.line = number;
    read_prefix(line.substr(0, info));
    read_text(line.substr(info + kInfo.size()));
    return true;
  }

 private:
  /// Removes the escape sequences with which launchers color lines ("\x1b[32m").
  std::string_view without_colors(std::string_view line) {
    if (line.find('\x1b') == std::string_view::npos) return line;
    plain_.clear();
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != '\x1b') {
        plain_ += line[i];
        continue;
      }
      while (i < line.size() && (line[i] == '\x1b' || line[i] == '[' || line[i] == ';' ||
                                 (line[i] >= '0' && line[i] <= '9')))
        ++i;
    }
    return plain_;
  }

  void give(std::string_view text = {}) {
    made_.text = text.substr(0, 512);
    take_(made_);
  }

  /// Reads "host:pid:tid [dev] ", which may follow a time stamp or the prefix of a launcher.
  void read_prefix(std::string_view prefix) {
    while (!prefix.empty() && prefix.back() == ' ') prefix.remove_suffix(1);
    if (prefix.ends_with(']')) {
      const std::size_t open = prefix.rfind('[');
      if (open == std::string_view::npos) return;
      if (const auto device =
              whole_number<std::int64_t>(prefix.substr(open + 1, prefix.size() - open - 2)))
        made_.device = *device;
      prefix = prefix.substr(0, open);
      while (!prefix.empty() && prefix.back() == ' ') prefix.remove_suffix(1);
    }
    const std::size_t word = prefix.find_last_of(" >]");
    if (word != std::string_view::npos) prefix.remove_prefix(word + 1);
    if (prefix.starts_with(':')) prefix.remove_prefix(1);  // "[1,0]<stdout>:"
    const std::size_t second = prefix.rfind(':');
    if (second == std::string_view::npos || second == 0) return;
    const std::size_t first = prefix.rfind(':', second - 1);
    if (first == std::string_view::npos) return;
    made_.host = prefix.substr(0, std::min<std::size_t>(first, 256));
    made_.pid =
        whole_number<std::int64_t>(prefix.substr(first + 1, second - first - 1)).value_or(-1);
    made_.thread = whole_number<std::int64_t>(prefix.substr(second + 1)).value_or(-1);
  }

  void read_text(std::string_view text) {
    using Kind = NcclLogLine::Kind;
    if (text.find(" opCount ") != std::string_view::npos &&
        text.find(" count ") != std::string_view::npos)
      return read_collective(text);
    if (text.find(" Bytes -> Algo ") != std::string_view::npos) return read_choice(text);
    // NCCL before 2.7 names the channels of transports "Ring 00".
    if (text.find(" via ") != std::string_view::npos &&
        (text.starts_with("Channel ") || text.starts_with("Ring "))) {
      made_.kind = Kind::kTransport;
      std::string_view via = text.substr(text.find(" via ") + 5);
      via = via.substr(0, via.find(' '));
      // Keep the kind of transport, without the number of the network card: "NET/IB/0/GDRDMA"
      // becomes "NET/IB with GPUDirect RDMA".
      const std::size_t slash = via.find('/');
      const std::size_t end = slash == std::string_view::npos ? slash : via.find('/', slash + 1);
      std::string kind(via.substr(0, end));
      if (via.find("GDRDMA") != std::string_view::npos) kind += " with GPUDirect RDMA";
      return give(kind);
    }
    if (text.starts_with("NET/") && text.find(" : Using ") != std::string_view::npos) {
      made_.kind = Kind::kNetwork;
      return give(text.substr(4));
    }
    if (text.find(" coll channels") != std::string_view::npos) {
      made_.kind = Kind::kChannels;
      made_.channels = whole_number<std::int64_t>(text.substr(0, text.find(' '))).value_or(-1);
      return give();
    }
    if (text.starts_with("NCCL_") &&
        text.find(" set by environment to ") != std::string_view::npos) {
      made_.kind = Kind::kVariable;
      const std::size_t set = text.find(" set by environment to ");
      std::string_view value = text.substr(set + 23);
      while (!value.empty() && (value.back() == '.' || value.back() == ' ')) value.remove_suffix(1);
      return give(std::string(text.substr(0, set)) + "=" + std::string(value));
    }
    if (text.find(" rank ") != std::string_view::npos &&
        text.find("nranks ") != std::string_view::npos &&
        text.find("comm 0x") != std::string_view::npos)
      return read_communicator(text);
    counts_.ignore(kind_of_other(text));
  }

  /// Returns a name for a kind of line that is not imported. The beginning of the line determines
  /// its kind.
  static std::string_view kind_of_other(std::string_view text) {
    struct Known {
      std::string_view begin, name;
    };
    constexpr std::array<Known, 15> kKnown{{{"Channel ", "ring"},
                                            {"Trees ", "tree"},
                                            {"Tree ", "tree"},
                                            {"Ring ", "ring"},
                                            {"Connected all", "connected"},
                                            {"threadThresholds", "thresholds"},
                                            {"Setting affinity", "affinity"},
                                            {"P2P Chunksize", "chunk size"},
                                            {"Init timings", "start-up times"},
                                            {"  Algorithm", "table of NCCL's model"},
                                            {"  Protocol", "table of NCCL's model"},
                                            {" Max NThreads", "table of NCCL's model"},
                                            {"Bootstrap", "bootstrap"},
                                            {"Using network", "network"},
                                            {"comm 0x", "communicator"}}};
    for (const Known& known : kKnown) {
      if (text.starts_with(known.begin)) return known.name;
    }
    return text.find(" | ") != std::string_view::npos ? "table of NCCL's model" : "other line";
  }

  void read_communicator(std::string_view text) {
    made_.kind = NcclLogLine::Kind::kCommunicator;
    const auto pointer = word_behind(text, "comm ");
    if (!pointer || !is_pointer(*pointer)) return counts_.ignore("other line");
    made_.communicator = *pointer;
    made_.rank = number_behind(text, " rank ");
    made_.ranks = number_behind(text, "nranks ");
    if (const std::int64_t device = number_behind(text, "cudaDev "); device >= 0)
      made_.device = device;
    if (const auto id = word_behind(text, " commId "); id && is_pointer(*id)) made_.id = *id;
    if (made_.rank < 0 || made_.ranks < 1 || made_.rank >= made_.ranks)
      return counts_.incomplete("communicator without ranks");
    give();
  }

  void read_collective(std::string_view text) {
    made_.kind = NcclLogLine::Kind::kCollective;
    made_.name = text.substr(0, std::min<std::size_t>(text.find(':'), 64));
    made_.elements = number_behind(text, " count ");
    made_.data_type = number_behind(text, " datatype ");
    made_.ranks = number_behind(text, "[nranks=");
    const auto pointer = word_behind(text, " comm ");
    if (pointer && is_pointer(*pointer)) made_.communicator = *pointer;
    if (made_.elements < 0 || made_.data_type < 0)
      return counts_.incomplete("a call without a count or a type");
    give();
  }

  void read_choice(std::string_view text) {
    made_.kind = NcclLogLine::Kind::kChoice;
    const std::size_t bytes = text.find(" Bytes -> Algo ");
    std::string_view before = text.substr(0, bytes);
    const std::size_t colon = before.rfind(": ");
    if (colon != std::string_view::npos) {
      made_.name = before.substr(0, std::min<std::size_t>(colon, 64));
      before.remove_prefix(colon + 2);
    }
    const auto size = whole_number<std::int64_t>(before);
    const auto algorithm = word_behind(text, "Algo "), protocol = word_behind(text, "proto ");
    if (!size || *size < 0 || *size >= std::int64_t{1} << 50 || !algorithm || !protocol)
      return counts_.incomplete("a choice without a size, an algorithm or a protocol");
    made_.bytes = *size;
    made_.algorithm = algorithm_name(*algorithm);
    made_.protocol = protocol_name(*protocol);
    // The line ends with the range of channels ("channel{Lo..Hi}={0..23}") or with the predicted
    // time.
    if (const std::size_t brace = text.rfind('{'); brace != std::string_view::npos) {
      const std::string_view range = text.substr(brace + 1);
      const std::size_t dots = range.find("..");
      if (dots != std::string_view::npos) {
        const auto low = whole_number<std::int64_t>(range.substr(0, dots));
        const auto high = whole_number<std::int64_t>(
            range.substr(dots + 2, range.find('}') - std::min(range.find('}'), dots + 2)));
        if (low && high && *low >= 0 && *high >= *low && *high < 1 << 16)
          made_.channels = *high - *low + 1;
      }
    }
    if (const auto time = word_behind(text, " time ")) {
      double us = 0;
      if (std::from_chars(time->data(), time->data() + time->size(), us).ec == std::errc() &&
          std::isfinite(us))
        made_.predicted_us = us;
    }
    give();
  }

  const std::function<void(const NcclLogLine&)>& take_;
  std::string plain_;
  RecordCounts& counts_;
  NcclLogLine made_;
};

}  // namespace

Expected<void> read_nccl_log(ByteInput& input, const std::string& name,
                             const std::function<void(const NcclLogLine&)>& take,
                             RecordCounts& counts, const std::function<void(double)>& progress) {
  LineStream lines(input, name);
  NcclLineReader reader(take, counts);
  bool any = false;
  while (const auto line = lines.next()) {
    constexpr int kBetween = 1 << 14;
    if (progress && lines.number() % kBetween == 0) progress(lines.share());
    if (reader.read(*line, lines.number()))
      any = true;
    else
      counts.ignore("line of another program");
  }
  if (lines.error()) return tl::make_unexpected(*lines.error());
  if (!any)
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing, "NCCL_DEBUG"},
                       "this log has no lines of NCCL; run the program with NCCL_DEBUG=INFO "
                       "NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,COLL,NET,ENV",
                       {name, 0, 0}));
  return {};
}

}  // namespace tutti::core
