// Sets every field of every message of the schemas to values of the wrong type, and to extreme
// values of the right type, in scenarios that are otherwise valid (every_field.h). The tests find
// the fields by reflection, so they cover a new field without a change.
//
// A value of the wrong type must be an error on its line. No value may crash the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <set>
#include <tuple>

#include "core/proto/machine.pb.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/scenario.h"
#include "core/text/bind.h"
#include "tests/core/scenario/every_field.h"
#include "tests/core/scenario/field_substitutes.h"
#include "tests/support/clusters.h"

namespace tutti::core::wrong_values {
namespace {

/// Prints the input when the program aborts, since no other output would name it.
class ShowsWhatAborts {
 public:
  ShowsWhatAborts() : before_(std::signal(SIGABRT, show)) {}
  ~ShowsWhatAborts() { std::signal(SIGABRT, before_); }
  ShowsWhatAborts(const ShowsWhatAborts&) = delete;
  ShowsWhatAborts& operator=(const ShowsWhatAborts&) = delete;

  static void reading(std::string text) { text_ = std::move(text); }

 private:
  static void show(int) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), text_.size());
  }
  static inline std::string text_;
  void (*before_)(int);
};

using Read = std::function<Expected<Scenario>(const std::string& text)>;

template <class M>
M message_of(const std::string& text) {
  M message;
  Problems problems;
  SourceMap sources("here");
  bind(parse_document(text, "here", problems).root, message, sources, problems);
  EXPECT_TRUE(problems.empty()) << text;
  return message;
}

class WrongValues : public testing::Test {
 protected:
  /// Expects that values of the wrong type are rejected at their place, and that all other errors
  /// have a place.
  void try_all(const Message& message, const std::string& file, const Read& read,
               const std::string& under = "") {
    Substitute nothing{};
    Printer whole(nothing);
    whole.print(message);
    const auto right = read(whole.text);
    ASSERT_TRUE(right) << right.error().message() << "\n" << whole.text;

    const Try wrong_type = [&](const Substitute& substitute) {
      const auto [text, place, scenario] = read_with(message, file, read, substitute);
      ++tried;
      if (scenario) {
        ADD_FAILURE() << "accepted: " << substitute.field->full_name() << ": " << substitute.value;
        return;
      }
      for (const Problem& problem : scenario.error().problems()) {
        if (problem.where.file == file && problem.where.line == place.line &&
            problem.where.column >= place.column)
          return;
      }
      ADD_FAILURE() << "no problem at " << to_string(place) << " but\n"
                    << scenario.error().message() << "\n"
                    << text;
    };
    Walk types(of_wrong_type, wrong_type);
    types.walk(message, under);
    seen.insert(types.seen.begin(), types.seen.end());

    const Try at_end = [&](const Substitute& substitute) {
      const auto [text, place, scenario] = read_with(message, file, read, substitute);
      ++tried;
      if (scenario) return;
      for (const Problem& problem : scenario.error().problems()) {
        EXPECT_FALSE(problem.text.empty());
        EXPECT_FALSE(problem.where.file.empty() || problem.where.line == 0)
            << to_string(problem) << "\n"
            << substitute.field->full_name() << ": " << substitute.value;
      }
    };
    Walk(at_the_ends, at_end).walk(message, under);
  }

  std::set<const Descriptor*> seen;
  int tried = 0;

 private:
  struct Outcome {
    std::string text;
    Location place;
    Expected<Scenario> scenario;
  };

  static Outcome read_with(const Message& message, const std::string& file, const Read& read,
                           const Substitute& substitute) {
    Printer printer(substitute);
    printer.print(message);
    ShowsWhatAborts::reading(printer.text);
    return {printer.text, {file, printer.line, printer.column}, read(printer.text)};
  }

  ShowsWhatAborts shows_;
};

/// Collects the types of all messages that a message of this type can contain, including itself.
void collect(const Descriptor& type, std::set<const Descriptor*>& types) {
  if (!types.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    if (const Descriptor* const inside = type.field(i)->message_type()) collect(*inside, types);
  }
}

