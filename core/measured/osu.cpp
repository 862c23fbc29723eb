// Reads the output of the OSU micro-benchmarks: a title such as "# OSU MPI Allreduce Latency Test
// v7.5", the titles of the columns, and rows of a size and its average latency in microseconds. The
// output states neither the number of ranks nor, before version 7.4, the type of the elements.

#include "core/measured/mpi_benchmark.h"

namespace tutti::core {
namespace {

class OsuReader : public MpiBenchmarkReader {
 public:
  OsuReader(const std::string& file, Problems& problems)
      : MpiBenchmarkReader(file, problems, "the OSU micro-benchmarks", "osu_allreduce") {}

 private:
  void read_remark(const std::vector<LogWord>& words) override {
    if (words.size() < 3) return;
    if (words[1].text == "OSU") return read_title(words);
    if (words[1].text == "Datatype:" && collective_ != nullptr)
      type_ = type_of_mpi_name(words[2].text);
    if (words[1].text == "Size") read_columns(words);
  }

  /// Finds the column of the time. The time of non-blocking and persistent collectives is that of
  /// the communication alone. "# Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)"
  void read_columns(const std::vector<LogWord>& words) {
    time_ = 1;
    std::size_t column = 1;
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i].text == "Comm.(us)") time_ = column;
      if (words[i].text.find('(') != std::string_view::npos) ++column;
    }
  }

  /// Reads "# OSU MPI Allreduce Latency Test v7.5".
  void read_title(const std::vector<LogWord>& words) {
    collective_ = nullptr;
    type_ = "";
    time_ = 1;
    bool is_bandwidth = false;
    std::string title;
    for (std::size_t i = 2; i < words.size(); ++i) {
      title += (i == 2 ? "" : " ") + std::string(words[i].text);
      is_bandwidth = is_bandwidth || words[i].text == "Bandwidth";
    }
    std::size_t name = 3;
    while (name + 1 < words.size() &&
           (words[name].text == "Non-blocking" || words[name].text == "Persistent"))
      ++name;
    if (words.size() > name && !is_bandwidth) collective_ = find_mpi_collective(words[name].text);
    if (collective_ == nullptr) return ignore_table("the test \"" + title.substr(0, 80) + '"');
    NcclTestsTable& table = begin_table(words[0]);
    table.is_osu = true;
    table.is_mpi = !words[2].text.starts_with("NCCL") && !words[2].text.starts_with("RCCL");
  }

  void read_row(const std::vector<LogWord>& words) override {
    if (collective_ == nullptr) return;
    const auto bytes = size_of_row(words[0]);
    if (!bytes) return;
    if (words.size() <= time_)
      return problems().add(
          {ProblemCode::kMissing, "latency"}, at(words[0]),
          "the row ends before its latency; if the log is truncated, use a complete one");
    // A column of the validation has Pass or Fail.
    add_time(words[0], *bytes, words[time_], words.back().text == "Fail");
  }

  std::size_t time_ = 1;  ///< column of the time
};

}  // namespace

bool is_osu(std::string_view text) {
  const std::size_t title = text.find("# OSU ");
  return title != std::string_view::npos && text.find("Test", title) != std::string_view::npos;
}

std::vector<NcclTestsTable> parse_osu(std::string_view text, const std::string& file,
                                      Problems& problems) {
  return OsuReader(file, problems).read(text);
}

}  // namespace tutti::core
