// The JSON lists each rank of each communicator. The text has a table with one row for each group
// of similar communicators; its columns are
//
//     group, communicators in the group, nodes, least and most ranks per node, ranks per
//     communicator, ranks in the group, status, errors
//
// and the sections Errors and Warnings name ranks that are missing or behind. Names of columns have
// changed, so a row is recognised by its seven numbers.

#include "core/formats/nccl_ras.h"

#include <algorithm>
#include <optional>

#include "core/base/number.h"
#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::size_t kLongestRasText = 256;
constexpr std::size_t kMaxRasWarnings = 200;

class RasJson {
 public:
  RasJson(ByteInput& input, const std::string& name,
          const std::function<void(const RasCommunicator&)>& take, RecordCounts& counts)
      : in_(input, name), name_(name), take_(take), counts_(counts) {}

  Expected<RasStatus> read() {
    std::int64_t communicators = 0;
    if (in_.enter_object()) {
      while (const auto key = in_.next_key()) {
        if (*key == "nccl_version") {
          status_.nccl_version = in_.scalar().substr(0, kLongestRasText);
        } else if (*key == "communicators") {
          if (!in_.enter_array()) continue;
          while (in_.next_item()) {
            RasCommunicator communicator;
            read_communicator(communicator);
            if (in_.failed()) break;
            ++communicators;
            counts_.use("communicator");
            take_(communicator);
          }
        } else if (*key == "ras") {
          if (!in_.enter_object()) continue;
          while (const auto inner = in_.next_key()) {
            if (*inner == "timeouts_count")
              status_.timeouts = number();
            else
              in_.skip();
          }
        } else {
          in_.skip();
        }
      }
    }
    if (in_.failed()) return tl::make_unexpected(in_.error());
    if (communicators == 0)
      return tl::make_unexpected(Error::request({ProblemCode::kMissing, "communicators"},
                                                "this status of NCCL's RAS has no communicator",
                                                {name_, 0, 0}));
    return std::move(status_);
  }

 private:
  std::int64_t number() {
    const auto value = scaled_decimal(in_.scalar(), 0);
    return value && *value >= 0 && *value < std::int64_t{1} << 40 ? *value : -1;
  }
  void text_into(std::string& to) { to = in_.scalar().substr(0, kLongestRasText); }

  void read_communicator(RasCommunicator& to) {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "hash") {
        text_into(to.hash);
      } else if (*key == "size") {
        to.size = number();
      } else if (*key == "ranks" || *key == "missing_ranks") {
        const bool missing = *key == "missing_ranks";
        if (!in_.enter_array()) continue;
        while (in_.next_item()) {
          RasRank rank;
          rank.is_missing = missing;
          read_rank(rank);
          if (in_.failed()) return;
          counts_.use(missing ? "missing rank" : "rank");
          to.ranks.push_back(std::move(rank));
        }
      } else {
        in_.skip();
      }
    }
  }

  void read_rank(RasRank& to) {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "rank")
        to.rank = number();
      else if (*key == "host")
        text_into(to.host);
      else if (*key == "pid")
        to.pid = number();
      else if (*key == "cuda_dev")
        to.device = number();
      else if (*key == "status")
        read_status(to);
      else if (*key == "collective_counts")
        read_counts(to);
      else
        in_.skip();
    }
  }

  void read_status(RasRank& to) {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      const std::string name(*key);
      const std::string value(in_.scalar().substr(0, kLongestRasText));
      if (name == "init_state") to.state = value;
      if (name == "async_error" && value != "ncclSuccess" && value != "success" && value != "0")
        to.error = value;
      if (value != "true") continue;
      if (name == "unresponsive" || name == "considered_dead")
        to.state = name == "unresponsive" ? "does not respond" : "is considered dead";
      if (name == "abort_flag") to.error = "aborted";
    }
  }

  void read_counts(RasRank& to) {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      const std::string name(key->substr(0, 40));
      const std::int64_t calls = number();
      if (calls >= 0 && to.collectives.size() < 100) to.collectives[name] = calls;
    }
  }

  JsonStream in_;
  const std::string& name_;
  const std::function<void(const RasCommunicator&)>& take_;
  RecordCounts& counts_;
  RasStatus status_;
};