TEST_F(WrongValues, AreErrorsAtTheirPositionInScenarios) {
  const Library sent = library_with(), shipped(test::source_folder() + "/scenarios");
  for (const Tried& one : all_tried()) {
    const Read read = [&library = one.reads_files ? shipped : sent](const std::string& text) {
      return read_scenario(text, "s", library);
    };
    const auto message = message_of<proto::Scenario>(one.scenario.text());
    try_all(message, "s", read, one.under);
  }
  std::set<const Descriptor*> all;
  collect(*proto::Scenario::descriptor(), all);
  for (const Descriptor* type : all)
    EXPECT_TRUE(seen.contains(type)) << type->full_name() << " is in no scenario here";
  EXPECT_GT(tried, 10'000);
}

TEST_F(WrongValues, AreErrorsOfMachineFiles) {
  const std::string scenario =
      fmt::format("cluster {{ {} network {{ {} }} }} workload {{ {} }} strategy {{ {} }}", kWorkers,
                  kNetworks[4], kVariables, kRing);
  try_all(message_of<proto::Machine>(kMachine), "m.textproto", [&](const std::string& text) {
    return read_scenario(scenario, "s", library_with(Library::Kind::kMachine, text));
  });
}

TEST_F(WrongValues, AreErrorsOfLinkFiles) {
  const Case scenario{.network = kNetworks[5]};
  try_all(message_of<proto::NetworkLink>(kLink), "l.textproto", [&](const std::string& text) {
    return read_scenario(scenario.text(), "s", library_with(Library::Kind::kLink, text));
  });
}

TEST_F(WrongValues, AreErrorsOfClusterFiles) {
  const std::string scenario = fmt::format(
      "cluster {{ file: \"c.textproto\" }} workload {{ {} }} strategy {{ {} }}", kVariables, kRing);
  for (const std::string& network : kNetworks) {
    const std::string cluster = fmt::format("{} network {{ {} }}", kWorkers, network);
    try_all(message_of<proto::Cluster>(cluster), "c.textproto", [&](const std::string& text) {
      return read_scenario(scenario, "s", library_with(Library::Kind::kCluster, text));
    });
  }
}

/// Cells of models and profiles, which are CSV files rather than messages.
TEST_F(WrongValues, AreErrorsAtTheirPositionInModelsAndProfiles) {
  const Case scenario{.workload =
                          "model: \"model.csv\" layer_times: \"times.csv\" flops_efficiency: 0.5"};
  const auto try_cells = [&](Library::Kind kind, const std::string& file, const std::string& head,
                             const std::vector<std::string>& cells,
                             const std::vector<std::size_t>& numbers) {
    for (const std::size_t wrong : numbers) {
      for (const char* value :
           {"many", "nan", "inf", "-1", "1e300", "{}", "--5", "\"", "1x", "3.5.5"}) {
        std::string row;
        for (std::size_t i = 0; i < cells.size(); ++i)
          row += (i > 0 ? "," : "") + (i == wrong ? std::string(value) : cells[i]);
        const auto line = static_cast<int>(std::count(head.begin(), head.end(), '\n')) + 1;
        const auto read =
            read_scenario(scenario.text(), "s", library_with(kind, head + row + "\n"));
        ASSERT_FALSE(read) << head << row;
        const Problem& first = read.error().problems().front();
        EXPECT_EQ(std::tie(first.where.file, first.where.line), std::tie(file, line))
            << to_string(first) << "\n"
            << row;
        EXPECT_GT(first.where.column, 0) << row;
      }
    }
  };
  try_cells(Library::Kind::kModel, "model.csv",
            "name,shape,type,layer,forward_flops,backward_flops,forward_us,backward_us\nb,7,"
            "float32,1,1e6,2e6,1,2\n",
            {"a", "30x5", "float32", "0", "1e6", "2e6", "1", "2"}, {1, 2, 3, 4, 5, 6, 7});
  try_cells(Library::Kind::kLayerTimes, "times.csv",
            "# batch: 4\nlayer,forward_us,backward_us,variables\ntwo,1,2,b\n",
            {"one", "1", "2", "a"}, {1, 2});
}

}  // namespace
}  // namespace tutti::core::wrong_values
