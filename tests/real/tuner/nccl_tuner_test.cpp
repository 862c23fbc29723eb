// Loads libnccl-tuner-tutti.so as every release of NCCL does. The plugin's choices are compared
// with a slow interpretation of the same table, and further tests check which values it leaves
// unchanged and what it logs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/real/tuner/nccl_host.h"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kCollectiveNames{"broadcast", "reduce", "allgather", "reducescatter",
                                                "allreduce"};
const std::vector<std::string> kAlgorithmNames{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
const std::vector<std::string> kProtocolNames{"ll", "ll128", "simple"};
constexpr const char* kHeader = "# tutti nccl-tuner table 1\n";

/// Sets an environment variable for the lifetime of this object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class NcclTunerPlugin : public testing::Test {
 protected:
  void SetUp() override {
    take_log();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".csv");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  std::filesystem::path path_;
};

std::vector<std::string> texts(const std::vector<LogLine>& lines, int level) {
  std::vector<std::string> found;
  for (const LogLine& line : lines) {
    if (line.level == level) found.push_back(line.text);
  }
  return found;
}

std::vector<std::size_t> all_sizes() {
  std::set<std::size_t> sizes{0, 1, SIZE_MAX};
  for (std::size_t power = 2; power != 0; power *= 2) {
    for (const std::size_t size : {power - 1, power, power + 1, power + power / 3})
      sizes.insert(size);
  }
  return {sizes.begin(), sizes.end()};
}

/// Returns random cost estimates of NCCL, which are distinct, and some of which are "not possible".
std::vector<float> made_costs(std::mt19937& random, int algorithms) {
  std::vector<float> costs;
  std::uniform_real_distribution<float> times(1, 1000);
  for (int i = 0; i < algorithms * kProtocols; ++i)
    costs.push_back(random() % 3 == 0 ? -1.0F : times(random));
  costs[1 * kProtocols + 2] = times(random);  // a ring with Simple is always possible
  return costs;
}

/// Returns true if release 2.21 has this kernel.
bool is_kernel_of_2_21(const Asked& requested, std::size_t nodes, int algorithm, int protocol) {
  const std::string& name = kAlgorithmNames[algorithm];
  const bool all_reduce = requested.collective == 4,
             half = requested.collective == 2 || requested.collective == 3;
  if (name == "ring") return true;
  if (name == "tree") return all_reduce;
  if (name == "pat" || protocol != 2) return false;
  if (name == "collnet_direct") return requested.collnet && (all_reduce || half);
  if (name == "collnet_chain") return requested.collnet && all_reduce;
  if (!requested.nvls) return false;
  if (name == "nvls_tree") return nodes > 1 && all_reduce;
  return nodes == 1 ? all_reduce || half : requested.collnet && all_reduce;
}