/// Returns the numbers at the beginning of a row; empty if the row has other words before them.
std::vector<std::int64_t> leading_numbers(std::string_view line) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return numbers;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    // If the ranks per node are a range, "4-8", use its larger number.
    const std::size_t dash = word.rfind('-');
    const auto value =
        whole_number<std::int64_t>(dash == std::string_view::npos ? word : word.substr(dash + 1));
    if (!value || *value < 0 || *value > std::int64_t{1} << 40) return numbers;
    numbers.push_back(*value);
  }
}

Expected<RasStatus> read_ras_text(ByteInput& input, const std::string& name,
                                  const std::function<void(const RasCommunicator&)>& take,
                                  RecordCounts& counts) {
  enum class Section { kHead, kCommunicators, kProblems } section = Section::kHead;
  LineStream lines(input, name);
  RasStatus status;
  std::int64_t groups = 0;
  while (const auto line = lines.next()) {
    const std::size_t first = line->find_first_not_of(" \t");
    if (first == std::string_view::npos || line->front() == '=') continue;
    if (line->starts_with("NCCL version ")) {
      const std::string_view rest = line->substr(13);
      status.nccl_version = rest.substr(0, rest.find(' '));
      counts.use("version");
    } else if (line->starts_with("Communicators")) {
      section = Section::kCommunicators;
    } else if (*line == "Errors" || *line == "Warnings") {
      section = Section::kProblems;
    } else if (section == Section::kCommunicators) {
      const auto numbers = leading_numbers(*line);
      if (numbers.size() < 6) continue;
      // The last two numbers are ranks per communicator, and ranks in the group.
      RasCommunicator group;
      group.communicators = numbers[1];
      group.nodes = numbers[2];
      group.size = numbers[numbers.size() - 2];
      ++groups;
      counts.use("group of communicators");
      take(group);
    } else if (section == Section::kProblems) {
      counts.use("line of a problem");
      if (status.warnings.size() < kMaxRasWarnings)
        status.warnings.emplace_back(line->substr(first, 300));
    } else {
      counts.ignore("line of the job summary");
    }
  }
  if (lines.error()) return tl::make_unexpected(*lines.error());
  if (groups == 0)
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing, "Communicators"},
                       "this status of NCCL's RAS has no row below Communicators; give the whole "
                       "output of ncclras, or of ncclras -f json",
                       {name, lines.number(), 0}));
  return status;
}

/// Returns an input that begins with bytes that were already read.
class Rejoined : public ByteInput {
 public:
  Rejoined(std::string begin, ByteInput& rest) : begin_(std::move(begin)), rest_(rest) {}
  Expected<std::size_t> read(char* to, std::size_t most) override {
    if (at_ == begin_.size()) return rest_.read(to, most);
    const std::size_t count = std::min(most, begin_.size() - at_);
    std::copy_n(begin_.data() + at_, count, to);
    at_ += count;
    return count;
  }

 private:
  std::string begin_;
  std::size_t at_ = 0;
  ByteInput& rest_;
};

}  // namespace

bool is_nccl_ras(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const auto holds = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (text[first] == '{') return holds("\"communicators\"") && holds("\"nccl_version\"");
  return holds("Job summary") && holds("NCCL version ") && holds("===");
}

Expected<RasStatus> read_nccl_ras(ByteInput& input, const std::string& name,
                                  const std::function<void(const RasCommunicator&)>& take,
                                  RecordCounts& counts) {
  std::string begin(4096, '\0');
  const auto got = input.read(begin.data(), begin.size());
  if (!got) return tl::make_unexpected(got.error());
  begin.resize(*got);
  if (begin.starts_with("\xEF\xBB\xBF")) begin.erase(0, 3);
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && begin[first] == '{';
  Rejoined whole(std::move(begin), input);
  return is_json ? RasJson(whole, name, take, counts).read()
                 : read_ras_text(whole, name, take, counts);
}

}  // namespace tutti::core