/// The text of a table, which is parsed again for each call. The first matching line decides.
class SlowTable {
 public:
  explicit SlowTable(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream row(line);
      std::vector<std::string> cells;
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
      while (cells.size() < 11) cells.emplace_back("-1");
      rows_.push_back(std::move(cells));
    }
  }

  Chosen choose(const Release& release, std::size_t ranks, std::size_t nodes,
                const Asked& requested) const {
    for (const auto& cells : rows_) {
      if (cells[0] != kCollectiveNames[requested.collective]) continue;
      if (requested.bytes < std::stoull(cells[1]) || requested.bytes > std::stoull(cells[2]))
        continue;
      const auto fits = [&](std::size_t cell, long value) {
        return cells[cell] == "-1" || std::stol(cells[cell]) == value;
      };
      if (!fits(6, static_cast<long>(nodes)) || !fits(7, static_cast<long>(ranks))) continue;
      if (!fits(8, requested.pipe_ops)) continue;
      const bool knows_registered = release.interface >= 4;
      if (cells[9] != "-1" && (!knows_registered || !fits(9, requested.registered))) continue;
      const auto index = [](const std::vector<std::string>& names, const std::string& name) {
        return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
      };
      const int algorithm = index(kAlgorithmNames, cells[3]),
                protocol = index(kProtocolNames, cells[4]);
      const bool possible = release.interface == 2
                                ? is_kernel_of_2_21(requested, nodes, algorithm, protocol)
                                : algorithm < release.algorithms &&
                                      requested.costs[algorithm * kProtocols + protocol] >= 0;
      if (!possible) continue;
      const int most = release.interface < 4 ? 32 : 64;
      return {algorithm, protocol, std::min(std::max(std::stoi(cells[5]), 0), most)};
    }
    return cheapest(requested.costs);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Returns a table with lines for some communicators, sizes and buffer registrations, in random
/// order.
std::string made_table(std::mt19937& random) {
  const auto one_of = [&random](const auto& values) {
    return values[random() % std::size(values)];
  };
  std::string text = kHeader;
  const int rows = 1 + static_cast<int>(random() % 60);
  for (int i = 0; i < rows; ++i) {
    const std::size_t from = random() % 3 == 0 ? 0 : std::size_t{1} << random() % 40;
    const std::size_t to = random() % 4 == 0 ? SIZE_MAX : from + (std::size_t{1} << random() % 41);
    const int nodes[] = {-1, 1, 2, 4}, ranks[] = {-1, 8, 16, 32},
              channels[] = {-1, 0, 1, 2, 8, 24, 32, 33, 64}, pipe_ops[] = {-1, -1, 1, 4},
              registered[] = {-1, -1, 0, 1};
    text += one_of(kCollectiveNames) + ',' + std::to_string(from) + ',' + std::to_string(to) + ',' +
            one_of(kAlgorithmNames) + ',' + one_of(kProtocolNames) + ',' +
            std::to_string(one_of(channels)) + ',' + std::to_string(one_of(nodes)) + ',' +
            std::to_string(one_of(ranks));
    const auto more = random() % 3;
    if (more > 0) text += ',' + std::to_string(one_of(pipe_ops));
    if (more > 1) text += ',' + std::to_string(one_of(registered));
    text += '\n';
  }
  return text;
}

/// Checks the choices of many tables, for all releases, communicators, collectives and sizes.
TEST_F(NcclTunerPlugin, FollowsTheTableInEveryRelease) {
  std::mt19937 random(28);
  const std::vector<std::size_t> sizes = all_sizes();
  std::size_t requested_in_all = 0, by_table = 0;
  for (int table = 0; table < 40; ++table) {
    const std::string text = made_table(random);
    const Variable variable("TUTTI_TUNER_TABLE", write(text));
    const SlowTable slow(text);
    for (const Release& release : kReleases) {
      NcclHost nccl(TUTTI_TUNER_PLUGIN, release);
      for (const auto& [ranks, nodes] :
           std::vector<std::pair<std::size_t, std::size_t>>{{8, 1}, {16, 2}, {32, 4}, {4, 4}}) {
        void* const context = nccl.open(ranks, nodes);
        for (int collective = 0; collective < 5; ++collective) {
          for (const std::size_t bytes : sizes) {
            Asked requested{collective,
                            bytes,
                            random() % 2 ? 1 : 4,
                            static_cast<int>(random() % 2),
                            made_costs(random, release.algorithms),
                            static_cast<int>(random() % 2),
                            static_cast<int>(random() % 2)};
            const Chosen expected = slow.choose(release, ranks, nodes, requested);
            ASSERT_EQ(nccl.choose(context, requested), expected)
                << release.name << ", " << ranks << " ranks, " << nodes << " nodes, "
                << kCollectiveNames[collective] << " of " << bytes << '\n'
                << text;
            ++requested_in_all;
            by_table += expected != cheapest(requested.costs);
          }
        }
        nccl.close(context);
      }
    }
  }
  EXPECT_GT(requested_in_all, 1'000'000u);
  EXPECT_GT(by_table, requested_in_all / 10) << "the tables change some choices";
}

/// If no line matches, the cost table and the number of channels must not change by a single bit.
TEST_F(NcclTunerPlugin, ChangesNothingWithoutAMatchingLine) {
  const Variable variable("TUTTI_TUNER_TABLE",
                          write(std::string(kHeader) + "allreduce,1024,2048,ring,simple,4,2,16\n"
                                                       "broadcast,0,100,ring,ll,2,-1,-1,4\n"));
  std::mt19937 random(1);
  for (const Release& release : kReleases) {
    NcclHost nccl(TUTTI_TUNER_PLUGIN, release);
    struct Case {
      std::size_t ranks, nodes;
      int collective;
      std::size_t bytes;
    };
    for (const Case& one :
         {Case{16, 2, 4, 1023}, Case{16, 2, 4, 2049}, Case{16, 2, 3, 1500}, Case{32, 2, 4, 1500},
          Case{16, 4, 4, 1500}, Case{16, 2, 0, 50}, Case{16, 2, 7, 1500}, Case{16, 2, -1, 1500}}) {
      void* const context = nccl.open(one.ranks, one.nodes);
      const Asked requested{one.collective, one.bytes, 1, 0,
                            made_costs(random, release.algorithms)};
      std::vector<float> costs = requested.costs;
      EXPECT_EQ(nccl.choose(context, requested, &costs), cheapest(requested.costs)) << release.name;
      EXPECT_EQ(costs, requested.costs) << release.name;
      EXPECT_EQ(nccl.chunk(context, one.collective, one.bytes, 1, 2, 1, 4096), 4096u);
      nccl.close(context);
    }
  }
}

/// A line changes one entry of the cost table and no other.
TEST_F(NcclTunerPlugin, ChangesOneEntryOfTheCostTable) {
  const Variable variable("TUTTI_TUNER_TABLE",
                          write(std::string(kHeader) + "allreduce,0,99,ring,ll128,6,-1,-1\n"));
  std::mt19937 random(2);
  for (const Release& release : kReleases) {
    if (release.interface == 2) continue;
    NcclHost nccl(TUTTI_TUNER_PLUGIN, release);
    void* const context = nccl.open(8, 1);
    Asked requested{4, 7, 1, 1, made_costs(random, release.algorithms)};
    requested.costs[1 * kProtocols + 1] = 999;
    std::vector<float> costs, expected = requested.costs;
    expected[1 * kProtocols + 1] = 0;
    EXPECT_EQ(nccl.choose(context, requested, &costs), (Chosen{1, 1, 6})) << release.name;
    EXPECT_EQ(costs, expected) << release.name;
    nccl.close(context);
  }
}

TEST_F(NcclTunerPlugin, ReadsTheExampleTunersConfiguration) {
  // The configuration of NVIDIA's example plugin. There, and in this mode, -1 channels mean one
  // channel.
  const Variable variable(
      "NCCL_TUNER_CONFIG_FILE",
      write("# a comment\n\nallreduce, 0, 65536, tree, simple, 2, 1, -1, -1, 1\r\n"
            "allreduce,1048577,4294967295,ring,ll128,-1,-1,-1,4,-1\n"));
  NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[7]);
  void* const context = nccl.open(8, 1);
  const std::vector<float> costs(21, 5.0F);
  EXPECT_EQ(nccl.choose(context, {4, 100, 1, 1, costs}), (Chosen{0, 2, 2}));
  EXPECT_EQ(nccl.choose(context, {4, 100, 1, 0, costs}), (Chosen{0, 0, 0}));
  EXPECT_EQ(nccl.choose(context, {4, 2000000, 4, 0, costs}), (Chosen{1, 1, 1}));
  nccl.close(context);
}

TEST_F(NcclTunerPlugin, PrefersItsOwnEnvironmentVariable) {
  const std::string own = write(std::string(kHeader) + "allreduce,0,99,ring,simple,3,-1,-1\n");
  const Variable theirs("NCCL_TUNER_CONFIG_FILE", "/nowhere"), ours("TUTTI_TUNER_TABLE", own);
  NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[7]);
  void* const context = nccl.open(8, 1);
  EXPECT_EQ(nccl.choose(context, {4, 1, 1, 0, std::vector<float>(21, 5.0F)}), (Chosen{1, 2, 3}));
  nccl.close(context);
}

/// Opening a pipe waits for a writer, and /proc/kmsg and pagemap are regular files that end late or
/// never.
TEST_F(NcclTunerPlugin, RefusesSpecialFilesWithoutWaiting) {
  const std::string fifo = write("") + ".fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, why] :
       {std::pair<std::string, const char*>{fifo, "it is not a regular file"},
        {"/proc/self/pagemap", "the table has no lines"},
        {"/dev/zero", "it is not a regular file"}}) {
    const Variable variable("TUTTI_TUNER_TABLE", path);
    NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[7]);
    EXPECT_EQ(nccl.open(8, 1), nullptr);
    EXPECT_THAT(texts(take_log(), 2), ElementsAre(HasSubstr(path + ": " + why)));
  }
  unlink(fifo.c_str());
}

/// NCCL 2.30 requests chunk sizes per channel, with the bytes of that channel. The table refers to
/// the bytes of all channels.
TEST_F(NcclTunerPlugin, SetsTheSizeOfChunksInNccl230) {
  const Variable variable(
      "TUTTI_TUNER_TABLE",
      write(std::string(kHeader) + "allreduce,1000000,2000000,ring,simple,10,2,16,-1,-1,32768\n"
                                   "allreduce,0,999999,ring,simple,10,2,16\n"
                                   "allreduce,2000001,9000000,tree,ll128,4,-1,-1,-1,-1,72000\n"));
  for (const Release& release : kReleases) {
    NcclHost nccl(TUTTI_TUNER_PLUGIN, release);
    void* const context = nccl.open(16, 2);
    const bool asks = release.interface == 6;
    const auto chunk = [&](std::size_t bytes, int algorithm, int protocol, int channels) {
      return nccl.chunk(context, 4, bytes, algorithm, protocol, channels, 131072);
    };
    EXPECT_EQ(chunk(150000, 1, 2, 1), asks ? 32768u : 131072u) << release.name;
    EXPECT_EQ(chunk(1500000, 1, 2, 10), asks ? 32768u : 131072u) << "all channels together";
    EXPECT_EQ(chunk(1000000, 0, 1, 1), asks ? 72000u : 131072u);
    EXPECT_EQ(chunk(90000, 1, 2, 1), 131072u) << "too small";
    EXPECT_EQ(chunk(150000, 1, 1, 1), 131072u) << "another protocol";
    nccl.close(context);
  }
}

struct Malformed {
  const char* text;
  const char* where;  ///< the place that the message names
  const char* what;
};

const Malformed kMalformed[] = {
    {"", "", "the table has no lines"},
    {"# only remarks\n", "", "the table has no lines"},
    {"# tutti nccl-tuner table 2\nallreduce,0,1,ring,ll,1,1,8\n", ":1:26", "format \"2\""},
    {"allreduce,0,1,ring,ll,1,1\n", ":1:1", "expected 8 to 11 cells, found 7"},
    {"\nallreduce,0,1,ring,ll,1,1,8,1,1,1,1\n", ":2:1", "found more"},
    {"allreduce,0,1,ring,ll,1,1,8\nall_reduce,0,1,ring,ll,1,1,8\n", ":2:1",
     "collective: \"all_reduce\" is not known (use one of broadcast, reduce"},
    {"allreduce,0,1,rings,ll,1,1,8\n", ":1:15", "algorithm: \"rings\" is not known"},
    {"allreduce,0,1,ring,LL,1,1,8\n", ":1:20", "protocol: \"LL\" is not known"},
    {"allreduce,x,1,ring,ll,1,1,8\n", ":1:11", "min_bytes: \"x\" is not a whole number"},
    {"allreduce,-1,1,ring,ll,1,1,8\n", ":1:11", "min_bytes: \"-1\" is not a whole number"},
    {"allreduce,0,18446744073709551616,ring,ll,1,1,8\n", ":1:13", "does not fit"},
    {"allreduce,9,8,ring,ll,1,1,8\n", ":1:13", "max_bytes: \"8\" is less than min_bytes"},
    {"allreduce,0,1,ring,ll,65,1,8\n", ":1:23", "channels: \"65\" must be from -1 to 64"},
    {"allreduce,0,1,ring,ll,1,0,8\n", ":1:25",
     "nodes: \"0\" must be -1 (which matches any value) or at least 1"},
    {"allreduce,0,1,ring,ll,1,1,8,-1,2\n", ":1:32", "registered: \"2\" must be from -1 to 1"},
    {"allreduce,0,1,ring,ll,1,1,\n", ":1:27", "ranks: \"\" is not a whole number"},
    {"allreduce,0,1,ring,ll,0,1,8,-1,-1,64\n", ":1:35", "needs a number of channels"},
    {"allreduce,0,1,ring,ll,2,1,8,-1,1,64\n", ":1:34", "needs pipe_ops and registered to be -1"},
};

TEST_F(NcclTunerPlugin, RefusesMalformedTablesAndLeavesNcclsChoices) {
  for (const Malformed& one : kMalformed) {
    SCOPED_TRACE(one.text);
    const std::string file = write(one.text);
    const Variable variable("TUTTI_TUNER_TABLE", file);
    for (const Release& release : kReleases) {
      NcclHost nccl(TUTTI_TUNER_PLUGIN, release);
      void* const context = nccl.open(8, 1);  // throws if init fails, since NCCL would then fail
      EXPECT_THAT(texts(take_log(), 2),
                  ElementsAre(AllOf(HasSubstr(file + one.where + ": "), HasSubstr(one.what),
                                    HasSubstr("NCCL decides alone"))));
      std::vector<float> costs(static_cast<std::size_t>(release.algorithms) * kProtocols, 3.0F),
          left = costs;
      EXPECT_EQ(nccl.choose(context, {4, 1, 1, 0, costs}, &left), cheapest(costs));
      EXPECT_EQ(left, costs);
      EXPECT_EQ(nccl.chunk(context, 4, 1, 1, 2, 1, 77), 77u);
      nccl.close(context);
    }
  }
}

TEST_F(NcclTunerPlugin, RefusesFilesThatCannotBeRead) {
  for (const auto& [file, what] :
       std::map<std::string, std::string>{{"/nowhere/at/all.csv", "No such file"},
                                          {"/dev/zero", "not a regular file"},
                                          {testing::TempDir(), "not a regular file"}}) {
    const Variable variable("TUTTI_TUNER_TABLE", file);
    NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[7]);
    void* const context = nccl.open(8, 1);
    EXPECT_THAT(texts(take_log(), 2), ElementsAre(AllOf(HasSubstr(file), HasSubstr(what))));
    EXPECT_EQ(context, nullptr);
    nccl.close(context);
  }
}

TEST_F(NcclTunerPlugin, ReportsThatNoVariableIsSet) {
  NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[0]);
  nccl.close(nccl.open(8, 1));
  const auto lines = take_log();
  EXPECT_THAT(texts(lines, 2), IsEmpty());
  EXPECT_THAT(texts(lines, 3), ElementsAre(HasSubstr("TUTTI_TUNER_TABLE")));
}

/// NCCL's variables that the user sets have priority over a tuner. Release 2.21 does not ensure
/// this itself.
TEST_F(NcclTunerPlugin, ChangesNothingIn2_21IfTheUserSetAlgorithms) {
  const Variable variable("TUTTI_TUNER_TABLE",
                          write(std::string(kHeader) + "allreduce,0,99,ring,ll,4,-1,-1\n"));
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO"}) {
    const Variable set(name, "Tree");
    NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[0]);
    EXPECT_EQ(nccl.open(8, 1), nullptr);
    EXPECT_THAT(texts(take_log(), 3), ElementsAre(HasSubstr("NCCL_ALGO or NCCL_PROTO is set")));
  }
}

/// Each distinct choice is logged once, however often it is made.
TEST_F(NcclTunerPlugin, LogsEachDistinctChoiceOnce) {
  const Variable table("TUTTI_TUNER_TABLE",
                       write(std::string(kHeader) + "allreduce,0,99,tree,ll,4,2,16\n"
                                                    "allreduce,0,99,ring,simple,0,-1,-1\n"
                                                    "allgather,0,99,ring,ll128,2,-1,16\n"));
  const auto ask = [](NcclHost& nccl) {
    void* const context = nccl.open(16, 2);
    std::vector<float> costs(static_cast<std::size_t>(nccl.release().algorithms) * kProtocols,
                             9.0F);
    take_log();
    for (int i = 0; i < 3; ++i) {
      nccl.choose(context, {4, 10, 1, 0, costs});
      nccl.choose(context, {2, 20, 1, 0, costs});
      nccl.choose(context, {2, 100, 1, 0, costs});
      std::vector<float> no_tree = costs;
      no_tree[0] = -1;
      nccl.choose(context, {4, 30, 2, 0, no_tree});
    }
    nccl.close(context);
    return texts(take_log(), 3);
  };
  NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[5]);
  EXPECT_THAT(ask(nccl), IsEmpty());
  {
    const Variable off("TUTTI_TUNER_LOG", "0");
    EXPECT_THAT(ask(nccl), IsEmpty());
  }
  const Variable on("TUTTI_TUNER_LOG", "1");
  EXPECT_THAT(
      ask(nccl),
      ElementsAre("TUNER/Tutti: line 2: allreduce of 10 bytes by tree/ll, 4 channels",
                  "TUNER/Tutti: line 4: allgather of 20 bytes by ring/ll128, 2 channels",
                  "TUNER/Tutti: no line for allgather of 100 bytes; NCCL decides",
                  "TUNER/Tutti: line 2: allreduce of 30 bytes, 2 in a group: NCCL cannot use "
                  "tree/ll for this call; the line is ignored",
                  "TUNER/Tutti: line 3: allreduce of 30 bytes, 2 in a group by ring/simple, NCCL's "
                  "channels"));
  const auto lines = take_log();
  for (const LogLine& line : lines) EXPECT_TRUE(line.subsystems & 0x40) << line.text;
}

/// NCCL calls init, choices and finalize for many communicators from many threads at the same time.
/// If a table changes between two communicators, it is read again.
TEST_F(NcclTunerPlugin, ServesManyCommunicatorsAndThreads) {
  const Variable log("TUTTI_TUNER_LOG", "1");
  std::string text = kHeader;
  for (int ranks = 1; ranks <= 8; ++ranks)
    text += "allreduce,0,99999,ring,simple," + std::to_string(ranks) + ",1," +
            std::to_string(ranks) + "\n";
  const Variable variable("TUTTI_TUNER_TABLE", write(text));
  NcclHost nccl(TUTTI_TUNER_PLUGIN, kReleases[7]);
  void* const shared = nccl.open(8, 1);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        void* const own = nccl.open(static_cast<std::size_t>(t), 1);
        const std::vector<float> costs(21, 5.0F);
        wrong += nccl.choose(own, {4, 1000, 1, 0, costs}) != Chosen{1, 2, t};
        wrong += nccl.choose(shared, {4, 1000, 1, 0, costs}) != Chosen{1, 2, 8};
        nccl.close(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  nccl.close(shared);
  write(std::string(kHeader) + "allreduce,0,99999,ring,ll,9,-1,-1\n");
  void* const later = nccl.open(8, 1);
  EXPECT_EQ(nccl.choose(later, {4, 1000, 1, 0, std::vector<float>(21, 5.0F)}), (Chosen{1, 0, 9}));
  nccl.close(later);
}

/// The library contains its C++ runtime and exports no other symbols, because other programs load
/// it.
TEST_F(NcclTunerPlugin, ExportsFiveSymbolsOnly) {
  FILE* const pipe = popen("nm -D --defined-only --format=posix " TUTTI_TUNER_PLUGIN, "r");
  ASSERT_TRUE(pipe);
  std::string text;
  for (char buffer[256]; std::fgets(buffer, sizeof buffer, pipe);) text += buffer;
  pclose(pipe);
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(0, line.find(' ')));
  EXPECT_THAT(names, ElementsAre("ncclTunerPlugin_v2", "ncclTunerPlugin_v3", "ncclTunerPlugin_v4",
                                 "ncclTunerPlugin_v5", "ncclTunerPlugin_v6"));
}

}  // namespace
}  // namespace tutti::test
